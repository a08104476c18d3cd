//! A training and an evaluation, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::figures::{BadRows, DecidedAlike, Modality, Quality, ReadCounts};
use super::repair::Mean;

/// What came of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingFindings {
    /// What the model classifies.
    pub modality: Modality,
    /// Whether the training ran to its end.
    pub finished: bool,
    /// The SHA-256 of the model.
    pub model_sha256: String,
    /// The classes, in the order of the confusion matrices.
    pub classes: Vec<String>,
    /// What reading the data gave.
    pub data: TrainingData,
    /// What all rows of the data are decided, if they are all decided alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// Reasons why what an audit finds in the model says little.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// Trainable numbers.
    pub parameters: u64,
    /// Quality on the rows that the model has learnt from.
    pub train: Quality,
    /// Quality on the rows by which the best epoch was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Quality>,
    /// Quality on the rows that played no part in the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Quality>,
    /// What each epoch came to.
    pub history: Vec<Epoch>,
}

/// What reading the data of a training gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TrainingData {
    /// Texts.
    Texts(TextsRead),
    /// Rows of a table.
    Rows(ReadCounts),
}

/// Texts that were read, and how much of them the model knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextsRead {
    /// Texts.
    pub texts: u64,
    /// Tokens of all texts.
    pub tokens: u64,
    /// Tokens with a word vector of their own.
    pub known_tokens: u64,
    /// Texts that were cut to the length limit.
    pub truncated: u64,
    /// Words that the model knows.
    pub words: u64,
    /// Rows of the table with which something is wrong, left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
}

impl TextsRead {
    /// Returns the share of the tokens that have a word vector.
    pub fn coverage(&self) -> f64 {
        self.known_tokens as f64 / self.tokens.max(1) as f64
    }
}

/// A reason why what an audit finds in a model says little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Few tokens of the texts have a word vector.
    FewKnownWords,
    /// The model does no better than guessing.
    Guessing,
}

/// What an epoch came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Which one, from 1.
    pub epoch: u32,
    /// Mean loss on the training part.
    pub loss: f64,
    /// Loss on the validation part, if there is one.
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation part, if there is one; of a regressor R².
    pub validation_accuracy: Option<f64>,
}

impl TrainingFindings {
    /// Returns the parts of the data with the quality on each, the one that the model knows best first.
    pub fn parts(&self) -> Vec<(&'static str, &Quality)> {
        let others = [("validation", &self.validation), ("test", &self.test)];
        let others = others
            .into_iter()
            .filter_map(|(name, quality)| Some((name, quality.as_ref()?)));
        [("training", &self.train)]
            .into_iter()
            .chain(others)
            .collect()
    }
}

/// The quality of a model on labelled inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationFindings {
    /// The part of the inputs: `all`, `train`, `validation` or `test`.
    pub part: String,
    /// What reading a table gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// Rows without an outcome, left out.
    pub rows_without_outcome: u64,
    /// Inputs among those measured that the model has learnt from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt_from: Option<u64>,
    /// The classes, in the order of the confusion matrix.
    pub classes: Vec<String>,
    /// The quality.
    #[serde(flatten)]
    pub quality: Quality,
    /// The quality of the probabilities; none of a regressor.
    #[serde(flatten)]
    pub probabilities: Option<ProbabilityFigures>,
}

/// The quality of probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbabilityFigures {
    /// Mean of the negative logarithm of the probability of an input's own class.
    pub log_loss: Mean,
    /// Mean of the squared distance of all probabilities from 1 and 0.
    pub brier_score: Mean,
    /// The figures of each class against the rest.
    pub by_class: Vec<ClassCalibration>,
}

/// How far the probability of a class lies from how often it comes true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassCalibration {
    /// The class.
    pub class: String,
    /// Inputs of this class.
    pub inputs: u64,
    /// The calibration error.
    pub calibration_error: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}
