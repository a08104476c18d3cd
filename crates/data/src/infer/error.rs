//! Errors of the inference of a schema.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::note::{Note, Way};
use crate::read::{Place, ReadError};
use crate::schema::{Format, SchemaError};

/// A column whose numbers may be read in two ways.
#[derive(Debug, Clone, PartialEq)]
pub struct Ambiguous {
    /// The column.
    pub column: String,
    /// An example of the cells of the column.
    pub example: String,
    /// The numbers that the cell may mean.
    pub numbers: Vec<f64>,
}

/// Lists all columns, with what their cells may be.
fn listed(columns: &[Ambiguous]) -> String {
    let line = |column: &Ambiguous| {
        let numbers: Vec<String> = column.numbers.iter().map(f64::to_string).collect();
        let Ambiguous {
            column, example, ..
        } = column;
        format!("column '{column}': '{example}' is {}", numbers.join(" or "))
    };
    columns.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// Returns the mark in the numbers whose meaning is not known.
fn mark_of(columns: &[Ambiguous]) -> char {
    let has_comma = |column: &Ambiguous| column.example.contains(',');
    if columns.iter().all(has_comma) {
        ','
    } else {
        '.'
    }
}

/// Describes the possible meanings of the numbers of `columns`, and what to give.
fn ambiguous(columns: &[Ambiguous], written: fn(&Way) -> String) -> String {
    let mark = mark_of(columns);
    let [decimal, thousands] = ["decimal", "thousands"].map(|option| {
        let way = Way::of_all(option, [mark.to_string()], "");
        written(&way)
    });
    format!(
        "{}; no other column tells, so say {decimal} where '{mark}' comes before decimals, or {thousands} where it is between thousands",
        listed(columns)
    )
}

/// The reason why no schema can be inferred.
#[derive(Debug, Error)]
pub enum InferError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The text is in an encoding that nobody said, and that cannot be found.
    #[error("{}", undecoded((file, place, column), Way::field))]
    Encoding {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
    },
    /// The draft would not be a valid schema.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// Columns need a decision by a person.
    #[error("{}", unplaced(notes, Way::field))]
    Unplaced {
        /// The notes on what is wrong with each column, and what to give.
        notes: Vec<Note>,
    },
    /// No column is called like a protected attribute, and those that are called like its values do not
    /// say one of them in a row.
    #[error(
        "there is no column '{attribute}', and those that are called like its values do not say one of them in every row: {row}; correct the row, leave such rows out by skip_bad_rows, ignore columns of something else, or write [format.spread.{attribute}] into a schema by hand"
    )]
    NotSpread {
        /// The attribute.
        attribute: String,
        /// The first such row.
        row: Box<ReadError>,
    },
    /// A cell is said to be a level, but no row has it.
    #[error("level says that '{cell}' is a level of the column '{column}', but no cell holds it")]
    NoSuchCell {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// Numbers may be read in two ways, and nothing in the file says in which.
    #[error("{}", ambiguous(.0, Way::field))]
    AmbiguousNumbers(Vec<Ambiguous>),
    /// A number is written in another way than those of the file.
    #[error(
        "column '{column}' holds '{cell}', but the numbers of the file have '{decimal}' before decimals; write them alike, or leave the column out"
    )]
    OtherForm {
        /// The column.
        column: String,
        /// An example of the column's cells.
        cell: String,
        /// The mark before decimals.
        decimal: char,
    },
    /// A column has two roles that exclude each other.
    #[error("column '{column}' is {first} and {second} at once")]
    TwoRoles {
        /// The column.
        column: String,
        /// The first role.
        first: &'static str,
        /// The second role.
        second: &'static str,
    },
    /// A cell is said to be missing and to be a level.
    #[error("'{cell}' of the column '{column}' is said to be missing and to be a level at once")]
    TwoMeanings {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// Classes are named for a label of numbers.
    #[error("{field} is given, but the label holds numbers; leave it out")]
    Numbers {
        /// The field that names classes.
        field: &'static str,
    },
    /// The favourable class is none of the label.
    #[error("favourable is '{class}', but the classes are {known}")]
    NoSuchClass {
        /// The class.
        class: String,
        /// The classes of the label.
        known: String,
    },
}

impl InferError {
    /// Returns the error message, with options to give in the form of `written`.
    pub fn text(&self, written: fn(&Way) -> String) -> String {
        match self {
            InferError::Unplaced { notes } => unplaced(notes, written),
            InferError::AmbiguousNumbers(columns) => ambiguous(columns, written),
            InferError::Encoding {
                file,
                place,
                column,
            } => undecoded((file, place, column), written),
            other => other.to_string(),
        }
    }

    /// Returns the error of an inference without a schema that could tell the encoding.
    pub(super) fn without_schema(self) -> InferError {
        match self {
            InferError::Read(ReadError::BadRow(row)) if matches!(*row, ReadError::Utf8 { .. }) => {
                InferError::Read(*row).without_schema()
            }
            InferError::Read(ReadError::Utf8 {
                file,
                place,
                column,
            }) => InferError::Encoding {
                file,
                place,
                column,
            },
            other => other,
        }
    }

    /// Returns the error of a draft for which the columns of attributes were taken together that `format`
    /// does not say to be one: they may be columns of something else.
    pub(super) fn of_columns_taken_together(self, format: &Format) -> InferError {
        let attribute = not_of_one_level(&self).filter(|name| !format.spread.contains_key(name));
        match (self, attribute) {
            (InferError::Read(ReadError::BadRow(row)), Some(attribute)) => {
                InferError::NotSpread { attribute, row }
            }
            (other, _) => other,
        }
    }
}

/// Returns the attribute whose columns do not say one level in the row that `error` is about.
fn not_of_one_level(error: &InferError) -> Option<String> {
    let InferError::Read(ReadError::BadRow(row)) = error else {
        return None;
    };
    match &**row {
        ReadError::Spread { attribute, .. } => Some(attribute.clone()),
        _ => None,
    }
}

/// Says that a cell cannot be decoded, and what to give.
fn undecoded((file, place, column): (&Path, &Place, &str), written: fn(&Way) -> String) -> String {
    let way = Way::of_all("encoding", ["windows-1252"], "");
    format!(
        "{}, {place}, column '{column}': the text is not valid UTF-8; say what it is, such as {}, or convert the file first",
        file.display(),
        written(&way)
    )
}

/// Describes all columns that `notes` are about, and what leaves them all out.
fn unplaced(notes: &[Note], written: fn(&Way) -> String) -> String {
    let mut lines: Vec<String> = notes
        .iter()
        .map(|note| format!("column '{}': {}", note.column, note.text(written)))
        .collect();
    let ignored: Vec<&String> = notes
        .iter()
        .flat_map(|note| &note.ways)
        .filter(|way| way.option == "ignore")
        .flat_map(|way| &way.values)
        .collect();
    if ignored.len() > 1 {
        let all = Way::of_all("ignore", &ignored, "leaves all of these out");
        lines.push(format!("{} {}", written(&all), all.effect));
    }
    lines.join("\n")
}
