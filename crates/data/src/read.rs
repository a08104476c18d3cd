//! The one reader of tabular files: CSV (plain, gzip or xz) and Parquet, as records of text cells.
//!
//! The kind of a file is told by its first bytes, not by its name. Rows are streamed; nothing but
//! the current record (or Parquet batch) is held in memory. Everything above this module, schema
//! inference and [`crate::table`], sees [`Records`] only.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use thiserror::Error;

use super::compressed;
use super::schema::Format;

/// Why a file cannot be read as a table.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// There is no record in it.
    #[error("{} holds no rows; expected {expected}", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// What should be there.
        expected: &'static str,
    },
    /// A record has another number of fields than the first one.
    #[error(
        "{}, line {line}: {found} fields where {expected} are expected; check the separator and the quotes",
        file.display()
    )]
    Ragged {
        /// The file.
        file: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// Fields in this record.
        found: usize,
        /// Fields expected.
        expected: usize,
    },
    /// The CSV itself is broken.
    #[error("{}: {problem}", file.display())]
    Csv {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        problem: String,
    },
    /// The Parquet file is broken or of an unsupported type.
    #[error("{} is not a readable Parquet file: {problem}", file.display())]
    Parquet {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        problem: String,
    },
    /// A cell is not UTF-8.
    #[error(
        "{}, {place}, column '{column}': the text is not valid UTF-8; convert the file first",
        file.display()
    )]
    Utf8 {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
    },
    /// A column that is needed is not there.
    #[error("{} has no column '{column}'; its columns are {found}", file.display())]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// Name of the missing column.
        column: String,
        /// The columns there are.
        found: String,
    },
    /// The file has columns that the schema does not describe.
    #[error(
        "{} has the column '{column}', which the schema does not describe; describe it or set format.ignore_other_columns = true",
        file.display()
    )]
    ExtraColumn {
        /// The file.
        file: PathBuf,
        /// Name of the extra column.
        column: String,
    },
    /// Two columns have one name.
    #[error("{} has two columns called '{column}'", file.display())]
    DuplicateColumn {
        /// The file.
        file: PathBuf,
        /// Their name.
        column: String,
    },
    /// A value is not in its domain.
    #[error(
        "{}, {place}, column '{column}': '{value}' is not {expected}; correct the value, widen the domain, or set outside = \"level\", \"clip\" or \"skip\"",
        file.display()
    )]
    Value {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
        /// The cell.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// A label is not one of the classes.
    #[error(
        "{}, {place}, label column '{column}': '{value}' is not one of the classes {expected}",
        file.display()
    )]
    Class {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
        /// The cell.
        value: String,
        /// The classes.
        expected: String,
    },
    /// All rows have one label.
    #[error(
        "{}: all {rows} rows have the label '{class}'; a classifier needs at least two classes",
        file.display()
    )]
    OneClass {
        /// The file.
        file: PathBuf,
        /// Number of rows.
        rows: usize,
        /// The only class.
        class: String,
    },
}

/// Where in a file a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, from 1.
    Line(u64),
    /// A row of a Parquet file, from 1.
    Row(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A stream of records from one file.
pub struct Records {
    file: PathBuf,
    names: Vec<String>,
    source: Source,
}

enum Source {
    Csv {
        reader: Box<csv::Reader<Box<dyn Read + Send>>>,
        record: csv::ByteRecord,
        /// To find a record's line again.
        comment: Option<u8>,
        /// The first record, when it had to be read to learn the number of columns.
        pending: bool,
    },
    Parquet {
        reader: ParquetRecordBatchReader,
        batch: Option<RecordBatch>,
        next_in_batch: usize,
        rows_before: u64,
        cells: Vec<String>,
    },
}

/// One record.
pub struct Record<'a> {
    records: &'a Records,
}

impl Records {
    /// Opens `file`; `format` says how its text is laid out.
    ///
    /// # Errors
    /// When the file cannot be read, is empty, or its header repeats a name.
    pub fn open(file: &Path, format: &Format) -> Result<Records, ReadError> {
        let io_error = |source| ReadError::Io {
            file: file.to_owned(),
            source,
        };
        let mut input = BufReader::with_capacity(1 << 16, File::open(file).map_err(io_error)?);
        let start = input.fill_buf().map_err(io_error)?;
        let records = if start.starts_with(b"PAR1") {
            Self::open_parquet(file)?
        } else {
            let text = compressed::decompress(input).map_err(io_error)?;
            Self::open_csv(file, text, format)?
        };
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = records
            .names
            .iter()
            .find(|name| !seen.insert(name.as_str()))
            && !format.ignore_other_columns
        {
            return Err(ReadError::DuplicateColumn {
                file: file.to_owned(),
                column: twice.clone(),
            });
        }
        Ok(records)
    }

    fn open_csv(
        file: &Path,
        text: Box<dyn Read + Send>,
        format: &Format,
    ) -> Result<Records, ReadError> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(format.separator as u8)
            .quote(format.quote as u8)
            .comment(format.comment.map(|c| c as u8))
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .buffer_capacity(1 << 18)
            .from_reader(text);
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
        let pending = !format.header;
        let names = if format.columns.is_empty() {
            let mut names = Vec::with_capacity(record.len());
            for (i, cell) in record.iter().enumerate() {
                let name = std::str::from_utf8(cell).map_err(|_| ReadError::Utf8 {
                    file: file.to_owned(),
                    place: Place::Line(1),
                    column: (i + 1).to_string(),
                })?;
                let name = if i == 0 {
                    name.trim_start_matches('\u{feff}')
                } else {
                    name
                };
                names.push(name.to_owned());
            }
            names
        } else {
            if record.len() != format.columns.len() {
                return Err(ReadError::Ragged {
                    file: file.to_owned(),
                    line: record.position().map_or(1, csv::Position::line),
                    found: record.len(),
                    expected: format.columns.len(),
                });
            }
            format.columns.clone()
        };
        Ok(Records {
            file: file.to_owned(),
            names,
            source: Source::Csv {
                reader: Box::new(reader),
                record,
                comment: format.comment.map(|c| c as u8),
                pending,
            },
        })
    }

    fn open_parquet(file: &Path) -> Result<Records, ReadError> {
        let opened = File::open(file).map_err(|source| ReadError::Io {
            file: file.to_owned(),
            source,
        })?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(opened)
            .map_err(|error| parquet_error(file, &error))?;
        let names: Vec<String> = builder
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let reader = builder
            .with_batch_size(4096)
            .build()
            .map_err(|error| parquet_error(file, &error))?;
        Ok(Records {
            file: file.to_owned(),
            source: Source::Parquet {
                reader,
                batch: None,
                next_in_batch: 0,
                rows_before: 0,
                cells: vec![String::new(); names.len()],
            },
            names,
        })
    }

    /// The column names in file order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Position of the column `name`, if there is one.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|have| have == name)
    }

    /// The file that is read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// When the file is broken at this place.
    pub fn advance(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        match &mut self.source {
            Source::Csv {
                reader,
                record,
                pending,
                ..
            } => {
                let found = std::mem::take(pending)
                    || reader
                        .read_byte_record(record)
                        .map_err(|error| csv_error(&self.file, error))?;
                if !found {
                    return Ok(None);
                }
            }
            Source::Parquet {
                reader,
                batch,
                next_in_batch,
                rows_before,
                cells,
            } => {
                while batch
                    .as_ref()
                    .is_none_or(|batch| *next_in_batch >= batch.num_rows())
                {
                    *rows_before += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
                    *next_in_batch = 0;
                    match reader.next() {
                        None => return Ok(None),
                        Some(Ok(next)) => *batch = Some(next),
                        Some(Err(error)) => return Err(parquet_error(&self.file, &error)),
                    }
                }
                if let Some(batch) = batch {
                    let options = FormatOptions::default();
                    for (cell, column) in cells.iter_mut().zip(batch.columns()) {
                        cell.clear();
                        if column.is_null(*next_in_batch) {
                            continue;
                        }
                        ArrayFormatter::try_new(column, &options)
                            .and_then(|formatter| {
                                use std::fmt::Write;
                                write!(cell, "{}", formatter.value(*next_in_batch))
                                    .map_err(|_| arrow_format_error())
                            })
                            .map_err(|error| parquet_error(&self.file, &error))?;
                    }
                }
                *next_in_batch += 1;
            }
        }
        if self.fields() != self.names.len() {
            return Err(ReadError::Ragged {
                file: self.file.clone(),
                line: self.line(),
                found: self.fields(),
                expected: self.names.len(),
            });
        }
        Ok(Some(Record { records: self }))
    }
}

impl Records {
    /// Fields of the current CSV record.
    fn fields(&self) -> usize {
        match &self.source {
            Source::Csv { record, .. } => record.len(),
            Source::Parquet { .. } => self.names.len(),
        }
    }

    /// The line on which the current CSV record begins. The parser's own count is taken before it
    /// skips empty lines and comments, so they are skipped again here.
    fn line(&self) -> u64 {
        let Source::Csv {
            record, comment, ..
        } = &self.source
        else {
            return 0;
        };
        let Some(position) = record.position() else {
            return 0;
        };
        self.count_lines(position.byte(), *comment)
            .unwrap_or(position.line())
    }

    /// Lines before the first one at or after byte `offset` that is neither empty nor a comment,
    /// plus one.
    fn count_lines(&self, offset: u64, comment: Option<u8>) -> io::Result<u64> {
        let mut text = BufReader::new(compressed::open(&self.file)?);
        let mut lines = 0;
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
}

impl<'a> Record<'a> {
    /// The trimmed text of the column at `position`.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn cell(&self, position: usize) -> Result<&'a str, ReadError> {
        match &self.records.source {
            Source::Csv { record, .. } => {
                std::str::from_utf8(record.get(position).unwrap_or_default()).map_err(|_| {
                    ReadError::Utf8 {
                        file: self.records.file.clone(),
                        place: self.place(),
                        column: self.records.names[position].clone(),
                    }
                })
            }
            Source::Parquet { cells, .. } => Ok(cells.get(position).map_or("", |cell| cell.trim())),
        }
    }

    /// The name of the column at `position`; empty if there is none.
    pub fn column(&self, position: usize) -> &'a str {
        self.records.names.get(position).map_or("", String::as_str)
    }

    /// Where the record stands. Made for error messages: a line number costs a pass over the file
    /// up to there.
    pub fn place(&self) -> Place {
        match &self.records.source {
            Source::Csv { .. } => Place::Line(self.records.line()),
            Source::Parquet {
                next_in_batch,
                rows_before,
                ..
            } => Place::Row(rows_before + *next_in_batch as u64),
        }
    }
}

fn csv_error(file: &Path, error: csv::Error) -> ReadError {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => ReadError::Io {
            file: file.to_owned(),
            source,
        },
        kind => ReadError::Csv {
            file: file.to_owned(),
            problem: format!("{kind:?}"),
        },
    }
}

fn parquet_error(file: &Path, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Parquet {
        file: file.to_owned(),
        problem: error.to_string(),
    }
}

fn arrow_format_error() -> arrow_schema::ArrowError {
    arrow_schema::ArrowError::InvalidArgumentError("a value has no text form".into())
}
