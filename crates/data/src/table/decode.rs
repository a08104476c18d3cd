//! The decoding of records to a table.

use super::{CellNumbers, Labels, ReadCounts, Table};
use crate::read::{ReadError, Record, Records, RowNumbers};
use crate::schema::{Encoded, Encoder, Schema};
use crate::unicode;

impl Table {
    pub(super) fn decode(
        records: Records,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        Self::decode_keeping(records, schema, labels, &mut CellNumbers::default())
    }

    /// Decodes the records to a table, with what `numbers` asks for.
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
        let mut missing_outcomes = 0;
        for number in 1.. {
            let (start, kept) = (codes.len(), numbers.numbers.len());
            let row = match records.advance() {
                Ok(None) => break,
                Ok(Some(record)) => reader.read(&record, &mut codes, numbers),
                Err(error) => Err(error),
            };
            match row {
                Ok(Some((_, Answer::Missing))) if labels == Labels::Required => {
                    counts.unlabelled_rows += 1;
                }
                Ok(Some((mapped, answer))) => {
                    match (answer, schema.label.is_number()) {
                        (Answer::Class(class), _) => classes.push(class),
                        (Answer::Number(target), _) => targets.push(target),
                        (Answer::Missing | Answer::Unknown, false) => classes.push(MISSING),
                        (Answer::Missing | Answer::Unknown, true) => targets.push(f64::NAN),
                        (Answer::None, _) => {}
                    }
                    let is_missing = matches!(answer, Answer::Missing | Answer::Unknown);
                    missing_outcomes += u64::from(is_missing);
                    counts.unknown_outcomes += u64::from(answer == Answer::Unknown);
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
        if counts.rows == 0 && counts.unlabelled_rows > 0 {
            return Err(ReadError::NoOutcome {
                file,
                column: schema.label.name.clone(),
                rows: counts.unlabelled_rows,
            });
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
        if missing_outcomes == counts.rows {
            // As if there were no such column.
            (classes, targets) = (Vec::new(), Vec::new());
            missing_outcomes = 0;
        }
        codes.shrink_to_fit();
        Ok(Table {
            width,
            codes,
            labels: classes,
            targets,
            missing_outcomes,
            numbers: kept_rows,
            counts,
        })
    }
}

/// The label of a row, as the label column gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    /// The table has no label column.
    None,
    /// The label is missing.
    Missing,
    /// The label is one that the schema does not know, where none is needed.
    Unknown,
    Class(u32),
    Number(f64),
}

/// The code in place of the class of a row that has none.
pub(super) const MISSING: u32 = u32::MAX;

/// A reader of one row.
struct RowReader<'s> {
    schema: &'s Schema,
    encoders: Vec<Encoder<'s>>,
    columns: Vec<usize>,
    label: Option<usize>,
    labels: Labels,
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
                Labels::Optional | Labels::Unneeded => records.position(&schema.label.name),
            },
            labels,
        })
    }

    /// Appends the codes of a row, and the numbers that are asked for, and returns how many values
    /// were mapped, and the label. `None` where a policy leaves the row out. What is appended of a
    /// row that is not kept is of no use.
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
                    if is_kept && code <= encoder.attribute().ordered_domain().1 {
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
        let answer = match self.label {
            None => Answer::None,
            Some(column) => self.answer(record, column)?,
        };
        Ok(Some((mapped, answer)))
    }

    /// Reads the label in the label column at `column`.
    #[inline]
    fn answer(&self, record: &Record<'_>, column: usize) -> Result<Answer, ReadError> {
        let label = &self.schema.label;
        let known = match label.is_number() {
            true => record.finite(column)?.map(Answer::Number),
            false => record.known_class(column, label)?.map(Answer::Class),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let cell = record.cell(column)?;
        if label.is_missing(cell) || (cell.is_empty() && self.labels != Labels::Required) {
            return Ok(Answer::Missing);
        }
        if self.labels == Labels::Unneeded {
            return Ok(Answer::Unknown);
        }
        match label.is_number() {
            true => record.target(column).map(Answer::Number),
            false => record.class(column, label).map(Answer::Class),
        }
    }
}

fn attribute_columns(records: &Records, schema: &Schema) -> Result<Vec<usize>, ReadError> {
    let columns = schema
        .attributes
        .iter()
        .map(|attribute| records.require(&attribute.name))
        .collect::<Result<Vec<_>, _>>()?;
    if !schema.format.ignore_other_columns {
        let names = records.names().iter().enumerate();
        let extra = names.filter(|(position, name)| {
            !columns.contains(position) && !unicode::same(name, &schema.label.name)
        });
        let extra: Vec<String> = extra.map(|(_, name)| name.clone()).collect();
        if !extra.is_empty() {
            return Err(ReadError::ExtraColumns {
                file: records.file().to_owned(),
                columns: extra,
            });
        }
    }
    Ok(columns)
}
