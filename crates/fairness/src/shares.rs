//! The shares of an audit: counts of the inputs of one machine or of a shard, and what they say.

use std::ops::{ControlFlow, Range};

use super::audit::{Audit, AuditError, Observe};
use super::estimate::Estimate;
use super::modality::Modality;
use super::population::{People, PopulationSummary, Tally, count_people};
use super::session::AuditProgress;
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

impl<M: Modality> Audit<M> {
    /// The shares for each protected attribute alone and, if there are several, for all jointly; on
    /// the reference device, since a release may hang on them.
    pub(super) fn estimates(&self, observe: &mut Observe<'_>) -> Result<Shares, AuditError> {
        let people = self.case().people()?;
        let counted = self.count(people.as_ref(), &|all| 0..all, observe)?;
        let population = people.zip(counted.population.as_ref());
        let population = population.map(|(people, tally)| PopulationSummary::new(&people, tally));
        let estimates = counted.estimates.into_iter();
        let estimates = estimates.map(|(names, done, found)| Estimate::new(names, done, found));
        let shares = self.shares(population, estimates.collect(), counted.exchanges);
        Ok(Shares {
            is_cut: counted.is_cut,
            ..shares
        })
    }

    /// Counts, of so many `people` and so many inputs of each estimate, those that `items` names.
    pub(super) fn count(
        &self,
        people: Option<&People<'_>>,
        items: &dyn Fn(u64) -> Range<u64>,
        observe: &mut Observe<'_>,
    ) -> Result<Counted, AuditError> {
        let (specification, case) = (self.specification(), self.case());
        let seed = specification.seed;
        let mut population = None;
        if let Some(people) = people {
            let items = items(people.individuals());
            let all = items.end - items.start;
            let observe = &mut |done| observe(AuditProgress::Population { done, all });
            population = count_people(case.model().judge(), people, items, observe)?;
        }
        let sets = case.estimated_sets(specification.estimated(), seed)?;
        let observe =
            &mut |done, all| -> ControlFlow<()> { observe(AuditProgress::Estimate { done, all }) };
        let counts = case.count_sets(&sets, items, seed, observe)?;
        let estimates = sets.into_iter().zip(counts.of_sets);
        Ok(Counted {
            is_cut: counts.is_cut || people.is_some() && population.is_none(),
            population,
            estimates: estimates
                .map(|(set, [done, found])| (set.protected, done, found))
                .collect(),
            exchanges: counts.exchanges,
        })
    }

    /// The shares of which the `estimates` are, in the order of what they were made of.
    pub(super) fn shares(
        &self,
        population: Option<PopulationSummary>,
        estimates: Vec<Estimate>,
        exchanges: Option<ExchangeCounts>,
    ) -> Shares {
        let mut uniform = estimates;
        let is_fitted = self.case().plausibility().is_some();
        Shares {
            population,
            fitted: is_fitted.then(|| uniform.pop()).flatten(),
            uniform,
            exchanges,
            is_cut: false,
        }
    }
}
