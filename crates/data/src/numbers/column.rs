//! How one cell becomes one or several numbers.

use super::error::NumbersError;
use crate::read::{ReadError, Record};
use crate::schema::{Encoded, Encoder, Kind, Label};
use crate::spelling::Levels;

/// A column of a table that becomes numbers.
pub struct Column<'s> {
    /// Its place in the records.
    pub position: usize,
    /// What its cells are.
    pub reading: Reading<'s>,
}

/// What the cells of a column are read as.
pub enum Reading<'s> {
    /// Any finite number.
    Number,
    /// The place of a word among levels.
    Level(Levels<'s>),
    /// The place of a class among the classes of the label.
    Class(&'s Label),
    /// An attribute's value: the place of a category, else the number. A value that a policy maps
    /// to a level of its own is refused where it is no category.
    Value(Encoder<'s>),
    /// An attribute's coordinates: like [`Reading::Value`], but an unordered category is an
    /// indicator for each of its levels, and the level of an integer is one above the largest.
    Features(Encoder<'s>),
}

impl Column<'_> {
    /// Appends the numbers of this column's cell to `numbers`; false if a policy leaves the row
    /// out.
    ///
    /// # Errors
    /// A cell that does not stand for numbers.
    #[inline]
    pub fn append(
        &self,
        record: &Record<'_>,
        numbers: &mut Vec<f64>,
    ) -> Result<bool, NumbersError> {
        if let Reading::Features(encoder) = &self.reading
            && let Kind::Categorical { ordered: false, .. } = encoder.attribute().kind
        {
            let code = match record.encode(self.position, encoder)? {
                Encoded::Code(code) | Encoded::Mapped(code) => code,
                Encoded::Skip => return Ok(false),
            };
            let (min, max) = encoder.attribute().domain();
            numbers.extend((min..=max).map(|level| f64::from(u8::from(level == code))));
            return Ok(true);
        }
        match self.value(record)? {
            Some(number) => numbers.push(number),
            None => return Ok(false),
        }
        Ok(true)
    }

    /// The one number of this column's cell; `None` if a policy leaves the row out.
    ///
    /// # Errors
    /// A cell that does not stand for a number.
    pub fn value(&self, record: &Record<'_>) -> Result<Option<f64>, NumbersError> {
        let position = self.position;
        let number = match &self.reading {
            Reading::Number => match record.number(position)? {
                Some(number) => number,
                None => {
                    return Err(NumbersError::NotANumber {
                        file: record.file().to_owned(),
                        place: record.place(),
                        column: record.column(position).to_owned(),
                        value: record.cell(position)?.to_owned(),
                    });
                }
            },
            Reading::Level(levels) => {
                let cell = record.cell(position)?;
                match levels.code(cell) {
                    Some(level) => f64::from(level),
                    None => {
                        return Err(NumbersError::UnknownLevel {
                            file: record.file().to_owned(),
                            place: record.place(),
                            column: record.column(position).to_owned(),
                            value: cell.to_owned(),
                        });
                    }
                }
            }
            Reading::Class(label) => f64::from(record.class(position, label)?),
            Reading::Value(encoder) | Reading::Features(encoder) => {
                let (code, mapped) = match record.encode(position, encoder)? {
                    Encoded::Code(code) => (code, false),
                    Encoded::Mapped(code) => (code, true),
                    Encoded::Skip => return Ok(None),
                };
                self.number_of(record, &encoder.attribute().kind, code, mapped)?
            }
        };
        Ok(Some(number))
    }

    /// The number that the code of an attribute stands for.
    fn number_of(
        &self,
        record: &Record<'_>,
        kind: &Kind,
        code: i32,
        mapped: bool,
    ) -> Result<f64, NumbersError> {
        let number = match kind {
            Kind::Integer { max, .. } if mapped && code > *max => {
                matches!(self.reading, Reading::Features(_)).then_some(f64::from(code))
            }
            Kind::Categorical { .. } | Kind::Integer { .. } => Some(f64::from(code)),
            Kind::Numeric { bins, .. } if mapped => match code {
                0 => bins.first().copied(),
                code if code == bins.len() as i32 - 2 => bins.last().copied(),
                _ => None,
            },
            // The encoder has found it to be a finite number.
            Kind::Numeric { .. } => record.number(self.position)?,
        };
        match number {
            Some(number) => Ok(number),
            None => Err(self.level_of_number(record)?),
        }
    }

    fn level_of_number(&self, record: &Record<'_>) -> Result<NumbersError, ReadError> {
        Ok(NumbersError::LevelOfNumber {
            file: record.file().to_owned(),
            place: record.place(),
            column: record.column(self.position).to_owned(),
            value: record.cell(self.position)?.to_owned(),
        })
    }
}
