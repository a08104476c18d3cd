//! Records of a text file: CSV or JSON, plain or compressed, in UTF-8 or another encoding.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::error::ReadError;
use super::foreign::foreign;
use super::json::as_csv;
use super::place::Place;
use super::quotes::{BrokenFields, WatchedText};
use super::records::builder;
use super::separator_line::said_separator;
use super::title::Title;
use crate::compressed;
use crate::encoding::decoded;
use crate::schema::Format;
use crate::unicode::trimmed;

/// The number of records by which a field is found that the header does not name.
const FIRST: usize = 100;

/// The fewest records whose first fields are names of rows because all of them differ.
const FEWEST_NAMED: usize = 20;

/// Separators that stand within values, too, where these are not quoted: in numbers, sentences,
/// points in time. A field more may come of one.
const WITHIN_VALUES: [char; 2] = [',', ' '];

/// The number of bytes at the beginning of a file by which another form is told, and in which a title is
/// looked for.
const BEGINNING: u64 = 1 << 16;

/// The most characters of a title, and the most names of columns, that a message shows.
const SHOWN: (usize, usize) = (60, 3);

/// The field that a header has no name for, where all records have one field more than it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// The first field, as where R writes the names of rows.
    First,
    /// An empty field at the end, as where a separator ends every record.
    Last,
}

impl Unnamed {
    /// Finds the field that a header of `names` names lacks in the first `records` of a file, whose
    /// fields are separated by `separator`. Names of rows differ; where both the first and the last
    /// field may be it, as where R leaves the cells of the last column empty, nothing tells.
    fn find(names: usize, records: &[csv::ByteRecord], separator: char) -> Option<Unnamed> {
        let is_longer = |record: &csv::ByteRecord| record.len() == names + 1;
        if names < 2 || records.is_empty() || !records.iter().all(is_longer) {
            return None;
        }
        let mut seen = HashSet::new();
        let mut first = records.iter().filter_map(|record| record.get(0));
        let may_be_names =
            first.all(|name| !name.is_empty() && !has_decimals(name) && seen.insert(name));
        let is_ended = |record: &csv::ByteRecord| record.get(names).is_some_and(<[u8]>::is_empty);
        let are_few = records.len() < FEWEST_NAMED;
        match records.iter().all(is_ended) {
            // A few values differ by chance, but seldom as the first whole numbers do.
            true if may_be_names && (!are_few || is_count(records)) => None,
            true => Some(Unnamed::Last),
            false if WITHIN_VALUES.contains(&separator) || are_few => None,
            false => may_be_names.then_some(Unnamed::First),
        }
    }
}

/// Returns whether `name` is a number with decimals, which no name of a row is.
fn has_decimals(name: &[u8]) -> bool {
    let is_number = |name: &str| name.replace(',', ".").parse::<f64>().is_ok();
    let has_mark = name.iter().any(|byte| matches!(byte, b'.' | b','));
    has_mark && std::str::from_utf8(name).is_ok_and(is_number)
}

/// Returns whether the first fields of `records` are 1, 2, 3 and so on.
fn is_count(records: &[csv::ByteRecord]) -> bool {
    let mut numbered = (1..).zip(records);
    numbered
        .all(|(number, record): (usize, _)| record.get(0) == Some(number.to_string().as_bytes()))
}

/// Returns whether a text that begins with `records`, and is laid out as `format` says, has names of
/// rows that its header has no column for.
pub(crate) fn has_row_names(records: &[csv::ByteRecord], format: &Format) -> bool {
    let (names, rows) = match (format.columns.len(), records.split_first()) {
        (_, None) => return false,
        (0, Some((header, rows))) => (header.len(), rows),
        (columns, Some((_, rows))) => (columns, rows),
    };
    let rows = &rows[..rows.len().min(FIRST)];
    format.header && Unnamed::find(names, rows, format.separator) == Some(Unnamed::First)
}

/// The fields of a record. Whether they are UTF-8 is found once a record rather than cell by cell;
/// one that is not may still be read as far as the cells that are asked for are.
enum Fields {
    Text(csv::StringRecord),
    Bytes(csv::ByteRecord),
}

impl From<csv::ByteRecord> for Fields {
    fn from(record: csv::ByteRecord) -> Fields {
        match csv::StringRecord::from_byte_record(record) {
            Ok(record) => Fields::Text(record),
            Err(error) => Fields::Bytes(error.into_byte_record()),
        }
    }
}

impl From<Fields> for csv::ByteRecord {
    fn from(fields: Fields) -> csv::ByteRecord {
        match fields {
            Fields::Text(record) => record.into_byte_record(),
            Fields::Bytes(record) => record,
        }
    }
}

/// The records of a text file, one at a time.
pub(super) struct TextRecords {
    reader: Box<csv::Reader<Box<dyn Read + Send>>>,
    record: Option<Fields>,
    /// The layout by which the text is read, kept to find a record's line again.
    layout: Format,
    /// Whether the file is JSON, whose lines are not those of the text that is read.
    is_json: bool,
    /// The records that were read to learn the columns, and are yet to be handed out.
    ahead: VecDeque<csv::ByteRecord>,
    unnamed: Option<Unnamed>,
    /// The broken fields that are yet to come.
    broken: BrokenFields,
    /// Whether the current record holds a broken field.
    is_broken: bool,
}

impl TextRecords {
    /// Reads the first record of `text`; also the names of the columns.
    pub(super) fn open(
        file: &Path,
        text: Box<dyn Read + Send>,
        format: &Format,
    ) -> Result<(TextRecords, Vec<String>), ReadError> {
        let failed = |source| ReadError::io(file, source);
        let mut text = decoded(text, format.encoding).map_err(failed)?;
        let mut start = Vec::new();
        let mut beginning = text.by_ref().take(BEGINNING);
        beginning.read_to_end(&mut start).map_err(failed)?;
        if let Some(what) = foreign(&start) {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        let text = Box::new(Cursor::new(start).chain(text));
        let (said, text) = said_separator(text).map_err(failed)?;
        let decimal = format.number_form().decimal;
        let as_csv = as_csv(text, (format.ignore_other_columns, decimal));
        let (text, is_json) = as_csv.map_err(failed)?;
        let layout = match is_json {
            true => Format {
                columns: format.columns.clone(),
                ..Format::default()
            },
            false => Format {
                separator: said.unwrap_or(format.separator),
                ..format.clone()
            },
        };
        let (text, broken) = WatchedText::new(text, &layout);
        let text: Box<dyn Read + Send> = Box::new(text);
        let mut reader = builder(&layout).buffer_capacity(1 << 18).from_reader(text);
        let mut record = csv::ByteRecord::new();
        let found = reader
            .read_byte_record(&mut record)
            .map_err(|error| csv_error(file, error))?;
        if !found {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "a table",
            });
        }
        let names = if format.columns.is_empty() {
            header(file, &record)?
        } else if record.len() == format.columns.len() {
            format.columns.clone()
        } else {
            return Err(ReadError::Ragged {
                file: file.to_owned(),
                place: Place::Line(
                    record.position().map_or(1, csv::Position::line) + u64::from(said.is_some()),
                ),
                found: record.len(),
                expected: format.columns.len(),
            });
        };
        let mut ahead = Vec::new();
        if !layout.header {
            ahead.push(record);
        }
        while layout.header && !layout.row_names && ahead.len() < FIRST {
            let mut next = csv::ByteRecord::new();
            let found = reader
                .read_byte_record(&mut next)
                .map_err(|error| csv_error(file, error))?;
            let is_longer = next.len() > names.len();
            ahead.extend(found.then_some(next));
            if !is_longer {
                break;
            }
        }
        let unnamed = match (layout.row_names, layout.header) {
            (true, _) => Some(Unnamed::First),
            (false, true) => Unnamed::find(names.len(), &ahead, layout.separator)
                .filter(|found| *found == Unnamed::Last),
            (false, false) => None,
        };
        let records = TextRecords {
            reader: Box::new(reader),
            record: None,
            layout,
            is_json,
            ahead: ahead.into(),
            unnamed,
            broken,
            is_broken: false,
        };
        Ok((records, names))
    }

    /// Goes to the next record, and returns the number of its fields, or `None` at the end.
    pub(super) fn advance(&mut self, file: &Path) -> Result<Option<usize>, ReadError> {
        // Taken and put back, so that its memory serves all records.
        let mut record = self.record.take().map_or_else(Default::default, Into::into);
        let found = match self.ahead.pop_front() {
            Some(first) => {
                record = first;
                true
            }
            None => self
                .reader
                .read_byte_record(&mut record)
                .map_err(|error| csv_error(file, error))?,
        };
        let fields = record.len();
        self.record = Some(record.into());
        let next = self.ahead.front().and_then(csv::ByteRecord::position);
        let end = next.unwrap_or(self.reader.position()).byte();
        self.is_broken = found && self.broken.take_before(end);
        Ok(found.then_some(fields))
    }

    /// Returns whether a quoted field of the current record goes over lines and is broken, so that it
    /// may hold other records.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns the field that the header does not name, if there is one.
    pub(super) fn unnamed(&self) -> Option<Unnamed> {
        self.unnamed
    }

    /// Returns the number of fields that the current record must have under a header of `names`
    /// names.
    pub(super) fn expected(&self, names: usize) -> usize {
        let is_last_blank = || match &self.record {
            Some(Fields::Text(record)) => record.iter().next_back().is_some_and(str::is_empty),
            Some(Fields::Bytes(record)) => record.iter().next_back().is_some_and(<[u8]>::is_empty),
            None => false,
        };
        match self.unnamed {
            None => names,
            Some(Unnamed::First) => names + 1,
            Some(Unnamed::Last) => names + usize::from(is_last_blank()),
        }
    }

    /// Returns whether the current record goes over several lines.
    pub(super) fn is_over_lines(&self) -> bool {
        let has_end = |cell: &[u8]| cell.contains(&b'\n');
        match &self.record {
            Some(Fields::Text(record)) => record.iter().any(|cell| has_end(cell.as_bytes())),
            Some(Fields::Bytes(record)) => record.iter().any(has_end),
            None => false,
        }
    }

    /// Returns the text of a cell, trimmed; `None` if it is not UTF-8.
    #[inline]
    pub(super) fn cell(&self, position: usize) -> Option<&str> {
        let position = position + usize::from(self.unnamed == Some(Unnamed::First));
        match self.record.as_ref()? {
            Fields::Text(record) => Some(trimmed(record.get(position).unwrap_or_default())),
            Fields::Bytes(record) => {
                let cell = std::str::from_utf8(record.get(position).unwrap_or_default());
                cell.ok().map(trimmed)
            }
        }
    }

    /// Returns whether the current record repeats the names of the columns.
    pub(super) fn repeats(&self, names: &[String]) -> bool {
        let mut named = names.iter().enumerate();
        // In a file of one column the name may be a value, and so may names that are numbers: those that
        // programs give to columns without any.
        names.len() > 1
            && named.all(|(place, name)| self.cell(place) == Some(name))
            && names.iter().any(|name| name.parse::<f64>().is_err())
    }

    /// Returns whether the file is JSON, whose rows are counted rather than their lines.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns the line on which the current record begins.
    pub(super) fn line(&self, file: &Path) -> u64 {
        let position = match &self.record {
            Some(Fields::Text(record)) => record.position(),
            Some(Fields::Bytes(record)) => record.position(),
            None => None,
        };
        position.map_or(0, |position| self.line_at(file, position))
    }

    /// Returns the line of the record at `position`. The parser's own count is taken before it skips
    /// empty lines and comments, so they are skipped again here.
    fn line_at(&self, file: &Path, position: &csv::Position) -> u64 {
        count_lines(file, &self.layout, position.byte()).unwrap_or(position.line())
    }

    /// Returns what to do where a title seems to stand above the names of the columns, if one does. The
    /// file is opened again: only errors ask.
    pub(super) fn title_hint(&self, file: &Path) -> Option<String> {
        if self.is_json || !self.layout.columns.is_empty() || !file.is_file() {
            return None;
        }
        let mut start = Vec::new();
        let text = decoded(compressed::open(file).ok()?, self.layout.encoding).ok()?;
        let (_, text) = said_separator(text).ok()?;
        text.take(BEGINNING).read_to_end(&mut start).ok()?;
        let Title { first, names } = Title::find(&start, &self.layout)?;
        let [above, line] = [&first, &names].map(|record| {
            let position = record.position();
            position.map_or(1, |position| self.line_at(file, position))
        });
        let mut first = first.iter().filter(|field| !field.is_empty());
        let title = String::from_utf8_lossy(first.next().unwrap_or_default());
        let title: String = title.chars().take(SHOWN.0).collect();
        let named = names.iter().take(SHOWN.1);
        let named: Vec<_> = named.map(String::from_utf8_lossy).collect();
        let more = if names.len() > SHOWN.1 { ", …" } else { "" };
        Some(format!(
            "; line {above}, '{title}', may be a title, and line {line} name the columns ({}{more}): remove the lines above line {line}",
            named.join(", ")
        ))
    }
}

/// Returns the names in the first record.
fn header(file: &Path, record: &csv::ByteRecord) -> Result<Vec<String>, ReadError> {
    let mut names = Vec::with_capacity(record.len());
    for (i, cell) in record.iter().enumerate() {
        let name = std::str::from_utf8(cell).map_err(|_| ReadError::Utf8 {
            file: file.to_owned(),
            place: Place::Line(1),
            column: (i + 1).to_string(),
        })?;
        names.push(trimmed(name).to_owned());
    }
    Ok(names)
}

/// Returns the number of lines before the first one at or after byte `offset` that is neither empty
/// nor a comment, plus one. The file is opened again: only errors ask.
fn count_lines(file: &Path, layout: &Format, offset: u64) -> io::Result<u64> {
    let comment = layout.comment.map(|c| c as u8);
    let (said, text) = said_separator(decoded(compressed::open(file)?, layout.encoding)?)?;
    let mut text = BufReader::new(text);
    let mut lines = u64::from(said.is_some());
    let mut passed = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = text.read_until(b'\n', &mut line)? as u64;
        let skipped = matches!(line.as_slice(), b"\n" | b"\r\n" | b"\r")
            || comment.is_some_and(|comment| line.first() == Some(&comment));
        passed += length;
        // The parser stops between the two characters of a CRLF.
        if length == 0 || (passed > offset + 1 && !skipped) {
            return Ok(lines + 1);
        }
        lines += 1;
    }
}

fn csv_error(file: &Path, error: csv::Error) -> ReadError {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => ReadError::io(file, source),
        kind => ReadError::Csv {
            file: file.to_owned(),
            problem: format!("{kind:?}"),
        },
    }
}
