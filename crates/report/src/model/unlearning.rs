//! Deletions from k-means and sum-product networks, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::figures::BadRows;

/// Deletions from k-means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KMeansFindings {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// What was measured.
    pub options: KMeansOptions,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing)]
    pub bad_rows: Option<BadRows>,
    /// Training anew.
    pub baselines: Vec<Baseline>,
    /// The algorithms.
    pub algorithms: Vec<KMeansAlgorithm>,
    /// Whether all was measured.
    pub finished: bool,
}

/// The protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KMeansOptions {
    /// Clusters.
    pub clusters: u64,
    /// Rows deleted.
    pub deletions: u64,
}

/// Training anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Seconds of each timed training.
    pub training_seconds: Vec<f64>,
}

/// One algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KMeansAlgorithm {
    /// The name of the algorithm, with its options.
    pub algorithm: String,
    /// Seconds of a training and the deletions.
    #[serde(default)]
    pub seconds: Option<Spread>,
    /// Against training anew.
    #[serde(default)]
    pub speedup: Option<Spread>,
    /// Loss against that of k-means.
    #[serde(default)]
    pub loss_ratio: Option<Spread>,
    /// Silhouette.
    #[serde(default)]
    pub silhouette: Option<Spread>,
    /// Normalised mutual information with the labels.
    #[serde(default, skip_serializing)]
    pub nmi: Option<Spread>,
    /// Whether every model equalled one trained anew, where there is one.
    pub exact: Option<bool>,
    /// The replicates.
    pub replicates: Vec<Replicate>,
}

/// Deletions one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replicate {
    /// Deletions and seconds until then.
    pub curve: Vec<(u64, f64)>,
}

/// Mean and standard deviation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, of several values.
    pub sd: Option<f64>,
}

/// Deletions from sum-product networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpnFindings {
    /// Whether all repeats were done.
    pub finished: bool,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing)]
    pub bad_rows: Option<BadRows>,
    /// Repeats that were done.
    #[serde(default)]
    pub repeats: u64,
    /// Rows learnt from.
    pub rows: u64,
    /// Columns.
    pub variables: u64,
    /// Rows deleted.
    pub deletions: u64,
    /// Learning once.
    pub learn_seconds: Spread,
    /// Learning once without the state for deletion.
    pub learn_without_state_seconds: Spread,
    /// Learning anew after each deletion.
    pub retrain_seconds: Spread,
    /// Deleting.
    pub unlearn_seconds: Spread,
    /// Both compared.
    pub speed_up: f64,
    /// Likelihood of rows not learnt from.
    #[serde(default)]
    pub test_log_likelihood: Option<Spread>,
    /// Whether deletion gave the bytes of learning anew.
    pub identical: bool,
}

/// A clustering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KMeansFit {
    /// The algorithm with its options.
    pub algorithm: String,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Clusters.
    pub clusters: u64,
    /// Rows that a policy of the schema left out.
    pub skipped_rows: u64,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
    /// Sum of the squared distances of the rows to the centres of their clusters.
    pub loss: f64,
    /// Rows of each cluster.
    pub sizes: Vec<u64>,
}

/// A sum-product network that was learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpnFit {
    /// Rows.
    pub rows: u64,
    /// Values that are not known, and summed out.
    pub missing_values: u64,
    /// Rows that a policy of the schema left out.
    pub skipped_rows: u64,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
    /// Columns.
    pub variables: u64,
    /// How it was learnt.
    pub parameters: SpnLearning,
    /// The threshold of dependence.
    pub threshold: f64,
    /// The size of the network.
    pub network: SpnShape,
    /// Seconds of learning.
    pub seconds: f64,
}

/// How a sum-product network was learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpnLearning {
    /// The threshold of dependence that was given.
    pub threshold: Option<f64>,
    /// The test of dependence: `gtest` or `rdc`.
    pub independence: String,
}

/// The size of a sum-product network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpnShape {
    /// Sums.
    pub sums: u64,
    /// Products.
    pub products: u64,
    /// Leaves.
    pub leaves: u64,
    /// Nodes from the root to the lowest leaf.
    pub depth: u64,
}
