//! Columns of numbers from a table, with the declarations about them, and how the table is read.
//!
//! A column is named, its range and unit are declared, by hand or by a schema. Values outside the
//! range are moved to its ends ([`super::records`]): a refusal would tell that somebody is outside.
//!
//! Distances are in those values. Levels of a schema that are plain numbers are these numbers. An
//! ordered category of words has places instead, 0, 1, 2 …, and their range follows from the
//! schema: one by hand would be in another unit than whoever gives it thinks. An unordered category
//! has no distances, and is never asked for, whatever its levels are.
//!
//! **What is public.** How bytes become cells, and which cells are valid, is a [`TableReading`].
//! Who owns the data declares it together with the budget ([`TableReading::declare`]), and with it
//! three things become public, the [`DeclaredTable`]: the reading, N, and the names of the columns
//! that are numeric throughout when read so, but for unordered categories. Neighbours are two
//! tables that have these in common, and differ in one record.
//!
//! **Theorem.** Whether a query on the table of the budget is refused, and with which words, is the
//! same for all neighbours, until it is charged; then it is answered.
//!
//! *Proof.* The columns, ranges, radius, k, price and schema that a query brings, are held against
//! the [`DeclaredTable`] and the ledger alone ([`super::specification::TableSpecification::query`],
//! [`TableOptions::grid`], the plans): a column that was not declared is refused, so is another
//! reading, and a range by hand of a column that the declared reading takes for words. All of that
//! happens before the table is opened. Then it is read as it was when the
//! budget was declared, and succeeded; the ranges of the query only clip. ∎
//!
//! Were a query allowed to choose the reading, each refusal would be a question to a single record,
//! free of charge: leave one value out of the levels of a schema, or make a digit the sign of a
//! comment, and see whether the table can still be read, or how many records it has.
//!
//! For the same reason a table is refused whose rows have a field that its header does not name: which
//! field that is would hang on the rows.
//!
//! A file that is not the ledger's may fail to be read: nothing is said of why. Its owner learns it
//! with [`TableOptions::read_as_owner`].

mod error;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use arrow_array::RecordBatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::records::{DeclaredColumn, Grid};
use probity_data::numbers::{Column, Levels, Reading, numbers_of};
use probity_data::read::{IN_MEMORY, ReadError, Record, Records};
use probity_data::schema::{Format, Kind, Schema};
use probity_data::source::{DataFile, Hashed};

pub use error::SourceError;

/// The way in which a table is read: which bytes are which cell, and which cells are valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableReading {
    /// The layout of the file.
    pub format: Format,
    /// The levels of ordered columns whose cells are words; the place of a word is its number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Vec<String>>,
    /// The unordered categories, which are never asked for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unordered: BTreeSet<String>,
}

/// The reading of comma-separated numbers under a line of names.
impl Default for TableReading {
    fn default() -> TableReading {
        TableReading::of_format(Format::default())
    }
}

impl TableReading {
    /// Returns the reading in which all columns are numbers. Columns that are not asked for are no
    /// fault.
    pub fn of_format(format: Format) -> TableReading {
        TableReading {
            format: Format {
                ignore_other_columns: true,
                ..format
            },
            levels: BTreeMap::new(),
            unordered: BTreeSet::new(),
        }
    }

    /// Returns the reading that `schema` describes.
    pub fn of_schema(schema: &Schema) -> TableReading {
        let mut reading = TableReading::of_format(schema.format.clone());
        for attribute in &schema.attributes {
            let name = attribute.name.clone();
            match &attribute.kind {
                Kind::Categorical { ordered: false, .. } => {
                    reading.unordered.insert(name);
                }
                Kind::Categorical { levels, .. } if numbers_of(levels).is_none() => {
                    reading.levels.insert(name, levels.clone());
                }
                Kind::Categorical { .. } | Kind::Integer { .. } | Kind::Numeric { .. } => {}
            }
        }
        reading
    }

    fn expect_ordered(&self, column: &str) -> Result<(), SourceError> {
        match self.unordered.contains(column) {
            true => Err(SourceError::Unordered {
                column: column.to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Refuses a reading that leaves out records because of what stands in them.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        match self.format.skip_bad_rows {
            true => Err(SourceError::SkipsRows),
            false => Ok(()),
        }
    }

    /// Reads `file` for its owner, who declares what is public of it: `columns` and no others may
    /// be asked for, or all that are numeric throughout and no unordered category where none is
    /// named. An error names the cell. The hash is of the bytes that were read.
    ///
    /// # Errors
    /// No table, a named column that is not numeric throughout or has no order, or no column that
    /// is.
    pub fn declare(
        self,
        file: &Path,
        columns: &[String],
    ) -> Result<Hashed<DeclaredTable>, SourceError> {
        self.check()?;
        for column in columns {
            self.expect_ordered(column)?;
        }
        let file = DataFile::open(file)?;
        let mut records = Records::from_file(&file, &self.format)?;
        records.expect_names_of_all()?;
        let mut names = match columns.is_empty() {
            true => records.names().to_vec(),
            false => columns.to_vec(),
        };
        // Columns of one name are equal, or the table is refused.
        let mut seen = HashSet::new();
        names.retain(|name| !self.unordered.contains(name) && seen.insert(name.clone()));
        let read = self.columns(&names, &records)?;
        let mut is_numeric = vec![true; names.len()];
        let mut rows = 0;
        while let Some(record) = records.advance()? {
            rows += 1;
            for (column, is_numeric) in read.iter().zip(&mut is_numeric) {
                if *is_numeric && !is_number(column, &record) {
                    if !columns.is_empty() {
                        column.value(&record)?;
                    }
                    *is_numeric = false;
                }
            }
        }
        if rows == 0 {
            return Err(no_records(&records));
        }
        drop(read);
        let mut kept = is_numeric.into_iter();
        names.retain(|_| kept.next().unwrap_or_default());
        if names.is_empty() {
            return Err(SourceError::NoNumbers {
                file: file.path().to_owned(),
            });
        }
        Ok(file.hashed(DeclaredTable {
            records: rows,
            columns: names,
            reading: self,
        })?)
    }

    fn columns<'r>(
        &'r self,
        names: &[String],
        records: &Records,
    ) -> Result<Vec<Column<'r>>, ReadError> {
        let column = |name: &String| {
            Ok(Column {
                position: records.require(name)?,
                reading: match self.levels.get(name) {
                    Some(levels) => Reading::Level(Levels::new(levels)),
                    None => Reading::Number,
                },
            })
        };
        names.iter().map(column).collect()
    }
}

/// Returns whether the cell of `column` is a number, or a level. (An error would look up its line
/// in the file, which may be a pipe.)
fn is_number(column: &Column<'_>, record: &Record<'_>) -> bool {
    match &column.reading {
        Reading::Level(levels) => {
            let cell = record.cell(column.position);
            cell.is_ok_and(|cell| levels.code(cell).is_some())
        }
        _ => matches!(record.number(column.position), Ok(Some(_))),
    }
}

fn no_records(records: &Records) -> SourceError {
    let error = ReadError::Empty {
        file: records.file().to_owned(),
        expected: "records",
    };
    error.into()
}

/// The public properties of a table, which its owner declares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTable {
    /// The number N of records.
    pub records: usize,
    /// The columns that may be asked for: every cell is a finite number, or a level.
    pub columns: Vec<String>,
    /// The way in which the table is read.
    pub reading: TableReading,
}

impl DeclaredTable {
    /// Refuses a query for `columns` that would read the table as `reading`, where that is said, in
    /// another way.
    pub(super) fn admit(
        &self,
        columns: &[String],
        reading: Option<&TableReading>,
    ) -> Result<(), SourceError> {
        if let Some(column) = columns.iter().find(|name| !self.columns.contains(name)) {
            self.reading.expect_ordered(column)?;
            return Err(SourceError::OtherColumn {
                column: column.clone(),
                declared: self.columns.clone(),
            });
        }
        let Some(reading) = reading else {
            return Ok(());
        };
        let other = |what: String| Err(SourceError::OtherReading { what });
        if reading.format != self.reading.format {
            return other("the layout (separator, quotes, comments, header, names) is".to_owned());
        }
        for name in columns {
            reading.expect_ordered(name)?;
        }
        let levels = |of: &TableReading, name: &String| of.levels.get(name).cloned();
        match columns
            .iter()
            .find(|name| levels(reading, name) != levels(&self.reading, name))
        {
            Some(name) => other(format!("the levels of the column '{name}' are")),
            None => Ok(()),
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

/// Options for reading a table: its columns, their ranges, and how it is read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableOptions {
    /// The columns, in the order of the dimensions.
    pub columns: Vec<String>,
    /// The ranges that are declared by hand; they precede the schema.
    pub ranges: Vec<DeclaredRange>,
    /// The schema, which declares the ranges of the other columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// The way in which the table is read.
    #[serde(default)]
    pub reading: TableReading,
}

/// The declared columns and the numbers in them, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredNumbers {
    /// The grid of the declared columns.
    pub grid: Grid,
    /// The values, `[rows, columns]`.
    pub values: Vec<f64>,
}

impl DeclaredNumbers {
    /// Returns the number N of records.
    pub fn rows(&self) -> usize {
        self.values.len() / self.grid.columns().len()
    }
}

impl TableOptions {
    /// Returns the grid: it depends on declarations alone.
    ///
    /// # Errors
    /// A column without a declaration, or one that makes no sense; a schema by which records may be
    /// left out.
    pub fn grid(&self) -> Result<Grid, SourceError> {
        self.reading.check()?;
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
        let mut ranges = self.ranges.iter().enumerate();
        if let Some((_, twice)) = ranges.find(|(at, range)| {
            let mut earlier = self.ranges[..*at].iter();
            earlier.any(|other| other.column == range.column)
        }) {
            return Err(SourceError::Column {
                column: twice.column.clone(),
                problem: "has two ranges in table.ranges",
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
        self.reading.expect_ordered(name)?;
        let by_hand = self.ranges.iter().find(|range| range.column == name);
        if let (Some(_), Some(levels)) = (by_hand, self.reading.levels.get(name)) {
            return Err(SourceError::RangeOfWords {
                column: name.to_owned(),
                levels: levels.clone(),
            });
        }
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
                    Kind::Categorical { levels, ordered } if *ordered => match numbers_of(levels) {
                        Some(numbers) => (
                            numbers.iter().copied().fold(f64::INFINITY, f64::min),
                            numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                        ),
                        None => (0.0, levels.len() as f64 - 1.0),
                    },
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

    /// Reads the columns of `file` for an answer to somebody else: an error says nothing of what is
    /// in the file. The hash is of the bytes that were read.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn read(&self, file: &Path) -> Result<Hashed<DeclaredNumbers>, SourceError> {
        self.read_as_owner(file)
            .map_err(|error| error.concealed(file))
    }

    /// Reads the columns of `file` for its owner: an error names the cell. **Not private.**
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn read_as_owner(&self, file: &Path) -> Result<Hashed<DeclaredNumbers>, SourceError> {
        let grid = self.grid()?;
        let file = DataFile::open(file)?;
        let numbers = self.decode(grid, Records::from_file(&file, &self.reading.format)?)?;
        Ok(file.hashed(numbers)?)
    }

    /// Reads the columns of record batches in memory. An error says nothing of what is in them.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn from_arrow(&self, batches: &[RecordBatch]) -> Result<DeclaredNumbers, SourceError> {
        let grid = self.grid()?;
        Records::from_arrow(batches, &self.reading.format)
            .map_err(SourceError::from)
            .and_then(|records| self.decode(grid, records))
            .map_err(|error| error.concealed(Path::new(IN_MEMORY)))
    }

    fn decode(&self, grid: Grid, mut records: Records) -> Result<DeclaredNumbers, SourceError> {
        records.expect_names_of_all()?;
        let columns = self.reading.columns(&self.columns, &records)?;
        let mut values = Vec::new();
        while let Some(record) = records.advance()? {
            for column in &columns {
                column.append(&record, &mut values)?;
            }
        }
        match values.is_empty() {
            true => Err(no_records(&records)),
            false => Ok(DeclaredNumbers { grid, values }),
        }
    }
}
