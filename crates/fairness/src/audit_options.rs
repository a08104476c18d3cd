//! What determines an audit of a table: everything in `run.toml`, resolved.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::audit_error::AuditError;
use super::case::CaseData;
use super::option_checks::{at_least_one, budget, countable, search_seconds, share};
use super::samples::SamplesFormat;
use super::search::SearchOptions;
use super::strategies::StrategyName;
use super::strategies::tuning::Tuning;
use probity_data::schema::Outside;
use probity_nn::Objective;
use probity_predictor::source::PredictorOptions;
use probity_run::run_directory::hex;
use probity_tensor::device::DeviceName;

/// Everything that determines an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditOptions {
    /// Always `audit`.
    pub command: String,
    /// Version that began the run.
    pub probity_version: String,
    /// Model directory; empty where a predictor is audited.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub model: PathBuf,
    /// SHA-256 of the model, or of what identifies the predictor.
    pub model_sha256: String,
    /// Data file that the seeds come from.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Policy for missing and outside values, where it is not the schema's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// Search strategy.
    pub strategy: StrategyName,
    /// What is differentiated.
    pub objective: Objective,
    /// Seeds of the global phase.
    pub seeds: usize,
    /// Clusters that the seeds come from.
    pub clusters: usize,
    /// Global moves a seed at most.
    pub max_iter: u32,
    /// Local trials a start.
    pub local: u32,
    /// Codes a global step moves.
    pub step_global: u32,
    /// Codes a local step moves.
    pub step_local: u32,
    /// Uniform inputs an estimate.
    pub estimate: u64,
    /// Search seconds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<f64>,
    /// Distinct individuals to find at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_found: Option<u64>,
    /// Bound on the discriminatory share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// Walkers a chunk at most; no influence on the result.
    pub batch: usize,
    /// Form of the samples file.
    pub samples_format: SamplesFormat,
    /// Seed of everything random.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// Options of single strategies.
    pub tuning: Tuning,
    /// The predictor, where that and no model directory is audited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorOptions>,
}

pub(super) fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl AuditOptions {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`AuditError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), AuditError> {
        at_least_one(&[
            ("--seeds", self.seeds as u64),
            ("--clusters", self.clusters as u64),
            ("--step-global", u64::from(self.step_global)),
            ("--step-local", u64::from(self.step_local)),
            ("--estimate", self.estimate),
            ("--batch", self.batch as u64),
            ("--max-found", self.max_found.unwrap_or(1)),
        ])?;
        countable(&[("--local", self.local), ("--max-iter", self.max_iter)])?;
        self.tuning.check()?;
        if self.estimate > 1_000_000_000 {
            return Err(AuditError::Option {
                option: "--estimate",
                value: self.estimate.to_string(),
                expected: "at most 1,000,000,000",
            });
        }
        search_seconds(self.time_seconds)?;
        share("--fail-above", self.fail_above)
    }

    /// How far to search.
    pub(super) fn search(&self) -> SearchOptions {
        SearchOptions {
            max_iter: self.max_iter,
            local: self.local,
            batch: self.batch,
            max_found: self.max_found,
            time: budget(self.time_seconds),
        }
    }

    pub(super) fn case_data(&self) -> CaseData<'_> {
        CaseData {
            data: &self.data,
            data_sha256: &self.data_sha256,
            outside: self.outside,
            protected: &self.protected,
        }
    }

    /// What a checkpoint must belong to: everything but the time budget and the limits of a
    /// predictor.
    pub(super) fn identity(&self) -> String {
        let predictor = self.predictor.clone();
        let lasting = AuditOptions {
            time_seconds: None,
            predictor: predictor.map(PredictorOptions::without_limits),
            ..self.clone()
        };
        hex(&Sha256::digest(format!("{lasting:?}")))
    }
}
