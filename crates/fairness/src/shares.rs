//! The shares of an audit, and the counts of the inputs of one machine or of a shard that they are of.

use super::estimate::Estimate;
use super::population::{PopulationSummary, Tally};
use super::text::exchange_counts::ExchangeCounts;

/// Of an estimate: protected attributes, inputs done, and discriminatory ones among them.
pub(super) type EstimatePart = (Vec<String>, u64, u64);

/// What was counted of some of the inputs.
pub(super) struct Counted {
    /// Of the people of the data; none where nobody is asked about, or that was stopped.
    pub(super) population: Option<Tally>,
    /// Of each estimate.
    pub(super) estimates: Vec<EstimatePart>,
    /// Of texts.
    pub(super) exchanges: Option<ExchangeCounts>,
    /// Whether it was stopped before all inputs were done.
    pub(super) is_cut: bool,
}

/// The shares of an audit.
#[derive(Default)]
pub(super) struct Shares {
    /// Of the rows of the data.
    pub(super) population: Option<PopulationSummary>,
    /// Of uniform random inputs, or of texts.
    pub(super) uniform: Vec<Estimate>,
    /// Of inputs drawn from what grades individuals.
    pub(super) fitted: Option<Estimate>,
    /// What exchanges do to texts as they are.
    pub(super) exchanges: Option<ExchangeCounts>,
    /// Whether any of them was cut short.
    pub(super) is_cut: bool,
}
