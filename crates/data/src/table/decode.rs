//! From records to a table.

use super::{CellNumbers, Labels, ReadCounts, Table};
use crate::read::{OfRow, Place, ReadError, Record, Records, RowNumbers};
use crate::schema::{Encoded, Encoder, Schema};

impl Table {
    pub(super) fn decode(
        records: Records,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        Self::decode_keeping(records, schema, labels, &mut CellNumbers::default())
    }

    /// The table, with what `numbers` asks for.
    pub(super) fn decode_keeping(
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
