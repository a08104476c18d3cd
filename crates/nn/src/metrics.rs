//! The quality of a model: of a classifier by accuracy, balanced accuracy, AUC, F1 and confusion
//! matrix ([`Metrics`]), of a regressor by its errors ([`Errors`]).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::predicted_class;
use probity_data::table::Table;

/// Quality of a model on one set of labelled rows. In files for people the figures stand without
/// the name of their kind; a checkpoint, which does not name fields, states the kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Quality {
    /// The quality of a classifier.
    Classes(Metrics),
    /// The quality of a regressor.
    Numbers(Errors),
}

impl Quality {
    /// Compares `logits` (row-major `[rows, classes]`) with the labels of `table`.
    pub fn measure(logits: &[f32], table: &Table, classes: usize) -> Quality {
        match table.targets().is_empty() {
            true => Quality::Classes(Metrics::new(logits, classes, table.labels())),
            false => Quality::Numbers(Errors::new(logits, table.targets())),
        }
    }

    /// Returns the figures of a classifier, if the model is one.
    pub fn metrics(&self) -> Option<&Metrics> {
        match self {
            Quality::Classes(metrics) => Some(metrics),
            Quality::Numbers(_) => None,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Quality::Classes(metrics) => metrics.rows,
            Quality::Numbers(errors) => errors.rows,
        }
    }

    /// The figure that sums up the quality, at most 1: accuracy, or R², which is not known where
    /// all labels are one number.
    pub fn in_short(&self) -> Option<f64> {
        match self {
            Quality::Classes(metrics) => Some(metrics.accuracy),
            Quality::Numbers(errors) => errors.r_squared,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Classes(Metrics),
    Numbers(Errors),
}

#[derive(Serialize, Deserialize)]
enum Numbered {
    Classes(Metrics),
    Numbers(Errors),
}

impl Serialize for Quality {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.clone(), serializer.is_human_readable()) {
            (Quality::Classes(metrics), true) => metrics.serialize(serializer),
            (Quality::Numbers(errors), true) => errors.serialize(serializer),
            (Quality::Classes(metrics), false) => Numbered::Classes(metrics).serialize(serializer),
            (Quality::Numbers(errors), false) => Numbered::Numbers(errors).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Quality {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quality, D::Error> {
        match deserializer.is_human_readable() {
            true => Named::deserialize(deserializer).map(|named| match named {
                Named::Classes(metrics) => Quality::Classes(metrics),
                Named::Numbers(errors) => Quality::Numbers(errors),
            }),
            false => Numbered::deserialize(deserializer).map(|numbered| match numbered {
                Numbered::Classes(metrics) => Quality::Classes(metrics),
                Numbered::Numbers(errors) => Quality::Numbers(errors),
            }),
        }
    }
}

/// Errors of a regressor on one set of labelled rows, in the unit of the label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// The number of rows.
    pub rows: usize,
    /// The mean of the labels.
    pub mean_label: f64,
    /// The mean of the model's predictions.
    pub mean_prediction: f64,
    /// Mean absolute error.
    pub mean_absolute: f64,
    /// Root of the mean squared error.
    pub root_mean_squared: f64,
    /// R², the coefficient of determination: 1 − squared error / variance of the labels. `None`
    /// where all labels are one number.
    pub r_squared: Option<f64>,
}

impl Errors {
    /// Compares with `targets` the numbers that `logits` (row-major `[rows, 2]`) say.
    pub fn new(logits: &[f32], targets: &[f64]) -> Errors {
        let number = |pair: &[f32]| f64::from(pair[1]) - f64::from(pair[0]);
        let numbers: Vec<f64> = logits.chunks_exact(2).map(number).collect();
        let errors = || numbers.iter().zip(targets).map(|(own, label)| own - label);
        let mean_label = mean(targets);
        let squared = mean(&errors().map(|error| error * error).collect::<Vec<_>>());
        let spread = targets.iter().map(|label| (label - mean_label).powi(2));
        let variance = mean(&spread.collect::<Vec<_>>());
        Errors {
            rows: targets.len(),
            mean_label,
            mean_prediction: mean(&numbers),
            mean_absolute: mean(&errors().map(f64::abs).collect::<Vec<_>>()),
            root_mean_squared: squared.sqrt(),
            r_squared: (variance > 0.0).then(|| 1.0 - squared / variance),
        }
    }
}

/// Quality of a classifier on one set of labelled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The number of rows.
    pub rows: usize,
    /// The share of rows predicted right.
    pub accuracy: f64,
    /// The share of the most frequent class: the accuracy that always answering it would reach.
    pub majority_share: f64,
    /// The mean over the classes present of the share of their rows predicted right.
    pub balanced_accuracy: f64,
    /// Area under the ROC curve of the last class against the rest, ties counted half
    /// (Mann-Whitney), scored by the probability of the class; the mean over all classes against the
    /// rest when there are more than two.
    /// `None` when a class is absent.
    pub auc: Option<f64>,
    /// F1 of the last class, `None` where no row has it and none is predicted so; when there are
    /// more than two, the unweighted mean over the classes that some row has or is predicted.
    pub f1: Option<f64>,
    /// The confusion matrix, `confusion[actual][predicted]`, in numbers of rows.
    pub confusion: Vec<Vec<u64>>,
    /// The number of rows about which nothing was decided: none of them is right, and they are not
    /// in the confusion matrix.
    #[serde(default)]
    pub undecided: u64,
}

/// By how much balanced accuracy must be above that of guessing, for a model to have learnt something.
const ABOVE_GUESSING: f64 = 0.1;

impl Metrics {
    /// Returns whether a model of so many `classes` does no better than always answering the most
    /// frequent class, as far as these rows can tell: what an audit finds in it says little.
    pub fn is_guessing(&self, classes: usize) -> bool {
        // Twice the standard error: less than that may be luck. A network that tells rare classes
        // apart at the price of frequent ones is none that guesses.
        let luck = 2.0 * (self.accuracy * (1.0 - self.accuracy) / self.rows as f64).sqrt();
        let guessing = 1.0 / classes.max(1) as f64;
        self.rows > 0
            && self.accuracy - luck <= self.majority_share
            && self.balanced_accuracy < guessing + ABOVE_GUESSING
    }

    /// Compares the most probable classes by `logits` (row-major `[rows, classes]`) with `labels`.
    pub fn new(logits: &[f32], classes: usize, labels: &[u32]) -> Metrics {
        let predicted = logits.chunks_exact(classes).map(predicted_class);
        Metrics::of_decided((logits, &predicted.collect::<Vec<_>>()), classes, labels)
    }

    /// Compares with `labels` the classes `decided` that were decided for rows with these `logits`.
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
            (total > 0).then(|| 2.0 * confusion[class][class] as f64 / total as f64)
        };
        let (auc, f1) = if classes == 2 {
            (auc(logits, classes, labels, 1), f1_of(1))
        } else {
            let aucs: Option<Vec<f64>> = (0..classes)
                .map(|class| auc(logits, classes, labels, class))
                .collect();
            let f1s: Vec<f64> = (0..classes).filter_map(f1_of).collect();
            let f1 = (!f1s.is_empty()).then(|| mean(&f1s));
            (aucs.map(|aucs| mean(&aucs)), f1)
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

/// Computes the logarithm of the odds of `class`: its logit minus the logarithm of the sum of the
/// exponentials of the others. The log-odds order inputs as the probability does, and tell inputs
/// apart whose probabilities both round to 1.
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

/// Computes the probability that a row of `class` scores above a row of another class, ties half,
/// by the odds of `class`.
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
        assert_eq!(metrics.f1, Some(0.8));
        assert_eq!(metrics.majority_share, 0.5);
    }

    /// The area is compared with pairs counted by probabilities, where the largest rival would
    /// order otherwise.
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
    fn a_quality_is_read_back_from_files_for_people_and_from_checkpoints() {
        let classes = Metrics::new(&[0.0, 2.0, 1.0, 0.0], 2, &[1, 1]);
        let numbers = Errors::new(&[0.0, 1.0, -1.0, 3.0], &[2.0, 4.0]);
        for quality in [Quality::Classes(classes), Quality::Numbers(numbers)] {
            let text = serde_json::to_string(&quality).unwrap();
            assert!(text.starts_with("{\"rows\":2"), "{text}");
            assert_eq!(serde_json::from_str::<Quality>(&text).unwrap(), quality);
            let bytes = postcard::to_stdvec(&quality).unwrap();
            assert_eq!(postcard::from_bytes::<Quality>(&bytes).unwrap(), quality);
        }
    }

    #[test]
    fn errors_are_of_the_second_output_over_the_first() {
        // Numbers 1, 4, 3 for labels 2, 4, 6: errors −1, 0, −3; the mean of the labels is 4.
        let errors = Errors::new(&[0.0, 1.0, -1.0, 3.0, 0.0, 3.0], &[2.0, 4.0, 6.0]);
        assert_eq!((errors.mean_label, errors.rows), (4.0, 3));
        assert!((errors.mean_prediction - 8.0 / 3.0).abs() < 1e-12);
        assert!((errors.mean_absolute - 4.0 / 3.0).abs() < 1e-12);
        assert!((errors.root_mean_squared - (10.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((errors.r_squared.unwrap() + 0.25).abs() < 1e-12);
        assert_eq!(Errors::new(&[0.0, 1.0], &[2.0]).r_squared, None);
    }

    #[test]
    fn an_absent_class_has_no_auc() {
        assert_eq!(Metrics::new(&[0.0, 1.0], 2, &[1]).auc, None);
    }

    #[test]
    fn a_class_that_nobody_has_or_is_predicted_has_no_f1() {
        let f1 = |logits: &[f32], classes, labels| Metrics::new(logits, classes, labels).f1;
        assert_eq!(f1(&[1.0, 0.0], 2, &[0]), None);
        // The class is predicted once, and no row has it.
        assert_eq!(f1(&[0.0, 1.0], 2, &[0]), Some(0.0));
        // Of three classes the first is right once and the second had once and never predicted:
        // 2·1 / (2 + 1) and 0; the third is nowhere.
        let found = f1(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 3, &[0, 1]).unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-12, "{found}");
    }
}
