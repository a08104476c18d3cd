//! `summary.json` of an audit of texts.

use serde::Serialize;

use super::judge::ValidityMeans;
use super::protected::TermCounts;
use super::strategy::TextStrategyName;
use crate::estimate::Estimate;
use crate::search::Ending;
use crate::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary};
use crate::trace::TraceSummary;
use probity_tensor::device::DeviceName;

/// What became of the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TextCounts {
    /// Texts in the file.
    pub texts: u64,
    /// Texts with a protected term that has a replacement.
    pub with_protected_term: u64,
    /// Texts without one: nothing can be compared, so they are left out.
    pub without_protected_term: u64,
    /// Texts cut to the model's length limit.
    pub truncated: u64,
}

/// Mean validity of what was found, against the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValiditySummary {
    /// Pairs of the global phase.
    pub global: ValidityMeans,
    /// Pairs of the local phase.
    pub local: ValidityMeans,
}

/// `summary.json` of an audit of texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextAuditSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `audit`.
    pub command: String,
    /// Version that ended the run.
    pub probity_version: String,
    /// How the search ended.
    pub ending: Ending,
    /// Seed of everything random.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the texts file.
    pub texts_sha256: String,
    /// What became of the texts.
    pub texts: TextCounts,
    /// Search strategy of the global phase.
    pub strategy: TextStrategyName,
    /// Search strategy of the local phase.
    pub local_strategy: TextStrategyName,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Protected terms: how many, and which the model cannot tell apart.
    pub terms: TermCounts,
    /// Seeds that are discriminatory as they are.
    pub raw_discriminatory: u64,
    /// Global phase.
    pub global: GlobalSummary,
    /// Local phase.
    pub local: LocalSummary,
    /// Both phases.
    pub total: TotalSummary,
    /// What was found after how many model calls.
    pub trace: TraceSummary,
    /// Validity of the found texts.
    pub validity: ValiditySummary,
    /// Discriminatory share of the texts with a protected term, per attribute and jointly.
    pub fairness: Vec<Estimate>,
    /// The declared bound, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<BoundSummary>,
    /// Name of the samples file in the run directory.
    pub samples_file: String,
}
