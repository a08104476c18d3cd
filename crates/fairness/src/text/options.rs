//! What determines an audit of texts: the content of its `run.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::strategy::TextStrategyName;
use crate::audit::AuditError;
use crate::option_checks::{at_least_one, countable, search_seconds, share};
use crate::samples::SamplesFormat;
use probity_nn::Objective;
use probity_run::run_directory::hex;
use probity_tensor::device::DeviceName;

/// Everything that determines an audit of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextAuditOptions {
    /// Always `audit`.
    pub command: String,
    /// Version that began the run.
    pub probity_version: String,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// File that the seeds come from.
    pub texts: PathBuf,
    /// SHA-256 of that file.
    pub texts_sha256: String,
    /// Column of the texts, for a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Lexicon file; the shipped lexica without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<PathBuf>,
    /// SHA-256 of the protected terms.
    pub lexicon_sha256: String,
    /// Sentence encoder (ONNX) that measures similarity; without one, the model's word vectors do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<PathBuf>,
    /// SHA-256 of the encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder_sha256: Option<String>,
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// Search strategy of the global phase.
    pub strategy: TextStrategyName,
    /// Search strategy of the local phase.
    pub local_strategy: TextStrategyName,
    /// What is differentiated.
    pub objective: Objective,
    /// Nearest words that may replace one.
    pub neighbours: usize,
    /// Seeds of the global phase.
    pub seeds: usize,
    /// Clusters that the seeds come from.
    pub clusters: usize,
    /// Global moves a seed at most.
    pub max_iter: u32,
    /// Local trials a start.
    pub local: u32,
    /// Words that may differ from the seed, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_l0: Option<usize>,
    /// Least similarity with the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_similarity: Option<f32>,
    /// Texts an estimate.
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
}

impl TextAuditOptions {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`AuditError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), AuditError> {
        at_least_one(&[
            ("--seeds", self.seeds as u64),
            ("--clusters", self.clusters as u64),
            ("--neighbours", self.neighbours as u64),
            ("--estimate", self.estimate),
            ("--batch", self.batch as u64),
            ("--max-found", self.max_found.unwrap_or(1)),
        ])?;
        countable(&[("--local", self.local), ("--max-iter", self.max_iter)])?;
        search_seconds(self.time_seconds)?;
        share("--fail-above", self.fail_above)?;
        if let Some(least) = self.min_similarity
            && !(-1.0..=1.0).contains(&least)
        {
            return Err(AuditError::Option {
                option: "--min-similarity",
                value: least.to_string(),
                expected: "a cosine from -1 to 1",
            });
        }
        Ok(())
    }

    /// What a checkpoint must belong to: everything but the time budget.
    pub(super) fn identity(&self) -> String {
        let lasting = TextAuditOptions {
            time_seconds: None,
            ..self.clone()
        };
        hex(&Sha256::digest(format!("{lasting:?}")))
    }
}
