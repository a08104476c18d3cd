//! The inputs of a run: training rows and test inputs as numbers, their labels as ids.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

use rand::seq::SliceRandom;
use thiserror::Error;

use crate::dataset::TrainingSet;
use crate::errors::PoisoningError;
use crate::verdicts::VerdictsError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::numbers::{Numbers, NumbersError, NumbersOptions, Rows};
pub use probity_data::source::Source;
use probity_run::run_directory::RunError;
use probity_run::specification::file::SpecificationError;
use probity_run::stream::{Purpose, stream};

/// Why a run fails.
#[derive(Debug, Error)]
pub enum RobustnessError {
    /// The rows cannot be read.
    #[error("{0}")]
    Numbers(#[from] NumbersError),
    /// Rows and parameters do not fit.
    #[error("{}: {source}", file.display())]
    Poisoning {
        /// The file that is concerned.
        file: PathBuf,
        /// What does not fit.
        source: PoisoningError,
    },
    /// All training rows have the same label.
    #[error(
        "{}: every training row has the label '{label}'; at least two classes are needed",
        file.display()
    )]
    OneLabel {
        /// The training file.
        file: PathBuf,
        /// The label.
        label: String,
    },
    /// The rows have more labels than ids can tell apart.
    #[error("{} has {labels} different labels; at most 65,535 can be told apart", file.display())]
    TooManyLabels {
        /// The training file.
        file: PathBuf,
        /// The number of labels.
        labels: usize,
    },
    /// The threads that were asked for cannot be started.
    #[error("cannot start {threads} threads: {problem}; try fewer")]
    Threads {
        /// The number of threads asked for.
        threads: usize,
        /// What the system says about the threads.
        problem: String,
    },
    /// The schema cannot be used.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
    /// The run directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// `run.toml` cannot be written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// The verdicts cannot be read back.
    #[error("{0}")]
    Verdicts(#[from] VerdictsError),
}

/// Training rows and test inputs with their labels as ids, checked.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The training rows: columns, labels and numbers; features and ids are in `training`.
    pub train: Numbers,
    /// The test inputs as read.
    pub test: Numbers,
    /// The labels by id: numbers by their value, then all others by their text.
    pub classes: Vec<String>,
    /// The training set.
    pub training: TrainingSet,
}

impl Inputs {
    /// Reads and checks training rows and test inputs, from files or from memory.
    ///
    /// # Errors
    /// Rows that cannot be read as numbers, one class only, or test inputs with other columns.
    pub fn read<'a>(
        train: impl Into<Rows<'a>>,
        test: impl Into<Rows<'a>>,
        options: &NumbersOptions,
    ) -> Result<Inputs, RobustnessError> {
        let rows = Numbers::training(train, options)?;
        let test = Numbers::test(test, options, &rows)?;
        Self::from_numbers(rows, test)
    }

    /// Takes over rows that were read; features and ids of `rows` move into the training set.
    ///
    /// # Errors
    /// One class only, more labels than can be told apart, or features that do not fit.
    pub fn from_numbers(mut rows: Numbers, test: Numbers) -> Result<Inputs, RobustnessError> {
        let classes = classes_of(&rows.labels);
        if let [label] = classes.as_slice() {
            return Err(RobustnessError::OneLabel {
                file: rows.name().to_owned(),
                label: label.clone(),
            });
        }
        if classes.len() > usize::from(u16::MAX) {
            return Err(RobustnessError::TooManyLabels {
                file: rows.name().to_owned(),
                labels: classes.len(),
            });
        }
        let ids: BTreeMap<&str, u16> = classes.iter().map(String::as_str).zip(0..).collect();
        let labels = rows
            .labels
            .iter()
            .map(|label| ids.get(label.as_str()).copied().unwrap_or_default())
            .collect();
        let features = std::mem::take(&mut rows.features);
        let ids = std::mem::take(&mut rows.ids);
        let training = TrainingSet::new(features, rows.columns.len(), labels)
            .and_then(|training| match ids.is_empty() {
                true => Ok(training),
                false => training.with_ids(ids),
            })
            .map_err(|source| RobustnessError::Poisoning {
                file: rows.name().to_owned(),
                source,
            })?;
        Ok(Inputs {
            train: rows,
            test,
            classes,
            training,
        })
    }

    /// Returns the text of a label id.
    pub fn class(&self, id: u16) -> &str {
        self.classes.get(usize::from(id)).map_or("", String::as_str)
    }

    /// Returns the share of the test inputs with a label for which the label in `ids`, one for each
    /// test input, is right; `None` where no test input has a label.
    pub fn accuracy(&self, ids: &[u16]) -> Option<f64> {
        let predicted = ids.iter().map(|&id| self.class(id)).enumerate();
        let judged: Vec<bool> = predicted
            .filter_map(|(at, class)| Some(self.test.label(at)? == class))
            .collect();
        let right = judged.iter().filter(|&&is_right| is_right).count();
        (!judged.is_empty()).then(|| right as f64 / judged.len() as f64)
    }

    /// Returns the test inputs of a run, in the order of the file: `count` of them drawn by `seed`,
    /// or all.
    pub fn drawn(&self, count: Option<usize>, seed: u64) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.test.rows()).collect();
        if let Some(count) = count.filter(|&count| count < all.len()) {
            all.shuffle(&mut stream(seed, Purpose::TestInputs, 0, 0));
            all.truncate(count);
            all.sort_unstable();
        }
        all
    }
}

/// Returns the different labels in the order of their ids.
///
/// Which of two labels comes first depends on these two alone, and not on what other labels there
/// are: the labels that are left after a removal are in the same order.
fn classes_of(labels: &[String]) -> Vec<String> {
    let mut classes: Vec<String> = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let number = |class: &String| {
        class
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
    };
    // A stable sort: equal numbers and all that is no number stay in the order of their text.
    classes.sort_by(|a, b| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_without_a_label_are_neither_right_nor_wrong() {
        let numbers = |labels: &[&str]| Numbers {
            columns: vec!["x".to_owned()],
            features: (0..labels.len()).map(|at| at as f64).collect(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            numbers: (1..=labels.len() as u64).collect(),
            ..Numbers::default()
        };
        let accuracy = |labels: &[&str]| {
            let inputs = Inputs::from_numbers(numbers(&["a", "b"]), numbers(labels)).unwrap();
            inputs.accuracy(&[0, 1, 1, 0])
        };
        assert_eq!(accuracy(&["a", "", "a", "a"]), Some(2.0 / 3.0));
        assert_eq!(accuracy(&["a", "b", "b", "c"]), Some(0.75));
        assert_eq!(accuracy(&["", "", "", ""]), None);
        assert_eq!(accuracy(&[]), None);
    }

    #[test]
    fn labels_keep_their_order_when_others_are_gone() {
        let labels = ["x", "10", "9", "1e1", "nan", "-0", "0"].map(str::to_owned);
        let all = classes_of(&labels);
        assert_eq!(all, ["-0", "0", "9", "10", "1e1", "nan", "x"]);
        for gone in &labels {
            let left: Vec<String> = labels.iter().filter(|l| *l != gone).cloned().collect();
            let kept: Vec<String> = all.iter().filter(|l| *l != gone).cloned().collect();
            assert_eq!(classes_of(&left), kept);
        }
    }
}
