//! The conversion of one cell to one or several numbers.

use super::error::NumbersError;
use crate::read::Record;
use crate::schema::{Attribute, Encoded, Encoder, Kind, Label};
use crate::spelling::Levels;

/// A column of a table that becomes numbers.
pub struct Column<'s> {
    /// The place of the column in the records.
    pub position: usize,
    /// The way in which the column's cells are read.
    pub reading: Reading<'s>,
}

/// The way in which the cells of a column are read.
pub enum Reading<'s> {
    /// Reads any finite number.
    Number,
    /// Reads the place of a word among levels.
    Level(Levels<'s>),
    /// Reads the place of a class among the classes of the label; a row whose outcome is missing is
    /// left out.
    Class(&'s Label),
    /// Reads an attribute's value: the place of a category, else the number. A level beside
    /// numbers, and a value that a policy maps to a level of its own, are no known number: NaN.
    Value(Encoder<'s>),
    /// Reads an attribute's coordinates: like [`Reading::Value`], but an unordered category is an
    /// indicator for each of its levels, and levels beside numbers lie above the largest one: each
    /// by one above the one before of integers, by the mean width of a bin of others.
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

    /// Returns the one number of this column's cell; `None` if a policy leaves the row out, or its
    /// outcome is missing.
    ///
    /// # Errors
    /// A cell that does not stand for a number.
    pub fn value(&self, record: &Record<'_>) -> Result<Option<f64>, NumbersError> {
        let position = self.position;
        let number = match &self.reading {
            Reading::Number => self.number(record)?,
            Reading::Level(levels) => match record.level(position, levels)? {
                Some(level) => f64::from(level),
                None => {
                    return Err(NumbersError::UnknownLevel {
                        file: record.file().to_owned(),
                        place: record.place(),
                        column: record.column(position).to_owned(),
                        value: record.cell(position)?.to_owned(),
                    });
                }
            },
            Reading::Class(label) => match record.known_class(position, label)? {
                Some(class) => f64::from(class),
                None if label.is_missing(record.cell(position)?) => return Ok(None),
                None => f64::from(record.class(position, label)?),
            },
            Reading::Value(encoder) | Reading::Features(encoder) => {
                let (code, mapped) = match record.encode(position, encoder)? {
                    Encoded::Code(code) => (code, false),
                    Encoded::Mapped(code) => (code, true),
                    Encoded::Skip => return Ok(None),
                };
                self.number_of(record, encoder.attribute(), code, mapped)?
            }
        };
        Ok(Some(number))
    }

    /// Returns the number that the code of an attribute stands for.
    fn number_of(
        &self,
        record: &Record<'_>,
        attribute: &Attribute,
        code: i32,
        mapped: bool,
    ) -> Result<f64, NumbersError> {
        let level = |number: f64| match self.reading {
            Reading::Features(_) => number,
            _ => f64::NAN,
        };
        let (_, last_number) = attribute.ordered_domain();
        Ok(match &attribute.kind {
            Kind::Integer { .. } if code > last_number => level(f64::from(code)),
            Kind::Categorical { .. } | Kind::Integer { .. } => f64::from(code),
            Kind::Numeric { bins, .. } if code > last_number => {
                level(beyond(bins, code - last_number))
            }
            Kind::Numeric { bins, .. } if mapped => match (bins.as_slice(), code) {
                ([first, ..], 0) => *first,
                ([.., last], _) => *last,
                ([], _) => f64::NAN,
            },
            // The encoder has found it to be a finite number.
            Kind::Numeric { .. } => self.number(record)?,
        })
    }

    /// Returns the finite number of this column's cell.
    fn number(&self, record: &Record<'_>) -> Result<f64, NumbersError> {
        match record.number(self.position)? {
            Some(number) => Ok(number),
            None => Err(NumbersError::NotANumber {
                file: record.file().to_owned(),
                place: record.place(),
                column: record.column(self.position).to_owned(),
                value: record.cell(self.position)?.to_owned(),
            }),
        }
    }
}

/// Returns the position of the level number `place`, from 1, beside the numbers of `bins`: each
/// lies the mean width of a bin above the one before, the first one above the last edge.
pub(super) fn beyond(bins: &[f64], place: i32) -> f64 {
    match bins {
        [first, .., last] => last + f64::from(place) * (last - first) / (bins.len() - 1) as f64,
        _ => f64::NAN,
    }
}
