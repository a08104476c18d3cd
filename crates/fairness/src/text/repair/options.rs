//! Everything that determines a repair of a text classifier: `run.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::TextRepairError;
use crate::repair::labels::LabelRule;
use crate::repair::options::RepairMethod;
use crate::strategies::StrategyName;
use probity_nn::Objective;
use probity_nn::text_train::Course;
use probity_nn::text_training_run::TextTrainingRun;
use probity_run::run_directory::hex;

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
    /// Audits whose texts are learnt from; without any, those that a search finds from the training texts.
    pub runs: Vec<PathBuf>,
    /// Strategy of that search, in both phases.
    pub strategy: StrategyName,
    /// Strategy of the search that gives the independent set.
    pub independent: StrategyName,
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
    /// Shares of the samples that are learnt from: one, or those of a sweep, ascending.
    pub shares: Vec<f64>,
    /// How samples are labelled.
    pub label: LabelRule,
    /// Networks for each share, and controls.
    pub repeats: u32,
    /// Accuracy that the saved network may lose on the validation texts.
    pub max_accuracy_loss: f64,
    /// Whether the command fails when it loses more.
    pub fails_above_loss: bool,
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
        for (place, run) in self.runs.iter().enumerate() {
            if self.runs[..place].contains(run) {
                return fail("--run", run.display().to_string(), "given once");
            }
        }
        let is_share = |share: &f64| *share > 0.0 && *share <= 1.0;
        if let Some(share) = self.shares.iter().find(|share| !is_share(share)) {
            return fail("--share", share.to_string(), "above 0 and at most 1");
        }
        if self.shares.is_empty() {
            return fail("--sweep", "empty".into(), "at least one share");
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

    /// What a checkpoint must belong to.
    pub(super) fn identity(&self) -> String {
        hex(&Sha256::digest(format!("{self:?}")))
    }
}
