//! `summary.json` of a repair of a text classifier.

use serde::Serialize;

use crate::fairness::certify::run::Share;
use crate::fairness::repair::options::RepairMethod;

/// One network, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Distinct discriminatory texts found from the training texts.
    pub found: u64,
    /// Size of the independent set: found from the test texts.
    pub independent: u64,
    /// Test texts with a protected term.
    pub test_texts: u64,
    /// The model before; of the independent set nothing is repaired, by definition.
    pub before: RepairedText,
    /// Networks trained anew without a remedy.
    pub control: Vec<RepairedText>,
    /// Networks with the remedy.
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
