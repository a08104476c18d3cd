//! Everything that determines a repair: `run.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::basis::Start;
use super::error::RepairError;
use super::labels::LabelRule;
use crate::group::GroupOptions;
use probity_data::schema::Outside;
use probity_nn::train_options::TrainOptions;
use probity_run::run_directory::hex;
use probity_tensor::device::DeviceName;

/// By what a model is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RepairMethod {
    /// Retraining on the data and the samples that audits found
    #[default]
    Samples,
    /// Training against the worst protected substitution, by interval bounds
    Certified,
}

/// Options of a repair, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairRun {
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
    /// Its labelled data.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Policy for missing and outside values, where it is not the schema's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Audits whose samples are learnt from.
    pub runs: Vec<PathBuf>,
    /// Shares of the samples of each run: one, or those of a sweep, ascending.
    pub shares: Vec<f64>,
    /// Networks for each share.
    pub repeats: u32,
    /// How samples are labelled.
    pub label: LabelRule,
    /// Weight of all added variants of samples together, in units of the training rows; absent: each weighs as much as a
    /// training row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Protected variants of each training row that share its label and its weight.
    pub counterfactuals: u32,
    /// The first weights.
    pub start: Start,
    /// Accuracy that a share may cost.
    pub max_accuracy_loss: f64,
    /// Whether the command fails when the saved network loses more.
    #[serde(default)]
    pub fails_above_loss: bool,
    /// Uniform inputs for each estimate.
    pub estimate: u64,
    /// Seed of draws, networks and estimates.
    pub seed: u64,
    /// Device that trained.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// How networks are trained; its seed deals the parts, as in the training of the model.
    pub training: TrainOptions,
    /// Group figures before and after.
    pub groups: GroupOptions,
}

impl RepairRun {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`RepairError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), RepairError> {
        let fail = |option, value: String, expected| {
            Err(RepairError::Option {
                option,
                value,
                expected,
            })
        };
        if self.runs.is_empty() {
            return fail("--run", "missing".into(), "the directory of an audit");
        }
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
        if let Some(weight) = self.weight
            && !(weight > 0.0 && weight <= 1000.0)
        {
            return fail("--weight", weight.to_string(), "above 0 and at most 1000");
        }
        if self.counterfactuals > 100 {
            let given = self.counterfactuals.to_string();
            return fail("--counterfactuals", given, "from 0 to 100");
        }
        if !(0.0..=1.0).contains(&self.max_accuracy_loss) {
            let given = self.max_accuracy_loss.to_string();
            return fail("--max-accuracy-loss", given, "from 0 to 1");
        }
        if !(1..=1_000_000_000).contains(&self.estimate) {
            let given = self.estimate.to_string();
            return fail("--estimate", given, "from 1 to 1,000,000,000");
        }
        Ok(())
    }

    /// What a checkpoint must belong to.
    pub(super) fn identity(&self) -> String {
        hex(&Sha256::digest(format!("{self:?}")))
    }

    /// Whether several shares are compared.
    pub fn is_sweep(&self) -> bool {
        self.shares.len() > 1
    }
}
