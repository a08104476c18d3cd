//! The flips of one pair (K, M), whose charges can be shared out again and again.
//!
//! [`crate::certify::charging`] charges every flip evenly, once. Here the flips of a pair are kept,
//! so that other rows can be charged: the rows that make the bound tightest against a given
//! fractional removal. Every outcome of [`CostSharing::charges`] is a sound bound of its own,
//! whatever the fractions.

use crate::certify::amortised_bound::AmortisedBound;
use crate::certify::flip_costs::FlipCosts;
use crate::certify::fold_weights::FoldWeights;

/// A record of all that removals can do for K against M.
#[derive(Debug, Clone, Default)]
pub(crate) struct CostSharing {
    flips: FlipCosts,
    penalties: Vec<(u32, i64)>,
    /// The largest share of a row in the error of its fold.
    unit: i64,
    /// The slack, gap - correction, before any constant is charged to it.
    slack: i64,
    strict: bool,
    count: usize,
}

impl CostSharing {
    /// The largest share of a row in the error of its fold.
    pub(crate) fn unit(&self) -> f64 {
        self.unit as f64
    }

    /// Takes over the flips of one row.
    pub(crate) fn keep(&mut self, row: &FlipCosts) {
        self.flips.append(row);
    }

    /// Completes the record: what K pays for the removal of rows (`penalties`), and the slack.
    pub(crate) fn finish(
        &mut self,
        shares: &FoldWeights,
        penalties: &[i64],
        slack: i64,
        strict: bool,
    ) {
        self.count = penalties.len();
        self.penalties = (0..)
            .zip(penalties)
            .filter(|&(_, &penalty)| penalty != 0)
            .map(|(row, &penalty)| (row, penalty))
            .collect();
        self.slack = slack;
        self.strict = strict;
        self.unit = shares.high.iter().copied().max().unwrap_or(1).max(1);
    }

    /// Shares out all payments, given the fraction of each row that is removed.
    ///
    /// **Lemma.** The result satisfies the charging lemma, whatever the fractions. *Proof.* It is
    /// enough to bound each row i on its own: its gain g_i(R) = d_i - d_i(R), with d_i(R) = 0 if i
    /// is removed.
    /// 1. *Sparing.* A flip that takes c of some rows is paid for in full if s < c of them go free
    ///    and each of the others pays 1/(c - s): of c removed rows at least c - s pay.
    /// 2. *Caps.* A flip gains at most one share, whoever makes it: a constant share, charged to
    ///    the slack, pays for it, and nobody else has to. Where the removal of i gains a share as
    ///    well (d_i = 1), g_i is 1 if i is removed and else the number of flips made. So one share
    ///    covers the removal together with any one of the flips. ∎
    ///
    /// For each row the cheapest of these at the given fractions is taken.
    pub(crate) fn charges(&self, fraction: &[f32]) -> AmortisedBound {
        let mut weights = vec![0_i64; self.count];
        for &(row, penalty) in &self.penalties {
            weights[row as usize] -= penalty;
        }
        let mut constant = 0_i128;
        let mut order = Vec::new();
        for item in self.flips.items() {
            let paid = self
                .flips
                .pay_least(item, fraction, &mut weights, &mut order);
            constant += i128::from(paid);
        }
        AmortisedBound {
            slack: crate::certify::amortised_bound::clamped(i128::from(self.slack) - constant),
            weights,
            top: Vec::new(),
            strict: self.strict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::amortised_bound::SearchState;
    use crate::certify::charging::bound_pair;
    use crate::{Candidates, KnnSystem, LearnUpdate, Metric, Parameters, TrainingSet};

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(2000))]

        /// For every removal set and all fractions, counted exactly: the differences of wrong
        /// predictions over the sizes of the folds of T are at least the gap less what the charges
        /// and constants allow.
        #[test]
        fn no_removal_gains_more_than_is_charged(
            points in proptest::collection::vec((0_u8..6, 0_u16..3), 4..11),
            folds in 2_usize..5,
            poison in 1_usize..4,
            seed in 0_u64..1000,
        ) {
            let features = points.iter().map(|&(x, _)| f64::from(x)).collect();
            let labels = points.iter().map(|&(_, label)| label).collect();
            let Ok(training) = TrainingSet::new(features, 1, labels) else { return Ok(()) };
            let rows = training.rows();
            let training = training.with_ids((0..rows).map(|row| row.to_string())).unwrap();
            let poison = poison.min(rows - 1);
            let candidates = Candidates { first: 1, last: 4 };
            let metric = Metric::Euclidean;
            let parameters = Parameters { folds, seed, candidates, poison, metric };
            let Ok(setup) = parameters.check(training) else { return Ok(()) };
            let system = KnnSystem::learn(setup);
            let update = LearnUpdate::new(&system);
            let removed = system.nothing_removed();
            let counts = update.base();
            let state = SearchState { system: &system, removed: &removed, counts, budget: poison };
            let (at, reference) = ((seed % 4) as usize, (seed / 4 % 3) as usize);
            let reference = reference + usize::from(reference >= at);
            let mut costs = CostSharing::default();
            bound_pair(state, at, reference, &removed, None, Some(&mut costs));
            let shares = FoldWeights::new(counts.remaining(), poison);
            let folds = 0..counts.remaining().len();
            let difference = |counts: &crate::ErrorCounts, fold: usize| {
                i64::from(counts.wrong(at)[fold]) - i64::from(counts.wrong(reference)[fold])
            };
            let gap: i64 = folds
                .clone()
                .map(|fold| shares.at_least(fold, difference(counts, fold)))
                .sum();
            let correction = gap - costs.slack;
            for turn in 0..6_u64 {
                let fraction: Vec<f32> = (0..rows as u64)
                    .map(|row| ((row * seed + row * row + turn * row) % 5 * turn.min(1)) as f32 / 4.0)
                    .collect();
                let charges = costs.charges(&fraction);
                for mask in (0..1_u32 << rows).filter(|mask| mask.count_ones() as usize <= poison) {
                    let removal: Vec<usize> =
                        (0..rows).filter(|&row| mask >> row & 1 == 1).collect();
                    let after = update.errors(&removal).unwrap();
                    let reached: i64 = folds
                        .clone()
                        .map(|fold| match difference(&after, fold) {
                            more if more >= 0 => more * shares.high[fold],
                            less => less * shares.low[fold],
                        })
                        .sum();
                    let gain: i64 = removal.iter().map(|&row| charges.weights[row]).sum();
                    assert!(reached >= charges.slack + correction - gain, "{removal:?}");
                }
            }
        }
    }
}
