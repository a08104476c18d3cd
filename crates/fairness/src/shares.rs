//! The shares of an audit, and the counts of the inputs of one machine or of a shard that they are of.

use super::estimate::Estimate;
use super::population::{PopulationSummary, Tally};
use super::specification::BoundOn;
use super::text::exchange_counts::ExchangeCounts;
use probity_nn::modality::ModalityName;

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

/// The joint shares of an audit, by what they are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointShares<'a> {
    /// The share of the data: of the rows of a table, where these were asked about, or of the texts.
    data: Option<&'a Estimate>,
    /// The share of uniform random inputs, of which there are none for texts.
    uniform: Option<&'a Estimate>,
}

impl<'a> JointShares<'a> {
    /// The joint shares of an audit of inputs of `modality`: those of `population`, and the last of
    /// `estimates`.
    pub(super) fn new(
        modality: ModalityName,
        population: Option<&'a PopulationSummary>,
        estimates: &'a [Estimate],
    ) -> JointShares<'a> {
        match modality {
            ModalityName::Table => JointShares {
                data: population.and_then(PopulationSummary::joint),
                uniform: estimates.last(),
            },
            ModalityName::Text => JointShares {
                data: estimates.last(),
                uniform: None,
            },
        }
    }

    /// The share that is said first: that of the data, or else of random inputs.
    pub(super) fn first(self) -> Option<&'a Estimate> {
        self.data.or(self.uniform)
    }

    /// The share that a bound is on.
    pub(super) fn on(self, bound: BoundOn) -> Option<&'a Estimate> {
        match bound {
            BoundOn::Data => self.data,
            BoundOn::Uniform => self.uniform,
        }
    }

    /// The share of uniform random inputs, if any was drawn.
    pub(super) fn drawn(self) -> Option<&'a Estimate> {
        self.uniform.filter(|share| share.sampled > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bound on the data is never held by random inputs, though these are said where nothing else
    /// is known.
    #[test]
    fn a_bound_is_on_the_share_that_it_names() {
        let estimates = [30, 20].map(|found| Estimate::new(vec!["sex".into()], 100, found));
        let last = estimates.last();
        let tables = JointShares::new(ModalityName::Table, None, &estimates);
        assert_eq!(tables.on(BoundOn::Data), None);
        assert_eq!(tables.on(BoundOn::Uniform), last);
        assert_eq!((tables.first(), tables.drawn()), (last, last));
        let texts = JointShares::new(ModalityName::Text, None, &estimates);
        assert_eq!(texts.on(BoundOn::Data), last);
        assert_eq!((texts.first(), texts.drawn()), (last, None));
        let none_drawn = [Estimate::new(vec!["sex".into()], 0, 0)];
        let stopped = JointShares::new(ModalityName::Table, None, &none_drawn);
        assert_eq!(stopped.first(), none_drawn.last());
        assert_eq!(stopped.drawn(), None);
    }
}
