//! Classifiers that tell no inputs apart.
//!
//! A classifier that gives everything the same class, or the same number, treats nobody
//! differently: an audit of it finds nothing and every input is certified, whatever it was meant to
//! do. The figures of such an audit are those of a classifier that does not work, not of a fair
//! one, so a user who trains, imports, audits or certifies such a classifier is told before
//! anything else.

use serde::Serialize;

use super::decision::{Decision, Gap, Score};
use super::metrics::Quality;
use super::{Classifier, ModelError, Rows};

/// The number of inputs that a classifier is asked about at a time.
const CHUNK: usize = 4096;

/// The decision that a classifier made for all inputs that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecidedAlike {
    /// The class that each of the inputs got, or the number.
    pub class: String,
    /// The number of inputs.
    pub inputs: u64,
}

impl DecidedAlike {
    /// Returns the decision that `model`, which decides for one of `classes`, makes for all of
    /// `rows`; `None` if it tells two of them apart, or if there are not two. The model is asked
    /// until it is known to tell two rows apart.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn detect(
        model: &dyn Classifier,
        classes: &[String],
        rows: Rows<'_>,
    ) -> Result<Option<DecidedAlike>, ModelError> {
        let is_number = matches!(
            model.decision(),
            Decision::Gap(Gap {
                score: Score::Number,
                ..
            })
        );
        let mut first = None;
        for codes in rows.codes.chunks(CHUNK * rows.width.max(1)) {
            let rows = Rows::new(codes, rows.width);
            let logits = model.logits(rows)?;
            for (row, logits) in rows.iter().zip(logits.chunks_exact(model.classes())) {
                // A number is as different as its bits.
                let class = match is_number {
                    true => (Score::Number.compute(logits) as f32).to_bits(),
                    false => model.decision().decide(row, logits),
                };
                if *first.get_or_insert(class) != class {
                    return Ok(None);
                }
            }
        }
        let Some(decided) = first else {
            return Ok(None);
        };
        let class = match is_number {
            true => f32::from_bits(decided).to_string(),
            false => classes.get(decided as usize).cloned().unwrap_or_default(),
        };
        Ok(DecidedAlike::new(class, rows.len() as u64))
    }

    /// Returns the decision that a classifier of `classes` makes for all its data, by its quality
    /// on the parts of them; `None` if there are two decisions, or not two inputs.
    pub fn in_parts<'m>(
        classes: &[String],
        parts: impl IntoIterator<Item = &'m Quality>,
    ) -> Option<DecidedAlike> {
        let mut predicted = vec![0; classes.len()];
        let of_classes = parts.into_iter().filter_map(Quality::metrics);
        for actual in of_classes.flat_map(|part| &part.confusion) {
            predicted
                .iter_mut()
                .zip(actual)
                .for_each(|(all, rows)| *all += rows);
        }
        let inputs = predicted.iter().sum();
        let class = predicted.iter().position(|&rows| rows == inputs)?;
        DecidedAlike::new(classes.get(class).cloned().unwrap_or_default(), inputs)
    }

    fn new(class: String, inputs: u64) -> Option<DecidedAlike> {
        (inputs > 1).then_some(DecidedAlike { class, inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    /// A classifier that gives class 1 from a code on.
    struct Step(i32);

    impl Classifier for Step {
        fn width(&self) -> usize {
            2
        }

        fn classes(&self) -> usize {
            2
        }

        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            let logits = rows.iter().flat_map(|row| match row[1] >= self.0 {
                true => [0.0, 1.0],
                false => [1.0, 0.0],
            });
            Ok(logits.collect())
        }
    }

    #[test]
    fn one_row_of_many_that_is_told_apart_is_enough() {
        let classes = ["no".to_owned(), "yes".to_owned()];
        let codes: Vec<i32> = (0..10_000).flat_map(|row| [7, row]).collect();
        let of = |from: i32, rows: usize| {
            DecidedAlike::detect(&Step(from), &classes, Rows::new(&codes[..2 * rows], 2)).unwrap()
        };
        let alike = |class: &str, inputs| {
            Some(DecidedAlike {
                class: class.to_owned(),
                inputs,
            })
        };
        assert_eq!(of(10_000, 10_000), alike("no", 10_000));
        assert_eq!(of(9_999, 10_000), None, "the last row");
        assert_eq!(of(9_999, 9_999), alike("no", 9_999));
        assert_eq!(of(0, 2), alike("yes", 2));
        assert_eq!((of(0, 1), of(0, 0)), (None, None), "there are no two");
    }

    #[test]
    fn parts_count_together() {
        let classes = ["no".to_owned(), "yes".to_owned()];
        let part = |logits: [f32; 4]| Quality::Classes(Metrics::new(&logits, 2, &[0, 1]));
        let (no, yes) = (part([1.0, 0.0, 1.0, 0.0]), part([0.0, 1.0, 0.0, 1.0]));
        let found = DecidedAlike::in_parts(&classes, [&no, &no]).unwrap();
        assert_eq!((found.class.as_str(), found.inputs), ("no", 4));
        assert_eq!(DecidedAlike::in_parts(&classes, [&no, &yes]), None);
        assert_eq!(DecidedAlike::in_parts(&classes, []), None);
    }
}
