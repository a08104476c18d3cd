//! Is a predictor a function of the row?
//!
//! Two inputs that differ in protected attributes only are compared by asking for both. If the same
//! row may get two answers, or its answer depends on the other rows of the batch, such a comparison
//! means nothing. So a few rows are asked for twice: together, and then each alone, from the last
//! one to the first. An answer that depends on the row's neighbours, on its place among them, or on
//! what was asked before, is then another one, unless the row stands at the place of the first.

use super::error::PredictorError;
use super::values::describe;
use probity_data::schema::Schema;
use probity_nn::decision::probabilities;
use probity_nn::{Classifier, ModelError, Rows};

/// How far two probabilities of the same row may lie apart: rounding that depends on the batch,
/// nothing else.
pub const TOLERANCE: f32 = 1e-5;

/// Asks `model` twice for `rows` of `schema`: the largest difference between two probabilities of
/// one row.
///
/// # Errors
/// [`PredictorError::Unstable`] when it is above [`TOLERANCE`]; when the model cannot answer.
pub fn check_stability(
    model: &dyn Classifier,
    schema: &Schema,
    rows: Rows<'_>,
) -> Result<f32, ModelError> {
    let classes = model.classes();
    let first = model.logits(rows)?;
    let mut second = Vec::with_capacity(first.len());
    for row in rows.iter().rev() {
        second.extend(model.logits(Rows::new(row, rows.width))?);
    }
    let mut largest = 0.0f32;
    let again = second.chunks_exact(classes).rev();
    for ((row, one), other) in rows.iter().zip(first.chunks_exact(classes)).zip(again) {
        if schema.label.is_number() {
            let (first, second) = (one[1], other[1]);
            let difference = (first - second).abs();
            if difference > TOLERANCE * first.abs().max(second.abs()) {
                return Err(ModelError::predictor(PredictorError::UnstableNumber {
                    row: describe(&schema.attributes, row),
                    first,
                    second,
                }));
            }
            largest = largest.max(difference);
            continue;
        }
        let [one, other] = [probabilities(one), probabilities(other)];
        for (class, (one, other)) in one.into_iter().zip(other).enumerate() {
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
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Logits (0, first code · 0.01 + noise · calls so far + crowd · rows of the batch + place ·
    /// parity of the place in the batch).
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

    fn check(noise: f32, crowd: f32, place: f32) -> Result<f32, ModelError> {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let low: Vec<i32> = schema.attributes.iter().map(|a| a.domain().0).collect();
        let mut codes = Vec::new();
        for row in 0..7 {
            let start = codes.len();
            codes.extend_from_slice(&low);
            codes[start] += row;
        }
        let model = Model {
            width: low.len(),
            noise,
            crowd,
            place,
            calls: AtomicU32::new(0),
        };
        check_stability(&model, &schema, Rows::new(&codes, low.len()))
    }

    #[test]
    fn functions_of_the_row_pass() {
        assert_eq!(check(0.0, 0.0, 0.0).unwrap(), 0.0);
        let rounding = check(1e-6, 0.0, 0.0).unwrap();
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
}
