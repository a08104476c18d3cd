//! k-NN verdicts, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::figures::BadRows;

/// k-NN predictions under poisoning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnnFindings {
    /// What the summary says.
    #[serde(flatten)]
    pub summary: KnnSummary,
    /// Inputs whose prediction a removal set changes, the first of them.
    pub falsified_inputs: Vec<FalsifiedInput>,
    /// The number of falsified inputs over all n.
    pub all_falsified: u64,
}

/// The part of a k-NN summary that is reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnnSummary {
    /// Method.
    pub method: String,
    /// Training rows.
    pub training_rows: u64,
    /// Features.
    pub features: u64,
    /// Rows of the training and of the test file that were left out, as the schema asks.
    #[serde(default, skip_serializing)]
    pub skipped_rows: [u64; 2],
    /// The rows of each file with which something is wrong, left out.
    #[serde(default, skip_serializing)]
    pub bad_rows: Option<[BadRows; 2]>,
    /// Share of the labelled inputs predicted right.
    pub accuracy: Option<f64>,
    /// Whether every input was analysed.
    pub finished: bool,
    /// The verdicts file.
    pub verdicts_file: String,
    /// Each n.
    pub sweep: Vec<KnnFigures>,
}

/// What came out for one n.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnnFigures {
    /// n.
    pub poison: u64,
    /// Proved robust.
    pub certified: CertifiedCounts,
    /// Changed by a removal set that was found.
    pub falsified: u64,
    /// Neither.
    pub unknown: u64,
    /// All inputs.
    pub inputs: u64,
    /// The learnt K.
    pub k: u64,
    /// Number of K that can be learnt after up to n removals.
    pub certified_k_set: u64,
    /// Seconds for each input.
    pub seconds_per_input: SecondsPerInput,
}

/// Certificates by argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedCounts {
    /// Quick.
    pub quick: u64,
    /// By the set of K.
    pub k_set: u64,
    /// By exhaustion.
    pub exhaustive: u64,
}

/// Seconds spent on an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondsPerInput {
    /// On average.
    pub mean: f64,
    /// At most.
    pub max: f64,
}

/// An input whose prediction a removal set changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FalsifiedInput {
    /// n.
    pub poison: u64,
    /// The row of the input in the test file, from 1.
    pub row: u64,
    /// The label of the input in the file, if it has one.
    pub actual: String,
    /// Predicted label.
    pub label: String,
    /// Predicted label without the removed rows.
    pub removal_label: String,
    /// K before and after.
    pub k: [String; 2],
    /// Row numbers of the removal set.
    pub removal: String,
}
