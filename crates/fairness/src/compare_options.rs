//! What determines a comparison: everything in `run.toml`, resolved.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::audit_error::AuditError;
use super::audit_options::is_empty;
use super::case::CaseData;
use super::option_checks::{at_least_one, budget, countable, search_seconds};
use super::search::SearchOptions;
use super::strategies::StrategyName;
use super::strategies::tuning::Tuning;
use probity_data::schema::Outside;
use probity_nn::Objective;
use probity_predictor::source::PredictorOptions;
use probity_run::run_directory::hex;
use probity_tensor::device::DeviceName;

/// Everything that determines a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Always `compare`.
    pub command: String,
    /// Version that ran it.
    pub probity_version: String,
    /// Model directory; empty where a predictor is searched.
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
    /// Names of the protected attributes, taken jointly.
    pub protected: Vec<String>,
    /// The strategies, in the order of the table.
    pub strategies: Vec<StrategyName>,
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
    /// Search seconds of each search at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<f64>,
    /// Distinct individuals that each search finds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_found: Option<u64>,
    /// Searches of each strategy.
    pub repeats: u32,
    /// Walkers a chunk at most; no influence on the result.
    pub batch: usize,
    /// Seed of the first repeat; the others count on from it.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// Options of single strategies.
    pub tuning: Tuning,
    /// The predictor, where that and no model directory is searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorOptions>,
}

impl CompareOptions {
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
            ("--repeats", u64::from(self.repeats)),
            ("--batch", self.batch as u64),
            ("--max-found", self.max_found.unwrap_or(1)),
            ("--strategies", self.strategies.len() as u64),
        ])?;
        countable(&[("--local", self.local), ("--max-iter", self.max_iter)])?;
        self.tuning.check()?;
        search_seconds(self.time_seconds)?;
        let is_again = |(place, strategy): &(usize, &StrategyName)| {
            self.strategies[..*place].contains(strategy)
        };
        match self.strategies.iter().enumerate().find(is_again) {
            Some((_, strategy)) => Err(AuditError::Option {
                option: "--strategies",
                value: strategy.name().to_owned(),
                expected: "a list that names each strategy once",
            }),
            None => Ok(()),
        }
    }

    /// What a checkpoint must belong to: everything but the limits of a predictor.
    pub(super) fn identity(&self) -> String {
        let predictor = self.predictor.clone();
        let lasting = CompareOptions {
            predictor: predictor.map(PredictorOptions::without_limits),
            ..self.clone()
        };
        hex(&Sha256::digest(format!("{lasting:?}")))
    }

    pub(super) fn case_data(&self) -> CaseData<'_> {
        CaseData {
            data: &self.data,
            data_sha256: &self.data_sha256,
            outside: self.outside,
            protected: &self.protected,
        }
    }

    /// How far each search goes.
    pub(super) fn search(&self) -> SearchOptions {
        SearchOptions {
            max_iter: self.max_iter,
            local: self.local,
            batch: self.batch,
            max_found: self.max_found,
            time: budget(self.time_seconds),
        }
    }
}
