//! Files that Probity writes for itself and reads again: sealed by a hash.
//!
//! A *binary* one is a line that names its kind and the version of its form, the content, and the
//! SHA-256 of both, 32 bytes. A *text* in TOML is a first line, a comment, that names kind, version
//! and the SHA-256 of the lines after it, in hex. An object in *JSON* has the SHA-256 of all text
//! before it, in hex, as its last member, `seal`. Each is written under a temporary name and
//! renamed, so that a crash leaves the old file or the new one.
//!
//! The hash finds damage and edits: every change of a bit or of the length is an error before
//! anything is decoded. It is no signature against someone who computes it anew, so whoever decodes
//! checks what the content says as well. A list in it takes memory as its elements are read, not as
//! its length says: a forged length costs no more than a small multiple of the file's size.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::atomic::{write_atomically, write_with};
use crate::error::{RunError, foreign};
use crate::hash::hex;

/// The kind of a sealed file, and the version of its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The kind, such as `checkpoint` or `k-means model`.
    pub kind: &'static str,
    /// The version, such as `1`.
    pub version: &'static str,
}

/// The number of bytes of a hash.
const HASH: usize = 32;

impl Form {
    fn first_line(self) -> String {
        format!("probity {} {}\n", self.kind, self.version)
    }

    fn first_words(self) -> String {
        format!("# probity {} {}, sha256 ", self.kind, self.version)
    }

    /// Returns the error that `file` does not begin as one of this form does, but with `found`.
    fn other(self, file: &Path, found: &[u8]) -> RunError {
        let kind = format!("probity {} ", self.kind);
        let found = found.strip_prefix(b"# ").unwrap_or(found);
        let problem = match found.strip_prefix(kind.as_bytes()) {
            Some(rest) => {
                let end = rest.iter().position(|byte| b"\n,".contains(byte));
                let version = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len()).min(20)]);
                format!(
                    "it is a {} of version {version}, not {}",
                    self.kind, self.version
                )
            }
            None => format!("it is no {}", self.kind),
        };
        foreign(file, &problem)
    }
}

/// Writes a sealed file with the content that `content` writes.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub fn write_sealed(
    file: &Path,
    form: Form,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), RunError> {
    write_with(file, |writer| seal_into(writer, form, content))
}

/// Writes to `writer` what `content` writes, sealed.
///
/// # Errors
/// When it cannot be written.
pub fn seal_into(
    writer: &mut impl Write,
    form: Form,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut hashing = Hashing {
        writer,
        hash: Sha256::new(),
    };
    hashing.write_all(form.first_line().as_bytes())?;
    content(&mut hashing)?;
    let hash = hashing.hash.finalize();
    writer.write_all(&hash)
}

/// Checks a `file` that [`seal_into`] wrote, which is read through once and never held, and returns
/// where its content begins and ends.
///
/// # Errors
/// When it cannot be read, is of another form, or was changed.
pub(crate) fn check_sealed(file: &Path, form: Form) -> Result<(u64, u64), RunError> {
    let failed = |source| RunError::Read {
        file: file.to_owned(),
        source,
    };
    let changed = || RunError::Changed {
        file: file.to_owned(),
    };
    let mut opened = File::open(file).map_err(failed)?;
    let length = opened.metadata().map_err(failed)?.len();
    let first = form.first_line();
    let mut begin = Vec::new();
    let line = first.len() as u64;
    let begun = Read::take(&mut opened, line).read_to_end(&mut begin);
    begun.map_err(failed)?;
    if begin.len() < first.len() && first.as_bytes().starts_with(&begin) {
        return Err(changed());
    }
    if begin != first.as_bytes() {
        // The rest of the line says which other form it is of.
        let rest = Read::take(&mut opened, 64).read_to_end(&mut begin);
        rest.map_err(failed)?;
        return Err(form.other(file, &begin));
    }
    let end = length.checked_sub(HASH as u64).filter(|end| *end >= line);
    let end = end.ok_or_else(changed)?;
    let mut hashing = Hashing {
        writer: &mut io::sink(),
        hash: Sha256::new(),
    };
    hashing.hash.update(&begin);
    let content = &mut Read::take(&mut opened, end - line);
    io::copy(content, &mut hashing).map_err(failed)?;
    let mut written = Vec::new();
    opened.read_to_end(&mut written).map_err(failed)?;
    match written == hashing.hash.finalize()[..] {
        true => Ok((line, end)),
        false => Err(changed()),
    }
}

/// Reads the content of a file that [`write_sealed`] wrote.
///
/// # Errors
/// When it cannot be read, is of another form, or was changed.
pub fn read_sealed(file: &Path, form: Form) -> Result<Vec<u8>, RunError> {
    let mut bytes = fs::read(file).map_err(|source| RunError::Read {
        file: file.to_owned(),
        source,
    })?;
    let first = form.first_line();
    if !bytes.starts_with(first.as_bytes()) {
        return Err(form.other(file, &bytes));
    }
    let end = bytes.len().saturating_sub(HASH).max(first.len());
    let found = Sha256::digest(&bytes[..end]);
    if bytes[end..] != found[..] {
        return Err(RunError::Changed {
            file: file.to_owned(),
        });
    }
    bytes.truncate(end);
    bytes.drain(..first.len());
    Ok(bytes)
}

/// Writes `value` to a sealed file; the same value gives the same bytes.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub fn write_value(file: &Path, form: Form, value: &impl Serialize) -> Result<(), RunError> {
    write_sealed(file, form, |writer| {
        postcard::to_io(value, writer)
            .map(|_| ())
            .map_err(io::Error::other)
    })
}

/// Reads the value that [`write_value`] wrote.
///
/// # Errors
/// When it cannot be read, is of another form, was changed, or holds another kind of value.
pub fn read_value<T: DeserializeOwned>(file: &Path, form: Form) -> Result<T, RunError> {
    decode(&read_sealed(file, form)?).map_err(|problem| foreign(file, &problem))
}

/// Encodes `value` in [postcard](https://postcard.jamesmunns.com): the same value gives the same
/// bytes.
///
/// # Errors
/// None for values whose lists know their lengths.
pub fn encode(value: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(value).map_err(|error| error.to_string())
}

/// Decodes the value in `bytes`, all of which must be used.
///
/// # Errors
/// Bytes that [`encode`] does not write for such a value.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes follow its end", rest.len())),
        Err(postcard::Error::DeserializeUnexpectedEnd) => Err("it ends too early".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes `text`, in TOML, to a sealed file.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub fn write_text(file: &Path, form: Form, text: &str) -> Result<(), RunError> {
    write_atomically(file, seal_text(form, text).as_bytes())
}

/// Returns the text of the file that [`write_text`] writes.
pub fn seal_text(form: Form, text: &str) -> String {
    let hash = hex(&Sha256::digest(text.as_bytes()));
    format!("{}{hash}\n{text}", form.first_words())
}

/// Reads the text that [`write_text`] wrote.
///
/// # Errors
/// When it cannot be read, is of another form, or was changed.
pub fn read_text(file: &Path, form: Form) -> Result<String, RunError> {
    read_text_hashed(file, form).map(|(text, _)| text)
}

/// Reads a text as [`read_text`] does, and returns the SHA-256 of the file, in hex, too.
///
/// # Errors
/// See [`read_text`].
pub fn read_text_hashed(file: &Path, form: Form) -> Result<(String, String), RunError> {
    let bytes = fs::read(file).map_err(|source| RunError::Read {
        file: file.to_owned(),
        source,
    })?;
    let changed = || RunError::Changed {
        file: file.to_owned(),
    };
    let rest = bytes
        .strip_prefix(form.first_words().as_bytes())
        .ok_or_else(|| form.other(file, &bytes))?;
    let (written, rest) = rest.split_at_checked(2 * HASH).ok_or_else(changed)?;
    let text = rest.strip_prefix(b"\n").ok_or_else(changed)?;
    if hex(&Sha256::digest(text)).as_bytes() != written {
        return Err(changed());
    }
    let text = String::from_utf8(text.to_vec()).map_err(|_| changed())?;
    Ok((text, hex(&Sha256::digest(&bytes))))
}

/// The text between the other members of an object and the hash of all text before.
const SEAL: &str = ",\n  \"seal\": \"";

/// Writes `object`, whose form in JSON has members, to a sealed file.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub fn write_json(file: &Path, object: &impl Serialize) -> Result<(), RunError> {
    let text = serde_json::to_string_pretty(object).map_err(|error| foreign(file, &error))?;
    let members = text
        .strip_suffix("\n}")
        .ok_or_else(|| foreign(file, &"an object with members is expected"))?;
    let hash = hex(&Sha256::digest(members.as_bytes()));
    write_atomically(file, format!("{members}{SEAL}{hash}\"\n}}\n").as_bytes())
}

/// Reads the object that [`write_json`] wrote.
///
/// # Errors
/// When it cannot be read, was changed, or is another kind of object.
pub fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, RunError> {
    Ok(read_json_hashed(file)?.0)
}

/// Reads the object that [`write_json`] wrote, with the SHA-256 of the whole file, in hex.
///
/// # Errors
/// See [`read_json`].
pub fn read_json_hashed<T: DeserializeOwned>(file: &Path) -> Result<(T, String), RunError> {
    let text = fs::read_to_string(file).map_err(|source| RunError::Read {
        file: file.to_owned(),
        source,
    })?;
    let (members, seal) = text
        .rsplit_once(SEAL)
        .ok_or_else(|| foreign(file, &"it has no seal"))?;
    let hash = hex(&Sha256::digest(members.as_bytes()));
    if seal.strip_suffix("\"\n}\n") != Some(&hash) {
        return Err(RunError::Changed {
            file: file.to_owned(),
        });
    }
    let object = serde_json::from_str(&text).map_err(|error| foreign(file, &error))?;
    Ok((object, hex(&Sha256::digest(text.as_bytes()))))
}

/// A writer that hashes what it writes.
struct Hashing<'a, W> {
    writer: &'a mut W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form {
        kind: "test model",
        version: "7",
    };

    type Write = fn(&Path) -> Result<(), RunError>;
    type Read = fn(&Path) -> Result<String, RunError>;

    #[derive(Serialize, serde::Deserialize)]
    struct Object {
        held: String,
    }

    /// All forms of sealed files, with a content of the same meaning.
    const WAYS: [(Write, Read); 3] = [
        (
            |file| write_value(file, FORM, &"rows"),
            |file| read_value(file, FORM),
        ),
        (
            |file| write_text(file, FORM, "rows"),
            |file| read_text(file, FORM),
        ),
        (
            |file| {
                let held = "rows".to_owned();
                write_json(file, &Object { held })
            },
            |file| Ok(read_json::<Object>(file)?.held),
        ),
    ];

    #[test]
    fn every_changed_bit_and_every_cut_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (write, read) in WAYS {
            write(&file).unwrap();
            assert_eq!(read(&file).unwrap(), "rows");
            let bytes = fs::read(&file).unwrap();
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut changed = bytes.clone();
                    changed[at] ^= 1 << bit;
                    fs::write(&file, changed).unwrap();
                    assert!(read(&file).is_err(), "byte {at}, bit {bit}");
                }
                fs::write(&file, &bytes[..at]).unwrap();
                assert!(read(&file).is_err(), "cut at {at}");
            }
            let mut longer = bytes.clone();
            longer.push(0);
            fs::write(&file, longer).unwrap();
            assert!(read(&file).is_err());
        }
    }

    #[test]
    fn other_kinds_and_versions_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (write, read) in &WAYS[..2] {
            write(&file).unwrap();
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            fs::write(&file, text.replace("model 7", "model 6")).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("of version 6, not 7"), "{error}");
            fs::write(&file, "something else").unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("it is no test model"), "{error}");
        }
    }
}
