//! A check that a predictor is a function of the row.
//!
//! Two inputs that differ in protected attributes only are compared by asking for both. If the same
//! row may get two answers, or its answer depends on the other rows of the batch, such a comparison
//! means nothing. So some rows are asked for twice: together; a few of them each alone, from the
//! last one to the first; and, where these are not all, together in the reverse order. An answer that
//! depends on the row's neighbours, on its place among them, or on what was asked before, is then
//! another one, unless the row stands at the place of the first; and an answer that seldom differs
//! is found by the many.

use serde::Serialize;

use super::error::PredictorError;
use super::values::describe;
use probity_data::schema::Schema;
use probity_nn::decision::probabilities;
use probity_nn::{Classifier, ModelError, Rows};

/// The largest difference between two probabilities of the same row: it allows for rounding that
/// depends on the batch, and for nothing else.
pub const TOLERANCE: f32 = 1e-5;

/// The number of rows that are asked about alone.
const ALONE: usize = 32;

/// The number of rows of the data by which it is found out whether answers are functions of the
/// row: a predictor that answers one row in a hundred by chance passes them once in a hundred
/// million times.
pub const LOOKED_AT: usize = 1000;

/// The result of asking about rows twice, each of which got one answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AskedTwice {
    /// The number of rows of the data.
    pub rows: u64,
    /// The largest difference between two probabilities of one row, or between two numbers.
    pub largest_difference: f32,
}

/// Asks `model` twice for `rows` of `schema`.
///
/// # Errors
/// [`PredictorError::Unstable`] when two probabilities of one row differ by more than
/// [`TOLERANCE`]; when the model cannot answer.
pub fn check_stability(
    model: &dyn Classifier,
    schema: &Schema,
    rows: Rows<'_>,
) -> Result<AskedTwice, ModelError> {
    let classes = model.classes();
    let first = model.logits(rows)?;
    let step = rows.len().div_ceil(ALONE).max(1);
    let mut largest = 0.0f32;
    let asked = rows.iter().zip(first.chunks_exact(classes));
    let few: Vec<(&[i32], &[f32])> = asked.clone().step_by(step).collect();
    for (row, one) in few.into_iter().rev() {
        let other = model.logits(Rows::new(row, rows.width))?;
        largest = largest.max(difference(schema, row, [one, &other])?);
    }
    if step > 1 {
        let reversed: Vec<i32> = rows.iter().rev().flatten().copied().collect();
        let second = model.logits(Rows::new(&reversed, rows.width))?;
        for ((row, one), other) in asked.zip(second.chunks_exact(classes).rev()) {
            largest = largest.max(difference(schema, row, [one, other])?);
        }
    }
    Ok(AskedTwice {
        rows: rows.len() as u64,
        largest_difference: largest,
    })
}

/// Returns the difference between two answers to `row`.
fn difference(schema: &Schema, row: &[i32], [one, other]: [&[f32]; 2]) -> Result<f32, ModelError> {
    if schema.label.is_number() {
        let (first, second) = (one[1], other[1]);
        let difference = (first - second).abs();
        return match difference > TOLERANCE * first.abs().max(second.abs()) {
            false => Ok(difference),
            true => Err(ModelError::predictor(PredictorError::UnstableNumber {
                row: describe(&schema.attributes, row),
                first,
                second,
            })),
        };
    }
    let mut largest = 0.0f32;
    let pairs = probabilities(one).into_iter().zip(probabilities(other));
    for (class, (one, other)) in pairs.enumerate() {
        let (one, other) = (one as f32, other as f32);
        if (one - other).abs() > TOLERANCE {
            return Err(ModelError::predictor(PredictorError::Unstable {
                row: describe(&schema.attributes, row),
                class: schema.label.classes[class].clone(),
                first: one,
                second: other,
            }));
        }
        largest = largest.max((one - other).abs());
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A model with the logits (0, first code · 0.01 + noise · calls so far + crowd · rows of the
    /// batch + place · parity of the place in the batch).
    struct Model {
        width: usize,
        noise: f32,
        crowd: f32,
        place: f32,
        calls: AtomicU32,
    }

    impl Classifier for Model {
        fn width(&self) -> usize {
            self.width
        }
        fn classes(&self) -> usize {
            2
        }
        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed) as f32;
            let disturbance = self.noise * calls + self.crowd * rows.len() as f32;
            let logit = |(at, row): (usize, &[i32])| {
                let place = self.place * (at % 2) as f32;
                [0.0, row[0] as f32 * 0.01 + disturbance + place]
            };
            Ok(rows.iter().enumerate().flat_map(logit).collect())
        }
    }

    fn check(noise: f32, crowd: f32, place: f32) -> Result<AskedTwice, ModelError> {
        let low = low();
        let model = Model {
            width: low.len(),
            noise,
            crowd,
            place,
            calls: AtomicU32::new(0),
        };
        check_of(&model, 7)
    }

    fn schema() -> Schema {
        builtin::schema("synthetic-census").unwrap().unwrap()
    }

    /// Returns a row of the lowest codes.
    fn low() -> Vec<i32> {
        schema().attributes.iter().map(|a| a.domain().0).collect()
    }

    /// Asks about so many rows, of seven different ages.
    fn check_of(model: &dyn Classifier, rows: i32) -> Result<AskedTwice, ModelError> {
        let low = low();
        let mut codes = Vec::new();
        for row in 0..rows {
            let start = codes.len();
            codes.extend_from_slice(&low);
            codes[start] += row % 7;
        }
        check_stability(model, &schema(), Rows::new(&codes, low.len()))
    }

    #[test]
    fn functions_of_the_row_pass() {
        let steady = check(0.0, 0.0, 0.0).unwrap();
        assert_eq!((steady.rows, steady.largest_difference), (7, 0.0));
        let rounding = check(1e-6, 0.0, 0.0).unwrap().largest_difference;
        assert!(rounding > 0.0 && rounding <= TOLERANCE, "{rounding}");
    }

    #[test]
    fn noise_and_neighbours_are_found() {
        for (noise, crowd, place) in [(0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)] {
            let error = check(noise, crowd, place).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains("not a function of the row"), "{cause}");
            assert!(cause.contains("age = "), "{cause}");
        }
    }

    /// A model that gives another answer to one row that it is asked for: that of this number, over
    /// all calls.
    struct Seldom {
        width: usize,
        odd: u32,
        asked: AtomicU32,
        /// The number of rows of each call.
        calls: Mutex<Vec<usize>>,
    }

    impl Classifier for Seldom {
        fn width(&self) -> usize {
            self.width
        }
        fn classes(&self) -> usize {
            2
        }
        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            self.calls.lock().unwrap().push(rows.len());
            let logit = |_: &[i32]| {
                let number = self.asked.fetch_add(1, Ordering::Relaxed);
                [0.0, f32::from(u8::from(number == self.odd))]
            };
            Ok(rows.iter().flat_map(logit).collect())
        }
    }

    #[test]
    fn one_odd_answer_among_many_is_found_and_few_are_asked_alone() {
        let seldom = |odd| Seldom {
            width: low().len(),
            odd,
            asked: AtomicU32::new(0),
            calls: Mutex::default(),
        };
        // 100 rows together, 25 of them alone, 100 together again.
        let steady = seldom(225);
        assert_eq!(check_of(&steady, 100).unwrap().rows, 100);
        let mut calls = vec![100];
        calls.extend([1; 25]);
        calls.push(100);
        assert_eq!(*steady.calls.lock().unwrap(), calls);
        for odd in [0, 1, 99, 100, 124, 125, 224] {
            let error = check_of(&seldom(odd), 100).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(
                cause.contains("not a function of the row"),
                "{odd}: {cause}"
            );
        }
    }
}
