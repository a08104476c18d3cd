//! The shares of an audit, and the counts of the inputs of one machine or of a shard that they are of.

use super::estimate::Estimate;
use super::population::{PopulationSummary, Tally};
use super::text::exchange_counts::ExchangeCounts;

/// The part of an estimate: protected attributes, inputs done, and discriminatory ones among them.
pub(super) type EstimatePart = (Vec<String>, u64, u64);

/// The counts of some of the inputs.
pub(super) struct InputCounts {
    /// The counts of the people of the data; none where nobody is asked about, or that was stopped.
    pub(super) population: Option<Tally>,
    /// The counts of each estimate.
    pub(super) estimates: Vec<EstimatePart>,
    /// The counts of exchanges in texts.
    pub(super) exchanges: Option<ExchangeCounts>,
    /// Whether the count was stopped before all inputs were done.
    pub(super) is_cut: bool,
}

/// The shares of an audit.
#[derive(Default)]
pub(super) struct Shares {
    /// The shares of the rows of the data.
    pub(super) population: Option<PopulationSummary>,
    /// The shares of uniform random inputs, or of texts.
    pub(super) uniform: Vec<Estimate>,
    /// The share of inputs drawn from the network that grades individuals.
    pub(super) fitted: Option<Estimate>,
    /// The effects of exchanges on texts as they are.
    pub(super) exchanges: Option<ExchangeCounts>,
    /// Whether any of them was cut short.
    pub(super) is_cut: bool,
}
