//! Private answers about outliers, as their summaries say them.

use serde::{Deserialize, Serialize};

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
    /// The interval of the count.
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
    /// The probability that the interval holds the count.
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

impl CountNoise {
    /// Returns how far counts may be off, in words, as far as that is public.
    pub fn shown(&self) -> String {
        let CountNoise {
            standard_deviation_at_least: least,
            standard_deviation_at_most: most,
            global_standard_deviation: global,
        } = self;
        if least == most {
            return format!("The noise has a standard deviation of {global:.1}.");
        }
        let advice = match global < least {
            true => "always less, so take that",
            false => "and its interval free",
        };
        format!(
            "The noise has a standard deviation of at least {least:.1} and at most {most:.1}; which, depends on the records, and is not said. With --sensitivity global it would be {global:.1} at this price, {advice}."
        )
    }
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
    /// The subspaces that were chosen.
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
    /// The columns of the subspace.
    pub columns: Vec<String>,
    /// The noisy count of its outliers, if it was asked for.
    pub count: Option<i64>,
    /// The interval of that.
    pub interval: Option<CountInterval>,
}
