//! The encoder: it turns raw values into integer codes.

use std::collections::HashMap;

use super::super::bins::bin_of;
use super::super::number_form::NumberForm;
use super::super::spelling::{Levels, numbers_of};
use super::super::unicode::composed;
use super::{Attribute, Kind, OutOfDomain};

/// The result of [`Encoder::encode`] for one cell.
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
    /// The levels of a category, or the levels beside numbers.
    levels: Levels<'a>,
    /// The code of the first of `levels`.
    first_level: i32,
    /// The levels that are not plain ASCII, in Unicode's normal form.
    composed: HashMap<String, i32>,
    /// The marks of missing values, where one of them is a number, which has many spellings.
    marks: Option<Levels<'a>>,
    takes_numbers: bool,
}

impl<'a> Encoder<'a> {
    /// Prepares the encoder of `attribute`.
    pub fn new(attribute: &'a Attribute) -> Encoder<'a> {
        let words = match &attribute.kind {
            Kind::Categorical { levels, .. } => levels.as_slice(),
            _ => attribute.named.as_slice(),
        };
        let is_of_words = matches!(attribute.kind, Kind::Categorical { .. });
        let mut in_form = HashMap::new();
        for (code, word) in (0..).zip(words).filter(|(_, word)| !word.is_ascii()) {
            // The first of several levels of the same characters.
            in_form.entry(composed(word).into_owned()).or_insert(code);
        }
        let marks = attribute.missing.marks();
        let is_number = |mark: &String| numbers_of(std::slice::from_ref(mark)).is_some();
        Encoder {
            attribute,
            levels: Levels::new(words),
            first_level: match is_of_words {
                true => 0,
                false => attribute.ordered_domain().1 + 1,
            },
            composed: in_form,
            marks: marks.iter().any(is_number).then(|| Levels::new(marks)),
            takes_numbers: !is_of_words && marks.iter().all(|mark| mark.parse::<f64>().is_err()),
        }
    }

    /// Returns the attribute that the encoder encodes.
    pub fn attribute(&self) -> &'a Attribute {
        self.attribute
    }

    /// Returns whether `cell` says that its value is not known.
    fn is_missing(&self, cell: &str, form: NumberForm) -> bool {
        let is_number = || {
            let marks = self.marks.as_ref();
            marks.is_some_and(|marks| marks.code_in(cell, form).is_some())
        };
        self.attribute.missing.holds(cell) || is_number()
    }

    /// Returns the code of a value that is absent: it stands for the first mark of missing values,
    /// or where there is none for an empty cell.
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub fn encode_missing(&self) -> Result<Encoded, String> {
        self.encode(self.attribute.missing.first().unwrap_or_default())
    }

    /// Returns whether [`Encoder::encode_number`] gives what [`Encoder::encode`] gives for the
    /// number's text: words are compared as text, and so is a mark of missing values that is a
    /// number.
    pub fn takes_numbers(&self) -> bool {
        self.takes_numbers
    }

    /// Returns the code of a number, where [`Encoder::takes_numbers`].
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub fn encode_number(&self, value: f64) -> Result<Encoded, String> {
        if !value.is_finite() {
            return Err(self.attribute.expected());
        }
        if let Some(level) = self.levels.code_of(value) {
            return Ok(Encoded::Code(self.first_level + level));
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

    /// Returns the code of one trimmed cell.
    ///
    /// # Errors
    /// What was expected instead, in words, when the policy is to refuse.
    #[inline]
    pub fn encode(&self, cell: &str) -> Result<Encoded, String> {
        self.encode_in(cell, NumberForm::PLAIN)
    }

    /// Returns the code of one trimmed cell, as [`Encoder::encode`] does, where numbers are written
    /// in `form`.
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub(crate) fn encode_in(&self, cell: &str, form: NumberForm) -> Result<Encoded, String> {
        if self.is_missing(cell, form) {
            return self.outside(cell, form.number(cell));
        }
        if let Some(code) = self.beside(cell, form) {
            return Ok(Encoded::Code(code));
        }
        match &self.attribute.kind {
            Kind::Categorical { .. } => match self.level(cell, form) {
                Some(code) => Ok(Encoded::Code(code)),
                None => self.outside(cell, None),
            },
            Kind::Integer { min, max } => match whole_number(cell, form) {
                Some(value) => self.encode_whole(value, *min, *max),
                None => Err(self.attribute.expected()),
            },
            Kind::Numeric { .. } => match form.number(cell) {
                Some(value) => self.encode_number(value),
                None => Err(self.attribute.expected()),
            },
        }
    }

    /// Returns the code of the level beside numbers that `cell` spells.
    fn beside(&self, cell: &str, form: NumberForm) -> Option<i32> {
        let level = match self.attribute.named.is_empty() {
            true => None,
            false => self.level(cell, form),
        };
        level.map(|level| self.first_level + level)
    }

    /// Returns the code of the level that `cell` spells, by itself or as another spelling of one.
    fn level(&self, cell: &str, form: NumberForm) -> Option<i32> {
        let merged = || self.levels.code(self.attribute.merge.get(cell)?);
        let in_form = || self.composed.get(composed(cell).as_ref()).copied();
        let code = self.levels.code_in(cell, form).or_else(merged);
        code.or_else(|| (!cell.is_ascii()).then(in_form).flatten())
    }

    fn encode_whole(&self, value: i64, min: i32, max: i32) -> Result<Encoded, String> {
        match i32::try_from(value) {
            Ok(code) if (min..=max).contains(&code) => Ok(Encoded::Code(code)),
            _ => self.outside("", Some(value as f64)),
        }
    }

    fn outside(&self, cell: &str, value: Option<f64>) -> Result<Encoded, String> {
        let (min, max) = self.attribute.ordered_domain();
        match self.attribute.outside {
            OutOfDomain::Reject => Err(self.attribute.expected()),
            OutOfDomain::Skip => Ok(Encoded::Skip),
            OutOfDomain::Level => Ok(Encoded::Mapped(self.attribute.declared_domain().1 + 1)),
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

/// Parses a whole number, also when it is written with a zero fraction such as `40.0`.
fn whole_number(cell: &str, form: NumberForm) -> Option<i64> {
    if let Ok(value) = cell.parse::<i64>() {
        return Some(value);
    }
    let value = form.number(cell)?;
    (value.is_finite() && value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}
