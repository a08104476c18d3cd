//! Columns of numbers from a table, and what is declared about them.
//!
//! A column is named, its range and unit are declared, by hand or by a schema. Values outside the
//! range are moved to its ends ([`super::records`]): a refusal would tell that somebody is outside.
//!
//! A table that is not what was declared is refused before anything is paid for. That it is one, and
//! which of its columns are numeric throughout, is taken to be public, like N. Nothing else is said
//! of it: no cell, no line, no name of a column (the first line of a file without a header is a
//! record). The owner of the data learns more with [`TableOptions::read_as_owner`].

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::error::PrivacyError;
use super::records::{DeclaredColumn, Grid};
use probity_data::numbers::{Column, Levels, NumbersError, Reading};
use probity_data::read::{IN_MEMORY, ReadError, Records};
use probity_data::schema::{Format, Kind, Schema};
use probity_data::source::{DataFile, Hashed};

/// Why columns cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A declaration makes no sense.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// The file cannot be read as a table, or a cell is no finite number or no level of the schema.
    /// For whoever is not the owner of the data, it is but one that says nothing of what is in it.
    #[error(transparent)]
    Numbers(#[from] NumbersError),
    /// The file is not a table.
    #[error(
        "{} is not a table that can be read; its owner learns where with `probity outliers exact`",
        file.display()
    )]
    NoTable {
        /// The file.
        file: PathBuf,
    },
    /// A column is not there.
    #[error("{} has no column '{column}'", file.display())]
    NoColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
    },
    /// A column does not hold what was declared.
    #[error(
        "{}: the column '{column}' is not numeric, or has words that are not levels of the schema; its owner learns where with `probity outliers exact`",
        file.display()
    )]
    NotNumeric {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
    },
    /// Nothing is declared about a column.
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
    /// Which records there are would depend on what stands in them.
    #[error(
        "the schema has format.skip_bad_rows = true, but the number of records is public here, so none may be left out for what stands in it; take it out of the schema, and clean the file"
    )]
    SkipsRows,
    /// A column is named twice, or declared without being used.
    #[error("the column '{column}' {problem}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong.
        problem: &'static str,
    },
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> SourceError {
        SourceError::Numbers(error.into())
    }
}

impl SourceError {
    /// What may be said of it to whoever is not the owner of `file`.
    fn concealed(self, file: &Path) -> SourceError {
        let file = || file.to_owned();
        match self {
            SourceError::Numbers(found) => match found {
                NumbersError::Read(
                    error @ (ReadError::Io { .. }
                    | ReadError::Empty { .. }
                    | ReadError::ColumnType { .. }),
                ) => error.into(),
                NumbersError::Read(ReadError::MissingColumn { column, .. }) => {
                    SourceError::NoColumn {
                        file: file(),
                        column,
                    }
                }
                NumbersError::NotANumber { column, .. }
                | NumbersError::UnknownLevel { column, .. }
                | NumbersError::Read(ReadError::Utf8 { column, .. }) => SourceError::NotNumeric {
                    file: file(),
                    column,
                },
                _ => SourceError::NoTable { file: file() },
            },
            declared => declared,
        }
    }
}

/// A range that is declared by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredRange {
    /// The column.
    pub column: String,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The difference that has distance 1; the width of the range where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
}

/// How a table is read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TableOptions {
    /// The columns, in the order of the dimensions.
    pub columns: Vec<String>,
    /// What is declared by hand; it precedes the schema.
    pub ranges: Vec<DeclaredRange>,
    /// Declares the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// Layout of a file without a schema.
    pub format: Format,
}

/// Declared columns and the numbers in them, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredNumbers {
    /// The grid of the declared columns.
    pub grid: Grid,
    /// `[rows, columns]`.
    pub values: Vec<f64>,
}

impl DeclaredNumbers {
    /// N.
    pub fn rows(&self) -> usize {
        self.values.len() / self.grid.columns().len()
    }
}

impl TableOptions {
    /// The grid: it depends on declarations alone.
    ///
    /// # Errors
    /// A column without a declaration, or one that makes no sense; a schema by which records may be
    /// left out.
    pub fn grid(&self) -> Result<Grid, SourceError> {
        if self.layout().skip_bad_rows {
            return Err(SourceError::SkipsRows);
        }
        for (at, column) in self.columns.iter().enumerate() {
            if self.columns[..at].contains(column) {
                return Err(SourceError::Column {
                    column: column.clone(),
                    problem: "is named twice",
                });
            }
        }
        if let Some(unused) = self
            .ranges
            .iter()
            .find(|range| !self.columns.contains(&range.column))
        {
            return Err(SourceError::Column {
                column: unused.column.clone(),
                problem: "has a range in table.ranges, but is not among columns",
            });
        }
        let columns: Result<_, _> = self
            .columns
            .iter()
            .map(|name| self.declared(name))
            .collect();
        Ok(Grid::new(columns?)?)
    }

    fn declared(&self, name: &str) -> Result<DeclaredColumn, SourceError> {
        let undeclared = || SourceError::Undeclared {
            column: name.to_owned(),
        };
        let by_hand = self.ranges.iter().find(|range| range.column == name);
        let (min, max, unit) = match by_hand {
            Some(range) => (range.min, range.max, range.unit),
            None => {
                let schema = self.schema.as_ref().ok_or_else(undeclared)?;
                let attribute = schema.attributes.iter().find(|a| a.name == name);
                let (min, max) = match &attribute.ok_or_else(undeclared)?.kind {
                    Kind::Integer { min, max } => (f64::from(*min), f64::from(*max)),
                    Kind::Numeric { bins, .. } => (
                        bins.first().copied().unwrap_or_default(),
                        bins.last().copied().unwrap_or_default(),
                    ),
                    Kind::Categorical { levels, ordered } if *ordered => {
                        (0.0, levels.len() as f64 - 1.0)
                    }
                    Kind::Categorical { .. } => {
                        return Err(SourceError::Unordered {
                            column: name.to_owned(),
                        });
                    }
                };
                (min, max, None)
            }
        };
        Ok(DeclaredColumn {
            name: name.to_owned(),
            min,
            max,
            unit: unit.unwrap_or(max - min),
        })
    }

    /// The levels of a column whose cells are words.
    fn levels(&self, name: &str) -> Option<&[String]> {
        let attributes = &self.schema.as_ref()?.attributes;
        match &attributes.iter().find(|a| a.name == name)?.kind {
            Kind::Categorical { levels, .. } => Some(levels),
            _ => None,
        }
    }

    /// Reads the columns of `file` for an answer to somebody else: what it refuses says nothing of
    /// what is in the file. The hash is of the bytes that were read.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn read(&self, file: &Path) -> Result<Hashed<DeclaredNumbers>, SourceError> {
        self.read_as_owner(file)
            .map_err(|error| error.concealed(file))
    }

    /// Reads the columns of `file` for its owner: what it refuses names the cell. **Not private.**
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn read_as_owner(&self, file: &Path) -> Result<Hashed<DeclaredNumbers>, SourceError> {
        let grid = self.grid()?;
        let file = DataFile::open(file)?;
        let numbers = self.decode(grid, Records::of(&file, &self.layout())?)?;
        Ok(file.hashed(numbers)?)
    }

    /// Reads the columns of record batches in memory. What it refuses says nothing of what is in
    /// them.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn from_arrow(&self, batches: &[RecordBatch]) -> Result<DeclaredNumbers, SourceError> {
        let grid = self.grid()?;
        Records::from_arrow(batches, &self.layout())
            .map_err(SourceError::from)
            .and_then(|records| self.decode(grid, records))
            .map_err(|error| error.concealed(Path::new(IN_MEMORY)))
    }

    /// The layout of files, in which columns that are not asked for are no fault.
    fn layout(&self) -> Format {
        let format = self.schema.as_ref().map(|schema| &schema.format);
        Format {
            ignore_other_columns: true,
            ..format.unwrap_or(&self.format).clone()
        }
    }

    fn decode(&self, grid: Grid, mut records: Records) -> Result<DeclaredNumbers, SourceError> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            columns.push(Column {
                position: records.require(name)?,
                reading: match self.levels(name) {
                    Some(levels) => Reading::Level(Levels::new(levels)),
                    None => Reading::Number,
                },
            });
        }
        let mut values = Vec::new();
        while let Some(record) = records.advance()? {
            for column in &columns {
                column.append(&record, &mut values)?;
            }
        }
        if values.is_empty() {
            return Err(ReadError::Empty {
                file: records.file().to_owned(),
                expected: "records",
            }
            .into());
        }
        Ok(DeclaredNumbers { grid, values })
    }
}
