//! The rank of pairs: which of them are the worst.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which pairs are the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// Those whose scores differ most: the score that --gap compares, else the probability of the class
    /// that one side gets
    Gap,
    /// The most plausible ones, by the density of --plausibility
    Density,
}
