//! A table encoded by its schema: integer codes and labels (classes, or numbers as the targets of a
//! regression), from a file or from memory.
//!
//! Memory: 4 bytes a value and 4 a label; a 10-million-row table of 13 attributes takes 560 MB
//! and is read in one streaming pass.

use std::path::Path;

use arrow_array::RecordBatch;

use super::bins;
use super::read::{BadRows, OfRow, Place, ReadError, Record, Records, RowNumbers};
use super::schema::{Encoded, Encoder, Kind, Schema};
use super::source::{DataFile, Hashed};

/// Rows of integer codes, with labels where the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    width: usize,
    codes: Vec<i32>,
    labels: Vec<u32>,
    targets: Vec<f32>,
    numbers: RowNumbers,
    /// What the reader did to values and rows.
    pub counts: ReadCounts,
}

/// What reading changed or left out; reported in every summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReadCounts {
    /// Rows kept.
    pub rows: u64,
    /// Rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
    /// Values mapped by a `clip` or `level` policy.
    pub mapped_values: u64,
    /// Rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

impl ReadCounts {
    /// Of a file of which `rows` were kept, where anything was wrong with others.
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
    /// Row-major, NaN for a missing value and for one outside the domain.
    numbers: Vec<f64>,
}

impl CellNumbers {
    /// Those of the numeric attributes of `schema`, of no rows yet.
    fn of(schema: &Schema) -> CellNumbers {
        let is_numeric = |&place: &usize| {
            let kind = &schema.attributes[place].kind;
            matches!(kind, Kind::Numeric { .. })
        };
        CellNumbers {
            places: (0..schema.attributes.len()).filter(is_numeric).collect(),
            numbers: Vec::new(),
        }
    }

    /// The numeric attributes, by their place in the schema.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The numbers of row `row`, one for each of [`CellNumbers::places`]; NaN for a missing value
    /// and for one outside the domain.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.places.len();
        &self.numbers[row * width..(row + 1) * width]
    }

    /// Those of the rows of these numbers, from 0.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> CellNumbers {
        let rows = indices.iter().flat_map(|&index| self.row(index as usize));
        CellNumbers {
            places: self.places.clone(),
            numbers: rows.copied().collect(),
        }
    }

    /// `schema`, by which they were read, with the number that stands for each bin wherever it says
    /// none: the lower median of its rows.
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
    /// The label column must be there and hold at least two classes, or two numbers.
    Required,
    /// The label column is read when it is there and not blank in all rows.
    Optional,
}

impl Table {
    /// A table of `codes` (row-major, `width` a row) with `labels`, one a row or none at all.
    pub fn new(width: usize, codes: Vec<i32>, labels: Vec<u32>) -> Table {
        let rows = codes.len().checked_div(width).unwrap_or(0);
        Table {
            width,
            codes,
            labels,
            targets: Vec::new(),
            numbers: RowNumbers::first(rows),
            counts: ReadCounts {
                rows: rows as u64,
                ..ReadCounts::default()
            },
        }
    }

    /// The same with `targets`, one a row or none at all, in place of labels.
    #[must_use]
    pub fn with_targets(self, targets: Vec<f32>) -> Table {
        Table {
            labels: Vec::new(),
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

    /// The same with the file's hash, from one pass over it.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_hashed(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<Table>, ReadError> {
        let file = DataFile::open(file)?;
        let table = Self::decode(Records::of(&file, &schema.format)?, schema, labels)?;
        file.hashed(table)
    }

    /// The same with the numbers that stand in the cells of numeric attributes.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_with_numbers(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<(Table, CellNumbers)>, ReadError> {
        let file = DataFile::open(file)?;
        let records = Records::of(&file, &schema.format)?;
        let mut numbers = CellNumbers::of(schema);
        let table = Self::decode_keeping(records, schema, labels, &mut numbers)?;
        file.hashed((table, numbers))
    }

    /// The same from record batches in memory: columns by name, with the types that
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

    fn decode(records: Records, schema: &Schema, labels: Labels) -> Result<Table, ReadError> {
        Self::decode_keeping(records, schema, labels, &mut CellNumbers::default())
    }

    /// The table, with what `numbers` asks for.
    fn decode_keeping(
        mut records: Records,
        schema: &Schema,
        labels: Labels,
        numbers: &mut CellNumbers,
    ) -> Result<Table, ReadError> {
        let file = records.file().to_owned();
        let reader = RowReader::new(&records, schema, labels)?;
        let width = reader.encoders.len();
        let mut codes = Vec::new();
        let mut classes = Vec::new();
        let mut targets = Vec::new();
        let mut counts = ReadCounts::default();
        let mut kept_rows = RowNumbers::default();
        let mut blanks = Blanks::default();
        for number in 1.. {
            let (start, kept) = (codes.len(), numbers.numbers.len());
            let row = match records.advance() {
                Ok(None) => break,
                Ok(Some(record)) => reader.read(&record, &mut codes, numbers),
                Err(error) => Err(error),
            };
            match row {
                Ok(Some((mapped, answer))) => {
                    if answer == Answer::Blank {
                        let column = &schema.label.name;
                        blanks.see(mapped, || (column.clone(), records.place()));
                    }
                    match (answer, schema.label.is_number()) {
                        (Answer::Class(class), _) => classes.push(class),
                        (Answer::Number(target), _) => targets.push(target),
                        (Answer::Blank, false) => classes.push(BLANK),
                        (Answer::Blank, true) => targets.push(f32::NAN),
                        (Answer::None, _) => {}
                    }
                    kept_rows.keep(number);
                    counts.rows += 1;
                    counts.mapped_values += mapped;
                    continue;
                }
                Ok(None) => counts.skipped_rows += 1,
                Err(error) => counts.bad_rows.add(error, &records)?,
            }
            codes.truncate(start);
            numbers.numbers.truncate(kept);
        }
        if counts.rows == 0 {
            let expected = "at least one row that the schema keeps";
            return Err(counts.bad_rows.none_left(&file, expected));
        }
        if labels == Labels::Required && schema.label.is_number() {
            if targets.iter().all(|&target| target == targets[0]) {
                return Err(ReadError::OneNumber {
                    file,
                    rows: targets.len(),
                    number: targets[0],
                });
            }
        } else if labels == Labels::Required && classes.iter().all(|&class| class == classes[0]) {
            return Err(ReadError::OneClass {
                file,
                rows: classes.len(),
                class: schema.label.classes[classes[0] as usize].clone(),
            });
        }
        codes.shrink_to_fit();
        let mut table = Table {
            width,
            codes,
            labels: classes,
            targets,
            numbers: kept_rows,
            counts,
        };
        if let Some((column, place)) = blanks.first {
            if blanks.rows == table.counts.rows {
                (table.labels, table.targets) = (Vec::new(), Vec::new());
                return Ok(table);
            }
            let value = String::new();
            let blank = match schema.label.is_number() {
                true => ReadError::Target {
                    file,
                    place,
                    column,
                    value,
                },
                false => ReadError::Class {
                    file,
                    place,
                    column,
                    value,
                    expected: schema.label.classes.join(", "),
                },
            };
            table.leave_blanks_out(blank, blanks.mapped, &records, numbers)?;
        }
        Ok(table)
    }

    /// Leaves the rows without a label out, where others have one and bad rows are left out.
    ///
    /// # Errors
    /// `blank`, what is wrong with the first of them, where they are not.
    fn leave_blanks_out(
        &mut self,
        blank: ReadError,
        mapped: u64,
        records: &Records,
        numbers: &mut CellNumbers,
    ) -> Result<(), ReadError> {
        let reason = blank.reason().unwrap_or_default();
        if !records.skips_bad_rows() {
            return Err(blank.avoidable());
        }
        let (mut kept, mut bad) = (Vec::new(), std::mem::take(&mut self.counts.bad_rows));
        let of_classes = self.labels.iter().map(|&label| label == BLANK);
        let of_numbers = self.targets.iter().map(|target| target.is_nan());
        for (row, is_blank) in (0u32..).zip(of_classes.chain(of_numbers)) {
            match is_blank {
                true => bad.count(reason.clone(), || Place::Row(self.numbers.of(row as usize))),
                false => kept.push(row),
            }
        }
        let rows = kept.iter().map(|&row| self.numbers.of(row as usize));
        let rows: RowNumbers = rows.collect();
        *numbers = numbers.select(&kept);
        let counts = ReadCounts {
            rows: kept.len() as u64,
            mapped_values: self.counts.mapped_values - mapped,
            skipped_rows: self.counts.skipped_rows,
            bad_rows: bad,
        };
        *self = Table {
            numbers: rows,
            counts,
            ..self.select(&kept)
        };
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.counts.rows as usize
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of row `row`.
    pub fn row(&self, row: usize) -> &[i32] {
        &self.codes[row * self.width..(row + 1) * self.width]
    }

    /// All codes, row-major.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// The classes that are the labels, one a row; empty when the file has no label column, or one
    /// of numbers.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The numbers that are the labels, one a row; empty when the file has no label column, or one
    /// of classes.
    pub fn targets(&self) -> &[f32] {
        &self.targets
    }

    /// Whether every row has a label.
    pub fn is_labelled(&self) -> bool {
        self.labels.len().max(self.targets.len()) == self.rows()
    }

    /// Where the rows stand in their file. Those of a table that was made of another's rows are
    /// numbered anew.
    pub fn numbers(&self) -> &RowNumbers {
        &self.numbers
    }

    /// The rows at `indices`, in that order, with their labels.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> Table {
        let mut codes = Vec::with_capacity(indices.len() * self.width);
        for &index in indices {
            codes.extend_from_slice(self.row(index as usize));
        }
        let at = |&index: &u32| self.labels.get(index as usize).copied();
        let labels = indices.iter().filter_map(at).collect();
        let at = |&index: &u32| self.targets.get(index as usize).copied();
        Table {
            targets: indices.iter().filter_map(at).collect(),
            ..Table::new(self.width, codes, labels)
        }
    }
}

/// What the label column says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    /// There is no such column.
    None,
    Blank,
    Class(u32),
    Number(f32),
}

/// The class of a row that has none, until it is known whether any has one.
const BLANK: u32 = u32::MAX;

/// The rows whose label is blank.
#[derive(Default)]
struct Blanks {
    rows: u64,
    /// Values of them that were mapped.
    mapped: u64,
    /// The column, and where the first of them stands.
    first: Option<(String, Place)>,
}

impl Blanks {
    fn see(&mut self, mapped: u64, place: impl FnOnce() -> (String, Place)) {
        self.rows += 1;
        self.mapped += mapped;
        self.first.get_or_insert_with(place);
    }
}

/// What reads one row.
struct RowReader<'s> {
    schema: &'s Schema,
    encoders: Vec<Encoder<'s>>,
    columns: Vec<usize>,
    label: Option<usize>,
    /// Whether a label may be blank.
    is_optional: bool,
}

impl<'s> RowReader<'s> {
    fn new(
        records: &Records,
        schema: &'s Schema,
        labels: Labels,
    ) -> Result<RowReader<'s>, ReadError> {
        Ok(RowReader {
            schema,
            encoders: schema.attributes.iter().map(Encoder::new).collect(),
            columns: attribute_columns(records, schema)?,
            label: match labels {
                Labels::Required => Some(records.require(&schema.label.name)?),
                Labels::Optional => records.position(&schema.label.name),
            },
            is_optional: labels == Labels::Optional
                && (schema.label.is_number() || schema.label.code("").is_none()),
        })
    }

    /// Appends the codes of a row, and the numbers that are asked for: how many values were mapped,
    /// and the label. `None` where a policy leaves the row out. What is appended of a row that is
    /// not kept is of no use.
    #[inline]
    fn read(
        &self,
        record: &Record<'_>,
        codes: &mut Vec<i32>,
        numbers: &mut CellNumbers,
    ) -> Result<Option<(u64, Answer)>, ReadError> {
        let mut mapped = 0;
        for (place, (encoder, &column)) in self.encoders.iter().zip(&self.columns).enumerate() {
            let is_kept = numbers.places.contains(&place);
            let mut number = None;
            match record.encode(column, encoder)? {
                Encoded::Code(code) => {
                    codes.push(code);
                    if is_kept {
                        number = record.number(column)?;
                    }
                }
                Encoded::Mapped(code) => {
                    mapped += 1;
                    codes.push(code);
                }
                Encoded::Skip => return Ok(None),
            }
            if is_kept {
                numbers.numbers.push(number.unwrap_or(f64::NAN));
            }
        }
        let label = &self.schema.label;
        let answer = match self.label {
            None => Answer::None,
            Some(column) if self.is_optional && record.is_empty(column)? => Answer::Blank,
            Some(column) if label.is_number() => Answer::Number(record.target(column)?),
            Some(column) => Answer::Class(record.class(column, label)?),
        };
        Ok(Some((mapped, answer)))
    }
}

fn attribute_columns(records: &Records, schema: &Schema) -> Result<Vec<usize>, ReadError> {
    let columns = schema
        .attributes
        .iter()
        .map(|attribute| records.require(&attribute.name))
        .collect::<Result<Vec<_>, _>>()?;
    if !schema.format.ignore_other_columns {
        for (position, name) in records.names().iter().enumerate() {
            if !columns.contains(&position) && *name != schema.label.name {
                return Err(ReadError::ExtraColumn {
                    file: records.file().to_owned(),
                    column: name.clone(),
                });
            }
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests;
