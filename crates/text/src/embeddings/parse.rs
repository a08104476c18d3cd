//! The text formats of word vectors, parsed on all threads, a block of lines at a time.

use std::io::Read;
use std::path::Path;

use rayon::prelude::*;

use super::table::{EmbeddingError, EmbeddingTable};
use crate::words::WordList;
use probity_data::read::ReadError;

/// The number of bytes of text in memory at a time.
const BLOCK: usize = 1 << 25;
/// The number of lines that one thread parses at a time.
const LINES: usize = 512;

/// The numbers in a header line.
struct Header {
    words: u64,
    width: usize,
}

/// The words and vectors of some lines.
#[derive(Default)]
struct Part {
    text: String,
    lengths: Vec<usize>,
    vectors: Vec<f32>,
}

/// The first bad line of a part: its index in the part, and what is wrong.
type BadLine = (usize, String);

/// The result of the parsing so far.
struct Parsed<'a> {
    file: &'a Path,
    fits: &'a dyn Fn(usize) -> Result<(), EmbeddingError>,
    header: Option<Header>,
    width: Option<usize>,
    text: String,
    ends: Vec<usize>,
    vectors: Vec<f32>,
    /// The number of lines before the current block, and the lines of it that hold no vector.
    lines: u64,
    /// The number of the first empty line after the last vector, if there was one. For a repeated
    /// word's message: the line of word i is i + 1, plus 1 with a header; empty lines are refused
    /// except at the end.
    ended: Option<u64>,
}

/// Parses all of `input`; `fits` refuses a width as soon as it is known.
pub(super) fn parse(
    file: &Path,
    mut input: impl Read,
    fits: &dyn Fn(usize) -> Result<(), EmbeddingError>,
) -> Result<EmbeddingTable, EmbeddingError> {
    let mut parsed = Parsed {
        file,
        fits,
        header: None,
        width: None,
        text: String::new(),
        ends: Vec::new(),
        vectors: Vec::new(),
        lines: 0,
        ended: None,
    };
    let mut block = Vec::new();
    loop {
        let read = input
            .by_ref()
            .take(BLOCK as u64)
            .read_to_end(&mut block)
            .map_err(|source| ReadError::Io {
                file: file.to_owned(),
                source,
            })?;
        let whole = match block.iter().rposition(|&byte| byte == b'\n') {
            _ if read == 0 => block.len(),
            Some(last) => last + 1,
            None => continue,
        };
        parsed.add(&block[..whole])?;
        block.drain(..whole);
        if read == 0 {
            return parsed.finish();
        }
    }
}

impl Parsed<'_> {
    /// Adds a block of whole lines.
    fn add(&mut self, block: &[u8]) -> Result<(), EmbeddingError> {
        let block = block.strip_suffix(b"\n").unwrap_or(block);
        if block.is_empty() && self.lines == 0 {
            return Ok(());
        }
        let mut lines: Vec<&[u8]> = block.split(|&byte| byte == b'\n').collect();
        if block.is_empty() {
            lines.clear();
        }
        if self.lines == 0 {
            self.begin(&mut lines)?;
        }
        self.refuse_gaps(&mut lines)?;
        let Some(width) = self
            .width
            .or_else(|| lines.first().map(|line| columns(line)))
        else {
            return Ok(());
        };
        if self.width.is_none() {
            if width == 0 {
                return Err(self.bad_line(0, "expected a word and its numbers".to_owned()));
            }
            (self.fits)(width)?;
            self.width = Some(width);
        }
        let parts: Vec<Result<Part, BadLine>> = lines
            .par_chunks(LINES)
            .map(|lines| parse_lines(lines, width))
            .collect();
        for (i, part) in parts.into_iter().enumerate() {
            let part = part.map_err(|(line, problem)| self.bad_line(i * LINES + line, problem))?;
            self.vectors.extend(part.vectors);
            for length in part.lengths {
                self.ends.push(self.ends.last().unwrap_or(&0) + length);
            }
            self.text.push_str(&part.text);
        }
        self.lines += lines.len() as u64;
        Ok(())
    }

    /// Removes a byte order mark and a header from the first lines.
    fn begin(&mut self, lines: &mut Vec<&[u8]>) -> Result<(), EmbeddingError> {
        let Some(first) = lines.first_mut() else {
            return Ok(());
        };
        *first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
        if let Some(header) = header(first) {
            (self.fits)(header.width)?;
            self.width = Some(header.width);
            self.header = Some(header);
            self.lines = 1;
            lines.remove(0);
        }
        Ok(())
    }

    /// Refuses empty lines, except after the last vector.
    fn refuse_gaps(&mut self, lines: &mut Vec<&[u8]>) -> Result<(), EmbeddingError> {
        let last = lines.iter().rposition(|line| !line.trim_ascii().is_empty());
        if last.is_some()
            && let Some(line) = self.ended
        {
            return Err(EmbeddingError::Line {
                file: self.file.to_owned(),
                line,
                problem: "the line is empty".to_owned(),
            });
        }
        let kept = last.map_or(0, |last| last + 1);
        if kept < lines.len() && self.ended.is_none() {
            self.ended = Some(self.lines + kept as u64 + 1);
        }
        lines.truncate(kept);
        Ok(())
    }

    fn bad_line(&self, index: usize, problem: String) -> EmbeddingError {
        EmbeddingError::Line {
            file: self.file.to_owned(),
            line: self.lines + index as u64 + 1,
            problem,
        }
    }

    fn finish(self) -> Result<EmbeddingTable, EmbeddingError> {
        let found = self.ends.len() as u64;
        let file = || self.file.to_owned();
        if let Some(header) = self.header.as_ref().filter(|header| header.words != found) {
            return Err(EmbeddingError::Count {
                file: file(),
                said: header.words,
                found,
            });
        }
        let (Some(width), false) = (self.width, self.ends.is_empty()) else {
            return Err(EmbeddingError::Empty { file: file() });
        };
        let words = match WordList::from_text(self.text, self.ends) {
            Ok(words) => words,
            Err(repeated) => {
                let line = |word: usize| word as u64 + 1 + u64::from(self.header.is_some());
                return Err(EmbeddingError::Line {
                    file: file(),
                    line: line(repeated.second),
                    problem: format!("the word of line {} again", line(repeated.first)),
                });
            }
        };
        Ok(EmbeddingTable::with_mean(words, width, self.vectors))
    }
}

/// Parses a line of two whole numbers: how many words and how many columns.
fn header(line: &[u8]) -> Option<Header> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = fields(line);
    let (words, width) = (fields.next()?, fields.next()?);
    let header = Header {
        words: words.parse().ok()?,
        width: width.parse().ok().filter(|&width| width > 0)?,
    };
    fields.next().is_none().then_some(header)
}

/// Counts the numbers after the word of a line, as far as the line is what it should be.
fn columns(line: &[u8]) -> usize {
    let line = std::str::from_utf8(line).unwrap_or_default();
    let numbers = fields(line)
        .skip(1)
        .filter(|field| field.parse::<f32>().is_ok());
    numbers.count()
}

fn fields(line: &str) -> impl DoubleEndedIterator<Item = &str> {
    line.split([' ', '\t', '\r'])
        .filter(|field| !field.is_empty())
}

fn parse_lines(lines: &[&[u8]], width: usize) -> Result<Part, BadLine> {
    // A header may promise more columns than a line has room for: a number takes two bytes, with
    // what separates it.
    let room = lines.iter().map(|line| line.len()).sum::<usize>() / 2;
    let mut part = Part {
        vectors: Vec::with_capacity(lines.len().saturating_mul(width).min(room)),
        ..Part::default()
    };
    for (i, line) in lines.iter().enumerate() {
        let word = parse_line(line, width, &mut part.vectors).map_err(|problem| (i, problem))?;
        part.text.push_str(word);
        part.lengths.push(word.len());
    }
    Ok(part)
}

/// Appends the numbers of a line and returns its word. A word may hold blanks if no part of it
/// after the first looks like a number.
fn parse_line<'a>(line: &'a [u8], width: usize, vectors: &mut Vec<f32>) -> Result<&'a str, String> {
    let line = std::str::from_utf8(line).map_err(|error| {
        format!(
            "not valid UTF-8 from its byte {} on",
            error.valid_up_to() + 1
        )
    })?;
    let line = line.trim_matches([' ', '\t', '\r']);
    let start = vectors.len();
    let mut rest = line;
    for _ in 0..width {
        let Some((before, number)) = rest.rsplit_once([' ', '\t']) else {
            break;
        };
        match number.parse::<f32>() {
            Ok(x) if x.is_finite() => vectors.push(x),
            Ok(_) => return Err(format!("'{number}' is not a finite number")),
            Err(_) if may_be_word(before, width, vectors.len() - start) => break,
            Err(_) => return Err(format!("'{number}' is not a number")),
        }
        rest = before.trim_end_matches([' ', '\t']);
    }
    let found = vectors.len() - start;
    let more = fields(rest)
        .skip(1)
        .filter(|field| field.parse::<f32>().is_ok())
        .count();
    if found != width || more > 0 || rest.is_empty() {
        let found = found + more;
        return Err(format!("{found} numbers where {width} are expected"));
    }
    vectors[start..].reverse();
    Ok(rest)
}

/// Returns whether a field that is no number can belong to the word, because nothing before it is a
/// number: numbers are then missing rather than wrong.
fn may_be_word(before: &str, width: usize, found: usize) -> bool {
    found < width
        && fields(before)
            .skip(1)
            .all(|field| field.parse::<f32>().is_err())
}
