//! The errors of rows of numbers.

use std::path::{Path, PathBuf};

use probity_run::number::Written;
use thiserror::Error;

use crate::idx::IdxError;
use crate::read::{OfRow, Place, ReadError};

/// The reason why rows cannot be used as numbers.
#[derive(Debug, Error)]
pub enum NumbersError {
    /// The file cannot be read as a table.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The file cannot be read as images or labels.
    #[error("{0}")]
    Idx(#[from] IdxError),
    /// A feature is no finite number.
    #[error(
        "{}, {place}, column '{column}': '{value}' is not a finite number; correct it, leave the column out, or describe it with a schema",
        file.display()
    )]
    NotANumber {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The cell.
        value: String,
    },
    /// A word that is none of the declared levels.
    #[error("{}, {place}, column '{column}': '{value}' is not a level of the schema", file.display())]
    UnknownLevel {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The cell.
        value: String,
    },
    /// A value is beyond the bounds that were declared for it.
    #[error(
        "{}, {place}, column '{column}': {value} is outside the declared bounds {min} to {max}",
        file.display(),
        value = Written(*value),
        min = Written(*min),
        max = Written(*max)
    )]
    OutOfBounds {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column name.
        column: String,
        /// The value.
        value: f64,
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// The training and the test table differ in their columns.
    #[error(
        "{} has the column '{column}', which {} lacks; name it in ignore to leave it out",
        file.display(),
        training.display()
    )]
    OtherColumns {
        /// The file.
        file: PathBuf,
        /// The additional column.
        column: String,
        /// The training table, or the model.
        training: PathBuf,
    },
    /// The training and the test images differ in size.
    #[error(
        "{} has {found} features a row, but the training rows of {} have {expected}",
        file.display(),
        training.display()
    )]
    OtherWidth {
        /// The file.
        file: PathBuf,
        /// The number of features a row.
        found: usize,
        /// The number of features of a training row.
        expected: usize,
        /// The training file.
        training: PathBuf,
    },
    /// A field names a column that is not there.
    #[error("{field} names the column '{column}', which {} does not have", file.display())]
    NoSuchColumn {
        /// The field.
        field: &'static str,
        /// The column.
        column: String,
        /// The file.
        file: PathBuf,
    },
    /// A row that has no id.
    #[error("{}, {place}: the row has no id in column '{column}'", file.display())]
    NoId {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The id column.
        column: String,
    },
    /// Something is wrong with one row, which can be left out.
    #[error(
        "{0}; skip_bad_rows, or format.skip_bad_rows = true in the schema, leaves such rows out and counts them"
    )]
    BadRow(Box<NumbersError>),
    /// The bounds enclose nothing, or more than a number can say.
    #[error(
        "the bounds {min} to {max} cannot be scaled by; the first must be below the second, and their difference a finite number",
        min = Written(*min),
        max = Written(*max)
    )]
    EmptyBounds {
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// There are images without labels.
    #[error("{} holds images; train_labels must name the file with their labels", file.display())]
    NoLabels {
        /// The images.
        file: PathBuf,
    },
    /// There are labels for something that is no IDX file.
    #[error("{} is no IDX file, so a separate file of labels does not fit; use label_column", file.display())]
    LabelsOfATable {
        /// The table.
        file: PathBuf,
    },
    /// A row to learn from has no label.
    #[error(
        "{}, {place}, label column '{column}': '{value}' is no class, but a mark of a missing value; fill it in, or describe the table with a schema that says missing = [\"{value}\"] under [label], which leaves such rows out",
        file.display()
    )]
    NoLabel {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The label column.
        column: String,
        /// The cell.
        value: String,
    },
    /// The label is a number, where classes are needed.
    #[error(
        "{}: the schema says that the label '{column}' holds numbers, but neighbours vote for classes; say threshold in place of kind under [label] of the schema, which makes two classes of numbers",
        file.display()
    )]
    LabelOfNumbers {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
    },
    /// A table needs a label column.
    #[error("{} is a table; label_column must name its label column", file.display())]
    NoLabelColumn {
        /// The table.
        file: PathBuf,
    },
}

impl OfRow for NumbersError {
    fn reason(&self) -> Option<String> {
        let of_cell = |column: &str, value: &str, is: &str| match value.is_empty() {
            true => format!("'{column}' is blank"),
            false => format!("'{column}' {is}"),
        };
        match self {
            NumbersError::Read(error) => error.reason(),
            NumbersError::NotANumber { column, value, .. } => {
                Some(of_cell(column, value, "is not a finite number"))
            }
            NumbersError::UnknownLevel { column, value, .. } => {
                Some(of_cell(column, value, "is not a level of the schema"))
            }
            NumbersError::NoLabel { column, value, .. } => {
                Some(of_cell(column, value, "is missing"))
            }
            NumbersError::NoId { column, .. } => Some(format!("'{column}' is blank")),
            _ => None,
        }
    }

    fn avoidable(self) -> NumbersError {
        NumbersError::BadRow(Box::new(self))
    }
}

impl NumbersError {
    /// Returns the error that there is no column of ids called `column`.
    pub(super) fn no_id_column(file: &Path, column: &str) -> NumbersError {
        NumbersError::NoSuchColumn {
            field: "id_column",
            column: column.to_owned(),
            file: file.to_owned(),
        }
    }
}
