//! Counts the inputs of an audit, and makes shares of the counts.

use std::ops::{ControlFlow, Range};

use super::audit::{Audit, AuditError, Observe};
use super::estimate::Estimate;
use super::modality::Modality;
use super::population::{People, PopulationSummary, count_people};
use super::session::AuditProgress;
use super::shares::{InputCounts, Shares};
use super::text::exchange_counts::ExchangeCounts;

impl<M: Modality> Audit<M> {
    /// The discriminatory shares for each protected attribute alone and, if there are several, for
    /// all jointly; they are measured on the reference device, since a release may depend on them.
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

    /// Counts the inputs that `items` names, among `people` people of the data and a number of
    /// inputs of each estimate.
    pub(super) fn count(
        &self,
        people: Option<&People<'_>>,
        items: &dyn Fn(u64) -> Range<u64>,
        observe: &mut Observe<'_>,
    ) -> Result<InputCounts, AuditError> {
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
        Ok(InputCounts {
            is_cut: counts.is_cut || people.is_some() && population.is_none(),
            population,
            estimates: estimates
                .map(|(set, [done, found])| (set.protected, done, found))
                .collect(),
            exchanges: counts.exchanges,
        })
    }

    /// The shares that the `estimates` give, in the order of what they were made of.
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
