//! The results of a run: counts and times by poisoning threshold.

use serde::Serialize;

use crate::verdict::Method;
use crate::verdicts::VerdictRow;
use probity_data::read::BadRows;

/// The numbers of certified inputs, by the argument that proved their robustness.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CertifiedCounts {
    /// Inputs certified by the quick certificate.
    pub quick: u64,
    /// Inputs certified by the certified K set.
    pub k_set: u64,
    /// Inputs certified by exhausting the removal sets that were not excluded by proof.
    pub exhaustive: u64,
}

/// Seconds spent on a test input.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SecondsPerInput {
    /// The mean over the test inputs.
    pub mean: f64,
    /// The largest of all test inputs.
    pub max: f64,
}

/// The figures of one poisoning threshold.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RobustnessFigures {
    /// The poisoning threshold n.
    pub poison: usize,
    /// Inputs that are robust for certain.
    pub certified: CertifiedCounts,
    /// Inputs whose label is changed by a removal set that was found.
    pub falsified: u64,
    /// Inputs that are neither, at the time limit or by a method that cannot tell.
    pub unknown: u64,
    /// Test inputs that were decided or left unknown.
    pub inputs: u64,
    /// Seconds to rank all neighbours and count the errors of every K: once for all thresholds of a
    /// sweep.
    pub learn_seconds: f64,
    /// Seconds to find the K that can be learnt at all.
    pub k_set_seconds: f64,
    /// Seconds for each test input after that.
    pub seconds_per_input: SecondsPerInput,
    /// The K learnt from T.
    pub k: usize,
    /// The candidate K, smallest and largest.
    pub candidates: [usize; 2],
    /// The number of K that can be learnt after up to n removals.
    pub certified_k_set: usize,
}

impl RobustnessFigures {
    /// The number of all certified inputs.
    pub fn all_certified(&self) -> u64 {
        self.certified.quick + self.certified.k_set + self.certified.exhaustive
    }

    /// Counts the verdict of `row`, in the words of [`crate::verdicts::words`].
    pub(super) fn count(&mut self, row: &VerdictRow) {
        match (row.verdict.as_str(), row.certificate.as_str()) {
            ("certified", "quick") => self.certified.quick += 1,
            ("certified", "k_set") => self.certified.k_set += 1,
            ("certified", _) => self.certified.exhaustive += 1,
            ("falsified", _) => self.falsified += 1,
            _ => self.unknown += 1,
        }
        let spent = &mut self.seconds_per_input;
        spent.mean = (spent.mean * self.inputs as f64 + row.seconds) / (self.inputs + 1) as f64;
        spent.max = spent.max.max(row.seconds);
        self.inputs += 1;
    }
}

/// `summary.json`: the figures of the last threshold on top, all of them in `sweep`.
#[derive(Debug, Clone, Serialize)]
pub struct RobustnessSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// The name of the command, `knn`.
    pub command: &'static str,
    /// The figures of the last threshold.
    #[serde(flatten)]
    pub figures: RobustnessFigures,
    /// How robustness was decided.
    pub method: Method,
    /// The number of training rows.
    pub training_rows: usize,
    /// The number of features.
    pub features: usize,
    /// The labels by id.
    pub classes: Vec<String>,
    /// Share of the analysed inputs with a known label that is predicted, if any has one.
    pub accuracy: Option<f64>,
    /// Training and test rows left out as the schema asks.
    pub skipped_rows: [u64; 2],
    /// Training and test rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "none_is_bad")]
    pub bad_rows: [BadRows; 2],
    /// Whether every input was analysed.
    pub finished: bool,
    /// The file of verdicts.
    pub verdicts_file: String,
    /// SHA-256 of the training rows.
    pub train_sha256: String,
    /// SHA-256 of the test inputs.
    pub test_sha256: String,
    /// The figures of each threshold, one after the other.
    pub sweep: Vec<RobustnessFigures>,
}

/// Returns whether nothing was wrong with any row.
fn none_is_bad(rows: &[BadRows; 2]) -> bool {
    rows.iter().all(BadRows::is_empty)
}
