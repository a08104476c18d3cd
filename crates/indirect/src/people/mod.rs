//! The people whose decisions are looked at: who they are, how they are compared, and what was decided
//! about them.
//!
//! ```text
//! data ─┬─ by the schema of the people ──► groups, coordinates, recorded outcomes
//!       └─ by the schema of the model ───► its decisions   (it sees fewer columns)
//! ```
//!
//! The two readings are joined by the numbers that rows have in their file: a row that either leaves
//! out is left out.

use std::path::PathBuf;

use serde::Serialize;

use crate::coordinates::{Cell, Column, Coordinates};
use crate::error::IndirectError;
use probity_data::schema::{Kind, SIDES, Schema};
use probity_data::table::{CellNumbers, Table};
use probity_fairness::statistics::Share;
use probity_run::specification::FieldError;

pub(crate) use drawn::FILE as DRAWN;
pub use drawn::{Drawing, Drawn, DrawnPeople};
pub use groups::{LeftOut, ProtectedGroup, with_enough};
pub use nearby::{DrawnForGroup, Nearby};
pub use opened::{Counterfactuals, OpenedPeople};
pub use ranks::Ranks;
pub use reader::PeopleReader;
pub use sources::{Centre, CounterpartSource, Sources, Weight};

mod drawn;
mod groups;
mod nearby;
mod opened;
mod ranks;
mod reader;
mod sources;
#[cfg(test)]
mod tests_of_drawing;

/// A condition on a protected attribute: that its value is this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// The value, or the range of values.
    pub value: String,
}

/// Returns `conditions` as `sex=female, race=black`.
pub fn named(conditions: &[Condition]) -> String {
    let conditions = conditions.iter();
    let named = conditions.map(|it| format!("{}={}", it.attribute, it.value));
    named.collect::<Vec<_>>().join(", ")
}

/// What was decided about people.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// The number of the decision about each person.
    pub decided: Vec<u32>,
    /// The probability of the favourable class, or the number, one a person; empty where outcomes that are
    /// classes are looked at.
    pub scores: Vec<f64>,
    /// The label whose numbers these are, where they are numbers; nothing is decided then.
    pub number: Option<String>,
    /// The names of the decisions, by number.
    pub names: Vec<String>,
    /// The number of the favourable decision.
    pub favourable: u32,
    /// Whether somebody said which one that is.
    pub is_favourable_given: bool,
}

impl Decisions {
    /// Returns whether each person was not given what is good to get.
    pub fn unfavourable(&self) -> Vec<bool> {
        let is_unfavourable = |&decided: &u32| decided != self.favourable;
        self.decided.iter().map(is_unfavourable).collect()
    }

    /// Returns the name of the decision about the person `row`, or their number.
    pub fn name(&self, row: usize) -> String {
        if self.number.is_some() {
            // As it was in 32 bits.
            return (self.scores[row] as f32).to_string();
        }
        let name = self.names.get(self.decided[row] as usize);
        name.cloned().unwrap_or_default()
    }

    /// Returns what each person gets, the higher the better: their score or number where these
    /// `are_compared`, else 1 for the favourable decision and 0 for others.
    pub fn gets(&self, are_compared: bool) -> Vec<f64> {
        let is_more_better = self.number.is_none() || self.favourable_name() == SIDES[1];
        if are_compared {
            let sign = if is_more_better { 1.0 } else { -1.0 };
            return self.scores.iter().map(|score| sign * score).collect();
        }
        let unfavourable = self.unfavourable().into_iter();
        unfavourable.map(|is| if is { 0.0 } else { 1.0 }).collect()
    }

    /// Returns what each person got: their score or number where these `are_compared`, else 1 for an
    /// unfavourable decision and 0 for the favourable one.
    pub fn outcomes(&self, are_compared: bool) -> Vec<f64> {
        if are_compared {
            return self.scores.clone();
        }
        let unfavourable = self.unfavourable().into_iter();
        unfavourable.map(|is| if is { 1.0 } else { 0.0 }).collect()
    }

    /// Returns the number of people about whom something is known.
    fn count(&self) -> usize {
        match self.number {
            Some(_) => self.scores.len(),
            None => self.decided.len(),
        }
    }

    /// Returns the name of the favourable decision.
    pub fn favourable_name(&self) -> &str {
        let name = self.names.get(self.favourable as usize);
        name.map_or("", String::as_str)
    }
}

/// People, and how many of them were decided unfavourably.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decided {
    /// The number of people.
    pub people: u64,
    /// The people who were decided unfavourably.
    pub unfavourable: Share,
}

/// The people of a table, with what was decided about them.
pub struct People {
    schema: Schema,
    compared: Vec<(usize, f64)>,
    /// The rows of the people, encoded by their schema.
    pub table: Table,
    numbers: CellNumbers,
    /// The numbers of their rows in the file, from 1.
    file_rows: Vec<u64>,
    /// What was decided about them.
    pub decisions: Decisions,
    /// What users are to know of the answers of a predictor, if one decided.
    pub remarks: Vec<String>,
    /// The SHA-256 of the file.
    pub sha256: String,
    file: PathBuf,
}

/// The scale of the numbers of an attribute: the unit in which their mean and standard deviation are held, so
/// that no sum of large ones leaves the range of 64 bits.
#[derive(Debug, Clone, Copy)]
struct Scale {
    unit: f64,
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// Measures `numbers`.
    fn new(numbers: &[f64]) -> Scale {
        let largest = numbers
            .iter()
            .fold(0.0, |most, number| number.abs().max(most));
        // A power of two, by which dividing changes no digit.
        let unit = match largest > LARGE {
            true => UNIT,
            false => 1.0,
        };
        let count = numbers.len().max(1) as f64;
        let mean = numbers.iter().map(|number| number / unit).sum::<f64>() / count;
        let squares: f64 = numbers
            .iter()
            .map(|number| (number / unit - mean).powi(2))
            .sum();
        let deviation = (squares / count).sqrt();
        Scale {
            unit,
            mean,
            // People who all have one number do not differ by it.
            deviation: if deviation > 0.0 { deviation } else { 1.0 },
        }
    }

    /// Returns how many standard deviations `number` lies above the mean.
    fn standardised(&self, number: f64) -> f64 {
        (number / self.unit - self.mean) / self.deviation
    }
}

/// The size from which on squares of numbers might leave the range of 64 bits.
const LARGE: f64 = 1e150;
/// The unit of such numbers: 2⁹⁰⁰, in which the largest is below 2¹²⁴.
const UNIT: f64 = 8.452_712_498_170_644e270;

impl People {
    /// Returns the number of people.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// Returns how many of the people `rows` were decided unfavourably.
    pub fn decided(&self, rows: &[u32]) -> Decided {
        let is_unfavourable =
            |row: &&u32| self.decisions.decided[**row as usize] != self.decisions.favourable;
        let count = rows.iter().filter(is_unfavourable).count();
        Decided {
            people: rows.len() as u64,
            unfavourable: Share::new(count as u64, rows.len() as u64),
        }
    }

    /// Returns the mean number of the people `rows`, where they get numbers.
    pub fn mean_number(&self, rows: &[u32]) -> Option<f64> {
        self.decisions.number.as_ref()?;
        let sum: f64 = rows
            .iter()
            .map(|&row| self.decisions.scores[row as usize])
            .sum();
        Some(sum / rows.len().max(1) as f64)
    }

    /// Returns the place of the person with the number `row` in the file, from 1, unless they were left
    /// out.
    pub fn place_of(&self, row: u64) -> Option<u32> {
        let place = self.file_rows.iter().position(|it| *it == row)?;
        Some(place as u32)
    }

    /// Returns the number that the person `row` has in the file, from 1.
    pub fn file_row(&self, row: usize) -> u64 {
        self.file_rows[row]
    }

    /// Returns the names of the attributes that people are compared by.
    pub fn compared(&self) -> Vec<String> {
        let name = |&(place, _): &(usize, f64)| self.schema.attributes[place].name.clone();
        self.compared.iter().map(name).collect()
    }

    /// Returns the coordinates of the people, in standard deviations of their own.
    pub fn coordinates(&self) -> Coordinates {
        self.coordinates_by(self)
    }

    /// Returns the coordinates of the people, in standard deviations of `others`.
    pub fn coordinates_by(&self, others: &People) -> Coordinates {
        self.coordinates_of(&self.compared, others)
    }

    /// The coordinates of the people by `attributes`, each with its weight, in standard deviations of
    /// `others`.
    fn coordinates_of(&self, attributes: &[(usize, f64)], others: &People) -> Coordinates {
        let columns = attributes.iter().map(|&(place, weight)| {
            let scale = others.scale(place);
            let cells: Vec<Cell> = (0..self.rows())
                .map(|row| match self.number(place, row) {
                    Some(number) => Cell::Number(scale.standardised(number)),
                    None => Cell::Level(self.table.row(row)[place]),
                })
                .collect();
            Column::new(&self.schema.attributes[place].name, weight, &cells)
        });
        Coordinates::new(columns.collect())
    }

    /// Returns the number that the person `row` has of the attribute at `place`, if it has an order
    /// and the value is one of it.
    fn number(&self, place: usize, row: usize) -> Option<f64> {
        let attribute = &self.schema.attributes[place];
        let code = self.table.row(row)[place];
        if !attribute.are_ordered(&[code]) {
            return None;
        }
        let column = self.numbers.places().iter().position(|it| *it == place);
        match (&attribute.kind, column) {
            (Kind::Numeric { bins, .. }, Some(column)) => {
                let number = self.numbers.row(row)[column];
                // A value that was moved into the domain stands for an end of it.
                let end = if code == 0 { bins.first() } else { bins.last() };
                match number.is_nan() {
                    true => end.copied(),
                    false => Some(number),
                }
            }
            _ => Some(f64::from(code)),
        }
    }

    fn scale(&self, place: usize) -> Scale {
        let numbers: Vec<f64> = (0..self.rows())
            .filter_map(|row| self.number(place, row))
            .collect();
        Scale::new(&numbers)
    }

    /// Returns what the person `row` has of each attribute, in the words of the schema: all
    /// attributes, protected ones too.
    pub fn described(&self, row: usize) -> Vec<Condition> {
        let attributes = self.schema.attributes.iter().enumerate();
        let described = attributes.map(|(place, attribute)| Condition {
            attribute: attribute.name.clone(),
            value: self.text(place, row),
        });
        described.collect()
    }

    /// Returns what the person `row` has of the attribute at `place`, as it would stand in a file.
    fn text(&self, place: usize, row: usize) -> String {
        let attribute = &self.schema.attributes[place];
        match (&attribute.kind, self.number(place, row)) {
            (Kind::Numeric { .. }, Some(number)) => number.to_string(),
            _ => attribute.decode(self.table.row(row)[place]),
        }
    }

    /// Refuses `others` if they are not the same people in the same order, as many rows with the same
    /// numbers in their file, or nothing is decided about them.
    ///
    /// # Errors
    /// [`IndirectError::OtherPeople`]; [`IndirectError::Field`] where nothing is decided.
    pub fn expect_same_rows(&self, others: &People) -> Result<(), IndirectError> {
        if others.decisions.count() != others.rows() {
            let expected = "a table with an outcome in every row";
            let field = FieldError::new("counterfactuals", others.file.display(), expected);
            return Err(field.into());
        }
        match self.file_rows == others.file_rows {
            true => Ok(()),
            false => Err(IndirectError::OtherPeople {
                file: others.file.clone(),
                rows: others.rows(),
                people: self.rows(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_have_a_scale() {
        let ends = [f64::MAX, f64::MIN, 0.5, 1.5];
        let scale = Scale::new(&ends);
        let [most, least, half, more] = ends.map(|number| scale.standardised(number));
        assert!(most > 1.0 && least < -1.0 && half.abs() < 1e-9 && more.abs() < 1e-9);
        let [low, high] = [1e160, 3e160];
        let scale = Scale::new(&[low, high]);
        let apart = scale.standardised(high) - scale.standardised(low);
        assert!((apart - 2.0).abs() < 1e-12, "{apart}");
        let scale = Scale::new(&[1.0, 3.0]);
        assert_eq!(
            [1.0, 3.0].map(|number| scale.standardised(number)),
            [-1.0, 1.0]
        );
        assert_eq!(Scale::new(&[7.0, 7.0]).standardised(7.0), 0.0);
    }
}
