//! Comparisons, certificates, k-NN verdicts, unlearning and outliers, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::repair::{Mean, Part};
use super::{BinEffect, DecidedAlike};

/// A comparison of strategies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareFindings {
    /// Whether every search was run.
    pub finished: bool,
    /// Searches of each strategy.
    pub repeats: u64,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// What bins change of a predictor's decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinEffect>,
    /// The strategies.
    pub strategies: Vec<StrategyFigures>,
    /// What they found for the same number of model calls.
    pub shared_budget: SharedBudget,
}

/// What strategies found for the same number of model calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedBudget {
    /// The one that found more than every other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<String>,
    /// Those than which none found more.
    pub unbeaten: Vec<String>,
    /// Every two.
    pub pairs: Vec<StrategyPair>,
}

/// Two strategies at the calls that both reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyPair {
    /// Both.
    pub strategies: [String; 2],
    /// Calls.
    pub model_calls: u64,
    /// Found by then.
    pub found: [Mean; 2],
    /// The one that found more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

/// What one strategy came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyFigures {
    /// Its name.
    pub strategy: String,
    /// Distinct individuals found.
    pub found: Mean,
    /// The fewest and the most that a search found.
    pub found_range: [u64; 2],
    /// Share of those checked.
    pub success_rate: Mean,
    /// Seconds.
    pub seconds: Mean,
    /// Found a second.
    pub found_per_second: Mean,
    /// Found for 1,000 calls.
    pub found_per_thousand_calls: Mean,
    /// The searches.
    pub runs: Vec<SearchCurve>,
}

/// How one search came along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchCurve {
    /// Its points.
    pub curve: Vec<CurvePoint>,
}

/// The end of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Search time.
    pub seconds: f64,
    /// Rows and gradients asked for.
    pub model_calls: u64,
    /// Distinct individuals found.
    pub found: u64,
}

/// Certificates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifyFindings {
    /// What the model decides everything, if it is one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// Part of the data.
    pub part: String,
    /// Each attribute, and all of them.
    pub sets: Vec<CertifiedSet>,
    /// The declared bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<f64>,
}

/// Certificates for some attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifiedSet {
    /// The attributes.
    pub protected: Vec<String>,
    /// Inputs.
    pub inputs: u64,
    /// Proved by one box.
    pub one_box: Part,
    /// Proved in all.
    pub certified: Part,
    /// Seconds of the proofs.
    pub seconds: f64,
    /// Fair, as trying everything says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair: Option<Part>,
    /// With a change that changes their class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfair: Option<u64>,
    /// Not decided before the model calls were spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<u64>,
    /// Certificates that trying everything refutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted: Option<u64>,
}

/// k-NN predictions under poisoning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnnFindings {
    /// What the summary says.
    #[serde(flatten)]
    pub summary: KnnSummary,
    /// Inputs whose prediction a removal set changes, the first of them.
    pub falsified_inputs: Vec<FalsifiedInput>,
    /// How many there are over all n.
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
    /// Its row in the test file, from 1.
    pub row: u64,
    /// Its label in the file, if it has one.
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

/// Deletions from k-means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KMeansFindings {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// What was measured.
    pub options: KMeansOptions,
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

/// A released count of outliers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutlierCount {
    /// Whether the noise was random.
    pub private: bool,
    /// Number of records, which is public.
    pub rows: u64,
    /// The columns.
    pub columns: Vec<String>,
    /// Radius.
    pub radius: f64,
    /// Neighbours that an outlier has fewer than.
    pub k: u64,
    /// `smooth` or `global`.
    pub sensitivity: String,
    /// The noisy count.
    pub count: i64,
    /// Its interval.
    pub interval: Option<CountInterval>,
    /// What is public of its noise.
    pub noise: CountNoise,
    /// What it cost.
    pub cost: Cost,
    /// What is left.
    pub left: Left,
}

/// An interval of a count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountInterval {
    /// Smallest count.
    pub low: i64,
    /// Largest count.
    pub high: i64,
    /// Its probability.
    pub confidence: f64,
}

/// The standard deviation of a count's noise, as far as it does not depend on the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountNoise {
    /// At least.
    pub standard_deviation_at_least: f64,
    /// At most.
    pub standard_deviation_at_most: f64,
    /// What it would be by the global sensitivity, at the same price.
    pub global_standard_deviation: f64,
}

/// The price of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// The largest query that the budget still covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// Released subspaces with outliers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutlierSubspaces {
    /// Whether the noise was random.
    pub private: bool,
    /// Number of records, which is public.
    pub rows: u64,
    /// Radius.
    pub radius: f64,
    /// Neighbours that an outlier has fewer than.
    pub k: u64,
    /// Columns of each subspace.
    pub dims: u64,
    /// Subspaces to choose from.
    pub candidates: u64,
    /// Those chosen.
    pub subspaces: Vec<Subspace>,
    /// What is public of the noise of each count, if they were asked for.
    pub noise: Option<CountNoise>,
    /// What it cost.
    pub cost: Cost,
    /// What is left.
    pub left: Left,
}

/// A chosen subspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subspace {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its noisy count, if it was asked for.
    pub count: Option<i64>,
    /// The interval of that.
    pub interval: Option<CountInterval>,
}
