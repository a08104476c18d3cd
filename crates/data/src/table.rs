//! A table encoded by its schema: integer codes and labels (classes, or numbers as the targets of a
//! regression), from a file or from memory.
//!
//! Memory: 4 bytes a value and 4 a label; a 10-million-row table of 13 attributes takes 560 MB
//! and is read in one streaming pass.

mod decode;

use std::path::Path;

use arrow_array::RecordBatch;

use super::bins;
use super::read::{BadRows, ReadError, Records, RowNumbers};
use super::schema::{Kind, Schema};
use super::source::{DataFile, Hashed};

/// Rows of integer codes, with labels where the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    width: usize,
    codes: Vec<i32>,
    labels: Vec<u32>,
    targets: Vec<f64>,
    /// The number of rows without an outcome where others have one.
    missing_outcomes: u64,
    numbers: RowNumbers,
    /// The counts of values and rows that the reader changed or left out.
    pub counts: ReadCounts,
}

/// The counts of what reading changed or left out; reported in every summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReadCounts {
    /// The number of rows kept.
    pub rows: u64,
    /// The number of rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
    /// The number of values mapped by a `clip` or `level` policy.
    pub mapped_values: u64,
    /// The number of rows left out because their outcome is missing, where outcomes are needed.
    #[serde(skip_serializing_if = "is_none")]
    pub unlabelled_rows: u64,
    /// The number of rows kept whose outcome the schema does not know, and which count as rows without
    /// one, where no outcome is needed.
    #[serde(skip_serializing_if = "is_none")]
    pub unknown_outcomes: u64,
    /// The rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

fn is_none(rows: &u64) -> bool {
    *rows == 0
}

impl ReadCounts {
    /// Returns the number of all rows of the file.
    pub fn read(&self) -> u64 {
        self.rows + self.skipped_rows + self.unlabelled_rows + self.bad_rows.rows
    }

    /// Returns the counts of a file of which `rows` were kept, where anything was wrong with
    /// others.
    pub fn of_bad_rows(rows: usize, bad_rows: BadRows) -> Option<ReadCounts> {
        (!bad_rows.is_empty()).then(|| ReadCounts {
            rows: rows as u64,
            bad_rows,
            ..ReadCounts::default()
        })
    }
}

/// The numbers that stand in the cells of numeric attributes, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellNumbers {
    /// The numeric attributes.
    places: Vec<usize>,
    /// The numbers, row-major, NaN for a missing value and for one outside the domain.
    numbers: Vec<f64>,
}

impl CellNumbers {
    /// Creates the numbers of the numeric attributes of `schema`, of no rows yet.
    fn new(schema: &Schema) -> CellNumbers {
        let is_numeric = |&place: &usize| {
            let kind = &schema.attributes[place].kind;
            matches!(kind, Kind::Numeric { .. })
        };
        CellNumbers {
            places: (0..schema.attributes.len()).filter(is_numeric).collect(),
            numbers: Vec::new(),
        }
    }

    /// Returns the numeric attributes, by their place in the schema.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns the numbers of row `row`, one for each of [`CellNumbers::places`]; NaN for a missing
    /// value and for one outside the domain.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.places.len();
        &self.numbers[row * width..(row + 1) * width]
    }

    /// Returns the numbers of the rows at `indices`, from 0.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> CellNumbers {
        let rows = indices.iter().flat_map(|&index| self.row(index as usize));
        CellNumbers {
            places: self.places.clone(),
            numbers: rows.copied().collect(),
        }
    }

    /// Returns `schema`, by which the numbers were read, with the number that stands for each bin
    /// wherever it says none: the lower median of its rows.
    #[must_use]
    pub fn with_values(&self, mut schema: Schema) -> Schema {
        for (column, &place) in self.places.iter().enumerate() {
            if let Kind::Numeric { bins, values } = &mut schema.attributes[place].kind
                && values.is_none()
            {
                let own = self.numbers.iter().skip(column).step_by(self.places.len());
                let mut sorted: Vec<f64> = own.copied().filter(|number| !number.is_nan()).collect();
                sorted.sort_by(f64::total_cmp);
                *values = Some(bins::values(bins, &sorted));
            }
        }
        schema
    }
}

/// Whether a table must have labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// The label column must be there and hold at least two classes, or two numbers. Rows whose
    /// outcome is missing are left out.
    Required,
    /// The label column is read when it is there. Rows whose outcome is missing are kept, and of use
    /// to nobody who needs the outcome of every row.
    Optional,
    /// The label column is read when it is there, as with [`Labels::Optional`], but no figure hangs on
    /// it: a label that the schema does not know is as good as a missing one, and counted.
    Unneeded,
}

impl Table {
    /// Creates a table of `codes` (row-major, `width` a row) with `labels`, one a row or none at
    /// all.
    pub fn new(width: usize, codes: Vec<i32>, labels: Vec<u32>) -> Table {
        let rows = codes.len().checked_div(width).unwrap_or(0);
        Table {
            width,
            codes,
            labels,
            targets: Vec::new(),
            missing_outcomes: 0,
            numbers: RowNumbers::first(rows),
            counts: ReadCounts {
                rows: rows as u64,
                ..ReadCounts::default()
            },
        }
    }

    /// Returns the table with `targets`, one a row or none at all, in place of labels; NaN is one
    /// that is missing.
    #[must_use]
    pub fn with_targets(self, targets: Vec<f64>) -> Table {
        let missing = targets.iter().filter(|target| target.is_nan());
        Table {
            labels: Vec::new(),
            missing_outcomes: missing.count() as u64,
            targets,
            ..self
        }
    }

    /// Reads `file` by `schema`.
    ///
    /// # Errors
    /// Anything in the file that the schema does not allow: see [`ReadError`]. Columns that the
    /// schema does not describe are an error unless it says otherwise.
    pub fn read(
        file: impl AsRef<Path>,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        Self::decode(
            Records::open(file.as_ref(), &schema.format)?,
            schema,
            labels,
        )
    }

    /// Reads `file` by `schema`, and returns the file's hash too, from one pass over it.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_hashed(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<Table>, ReadError> {
        let file = DataFile::open(file)?;
        let table = Self::decode(Records::from_file(&file, &schema.format)?, schema, labels)?;
        file.hashed(table)
    }

    /// Reads `file` by `schema`, and returns the numbers that stand in the cells of numeric
    /// attributes too.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_with_numbers(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<(Table, CellNumbers)>, ReadError> {
        let file = DataFile::open(file)?;
        let records = Records::from_file(&file, &schema.format)?;
        let mut numbers = CellNumbers::new(schema);
        let table = Self::decode_keeping(records, schema, labels, &mut numbers)?;
        file.hashed((table, numbers))
    }

    /// Reads record batches in memory by `schema`: columns by name, with the types that
    /// [`crate::read`] takes.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn from_arrow(
        batches: &[RecordBatch],
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        let records = Records::from_arrow(batches, &schema.format)?;
        Self::decode(records, schema, labels)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.counts.rows as usize
    }

    /// Returns the number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the codes of row `row`.
    pub fn row(&self, row: usize) -> &[i32] {
        &self.codes[row * self.width..(row + 1) * self.width]
    }

    /// Returns all codes, row-major.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// Returns the classes that are the labels, one a row; empty when the file has no label column,
    /// or one of numbers, or where some are missing.
    pub fn labels(&self) -> &[u32] {
        match self.missing_outcomes {
            0 => &self.labels,
            _ => &[],
        }
    }

    /// Returns the numbers that are the labels, one a row; empty when the file has no label column,
    /// or one of classes, or where some are missing.
    pub fn targets(&self) -> &[f64] {
        match self.missing_outcomes {
            0 => &self.targets,
            _ => &[],
        }
    }

    /// Returns the class of row `row`, if it has one.
    pub fn known_label(&self, row: usize) -> Option<u32> {
        let label = self.labels.get(row).copied();
        label.filter(|&label| label != decode::MISSING)
    }

    /// Returns the number that is the label of row `row`, if it has one.
    pub fn known_target(&self, row: usize) -> Option<f64> {
        self.targets
            .get(row)
            .copied()
            .filter(|target| !target.is_nan())
    }

    /// Iterates over the classes of the rows that have one.
    pub fn known_labels(&self) -> impl Iterator<Item = u32> {
        (0..self.labels.len()).filter_map(|row| self.known_label(row))
    }

    /// Iterates over the numbers of the rows that have one as their label.
    pub fn known_targets(&self) -> impl Iterator<Item = f64> {
        self.targets
            .iter()
            .copied()
            .filter(|target| !target.is_nan())
    }

    /// Returns the number of rows without an outcome where others have one.
    pub fn missing_outcomes(&self) -> u64 {
        self.missing_outcomes
    }

    /// Returns whether row `row` has a label.
    pub fn has_label(&self, row: usize) -> bool {
        self.known_label(row).is_some() || self.known_target(row).is_some()
    }

    /// Returns whether every row has a label.
    pub fn is_labelled(&self) -> bool {
        self.labels().len().max(self.targets().len()) == self.rows()
    }

    /// Returns the numbers that the rows have in their file. The rows of a table that was made of
    /// another's rows are numbered anew.
    pub fn numbers(&self) -> &RowNumbers {
        &self.numbers
    }

    /// Returns the rows at `indices`, in that order, with their labels.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> Table {
        let mut codes = Vec::with_capacity(indices.len() * self.width);
        for &index in indices {
            codes.extend_from_slice(self.row(index as usize));
        }
        let at = |&index: &u32| self.labels.get(index as usize).copied();
        let labels: Vec<u32> = indices.iter().filter_map(at).collect();
        let at = |&index: &u32| self.targets.get(index as usize).copied();
        let targets: Vec<f64> = indices.iter().filter_map(at).collect();
        let of_classes = labels.iter().filter(|&&label| label == decode::MISSING);
        let of_numbers = targets.iter().filter(|target| target.is_nan());
        Table {
            missing_outcomes: (of_classes.count() + of_numbers.count()) as u64,
            targets,
            ..Table::new(self.width, codes, labels)
        }
    }
}

#[cfg(test)]
mod tests;
