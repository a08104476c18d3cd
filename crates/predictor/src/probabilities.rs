//! The checks of a predictor's answers, and their conversion to logits.
//!
//! A probability p becomes the logit ln(max(p, [`FLOOR`])), so that softmax gives it back. The
//! logits are 32-bit numbers; where two probabilities differ by less than those can tell, the
//! larger one's logit is raised by one unit in the last place. The predicted class is therefore
//! always that of the largest probability as the predictor gave it, the first of them on ties.
//! The number of a regressor is the second of two logits, of which the first is 0.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use probity_data::schema::Label;
use probity_nn::predicted_class;
use serde::{Deserialize, Serialize};

use super::error::PredictorError;

/// The least probability: smaller ones count as this, because ln 0 has no use.
pub const FLOOR: f64 = 1e-30;

/// The largest distance from 1 of the sum of a row's probabilities; for more than two classes, half
/// of it for each: this is what numbers rounded to three digits, or computed in 32 bits, need.
pub const SUM_TOLERANCE: f64 = 1e-3;

/// The largest rounding error of a probability of three digits.
const THREE_DIGITS: f64 = 0.0005;

/// The largest rounding error of each of two or more rounded probabilities: half of a hundredth.
const ROUNDED_BY: f64 = 0.005;

/// How probabilities must sum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Probabilities {
    /// To 1
    #[default]
    Exact,
    /// To about 1, as numbers of two digits do: they are divided by their sum
    Rounded,
}

impl Probabilities {
    /// Returns whether probabilities must sum to 1, as usual.
    pub fn is_exact(&self) -> bool {
        *self == Probabilities::Exact
    }

    /// Returns how far the sum of `count` probabilities may be from 1.
    fn tolerance(self, count: usize) -> f64 {
        let each = match self {
            Probabilities::Exact => THREE_DIGITS,
            Probabilities::Rounded => ROUNDED_BY,
        };
        // What computes in binary needs a little more.
        each * count.max(2) as f64 + 1e-9
    }
}

/// The way in which the probabilities of a predictor are taken, and the number of rows of them that
/// were divided by their sum. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    kind: Probabilities,
    divided: Arc<AtomicU64>,
}

impl Taken {
    /// Creates the way to take probabilities of this kind, with no row divided yet.
    pub fn new(kind: Probabilities) -> Taken {
        Taken {
            kind,
            divided: Arc::default(),
        }
    }

    /// Returns the number of rows that were divided by their sum.
    pub fn divided(&self) -> u64 {
        self.divided.load(Ordering::Relaxed)
    }

    /// Returns how many of `rows` were divided by their sum, where probabilities may be rounded;
    /// `divided` is the count before those rows were asked about.
    pub fn since(&self, divided: u64, rows: usize) -> Option<RoundedRows> {
        (!self.kind.is_exact()).then(|| RoundedRows {
            rows: rows as u64,
            divided: self.divided() - divided,
        })
    }
}

/// The number of rows of the data that get rounded probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RoundedRows {
    /// The number of rows that were asked about.
    pub rows: u64,
    /// The number of rows whose probabilities were divided by their sum.
    pub divided: u64,
}

/// Appends the logits of what a model `gave` for what `asked` describes to `out`: see
/// [`append_logits`]; where `label` holds numbers, of the one finite number in 32 bits.
///
/// # Errors
/// [`PredictorError`] naming what was asked and what is wrong.
pub fn append_answer(
    label: &Label,
    taken: &Taken,
    asked: &dyn Fn() -> String,
    gave: &[f64],
    out: &mut Vec<f32>,
) -> Result<(), PredictorError> {
    if !label.is_number() {
        return append_logits(&label.classes, taken, asked, gave, out);
    }
    match *gave {
        [number] if (number as f32).is_finite() => {
            out.extend([0.0, number as f32]);
            Ok(())
        }
        [value] => Err(PredictorError::Number {
            row: asked(),
            value,
        }),
        _ => Err(PredictorError::Width {
            row: asked(),
            classes: label.answers(),
            found: gave.len(),
        }),
    }
}

/// Appends the logits of the `probabilities` of what `asked` describes to `out`, after checking
/// that there is one for each of `classes`, from 0 to 1, and that they sum to 1; where they are
/// `taken` for rounded, to about 1, by which they are divided.
///
/// # Errors
/// [`PredictorError`] naming what was asked and what is wrong.
pub fn append_logits(
    classes: &[String],
    taken: &Taken,
    asked: &dyn Fn() -> String,
    probabilities: &[f64],
    out: &mut Vec<f32>,
) -> Result<(), PredictorError> {
    if probabilities.len() != classes.len() {
        return Err(PredictorError::Width {
            row: asked(),
            classes: classes.len(),
            found: probabilities.len(),
        });
    }
    // The last class first: that is the one that a single score speaks of.
    for (class, &value) in classes.iter().zip(probabilities).rev() {
        // Rounding may leave a little more than 1.
        if !(0.0..=1.0 + SUM_TOLERANCE).contains(&value) {
            return Err(PredictorError::Value {
                row: asked(),
                class: class.clone(),
                value,
            });
        }
    }
    let sum: f64 = probabilities.iter().sum();
    let off = (sum - 1.0).abs();
    if off.is_nan() || off > taken.kind.tolerance(classes.len()) {
        let is_rounded = off <= Probabilities::Rounded.tolerance(classes.len());
        return Err(PredictorError::Sum {
            row: asked(),
            sum,
            advice: match is_rounded {
                true => {
                    "if they are rounded, say --probabilities rounded (predictor.probabilities), which divides them by their sum"
                }
                false => "are they logits, scores or percentages?",
            },
        });
    }
    let is_divided = off > Probabilities::Exact.tolerance(classes.len());
    if is_divided {
        taken.divided.fetch_add(1, Ordering::Relaxed);
    }
    let divisor = if is_divided { sum } else { 1.0 };
    let start = out.len();
    let shares = probabilities.iter().map(|p| (p / divisor).max(FLOOR));
    out.extend(shares.map(|share| share.ln() as f32));
    keep_winner(probabilities, &mut out[start..]);
    Ok(())
}

/// Makes the largest of `probabilities` the largest of `logits`, where rounding has made it equal
/// to an earlier one.
fn keep_winner(probabilities: &[f64], logits: &mut [f32]) {
    let mut best = 0;
    for (class, &probability) in probabilities.iter().enumerate() {
        if probability > probabilities[best] {
            best = class;
        }
    }
    if predicted_class(logits) != best as u32 {
        logits[best] = logits[best].next_up();
    }
}

/// Returns the probabilities of two classes from that of the second.
pub fn of_score(score: f64) -> [f64; 2] {
    [1.0 - score, score]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::describe;
    use probity_data::builtin;

    fn logits(probabilities: &[f64]) -> Result<Vec<f32>, PredictorError> {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let row: Vec<i32> = schema.attributes.iter().map(|a| a.domain().0).collect();
        let mut out = vec![7.0];
        let asked = || describe(&schema.attributes, &row);
        append_logits(
            &schema.label.classes,
            &Taken::default(),
            &asked,
            probabilities,
            &mut out,
        )?;
        assert_eq!(out.remove(0), 7.0, "appended, not replaced");
        Ok(out)
    }

    #[test]
    fn a_number_is_kept_as_it_is_and_must_be_one() {
        let label = Label::of_numbers("wage");
        let append = |gave: &[f64]| {
            let mut out = Vec::new();
            append_answer(
                &label,
                &Taken::default(),
                &|| "age = 3".to_owned(),
                gave,
                &mut out,
            )
            .map(|()| out)
        };
        assert_eq!(append(&[-1234.5]).unwrap(), [0.0, -1234.5]);
        for (gave, needle) in [
            (&[f64::NAN][..], "gave NaN"),
            (&[1e300], "gave 1"),
            (&[0.5, 0.5], "2 numbers where there are 1"),
            (&[], "0 numbers"),
        ] {
            let error = append(gave).unwrap_err().to_string();
            assert!(
                error.contains(needle) && error.contains("age = 3"),
                "{error}"
            );
        }
    }

    #[test]
    fn softmax_gives_the_probabilities_back() {
        for p in [0.0, 1e-9, 0.25, 0.5, 0.999_999, 1.0] {
            let logits = logits(&[1.0 - p, p]).unwrap();
            let total: f64 = logits.iter().map(|&l| f64::from(l).exp()).sum();
            assert!((f64::from(logits[1]).exp() / total - p).abs() < 1e-6);
            assert!(logits.iter().all(|logit| logit.is_finite()));
        }
    }

    #[test]
    fn the_class_is_that_of_the_largest_probability() {
        for step in 0..2000 {
            let p = 0.5 + (f64::from(step) - 1000.0) * 1e-12;
            let probabilities = [1.0 - p, p];
            let expected = u32::from(probabilities[1] > probabilities[0]);
            assert_eq!(predicted_class(&logits(&probabilities).unwrap()), expected);
        }
        assert_eq!(predicted_class(&logits(&[0.5, 0.5]).unwrap()), 0);
        assert_eq!(predicted_class(&logits(&[0.0, 1.0]).unwrap()), 1);
    }

    #[test]
    fn rounded_probabilities_are_divided_by_their_sum() {
        let classes = ["a", "b", "c"].map(str::to_owned);
        let asked = || "age = 3".to_owned();
        let rounded = Taken::new(Probabilities::Rounded);
        let append = |taken: &Taken, gave: &[f64]| {
            let mut out = Vec::new();
            append_logits(&classes, taken, &asked, gave, &mut out).map(|()| out)
        };
        for (gave, divided) in [
            ([0.33, 0.33, 0.33], 1),
            ([0.34, 0.34, 0.335], 2),
            ([0.5, 0.25, 0.25], 2),
            ([0.0, 0.67, 0.34], 3),
        ] {
            let sum: f64 = gave.iter().sum();
            let logits = append(&rounded, &gave).unwrap();
            for (logit, p) in logits.iter().zip(gave) {
                assert!((f64::from(*logit).exp() - p / sum).abs() < 1e-6, "{gave:?}");
            }
            let first_largest = (0..3).rev().max_by(|&a, &b| gave[a].total_cmp(&gave[b]));
            assert_eq!(Some(predicted_class(&logits) as usize), first_largest);
            assert_eq!(rounded.divided(), divided, "{gave:?}");
            let rows = 3;
            let since = RoundedRows { rows, divided };
            assert_eq!(rounded.since(0, 3), Some(since));
            assert_eq!(Taken::default().since(0, 3), None);
        }
        let refused = |taken: &Taken, gave: &[f64]| append(taken, gave).unwrap_err().to_string();
        let said = refused(&Taken::default(), &[0.33, 0.33, 0.33]);
        assert!(
            said.contains("0.99") && said.contains("--probabilities rounded"),
            "{said}"
        );
        for gave in [[33.0, 33.0, 34.0], [0.3, 0.3, 0.3], [f64::NAN, 0.5, 0.5]] {
            let said = refused(&rounded, &gave);
            assert!(!said.contains("rounded"), "{said}");
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        let refused = |probabilities: &[f64], needle: &str| {
            let error = logits(probabilities).unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
            assert!(error.contains("age = "), "{error}");
        };
        refused(&[0.5], "1 numbers where there are 2 classes");
        refused(&[0.2, 0.3, 0.5], "3 numbers where there are 2 classes");
        refused(&[f64::NAN, 0.5], "gave NaN");
        refused(&[0.5, f64::INFINITY], "gave inf");
        refused(&[1.1, -0.1], "gave -0.1");
        refused(&[0.4, 0.4], "sum to 0.8");
        refused(&[0.9, 0.9], "sum to 1.8");
        assert!(logits(&[0.3333, 0.6666]).is_ok(), "rounded to four digits");
    }
}
