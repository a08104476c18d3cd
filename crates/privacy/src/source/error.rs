//! The reasons why columns cannot be used, and the part of them that may be said.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::error::PrivacyError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::numbers::NumbersError;
use probity_data::read::ReadError;

/// The reason why columns cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A declaration makes no sense.
    #[error("{0}")]
    Privacy(#[from] PrivacyError),
    /// The file cannot be read as a table, or a cell is no finite number or no level of the schema.
    /// For whoever is not the owner of the data, it is but one that says nothing of what is in it.
    #[error("{0}")]
    Numbers(#[from] NumbersError),
    /// A schema cannot be used.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
    /// The file is not as it was declared.
    #[error(
        "{} cannot be read as the table of the budget; its owner learns where with `probity outliers exact`",
        file.display()
    )]
    NotAsDeclared {
        /// The file.
        file: PathBuf,
    },
    /// A column may not be asked for.
    #[error(
        "the budget was declared for the columns {}, and not for '{column}'",
        declared.join(", ")
    )]
    OtherColumn {
        /// The column.
        column: String,
        /// The columns that may be asked for.
        declared: Vec<String>,
    },
    /// The query would read the table in another way than was declared.
    #[error(
        "{what} not as the budget was declared with, and how the table is read may not be chosen by a query: whether it can be read would tell about single records"
    )]
    OtherReading {
        /// The difference in the reading.
        what: String,
    },
    /// The file has no column that can be declared.
    #[error("{}: no column holds nothing but numbers, so there is nothing to ask for", file.display())]
    NoNumbers {
        /// The file.
        file: PathBuf,
    },
    /// The column has no declaration.
    #[error(
        "nothing is declared about the column '{column}': declare its range in table.ranges, or name a schema in table.schema. The data's own mean, spread or range cannot be used: they would give records away"
    )]
    Undeclared {
        /// The column.
        column: String,
    },
    /// The column has no distances.
    #[error(
        "the column '{column}' is an unordered category in the schema, and has no distances; choose numeric columns"
    )]
    Unordered {
        /// The column.
        column: String,
    },
    /// The declaration gives a range in numbers for a column that has places.
    #[error(
        "the column '{column}' holds words ({} … {}), whose distances are those of their places in the schema, 0, 1, 2 …, and not those of a range given by hand; leave it out of table.ranges, and name the schema in table.schema",
        levels.first().map_or("", String::as_str),
        levels.last().map_or("", String::as_str)
    )]
    RangeOfWords {
        /// The column.
        column: String,
        /// The levels of the column.
        levels: Vec<String>,
    },
    /// The schema leaves out records because of what stands in them, and their number is public.
    #[error(
        "the schema has format.skip_bad_rows = true, but the number of records is public here, so none may be left out for what stands in it; take it out of the schema, and clean the file"
    )]
    SkipsRows,
    /// A column is named twice, or declared without being used.
    #[error("the column '{column}' {problem}")]
    Column {
        /// The column.
        column: String,
        /// The problem with the column.
        problem: &'static str,
    },
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> SourceError {
        SourceError::Numbers(error.into())
    }
}

impl SourceError {
    /// Returns the part of the error that may be said to whoever is not the owner of `file`.
    pub(super) fn concealed(self, file: &Path) -> SourceError {
        match self {
            SourceError::Numbers(NumbersError::Read(error @ ReadError::Io { .. })) => error.into(),
            SourceError::Numbers(_) => SourceError::NotAsDeclared {
                file: file.to_owned(),
            },
            declared => declared,
        }
    }
}
