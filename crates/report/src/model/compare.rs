//! Comparisons of strategies, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::audit::{BinEffect, TextCounts};
use super::repair::Mean;

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
    /// What was read, of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<TextCounts>,
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
    /// The strategies than which none found more.
    pub unbeaten: Vec<String>,
    /// The strategies of whose finds as many lie in more cells than the best one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wider: Vec<String>,
    /// The comparisons of every two strategies.
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
    /// Both at the same number of finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_finds: Option<SameFinds>,
}

/// The cells that as many finds of two strategies lie in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SameFinds {
    /// Finds of each.
    pub finds: u64,
    /// Cells.
    pub cells: [Mean; 2],
    /// The one whose finds lie in more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

/// What one strategy came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyFigures {
    /// The name of the strategy.
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
    /// The number of finds in 1,000 passes, where a gradient counts as two; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_per_thousand_passes: Option<Mean>,
    /// What was found, as a whole; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds: Option<FindsFigures>,
    /// The searches.
    pub runs: Vec<SearchCurve>,
}

/// What a strategy found, as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindsFigures {
    /// Share of the seeds that came to a row of their own.
    pub reached: Mean,
    /// Share of the attributes, or of the words, in which two finds differ.
    pub hamming: Mean,
    /// How far two finds differ; absent of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<Mean>,
    /// Cells of the grid with a find, or texts that finds were made of.
    pub cells: Mean,
    /// Clusters of the data that are covered.
    pub clusters: Mean,
    /// The number of clusters of the data.
    pub data_clusters: u64,
    /// Mean plausibility.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<Mean>,
}

/// How one search came along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchCurve {
    /// The points of the curve.
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
    /// How diverse they were; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diversity: Option<PointDiversity>,
}

/// How diverse finds were at the end of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointDiversity {
    /// Cells with a find.
    pub cells: u64,
}
