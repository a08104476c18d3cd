//! Detection of a backslash before quotes within quoted fields, where Spark and MySQL write it
//! rather than two quotes.

use std::io::{self, Read};

/// The character that is looked for.
const BACKSLASH: u8 = b'\\';

/// Returns whether a backslash escapes the quotes within quoted fields of `text`: read with it,
/// every quote that closes a field stands at its end, and without it one does not.
pub(super) fn is_escaped(
    mut text: impl Read,
    quote: char,
    separators: &[char],
) -> io::Result<bool> {
    let [mut plain, mut escaped] = [None, Some(BACKSLASH)].map(|escape| Fields {
        quote: quote as u8,
        escape,
        separators,
        state: State::Start,
        broken: false,
    });
    let mut buffer = vec![0; 1 << 16];
    loop {
        let bytes = match text.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => &buffer[..length],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.iter().for_each(|&byte| plain.look(byte));
        bytes.iter().for_each(|&byte| escaped.look(byte));
        if escaped.broken {
            return Ok(false);
        }
    }
    let is_open = matches!(escaped.state, State::Quoted | State::Escaped);
    Ok(plain.broken && !is_open)
}

/// The fields of a text, byte by byte.
struct Fields<'s> {
    quote: u8,
    escape: Option<u8>,
    separators: &'s [char],
    state: State,
    /// Whether a field went on behind the quote that closed it.
    broken: bool,
}

/// The place in a text.
#[derive(Clone, Copy)]
enum State {
    /// At the start of a field.
    Start,
    /// In a field without quotes, or behind its quotes.
    Plain,
    /// Within quotes.
    Quoted,
    /// Within quotes, behind the character that escapes.
    Escaped,
    /// Behind a quote within quotes, which closes the field unless another one follows.
    Closed,
}

impl Fields<'_> {
    fn look(&mut self, byte: u8) {
        let is_end =
            || matches!(byte, b'\n' | b'\r') || self.separators.contains(&char::from(byte));
        self.state = match self.state {
            State::Escaped => State::Quoted,
            State::Quoted if self.escape == Some(byte) => State::Escaped,
            State::Quoted if byte == self.quote => State::Closed,
            State::Quoted => State::Quoted,
            State::Start | State::Closed if byte == self.quote => State::Quoted,
            _ if is_end() => State::Start,
            State::Closed if byte == b' ' => State::Closed,
            State::Closed => {
                self.broken = true;
                State::Plain
            }
            State::Start | State::Plain => State::Plain,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_is_found_where_quotes_fit_with_it_alone() {
        for (text, expected) in [
            (r#""the \"boss\", retired",1"#, true),
            (r#""\"boss\"",1"#, true),
            ("\"5\\\"\",1\n\"the \\\"boss\\\"\",2\n", true),
            (r#""a \\ b";"\"x\"""#, true),
            // Two quotes, a folder, and what is no quote.
            (r#""the ""boss"", retired",1"#, false),
            (r#""C:\","x",1"#, false),
            (r#"the \"boss\",1"#, false),
            (r#""a",1"#, false),
            // Both fit badly.
            ("\"the \\\"boss\\\"\",1\n\"the \"boss\"\",2\n", false),
            ("\"the \\\"boss\\\"\",1\n\"C:\\\",2\n", false),
            ("", false),
        ] {
            let found = is_escaped(text.as_bytes(), '"', &[',', ';']).unwrap();
            assert_eq!(found, expected, "{text}");
        }
    }
}
