//! How a raw value becomes an integer code.

use super::super::bins::bin_of;
use super::super::spelling::Levels;
use super::{Attribute, Kind, OutOfDomain};

/// What [`Encoder::encode`] makes of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// A value of the domain.
    Code(i32),
    /// A missing or outside value that the policy mapped to this code.
    Mapped(i32),
    /// The policy is to leave the row out.
    Skip,
}

/// The encoder of one attribute: [`Attribute`] with its levels indexed.
pub struct Encoder<'a> {
    attribute: &'a Attribute,
    levels: Levels<'a>,
    takes_numbers: bool,
}

impl<'a> Encoder<'a> {
    /// Prepares the encoder of `attribute`.
    pub fn new(attribute: &'a Attribute) -> Encoder<'a> {
        let levels = match &attribute.kind {
            Kind::Categorical { levels, .. } => Levels::new(levels),
            _ => Levels::new(&[]),
        };
        let marker = attribute.missing.as_deref().unwrap_or_default();
        Encoder {
            attribute,
            levels,
            takes_numbers: !matches!(attribute.kind, Kind::Categorical { .. })
                && marker.parse::<f64>().is_err(),
        }
    }

    /// The attribute that it encodes.
    pub fn attribute(&self) -> &'a Attribute {
        self.attribute
    }

    /// The code of a value that is not there: it stands for the marker of missing values, or where
    /// there is no marker for an empty cell.
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub fn encode_missing(&self) -> Result<Encoded, String> {
        self.encode(self.attribute.missing.as_deref().unwrap_or_default())
    }

    /// Whether [`Encoder::encode_number`] gives what [`Encoder::encode`] gives for the number's
    /// text: words are compared as text, and so is a marker of missing values that is a number.
    pub fn takes_numbers(&self) -> bool {
        self.takes_numbers
    }

    /// The code of a number, where [`Encoder::takes_numbers`].
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub fn encode_number(&self, value: f64) -> Result<Encoded, String> {
        if !value.is_finite() {
            return Err(self.attribute.expected());
        }
        match &self.attribute.kind {
            Kind::Categorical { .. } => Err(self.attribute.expected()),
            Kind::Integer { min, max } => {
                if value.fract() != 0.0 {
                    return Err(self.attribute.expected());
                }
                self.encode_whole(value as i64, *min, *max)
            }
            Kind::Numeric { bins, .. } => match bin_of(bins, value) {
                Some(bin) => Ok(Encoded::Code(bin as i32)),
                None => self.outside("", Some(value)),
            },
        }
    }

    /// The code of one trimmed cell.
    ///
    /// # Errors
    /// What was expected instead, in words, when the policy is to refuse.
    pub fn encode(&self, cell: &str) -> Result<Encoded, String> {
        if self.attribute.missing.as_deref() == Some(cell) {
            return self.outside(cell, None);
        }
        match &self.attribute.kind {
            Kind::Categorical { .. } => match self.levels.code(cell) {
                Some(code) => Ok(Encoded::Code(code)),
                None => self.outside(cell, None),
            },
            Kind::Integer { min, max } => match whole_number(cell) {
                Some(value) => self.encode_whole(value, *min, *max),
                None => Err(self.attribute.expected()),
            },
            Kind::Numeric { .. } => match cell.parse() {
                Ok(value) => self.encode_number(value),
                Err(_) => Err(self.attribute.expected()),
            },
        }
    }

    fn encode_whole(&self, value: i64, min: i32, max: i32) -> Result<Encoded, String> {
        match i32::try_from(value) {
            Ok(code) if (min..=max).contains(&code) => Ok(Encoded::Code(code)),
            _ => self.outside("", Some(value as f64)),
        }
    }

    fn outside(&self, cell: &str, value: Option<f64>) -> Result<Encoded, String> {
        let (min, max) = self.attribute.declared_domain();
        match self.attribute.outside {
            OutOfDomain::Reject => Err(self.attribute.expected()),
            OutOfDomain::Skip => Ok(Encoded::Skip),
            OutOfDomain::Level => Ok(Encoded::Mapped(max + 1)),
            OutOfDomain::Clip => {
                // A missing marker that is a number (100 in the ADF files) is clipped like one.
                let value = value.or_else(|| cell.parse::<f64>().ok());
                match value {
                    Some(value) if value.is_finite() => {
                        let below = match &self.attribute.kind {
                            Kind::Numeric { bins, .. } => value < bins[0],
                            _ => value < f64::from(min),
                        };
                        Ok(Encoded::Mapped(if below { min } else { max }))
                    }
                    _ => Err(format!(
                        "{}; a missing value cannot be clipped",
                        self.attribute.expected()
                    )),
                }
            }
        }
    }
}

/// A whole number, also when written with a zero fraction such as `40.0`.
fn whole_number(cell: &str) -> Option<i64> {
    if let Ok(value) = cell.parse::<i64>() {
        return Some(value);
    }
    let value = cell.parse::<f64>().ok()?;
    (value.is_finite() && value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}
