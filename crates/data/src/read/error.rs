//! The errors of a table, with the place where they are.
//!
//! Every message names the file, the row, the column and the value that are concerned. Record
//! batches have no file: their errors say [`IN_MEMORY`] in its place.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::bad_rows::BadRows;
use super::place::Place;
use crate::number_form::NumberForm;
use crate::unicode::shown;

/// The name of record batches in errors, where others name a file.
pub const IN_MEMORY: &str = "the table of record batches";

/// Returns advice about a `value` that is not what is `expected`: policies for values outside a
/// domain say nothing of cells that hold no such thing at all.
fn advice(value: &str, expected: &str) -> &'static str {
    let is_number = value.trim().parse::<f64>().is_ok_and(f64::is_finite);
    let forms = [('.', ','), (',', '.'), (',', ' ')];
    let is_in = |(decimal, mark)| {
        let thousands = Some(mark);
        NumberForm { decimal, thousands }.number(value).is_some()
    };
    if expected.contains("cannot be clipped") {
        return "set outside = \"level\" or \"skip\" in the schema; for a model that is there, --outside skip leaves such rows out";
    }
    match (value.trim().is_empty(), expected.contains("number")) {
        (false, true) if !is_number && forms.into_iter().any(is_in) => {
            "if that is how its numbers are written, say so by decimal = \",\" and thousands = \".\" (or the other way round) under [format] of the schema"
        }
        (true, _) => {
            "fill it in, or declare missing = \"\" for blank cells and what becomes of them"
        }
        (false, true) if !is_number => "correct the value, or declare it as missing",
        _ => {
            "correct the value; or widen the domain or set outside = \"level\", \"clip\" or \"skip\" in the schema; for a model that is there, --outside skip leaves such rows out"
        }
    }
}

/// Returns what may be so where a row has one field more than the header has names.
fn names_hint(found: usize, expected: usize) -> &'static str {
    match found == expected + 1 {
        true => ", or name the first column, if every row begins with a name, as R writes it",
        false => "",
    }
}

/// Returns what is wrong with a row that goes over several lines.
fn swallowed(found: usize, expected: usize) -> String {
    match found == expected {
        true => "a field that does not end where its quotes do,".to_owned(),
        false => format!("{found} fields where {expected} are expected,"),
    }
}

/// Returns what to write where `value` is blank, or one of `classes` in another spelling: in other
/// letters, or with a full stop; nothing where it is neither.
fn class_hint(value: &str, classes: &str) -> String {
    if value.is_empty() {
        return "; where blanks are missing outcomes, say missing = \"\" under [label] of the schema"
            .to_owned();
    }
    let bare = |word: &str| word.trim().trim_end_matches('.').to_lowercase();
    let meant = classes.split(", ").find(|class| bare(class) == bare(value));
    meant.map_or_else(String::new, |class| {
        format!("; if it is {class}, say so by aliases = {{ \"{value}\" = \"{class}\" }} under [label] of the schema")
    })
}

/// What is wrong with what the columns of an attribute that is spread over them say of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadProblem {
    /// Two say yes.
    Several,
    /// None says yes, and there is no level for that.
    NoneHolds,
    /// Some are missing.
    SomeMissing,
    /// One says neither yes nor no.
    NoAnswer,
}

impl fmt::Display for SpreadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpreadProblem::Several => "more than one says yes",
            SpreadProblem::NoneHolds => "none says yes, and its spread in [format] has no base",
            SpreadProblem::SomeMissing => "some are missing and others are not",
            SpreadProblem::NoAnswer => "one says neither yes nor no",
        })
    }
}

/// The most columns of a spread attribute that a message shows.
const SHOWN: usize = 8;

/// Returns the `cells` by column, and what they may be where one is no answer.
fn answers(cells: &[(String, String)], problem: SpreadProblem) -> String {
    let shown = cells.iter().take(SHOWN);
    let shown = shown.map(|(column, cell)| format!("{column} = '{cell}'"));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if cells.len() > SHOWN {
        text += ", …";
    }
    if problem == SpreadProblem::NoAnswer {
        text += "; expected 1 or 0, true or false, yes or no";
    }
    text
}

/// The most characters of the names of a file's columns that a message shows.
const LONGEST: usize = 600;

/// Returns `text` without what a message has no room for.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the names of the columns of a file in which one is missed, and what may be wrong with them: a
/// `title` above them, if there seems to be one.
pub(super) fn columns_in_words(names: &[String], title: Option<String>) -> String {
    let text = shortened(shown(&names.join(", ")).into_owned());
    let first = names.first().map_or("", String::as_str);
    let hint = if first.starts_with('#') {
        "; if that line is a comment, remove it, or write comment = \"#\" under [format] of the schema; if it names the columns, remove its #"
    } else if let Some(title) = &title {
        title.as_str()
    } else if names.len() == 1 && first.contains([',', ';', '\t', '|']) {
        "; the separator may be another one: say so by separator under [format] of the schema"
    } else {
        ""
    };
    text + hint
}

/// Names the extra `columns` of a file, and says what to do with them.
fn extra(columns: &[String]) -> String {
    let (what, them) = match columns.len() {
        1 => ("column", "it"),
        _ => ("columns", "them"),
    };
    let named: Vec<String> = columns.iter().map(|column| format!("'{column}'")).collect();
    format!(
        "the {what} {}, which the schema does not describe; remove {them}, describe {them}, or set format.ignore_other_columns = true in the schema; for a model that is there, --ignore-other-columns passes over {them}",
        shortened(named.join(", "))
    )
}

/// The reason why a file cannot be read as a table.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file holds no record.
    #[error("{} holds no rows; expected {expected}", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// The expected content.
        expected: &'static str,
    },
    /// A record has another number of fields than the first one.
    #[error(
        "{}, {place}: {found} fields where {expected} are expected; check the separator and the quotes{}",
        file.display(),
        names_hint(*found, *expected)
    )]
    Ragged {
        /// The file.
        file: PathBuf,
        /// The line.
        place: Place,
        /// The number of fields in this record.
        found: usize,
        /// The number of fields expected.
        expected: usize,
    },
    /// A record goes on in the next lines, and has another number of fields, or a quoted field that does
    /// not end where its quotes do.
    #[error(
        "{}, {place}: {} in a row that goes over several lines; a quote may not be closed",
        file.display(),
        swallowed(*found, *expected)
    )]
    OpenQuote {
        /// The file.
        file: PathBuf,
        /// The line.
        place: Place,
        /// The number of fields in this record.
        found: usize,
        /// The number of fields expected.
        expected: usize,
    },
    /// A record repeats the names of the columns.
    #[error(
        "{}, {place}: the row repeats the names of the columns, as where files were put one behind the other",
        file.display()
    )]
    RepeatedHeader {
        /// The file.
        file: PathBuf,
        /// The line.
        place: Place,
    },
    /// The CSV itself is broken.
    #[error("{}: {problem}", file.display())]
    Csv {
        /// The file.
        file: PathBuf,
        /// The error message of the parser.
        problem: String,
    },
    /// The Parquet file is broken.
    #[error("{} is not a readable Parquet file: {problem}", file.display())]
    Parquet {
        /// The file.
        file: PathBuf,
        /// The error message of the parser.
        problem: String,
    },
    /// The Parquet file is compressed in a way that is not read.
    #[error(
        "{} is a Parquet file compressed by {codec}, which is not read; write it anew, in pandas by to_parquet(compression=\"snappy\") or \"zstd\"",
        file.display()
    )]
    Codec {
        /// The file.
        file: PathBuf,
        /// The name of the compression.
        codec: &'static str,
    },
    /// A column is of a type that is not read.
    #[error(
        "{}, column '{column}': values of the type {found} are not read; convert them to text or numbers, or leave the column out",
        file.display()
    )]
    ColumnType {
        /// The file.
        file: PathBuf,
        /// The column name.
        column: String,
        /// The type.
        found: String,
    },
    /// The record batches do not belong together.
    #[error("{}: batch {batch} has other columns than the first", file.display())]
    OtherBatch {
        /// The name of the batches.
        file: PathBuf,
        /// The number of the batch, from 1.
        batch: usize,
    },
    /// A cell is not UTF-8.
    #[error(
        "{}, {place}, column '{column}': the text is not valid UTF-8; say what it is under [format] of the schema, such as encoding = \"windows-1252\", or convert the file first",
        file.display()
    )]
    Utf8 {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
    },
    /// A column that is needed is not there.
    #[error("{} has no column '{column}'; its columns are {found}", file.display())]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The name of the missing column.
        column: String,
        /// The names of the columns.
        found: String,
    },
    /// The file has columns that the schema does not describe.
    #[error("{} has {}", file.display(), extra(columns))]
    ExtraColumns {
        /// The file.
        file: PathBuf,
        /// The names of the extra columns.
        columns: Vec<String>,
    },
    /// Two columns have one name.
    #[error("{} has two columns called '{column}'", file.display())]
    DuplicateColumn {
        /// The file.
        file: PathBuf,
        /// The name that the two columns share.
        column: String,
    },
    /// Two columns have one name, and differ.
    #[error(
        "{}, {place}: two columns are called '{column}', and hold '{}' and '{}'; rename or remove one of them",
        file.display(),
        values[0],
        values[1]
    )]
    UnequalColumns {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The name that the two columns share.
        column: String,
        /// The cells.
        values: [String; 2],
    },
    /// A value is not in its domain.
    #[error(
        "{}, {place}, column '{column}': '{}' is not {expected}; {}",
        file.display(),
        shown(value),
        advice(value, expected)
    )]
    Value {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The cell.
        value: String,
        /// The expected value, in words.
        expected: String,
    },
    /// The columns over which an attribute is spread do not say one level.
    #[error(
        "{}, {place}: of the columns of '{attribute}' {problem}: {}",
        file.display(),
        answers(cells, *problem)
    )]
    Spread {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The attribute.
        attribute: String,
        /// The problem.
        problem: SpreadProblem,
        /// The columns concerned, with their cells.
        cells: Vec<(String, String)>,
    },
    /// A label is not one of the classes.
    #[error(
        "{}, {place}, label column '{column}': '{}' is not one of the classes {expected}{}",
        file.display(),
        shown(value),
        class_hint(value, expected)
    )]
    Class {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The cell.
        value: String,
        /// The classes.
        expected: String,
    },
    /// A label is not a number that 32 bits hold.
    #[error("{}, {place}, label column '{column}': '{value}' is not a finite number", file.display())]
    Target {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The cell.
        value: String,
    },
    /// A row has no label.
    #[error("{}, {place}, label column '{column}': the row has no class; where blanks are missing outcomes, say that '' is missing in '{column}'", file.display())]
    NoClass {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
    },
    /// Something is wrong with one row, which can be left out.
    #[error(
        "{0}; skip_bad_rows, or format.skip_bad_rows = true in the schema, leaves such rows out and counts them"
    )]
    BadRow(Box<ReadError>),
    /// Every row was left out, some because something is wrong with them.
    #[error("{}: no row is left: {bad_rows}", file.display())]
    NoneLeft {
        /// The file.
        file: PathBuf,
        /// The rows that were left out, with the reasons.
        bad_rows: BadRows,
    },
    /// The outcome is missing in every row.
    #[error(
        "{}: the outcome, '{column}', is missing in all {rows} rows that are left",
        file.display()
    )]
    NoOutcome {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
        /// The number of rows.
        rows: u64,
    },
    /// All rows have the same label.
    #[error(
        "{}: all {rows} rows have the label '{class}'; a classifier needs at least two classes",
        file.display()
    )]
    OneClass {
        /// The file.
        file: PathBuf,
        /// The number of rows.
        rows: usize,
        /// The only class.
        class: String,
    },
    /// All rows have the same number.
    #[error(
        "{}: all {rows} rows have the label {number}; a regressor needs at least two numbers",
        file.display()
    )]
    OneNumber {
        /// The file.
        file: PathBuf,
        /// The number of rows.
        rows: usize,
        /// The only number.
        number: f64,
    },
}

impl ReadError {
    /// Returns the error that `file` cannot be read for the reason that `source` gives.
    pub(crate) fn io(file: &Path, source: io::Error) -> ReadError {
        ReadError::Io {
            file: file.to_owned(),
            source,
        }
    }
}

/// An error of reading, of which one row may be the reason.
pub trait OfRow: Sized {
    /// Returns what is wrong with the row, without the values of its cells; `None` where the error
    /// is not one row's.
    fn reason(&self) -> Option<String>;

    /// Returns the error with advice on how such rows are left out.
    #[must_use]
    fn avoidable(self) -> Self;
}

impl OfRow for ReadError {
    fn reason(&self) -> Option<String> {
        match self {
            ReadError::Ragged { expected, .. } => Some(format!("not {expected} fields")),
            ReadError::RepeatedHeader { .. } => Some("the header stands there again".to_owned()),
            ReadError::Utf8 { column, .. } => Some(format!("'{column}' is not UTF-8")),
            ReadError::Value { column, value, .. } if value.is_empty() => {
                Some(format!("'{column}' is blank"))
            }
            ReadError::Value {
                column, expected, ..
            } => Some(format!("'{column}' is not {expected}")),
            ReadError::Spread {
                attribute, problem, ..
            } => Some(format!("of the columns of '{attribute}' {problem}")),
            ReadError::Target { column, value, .. } => Some(match value.is_empty() {
                true => format!("'{column}' is blank"),
                false => format!("'{column}' is not a finite number"),
            }),
            ReadError::NoClass { column, .. } => Some(format!("'{column}' is blank")),
            ReadError::Class { column, value, .. } => Some(match value.is_empty() {
                true => format!("'{column}' is blank"),
                false => format!("'{column}' is none of the classes"),
            }),
            _ => None,
        }
    }

    fn avoidable(self) -> ReadError {
        ReadError::BadRow(Box::new(self))
    }
}

impl BadRows {
    /// Returns the error that no row of `file` is left, where `expected` is what should be there.
    pub fn none_left(self, file: &Path, expected: &'static str) -> ReadError {
        let file = file.to_owned();
        match self.is_empty() {
            true => ReadError::Empty { file, expected },
            false => ReadError::NoneLeft {
                file,
                bad_rows: self,
            },
        }
    }
}
