//! Reading of the word lists that are embedded in the program.

use std::io::{self, Cursor, Read};

use probity_data::compressed;

/// Decompresses the text in `bytes`, which is compressed with xz.
pub(super) fn text(bytes: &'static [u8]) -> io::Result<String> {
    let mut text = String::new();
    compressed::decompress(Cursor::new(bytes))?.read_to_string(&mut text)?;
    Ok(text)
}

/// Passes each word of sorted `lines`, with what follows its tab, to `each`. A line begins with a
/// letter that says how many bytes of the word before it the word shares: `a` none, `b` one.
pub(super) fn words<'a>(lines: impl Iterator<Item = &'a str>, mut each: impl FnMut(&str, &'a str)) {
    let mut word = String::new();
    for line in lines {
        let Some((front, rest)) = line.split_once('\t') else {
            continue;
        };
        let shared = front.bytes().next().unwrap_or(b'a').saturating_sub(b'a');
        word.truncate(shared.into());
        word.push_str(front.get(1..).unwrap_or_default());
        each(&word, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_grow_on_the_words_before_them() {
        let mut found = Vec::new();
        words(
            ["acat\tx", "dnip\ty", "dtle\tz", "adog\t"].into_iter(),
            |word, rest| {
                found.push(format!("{word} {rest}"));
            },
        );
        assert_eq!(found, ["cat x", "catnip y", "cattle z", "dog "]);
    }

    #[test]
    fn what_is_not_compressed_is_text_as_it_is() {
        assert_eq!(text(b"plain").unwrap(), "plain");
        assert!(text(b"\xfd7zXZ\0broken").is_err());
    }
}
