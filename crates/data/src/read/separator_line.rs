//! The line `sep=;` at the beginning of a text, by which spreadsheets are told what separates its
//! fields. It is no record, and what it says goes before what a schema says.

use std::io::{self, Cursor, Read};

/// The beginning of the line, in any case.
const SAYS: &[u8] = b"sep=";
/// The length of the longest such line: with quotes around it, and both characters that end it.
const LONGEST: usize = SAYS.len() + 5;

/// Returns the separator that the first line of `text` says, and the text behind that line; where
/// there is no such line, the whole text.
pub(crate) fn said_separator(
    mut text: Box<dyn Read + Send>,
) -> io::Result<(Option<char>, Box<dyn Read + Send>)> {
    let mut start = Vec::new();
    text.by_ref().take(LONGEST as u64).read_to_end(&mut start)?;
    let (separator, length) = match said(&start) {
        Some((separator, length)) => (Some(separator), length),
        None => (None, 0),
    };
    start.drain(..length);
    Ok((separator, Box::new(Cursor::new(start).chain(text))))
}

/// Returns the separator that the first line of `text` says, if it says one, and the length of the
/// line with its end.
fn said(text: &[u8]) -> Option<(char, usize)> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let line = &text[..end];
    let quoted = line.strip_prefix(b"\"");
    let line = quoted.map_or(Some(line), |line| line.strip_suffix(b"\""))?;
    let (says, separator) = line.split_at_checked(SAYS.len())?;
    let &[separator] = separator else {
        return None;
    };
    let may_separate = separator.is_ascii() && !separator.is_ascii_alphanumeric();
    let is_said = says.eq_ignore_ascii_case(SAYS) && may_separate && separator != b'"';
    let length = match text[end..].starts_with(b"\r\n") {
        true => end + 2,
        false => end + 1,
    };
    is_said.then_some((char::from(separator), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_taken_off_and_nothing_else_is() {
        for (text, separator, rest) in [
            ("sep=;\na;b\n", Some(';'), "a;b\n"),
            ("SEP=,\r\na,b\r\n", Some(','), "a,b\r\n"),
            ("\"sep=;\"\r\na;b\n", Some(';'), "a;b\n"),
            ("sep=\t\ra\tb\r", Some('\t'), "a\tb\r"),
            ("sep=;", None, "sep=;"),
            ("sep=\na\n", None, "sep=\na\n"),
            ("sep=ab\n1\n", None, "sep=ab\n1\n"),
            ("sep=a\n1\n", None, "sep=a\n1\n"),
            ("sep=;;;\n1;2;3\n", None, "sep=;;;\n1;2;3\n"),
            ("\"sep=;\n", None, "\"sep=;\n"),
            ("a,b\nsep=;\n", None, "a,b\nsep=;\n"),
            ("", None, ""),
        ] {
            let whole = Box::new(Cursor::new(text.as_bytes().to_vec()));
            let (found, mut behind) = said_separator(whole).unwrap();
            let mut read = String::new();
            behind.read_to_string(&mut read).unwrap();
            assert_eq!((found, read.as_str()), (separator, rest), "{text:?}");
        }
    }
}
