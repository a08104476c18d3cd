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
    /// Its name and options.
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
    /// Whether every model equalled one trained anew.
    pub exact: bool,
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
    /// Standard deviation.
    pub sd: f64,
}

/// Deletions from sum-product networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpnFindings {
    /// Whether all repeats were done.
    pub finished: bool,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing)]
    pub bad_rows: Option<BadRows>,
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
