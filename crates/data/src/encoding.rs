//! Reading of texts in other encodings than UTF-8; the only code that does so.
//!
//! UTF-16 says what it is by its first two bytes, or shows it by a zero in every second byte, and is
//! read wherever text is. Any other encoding must be said, in a schema's `[format]`: its bytes may be
//! those of several.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use serde::{Deserialize, Serialize};

/// The number of bytes decoded at a time.
const BUFFER: usize = 1 << 16;
/// The mark of UTF-8 at the beginning of a file.
const MARK: &[u8] = "\u{feff}".as_bytes();
/// The number of bytes at the beginning of a text that show what its encoding is.
const LOOKED_AT: usize = 1 << 11;
/// The least number of zeros among these that UTF-16 without a mark has.
const FEWEST_ZEROS: usize = 4;
/// The multiple of the zeros in other bytes that those in every second byte are in UTF-16.
const ONE_SIDED: usize = 8;

/// The encoding of a text, by a name of the Encoding Standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// The encoding that Windows used in western Europe and America, with ISO-8859-1 within it.
    pub const WINDOWS_1252: Encoding = Encoding(WINDOWS_1252);
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Encoding, String> {
        let found = encoding_rs::Encoding::for_label(text.as_bytes());
        // A name that stands for none lets nothing be read.
        match found.filter(|found| *found != encoding_rs::REPLACEMENT) {
            Some(found) => Ok(Encoding(found)),
            None => {
                Err("an encoding, such as utf-8, utf-16le, windows-1252 or shift_jis".to_owned())
            }
        }
    }
}

impl TryFrom<String> for Encoding {
    type Error = String;

    fn try_from(text: String) -> Result<Encoding, String> {
        let named = text.parse();
        named.map_err(|expected: String| format!("encoding '{text}' is not {expected}"))
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> String {
        encoding.to_string()
    }
}

/// Returns `text` as UTF-8, decoded by the encoding that a mark at its beginning says, else by
/// `encoding`, else by the form of UTF-16 that its beginning shows. UTF-8 itself goes through
/// unchecked, without its mark.
///
/// # Errors
/// When its beginning cannot be read.
pub fn decoded(
    mut text: Box<dyn Read + Send>,
    encoding: Option<Encoding>,
) -> io::Result<Box<dyn Read + Send>> {
    let mut start = Vec::new();
    let mut beginning = text.by_ref().take(LOOKED_AT as u64);
    beginning.read_to_end(&mut start)?;
    let marked = encoding_rs::Encoding::for_bom(&start).map(|(marked, _)| marked);
    let said = marked.or(encoding.map(|said| said.0));
    let found = said.or_else(|| unmarked(&start).map(|shown| shown.0));
    let found = found.unwrap_or(UTF_8);
    if marked == Some(UTF_8) {
        start.drain(..MARK.len());
    }
    let whole = Box::new(io::Cursor::new(start).chain(text));
    if found == UTF_8 {
        return Ok(whole);
    }
    Ok(Box::new(Decoded {
        input: whole,
        name: found.name(),
        decoder: found.new_decoder_with_bom_removal(),
        bytes: Vec::new(),
        text: Vec::new(),
        taken: 0,
        is_at_end: false,
    }))
}

/// Returns the encoding that the mark at the beginning of `start` says, if it is one of UTF-16.
pub(crate) fn marked(start: &[u8]) -> Option<Encoding> {
    let (marked, _) = encoding_rs::Encoding::for_bom(start)?;
    [UTF_16LE, UTF_16BE]
        .contains(&marked)
        .then_some(Encoding(marked))
}

/// Returns the form of UTF-16 that the beginning of a text without a mark shows: in most of its
/// characters one byte of the two is zero, and it is always the same.
pub(crate) fn unmarked(start: &[u8]) -> Option<Encoding> {
    let start = &start[..start.len().min(LOOKED_AT)];
    let [first, second] = [0, 1].map(|from| {
        let bytes = start.iter().skip(from).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    });
    let is_shown = |zeros: usize, others: usize| {
        zeros >= FEWEST_ZEROS.max(start.len() / 8) && zeros >= ONE_SIDED * others
    };
    if is_shown(second, first) {
        return Some(Encoding(UTF_16LE));
    }
    is_shown(first, second).then_some(Encoding(UTF_16BE))
}

/// Returns whether `text`, which is not UTF-8, is likely to be Windows-1252: it holds bytes beyond
/// ASCII, all of which are letters or signs there, and none of which are such as only UTF-8 has.
pub(crate) fn is_windows_1252(mut text: impl Read) -> io::Result<bool> {
    let mut piece = vec![0; BUFFER];
    let (mut pending, mut is_beyond) = (0_u32, false);
    loop {
        let read = text.read(&mut piece)?;
        if read == 0 {
            return Ok(is_beyond);
        }
        for &byte in &piece[..read] {
            let is_undefined = matches!(byte, 0 | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
            let follows = (0x80..0xc0).contains(&byte);
            if is_undefined || (pending == 1 && follows) {
                return Ok(false);
            }
            is_beyond |= byte >= 0x80;
            pending = match byte {
                _ if pending > 1 && follows => pending - 1,
                0xc2..=0xdf => 1,
                0xe0..=0xef => 2,
                0xf0..=0xf4 => 3,
                _ => 0,
            };
        }
    }
}

/// A text that becomes UTF-8 while it is read.
struct Decoded {
    input: Box<dyn Read + Send>,
    name: &'static str,
    decoder: Decoder,
    /// The bytes that are yet to be decoded.
    bytes: Vec<u8>,
    /// The decoded text; the first `taken` bytes of it were handed out.
    text: Vec<u8>,
    taken: usize,
    is_at_end: bool,
}

impl Decoded {
    /// Decodes the next bytes.
    fn refill(&mut self) -> io::Result<()> {
        let most = (BUFFER - self.bytes.len()) as u64;
        let read = self
            .input
            .by_ref()
            .take(most)
            .read_to_end(&mut self.bytes)?;
        self.is_at_end = (read as u64) < most;
        let needed = self
            .decoder
            .max_utf8_buffer_length_without_replacement(self.bytes.len());
        self.text.resize(needed.unwrap_or(4 * BUFFER), 0);
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
            &self.bytes,
            &mut self.text,
            self.is_at_end,
        );
        self.text.truncate(written);
        self.taken = 0;
        self.bytes.drain(..read);
        match result {
            DecoderResult::Malformed(..) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the text is not valid {}", self.name),
            )),
            DecoderResult::InputEmpty | DecoderResult::OutputFull => Ok(()),
        }
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.text.len() {
            if self.is_at_end && self.bytes.is_empty() {
                return Ok(0);
            }
            self.refill()?;
        }
        let count = buffer.len().min(self.text.len() - self.taken);
        buffer[..count].copy_from_slice(&self.text[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: Option<&str>) -> io::Result<String> {
        let encoding = encoding.map(|name| name.parse().unwrap());
        let mut text = String::new();
        let bytes = io::Cursor::new(bytes.to_vec());
        decoded(Box::new(bytes), encoding)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn utf_16(text: &str, is_little: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        let bytes = |unit: u16| match is_little {
            true => unit.to_le_bytes(),
            false => unit.to_be_bytes(),
        };
        units.flat_map(bytes).collect()
    }

    #[test]
    fn texts_are_decoded_by_their_mark_or_by_what_is_said() {
        // Longer than a buffer, and with letters of one to four bytes.
        let long = "Größe, 🙂 €\n".repeat(20_000);
        for is_little in [true, false] {
            let bytes = utf_16(&format!("\u{feff}{long}"), is_little);
            assert!(marked(&bytes).is_some());
            assert!(read(&bytes, None).unwrap() == long);
            assert!(read(&bytes, Some("windows-1252")).unwrap() == long);
        }
        assert_eq!(
            read(b"Gr\xf6\xdfe \x80", Some("latin1")).unwrap(),
            "Größe €"
        );
        assert_eq!(read("Größe".as_bytes(), None).unwrap(), "Größe");
        assert_eq!(read(b"", Some("windows-1252")).unwrap(), "");
        let marked_utf_8 = "\u{feff}Größe".as_bytes();
        assert_eq!(read(marked_utf_8, Some("latin1")).unwrap(), "Größe");
        assert!(marked(marked_utf_8).is_none());
    }

    #[test]
    fn utf_16_is_told_by_its_zeros() {
        for text in [
            "age,sex\n40,m\n".to_owned(),
            "Größe,性別\n1,一\n2,男\n".repeat(3000),
        ] {
            for is_little in [true, false] {
                let bytes = utf_16(&text, is_little);
                let name = ["utf-16be", "utf-16le"][usize::from(is_little)];
                let found = unmarked(&bytes).map(|found| found.to_string());
                assert_eq!(found.as_deref(), Some(name));
                assert!(read(&bytes, None).unwrap() == text);
            }
        }
        // What is said goes before what the bytes show.
        let bytes = utf_16("age", true);
        assert_eq!(read(&bytes, Some("latin1")).unwrap(), "a\0g\0e\0");
        for other in [&b"age,sex\n"[..], b"a\0\0b\0c,\0\0\0\n", b"", b"a\0b"] {
            assert_eq!(unmarked(other), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_not_in_an_encoding_is_refused() {
        let mut lone = utf_16("\u{feff}a", true);
        lone.extend([0x00, 0xd8, 0x41, 0x00]);
        let error = read(&lone, None).unwrap_err().to_string();
        assert!(error.contains("UTF-16LE"), "{error}");
        assert!("latin-17".parse::<Encoding>().is_err());
        let error = Encoding::try_from("klingon".to_owned()).unwrap_err();
        assert!(
            error.contains("'klingon'") && error.contains("windows-1252"),
            "{error}"
        );
    }

    #[test]
    fn windows_1252_is_told_from_damaged_utf_8() {
        for (bytes, expected) in [
            (&b"Gr\xf6\xdfe"[..], true),
            (b"M\xe4le \x80", true),
            (b"plain", false),
            ("Größe".as_bytes(), false),
            (b"Gr\xc3\xb6\xc3\x9fe \xff", false),
            (b"caf\xe9\x81", false),
        ] {
            assert_eq!(is_windows_1252(bytes).unwrap(), expected, "{bytes:?}");
        }
    }
}
