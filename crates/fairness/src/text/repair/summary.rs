//! `summary.json` of a repair of a text classifier.

use serde::{Deserialize, Serialize};

use crate::certify::run::Share;
use crate::repair::options::RepairMethod;
use crate::repair::summary::RunSummary;

/// One network, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairedText {
    /// Seed of its first weights.
    pub seed: u64,
    /// Samples that it learned from.
    pub samples: u64,
    /// Accuracy on the validation texts.
    pub validation_accuracy: f64,
    /// Accuracy on the test texts.
    pub accuracy: f64,
    /// Texts of the independent set that are no longer discriminatory.
    pub repaired: Share,
    /// Test texts with a protected term that are certified fair.
    pub certified: Share,
    /// Test texts with a protected term that are fair.
    pub fair: Share,
}

/// What one share of the samples gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextSharePoint {
    /// The share.
    pub share: f64,
    /// The networks.
    pub networks: Vec<RepairedText>,
}

/// What a model was before and is after its repair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextRepairSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `repair`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// By what the model was repaired.
    pub method: RepairMethod,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// SHA-256 of the model before.
    pub model_sha256: String,
    /// SHA-256 of the saved model.
    pub repaired_sha256: String,
    /// Whether all networks were trained.
    pub finished: bool,
    /// The audits whose texts are learnt from; empty where a search found them.
    pub runs: Vec<RunSummary>,
    /// Distinct discriminatory texts that may be learnt from.
    pub found: u64,
    /// Size of the independent set: found from the test texts.
    pub independent: u64,
    /// Test texts with a protected term.
    pub test_texts: u64,
    /// The model before; of the independent set nothing is repaired, by definition.
    pub before: RepairedText,
    /// Networks trained anew without a remedy.
    pub control: Vec<RepairedText>,
    /// Each share; empty where nothing is learnt from samples.
    pub points: Vec<TextSharePoint>,
    /// The share that was chosen, if samples are learnt from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Networks with the remedy, of the share that was chosen.
    pub repaired: Vec<RepairedText>,
    /// Position among them of the one that was saved.
    pub chosen: usize,
    /// Whether its accuracy on the validation texts is within what it may lose.
    pub within: bool,
    /// Seconds of this call.
    pub seconds: f64,
}

impl TextRepairSummary {
    /// The mean over some networks of one figure.
    pub fn mean(networks: &[RepairedText], figure: impl Fn(&RepairedText) -> f64) -> f64 {
        networks.iter().map(figure).sum::<f64>() / networks.len().max(1) as f64
    }
}
