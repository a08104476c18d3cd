//! How good a classifier is: accuracy, balanced accuracy, AUC, F1, confusion matrix.

use serde::{Deserialize, Serialize};

use super::predicted_class;

/// Quality of a classifier on one set of labelled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Rows.
    pub rows: usize,
    /// Share of rows predicted right.
    pub accuracy: f64,
    /// Share of the most frequent class: what always answering it would reach.
    pub majority_share: f64,
    /// Mean over the classes present of the share of their rows predicted right.
    pub balanced_accuracy: f64,
    /// Area under the ROC curve of the last class against the rest, ties counted half
    /// (Mann-Whitney), scored by the probability of the class; the mean over all classes against the
    /// rest when there are more than two.
    /// `None` when a class is absent.
    pub auc: Option<f64>,
    /// F1 of the last class; the unweighted mean over all classes when there are more than two.
    pub f1: f64,
    /// `confusion[actual][predicted]`: rows.
    pub confusion: Vec<Vec<u64>>,
    /// Rows of which nothing was decided: none of them is right, and they are not in the confusion
    /// matrix.
    #[serde(default)]
    pub undecided: u64,
}

impl Metrics {
    /// Compares the most probable classes by `logits` (row-major `[rows, classes]`) with `labels`.
    pub fn new(logits: &[f32], classes: usize, labels: &[u32]) -> Metrics {
        let predicted = logits.chunks_exact(classes).map(predicted_class);
        Metrics::of_decided((logits, &predicted.collect::<Vec<_>>()), classes, labels)
    }

    /// Compares with `labels` the classes that were `decided` of rows with these `logits`.
    pub fn of_decided(
        (logits, decided): (&[f32], &[u32]),
        classes: usize,
        labels: &[u32],
    ) -> Metrics {
        let mut confusion = vec![vec![0u64; classes]; classes];
        let (mut actual, mut undecided) = (vec![0u64; classes], 0);
        for (&decided, &label) in decided.iter().zip(labels) {
            actual[label as usize] += 1;
            match confusion[label as usize].get_mut(decided as usize) {
                Some(rows) => *rows += 1,
                None => undecided += 1,
            }
        }
        let rows = labels.len();
        let right: u64 = (0..classes).map(|class| confusion[class][class]).sum();
        let recalls: Vec<f64> = (0..classes)
            .filter(|&class| actual[class] > 0)
            .map(|class| confusion[class][class] as f64 / actual[class] as f64)
            .collect();
        let f1_of = |class: usize| {
            let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
            let total = predicted + actual[class];
            if total == 0 {
                0.0
            } else {
                2.0 * confusion[class][class] as f64 / total as f64
            }
        };
        let (auc, f1) = if classes == 2 {
            (auc(logits, classes, labels, 1), f1_of(1))
        } else {
            let aucs: Option<Vec<f64>> = (0..classes)
                .map(|class| auc(logits, classes, labels, class))
                .collect();
            (
                aucs.map(|aucs| mean(&aucs)),
                mean(&(0..classes).map(f1_of).collect::<Vec<_>>()),
            )
        };
        Metrics {
            rows,
            accuracy: right as f64 / rows.max(1) as f64,
            majority_share: actual.iter().copied().max().unwrap_or(0) as f64 / rows.max(1) as f64,
            balanced_accuracy: mean(&recalls),
            auc,
            f1,
            confusion,
            undecided,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The logarithm of the odds of `class`: its logit minus the logarithm of the sum of the
/// exponentials of the others. It orders inputs as the probability does, and tells those apart
/// whose probabilities both round to 1.
pub fn log_odds(logits: &[f32], class: usize) -> f64 {
    let others = || {
        let others = logits
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != class);
        others.map(|(_, &logit)| f64::from(logit))
    };
    let largest = others().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = others().map(|logit| (logit - largest).exp()).sum();
    f64::from(logits[class]) - largest - sum.ln()
}

/// The probability that a row of `class` scores above a row of another class, ties half, by the
/// odds of `class`.
fn auc(logits: &[f32], classes: usize, labels: &[u32], class: usize) -> Option<f64> {
    let rows = logits.chunks_exact(classes).zip(labels);
    let mut scored: Vec<(f64, bool)> = rows
        .map(|(logits, &label)| (log_odds(logits, class), label as usize == class))
        .collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = scored.iter().filter(|(_, positive)| *positive).count() as f64;
    let negatives = scored.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let mut won = 0.0;
    let mut negatives_below = 0.0;
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let negative = tied.len() as f64 - positive;
        won += positive * (negatives_below + negative / 2.0);
        negatives_below += negative;
    }
    Some(won / (positives * negatives))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worked_example() {
        // Scores 2, 1, 1, −1 with labels 1, 0, 1, 0: pairs won 1 + 1 + 0.5 + 1 of 4.
        let logits = [0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0];
        let metrics = Metrics::new(&logits, 2, &[1, 0, 1, 0]);
        assert_eq!(metrics.confusion, [[1, 1], [0, 2]]);
        assert_eq!(metrics.accuracy, 0.75);
        assert_eq!(metrics.balanced_accuracy, 0.75);
        assert_eq!(metrics.auc, Some(0.875));
        assert_eq!(metrics.f1, 0.8);
        assert_eq!(metrics.majority_share, 0.5);
    }

    /// Against pairs counted by probabilities, where the largest rival would order otherwise.
    #[test]
    fn an_area_of_several_classes_is_of_probabilities() {
        let logits = [
            1.0, 0.9, 0.9, 1.0, 0.95, -9.0, 0.0, 0.0, 0.0, -1.0, 2.0, 0.5,
        ];
        let labels = [0, 1, 2, 0];
        let probability = |row: usize, class: usize| -> f64 {
            let own = &logits[3 * row..3 * row + 3];
            let sum: f64 = own.iter().map(|&logit: &f32| f64::from(logit).exp()).sum();
            f64::from(own[class]).exp() / sum
        };
        let area = |class: usize| {
            let (mut won, mut pairs) = (0.0, 0.0);
            for (one, &label) in labels.iter().enumerate() {
                for (other, &others) in labels.iter().enumerate() {
                    if label == class as u32 && others != class as u32 {
                        let (a, b) = (probability(one, class), probability(other, class));
                        won += f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));
                        pairs += 1.0;
                    }
                }
            }
            won / pairs
        };
        let expected = (area(0) + area(1) + area(2)) / 3.0;
        let found = Metrics::new(&logits, 3, &labels).auc.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn an_absent_class_has_no_auc() {
        assert_eq!(Metrics::new(&[0.0, 1.0], 2, &[1]).auc, None);
    }
}
