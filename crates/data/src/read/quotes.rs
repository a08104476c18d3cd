//! A watch on the quotes of a text: whether what a quoted field swallowed was meant to be in it.
//!
//! The parser of CSV is lenient: a quote that nothing closes takes all text up to the next quote, or to
//! the end, into its field, and where that is the last field of a row nothing else is wrong with the row.
//! So the text is followed on its way to the parser. A quoted field that goes over lines is *broken*
//! where it is still open at the end of the text, or where more text than blanks stands behind the quote
//! that closes it.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::schema::Format;

/// The places of the broken fields that were met, as far as nobody has taken them: numbers of bytes
/// from the beginning of the text.
#[derive(Debug, Clone, Default)]
pub(super) struct BrokenFields(Arc<Broken>);

#[derive(Debug, Default)]
struct Broken {
    /// The number of places; what is mostly asked is whether there are any.
    count: AtomicU64,
    places: Mutex<Vec<u64>>,
}

impl BrokenFields {
    /// Takes the first broken field before the place `end`; returns whether there is one.
    pub fn take_before(&self, end: u64) -> bool {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        let is_before = places.first().is_some_and(|&place| place < end);
        if is_before {
            places.remove(0);
            self.0.count.fetch_sub(1, Ordering::Release);
        }
        is_before
    }

    fn add(&self, place: u64) {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.push(place);
        self.0.count.fetch_add(1, Ordering::Release);
    }
}

/// Text that is followed while it is read.
pub(super) struct WatchedText<R> {
    text: R,
    marks: Marks,
    state: State,
    /// The number of bytes that were read.
    place: u64,
    broken: BrokenFields,
}

/// The characters that mean something.
struct Marks {
    separator: u8,
    quote: u8,
    escape: Option<u8>,
    comment: Option<u8>,
}

/// The place in a text. `line` is where the field goes on in a second line, if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a record.
    Record,
    /// In a line that is no data.
    Comment,
    /// At the start of a field.
    Field,
    /// In a field without quotes, or behind its quotes.
    Plain,
    /// Within quotes.
    Quoted { line: Option<u64> },
    /// Within quotes, behind the character that escapes.
    Escaped { line: Option<u64> },
    /// Behind a quote within quotes, which closes the field unless another one follows.
    Closed { line: Option<u64> },
    /// Behind blanks behind the quote that closes a field.
    Behind { line: Option<u64> },
}

impl<R: Read> WatchedText<R> {
    /// Returns `text`, which is laid out as `format` says, and the broken fields that will be met in it.
    pub fn new(text: R, format: &Format) -> (WatchedText<R>, BrokenFields) {
        let broken = BrokenFields::default();
        let watched = WatchedText {
            text,
            marks: Marks {
                separator: format.separator as u8,
                quote: format.quote as u8,
                escape: format.escape.map(|c| c as u8),
                comment: format.comment.map(|c| c as u8),
            },
            state: State::Record,
            place: 0,
            broken: broken.clone(),
        };
        (watched, broken)
    }

    /// Follows the next `bytes`.
    fn follow(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else {
            return;
        };
        let is_plain = matches!(self.state, State::Record | State::Field | State::Plain);
        if is_plain && self.marks.comment.is_none() && !bytes.contains(&self.marks.quote) {
            // Nearly all text is such.
            self.state = self.unquoted(last);
        } else {
            for (at, &byte) in (self.place..).zip(bytes) {
                self.state = self.next(byte, at);
            }
        }
        self.place += bytes.len() as u64;
    }

    /// Returns the state behind `byte`, outside of quotes.
    fn unquoted(&self, byte: u8) -> State {
        match byte {
            b'\n' | b'\r' => State::Record,
            _ if byte == self.marks.separator => State::Field,
            _ => State::Plain,
        }
    }

    /// Returns the state behind `byte`, which stands at the place `at`.
    fn next(&self, byte: u8, at: u64) -> State {
        let marks = &self.marks;
        match self.state {
            State::Comment if matches!(byte, b'\n' | b'\r') => State::Record,
            State::Comment => State::Comment,
            State::Record if marks.comment == Some(byte) => State::Comment,
            State::Record | State::Field if byte == marks.quote => State::Quoted { line: None },
            State::Record | State::Field | State::Plain => self.unquoted(byte),
            State::Escaped { line } => State::Quoted { line },
            State::Quoted { line } if marks.escape == Some(byte) => State::Escaped { line },
            State::Quoted { line } if byte == marks.quote => State::Closed { line },
            State::Quoted { line: None } if byte == b'\n' => State::Quoted { line: Some(at) },
            State::Quoted { line } => State::Quoted { line },
            State::Closed { line } if byte == marks.quote => State::Quoted { line },
            State::Closed { line } | State::Behind { line }
                if byte == b' ' && marks.separator != b' ' =>
            {
                State::Behind { line }
            }
            State::Closed { line } | State::Behind { line } => {
                let state = self.unquoted(byte);
                if let (State::Plain, Some(line)) = (state, line) {
                    self.broken.add(line);
                }
                state
            }
        }
    }

    /// Takes note of the end of the text.
    fn end(&mut self) {
        if let State::Quoted { line: Some(line) } | State::Escaped { line: Some(line) } = self.state
            // A last line end within the quotes swallows nothing.
            && line + 1 < self.place
        {
            self.broken.add(line);
        }
        self.state = State::Record;
    }
}

impl<R: Read> Read for WatchedText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        match count {
            0 if !buffer.is_empty() => self.end(),
            _ => self.follow(&buffer[..count]),
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the broken fields of `text`, read `piece` bytes at a time.
    fn broken(text: &str, format: &Format, piece: usize) -> Vec<u64> {
        let (mut watched, broken) = WatchedText::new(text.as_bytes(), format);
        let mut buffer = vec![0; piece];
        while watched.read(&mut buffer).unwrap() > 0 {}
        let places = broken.0.places.lock().unwrap();
        places.clone()
    }

    #[test]
    fn quoted_fields_that_swallow_lines_are_found() {
        let plain = Format::default();
        let escaped = Format {
            escape: Some('\\'),
            ..Format::default()
        };
        let commented = Format {
            comment: Some('#'),
            ..Format::default()
        };
        for (text, format, expected) in [
            // Open up to the end, or to the next quote.
            ("a,b\n1,\"x\n2,y\n3,z\n", &plain, vec![8]),
            ("a,b\n1,\"x\n2,\"y\"\n3,\"z\"\n", &plain, vec![8]),
            ("1,\"x\n2,\"y\"\n3,\"x\n4,\"y\"\n", &plain, vec![4, 15]),
            // What is meant: lines, quotes and blanks in quoted fields, and no more behind them.
            ("1,\"x\ny\"\n2,\"\"\"a\"\"\n b\" ,3\n", &plain, vec![]),
            ("1,\"x\n\"\n\"y\n\",2\r\n", &plain, vec![]),
            // Nothing is swallowed.
            ("1,\"x", &plain, vec![]),
            ("1,\"x\n", &plain, vec![]),
            ("1,5\" nail\n2,6\" nail\n", &plain, vec![]),
            ("1,\"the \"boss\"\n2,y\n", &plain, vec![]),
            // Marks of the format.
            ("1,\"a \\\"b\n\\\" c\"\n", &escaped, vec![]),
            ("1,\"a\\\"\n2,b\n", &escaped, vec![6]),
            ("# \"open\n1,2\n", &commented, vec![]),
            ("# \"open\n1,2\n", &plain, vec![]),
        ] {
            for piece in [1, 3, 100] {
                assert_eq!(broken(text, format, piece), expected, "{text:?}, {piece}");
            }
        }
    }
}
