//! Everything that determines a repair of a text classifier: `run.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::strategy::TextStrategyName;
use super::run::TextRepairError;
use crate::fairness::repair::options::RepairMethod;
use crate::nn::Objective;
use crate::nn::text_train::Course;
use crate::nn::text_training_run::TextTrainingRun;

/// Options of a repair, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextRepairOptions {
    /// Always `repair`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// By what the model is repaired.
    pub method: RepairMethod,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the training texts.
    pub texts_sha256: String,
    /// Lexicon file; the shipped lexica without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<PathBuf>,
    /// SHA-256 of the protected terms.
    pub lexicon_sha256: String,
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// Search strategy of both phases.
    pub strategy: TextStrategyName,
    /// What the search differentiates.
    pub objective: Objective,
    /// Seeds of a search.
    pub seeds: usize,
    /// Global moves a seed at most.
    pub max_iter: u32,
    /// Local trials a start.
    pub local: u32,
    /// Distinct individuals that a search finds at most.
    pub max_found: u64,
    /// Share of the samples found from the training texts that is learned from.
    pub share: f64,
    /// Networks with the remedy, and controls.
    pub repeats: u32,
    /// Accuracy that the saved network may lose on the validation texts.
    pub max_accuracy_loss: f64,
    /// How the worst case comes in, for certified training.
    pub course: Course,
    /// Splits a text of the certificates.
    pub splits: u32,
    /// Seed of draws and of the networks' weights.
    pub seed: u64,
    /// The training that made the model.
    pub training: TextTrainingRun,
}

impl TextRepairOptions {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`TextRepairError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), TextRepairError> {
        let fail = |option, value: String, expected| {
            Err(TextRepairError::Option {
                option,
                value,
                expected,
            })
        };
        if !(self.share > 0.0 && self.share <= 1.0) {
            return fail("--share", self.share.to_string(), "above 0 and at most 1");
        }
        if !(1..=100).contains(&self.repeats) {
            return fail("--repeats", self.repeats.to_string(), "from 1 to 100");
        }
        if !(0.0..=1.0).contains(&self.max_accuracy_loss) {
            let given = self.max_accuracy_loss.to_string();
            return fail("--max-accuracy-loss", given, "from 0 to 1");
        }
        Ok(())
    }
}
