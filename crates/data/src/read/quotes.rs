//! A watch on the quotes of a text: whether what a quoted field swallowed was meant to be in it, and
//! whether what stands behind blanks is a quoted field.
//!
//! The parser of CSV is lenient: a quote that nothing closes takes all text up to the next quote, or to
//! the end, into its field, and where that is the last field of a row nothing else is wrong with the row.
//! So the text is followed on its way to the parser. A quoted field that goes over lines is *broken*
//! where it is still open at the end of the text, or where more text than blanks stands behind the quote
//! that closes it.
//!
//! To the parser a quote behind blanks is a character like others, though many programs write
//! `69, "Female", "White, Hispanic"`. Where a field of one line begins with blanks and a quote, and nothing
//! but blanks stands behind the quote that closes it, its first blanks are moved behind that quote, where
//! they are trimmed with the field. So the text stays as long as it was, and places in it are those of
//! the file. Fields such as ` 5" pipe` and ` "a" b` stay what they are. Which of the two a field is can
//! hang on text that is yet to be read, as far as the end of its line; that much is held.

use std::io::{self, Read};
use std::ops::Range;
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
    /// The number of bytes that were followed.
    place: u64,
    broken: BrokenFields,
    /// Text that was read and not handed out yet.
    held: Vec<u8>,
    /// The part of it that was followed and not handed out.
    ready: Range<usize>,
}

/// The characters that mean something.
struct Marks {
    separator: u8,
    quote: u8,
    escape: Option<u8>,
    comment: Option<u8>,
}

/// The kind of a field that begins with blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    /// What follows is to tell.
    Open,
    /// Without quotes.
    Plain,
    /// Quoted behind so many blanks, up to and with the quote at `end - 1`.
    Quoted { blanks: usize, end: usize },
}

impl Marks {
    /// Returns whether `byte` is a blank that may stand beside a field.
    fn is_blank(&self, byte: u8) -> bool {
        let means_more = [Some(self.separator), Some(self.quote), self.comment];
        matches!(byte, b' ' | b'\t') && !means_more.contains(&Some(byte))
    }

    /// Returns the kind of the field that `text` begins with, blanks first; `is_whole` says that no text
    /// follows.
    fn field(&self, text: &[u8], is_whole: bool) -> Field {
        let open = if is_whole { Field::Plain } else { Field::Open };
        let blanks = text.iter().take_while(|&&byte| self.is_blank(byte)).count();
        match text.get(blanks) {
            None => return open,
            Some(&byte) if byte != self.quote => return Field::Plain,
            Some(_) => {}
        }
        let mut at = blanks + 1;
        let end = loop {
            let next = text.get(at + 1).copied();
            match text.get(at).copied() {
                None => return open,
                Some(b'\n' | b'\r') => return Field::Plain,
                Some(byte) if self.escape == Some(byte) => match next {
                    Some(b'\n' | b'\r') => return Field::Plain,
                    _ => at += 2,
                },
                Some(byte) if byte == self.quote && next == Some(byte) => at += 2,
                Some(byte) if byte == self.quote => break at + 1,
                Some(_) => at += 1,
            }
        };
        let behind = text[end..].iter().find(|&&byte| !self.is_blank(byte));
        match behind {
            None if is_whole => Field::Quoted { blanks, end },
            None => Field::Open,
            Some(b'\n' | b'\r') => Field::Quoted { blanks, end },
            Some(&byte) if byte == self.separator => Field::Quoted { blanks, end },
            Some(_) => Field::Plain,
        }
    }
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
            held: Vec::new(),
            ready: 0..0,
        };
        (watched, broken)
    }

    /// Follows the next `bytes`, of which blanks before quoted fields are moved, and returns how many it
    /// followed: up to a field whose kind hangs on what follows; all where they are the last ones.
    fn follow(&mut self, bytes: &mut [u8], are_last: bool) -> usize {
        let is_plain = matches!(self.state, State::Record | State::Field | State::Plain);
        let mut at = 0;
        if is_plain && self.marks.comment.is_none() && !bytes.contains(&self.marks.quote) {
            // Nearly all text is such, but for blanks at its end.
            let last = bytes.iter().rposition(|&byte| !self.marks.is_blank(byte));
            if let Some(last) = last {
                self.state = self.unquoted(bytes[last]);
                at = last + 1;
            }
        }
        while at < bytes.len() {
            at += self.passed(&bytes[at..]);
            if at == bytes.len() {
                break;
            }
            let is_first = matches!(self.state, State::Record | State::Field);
            if is_first && self.marks.is_blank(bytes[at]) {
                match self.marks.field(&bytes[at..], are_last) {
                    Field::Open => break,
                    Field::Plain => {}
                    Field::Quoted { blanks, end } => {
                        bytes[at..at + end].rotate_left(blanks);
                        self.state = State::Behind { line: None };
                        at += end;
                        continue;
                    }
                }
            }
            self.state = self.next(bytes[at], self.place + at as u64);
            at += 1;
        }
        self.place += at as u64;
        at
    }

    /// Reads on until the kind of the field is known that the held text begins with.
    fn read_on(&mut self) -> io::Result<()> {
        while self.ready.is_empty() {
            self.held.drain(..self.ready.end);
            self.ready = 0..0;
            // As much again, so that long fields are not looked through once for each of many pieces.
            let more = self.held.len() as u64;
            let count = self.text.by_ref().take(more).read_to_end(&mut self.held)?;
            let mut held = std::mem::take(&mut self.held);
            self.ready = 0..self.follow(&mut held, (count as u64) < more);
            self.held = held;
        }
        Ok(())
    }

    /// Returns the number of bytes that `bytes` begin with and that leave the state what it is.
    fn passed(&self, bytes: &[u8]) -> usize {
        let Marks {
            separator, quote, ..
        } = self.marks;
        let escape = self.marks.escape.unwrap_or(quote);
        let next = match self.state {
            State::Plain => bytes
                .iter()
                .position(|&byte| byte == separator || matches!(byte, b'\n' | b'\r')),
            State::Quoted { .. } => bytes
                .iter()
                .position(|&byte| byte == quote || byte == escape || byte == b'\n'),
            _ => Some(0),
        };
        next.unwrap_or(bytes.len())
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
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.ready.end == self.held.len() && self.ready.is_empty() {
            let count = self.text.read(buffer)?;
            if count == 0 {
                self.end();
                return Ok(0);
            }
            let followed = self.follow(&mut buffer[..count], false);
            self.held.clear();
            self.held.extend_from_slice(&buffer[followed..count]);
            self.ready = 0..0;
            if followed > 0 {
                return Ok(followed);
            }
        }
        self.read_on()?;
        let count = buffer.len().min(self.ready.len());
        let from = self.ready.start;
        buffer[..count].copy_from_slice(&self.held[from..from + count]);
        self.ready.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::records::builder;

    /// The places of the broken fields of `text`, read `piece` bytes at a time.
    fn broken(text: &str, format: &Format, piece: usize) -> Vec<u64> {
        let (mut watched, broken) = WatchedText::new(text.as_bytes(), format);
        let mut buffer = vec![0; piece];
        while watched.read(&mut buffer).unwrap() > 0 {}
        let places = broken.0.places.lock().unwrap();
        places.clone()
    }

    /// What the parser gets of `text`, read `piece` bytes at a time.
    fn moved(text: &str, format: &Format, piece: usize) -> String {
        let mut watched = WatchedText::new(text.as_bytes(), format).0;
        let (mut read, mut buffer) = (Vec::new(), vec![0; piece]);
        loop {
            match watched.read(&mut buffer).unwrap() {
                0 => return String::from_utf8(read).unwrap(),
                count => read.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// The records of `text`, read `piece` bytes at a time.
    fn records(text: &str, format: &Format, piece: usize) -> Vec<Vec<String>> {
        let read = moved(text, format, piece);
        assert_eq!(read.len(), text.len(), "{text:?}, {piece}");
        let records = builder(format).from_reader(read.as_bytes()).into_records();
        let cells = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
        records.map(|record| cells(record.unwrap())).collect()
    }

    const PIECES: [usize; 6] = [1, 2, 3, 5, 7, 1000];

    #[test]
    fn quotes_behind_blanks_are_quotes() {
        let plain = Format::default();
        let tabs = Format {
            separator: '\t',
            ..Format::default()
        };
        let blanks = Format {
            separator: ' ',
            ..Format::default()
        };
        let escaped = Format {
            escape: Some('\\'),
            ..Format::default()
        };
        let commented = Format {
            comment: Some('#'),
            ..Format::default()
        };
        let long = "x, ".repeat(5000);
        let long_text = format!("1, \"{long}\",2\n");
        for (text, format, expected) in [
            (
                "69, \"Female\", \"White, x\", 28271, 40, \"yes\"\n",
                &plain,
                &[&["69", "Female", "White, x", "28271", "40", "yes"][..]][..],
            ),
            (
                " \"a\",  \"b \"\"c\"\"\"  ,\t\"\"\r\n \"d\" , e,\"f\"",
                &plain,
                &[&["a", "b \"c\"", ""], &["d", "e", "f"]],
            ),
            ("1, \"a\"", &plain, &[&["1", "a"]]),
            ("1, \"a\"  ", &plain, &[&["1", "a"]]),
            (
                "1, \"a,b\" \n\n 2, c",
                &plain,
                &[&["1", "a,b"], &["2", "c"]],
            ),
            (&long_text, &plain, &[&["1", long.trim(), "2"]]),
            // In a field, and in quotes, they are what they are.
            (
                "1, 5\" pipe, \"a\" b,c \"d\", \"e\n",
                &plain,
                &[&["1", "5\" pipe", "\"a\" b", "c \"d\"", "\"e"]],
            ),
            ("\"1, \"\"a\"\"\", \"b\"\n", &plain, &[&["1, \"a\"", "b"]]),
            (
                "\"1\n, \"\"a\"\", \"\"\", \"b\"\n",
                &plain,
                &[&["1\n, \"a\", \"", "b"]],
            ),
            // A field that no quote closes is none in quotes, and another one may be.
            (
                "1, \"a, \"b\"\n2, \"c\nd\", e\n",
                &plain,
                &[&["1", "\"a", "b"], &["2", "\"c"], &["d\"", "e"]],
            ),
            // Marks of the format.
            ("1\t \"a\tb\"\t\"c\"\n", &tabs, &[&["1", "a\tb", "c"]]),
            ("1\t\t\"a\"\n", &tabs, &[&["1", "", "a"]]),
            ("1 \"a b\" c\n", &blanks, &[&["1", "a b", "c"]]),
            (
                "1, \"a\\\", b\"\n2, \"c\\\", d\n",
                &escaped,
                &[&["1", "a\", b"], &["2", "\"c\\\"", "d"]],
            ),
            (
                "# 1, \"a\n1, \"a, b\"\n #, \"c\"\n",
                &commented,
                &[&["1", "a, b"], &["#", "c"]],
            ),
        ] {
            for piece in PIECES {
                assert_eq!(records(text, format, piece), expected, "{text:?}, {piece}");
            }
        }
    }

    /// Returns the texts of up to `length` characters of those that mean something.
    fn short_texts(length: u32) -> impl Iterator<Item = String> {
        let characters = [',', ' ', '"', '\n', 'x'];
        let count = characters.len();
        (0..=length).flat_map(move |length| {
            (0..count.pow(length)).map(move |number| {
                let at = |place: u32| number / count.pow(place) % count;
                (0..length).map(|place| characters[at(place)]).collect()
            })
        })
    }

    #[test]
    fn texts_are_changed_alike_however_they_are_cut() {
        let plain = Format::default();
        for text in short_texts(7) {
            let whole = moved(&text, &plain, 1000);
            for piece in [1, 2, 3] {
                assert_eq!(moved(&text, &plain, piece), whole, "{text:?}, {piece}");
                assert_eq!(broken(&text, &plain, piece), broken(&text, &plain, 1000));
            }
            // Blanks are moved, before quotes, and nothing else.
            assert_eq!(text.len(), whole.len());
            assert!(text.contains(" \"") || text == whole, "{text:?}");
            assert_eq!(text.replace(' ', ""), whole.replace(' ', ""));
            // What was moved stays where it is.
            assert_eq!(moved(&whole, &plain, 1000), whole, "{text:?}");
        }
    }
}
