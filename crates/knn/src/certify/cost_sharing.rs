//! The charges of one pair (K, M), to be shared out again and again.
//!
//! [`crate::certify::charging`] charges every flip evenly, once. Here the flips of a pair are kept,
//! so that others can be charged: those who make the bound tightest against a given fractional
//! removal. Every outcome of [`CostSharing::charges`] is a sound bound of its own, whatever the
//! fractions.

use crate::certify::amortised_bound::AmortisedBound;
use crate::certify::flip_costs::FlipCosts;
use crate::certify::fold_weights::FoldWeights;
use crate::certify::minimal_removal::violating_removal;
use crate::certify::vote_flips::Neighbourhood;
use crate::system::KnnSystem;

/// A row that single removals make worse for K, held against M.
#[derive(Debug, Clone, Copy)]
struct Loss {
    row: u32,
    fold: u32,
    start: u32,
    end: u32,
}

/// All that removals can do for K against M.
#[derive(Debug, Clone, Default)]
pub(crate) struct CostSharing {
    flips: FlipCosts,
    losses: Vec<Loss>,
    lost: Vec<(u32, i8)>,
    penalties: Vec<(u32, i64)>,
    shares: Option<FoldWeights>,
    /// gap - correction, before any constant.
    slack: i64,
    strict: bool,
    count: usize,
}

impl CostSharing {
    /// A row's share in the error of its fold, at most.
    pub(crate) fn unit(&self) -> f64 {
        let shares = self.shares.iter().flat_map(|shares| &shares.high);
        shares.copied().max().unwrap_or(1).max(1) as f64
    }

    /// Takes over the flips of one row.
    pub(crate) fn keep(&mut self, row: &FlipCosts) {
        self.flips.append(row);
    }

    /// Completes the record: what K pays for the removal of rows (`penalties`), the slack, and the
    /// losses of T.
    pub(crate) fn finish(
        &mut self,
        system: &KnnSystem,
        (k, m): (usize, usize),
        shares: FoldWeights,
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
        self.shares = Some(shares);
        self.record_losses(system, k, m);
    }

    /// Records for every row i of T the single removals that raise d_i.
    ///
    /// If R has exactly one member r among the first max(K, M) + 1 neighbours of i and i stays,
    /// both votes are those without r alone: the first K survivors lie among the first K + 1, those
    /// at M among the first M + 1.
    fn record_losses(&mut self, system: &KnnSystem, k: usize, m: usize) {
        let removed = system.nothing_removed();
        let labels = system.setup.training.labels();
        let classes = system.setup.training.classes();
        let mut near = Neighbourhood::default();
        for (row, &label) in labels.iter().enumerate() {
            near.read(system, row, &removed, k.max(m) + 1);
            if near.labels.iter().all(|&other| other == label) && near.labels.len() > 1 {
                continue;
            }
            let right = |size: usize| {
                i8::from(violating_removal(&near.labels, classes, size, label, 0).is_some())
            };
            let now = [right(k), right(m)];
            let then = [k, m].map(|size| near.right_without_one(size, label, classes));
            let start = self.lost.len();
            for (place, (id, other)) in near.pairs().enumerate() {
                let wrong = |side: usize, size: usize| {
                    if place < size {
                        i8::from(!then[side][usize::from(other)])
                    } else {
                        now[side]
                    }
                };
                let change = (wrong(0, k) - wrong(1, m)) - (now[0] - now[1]);
                self.lost.push((id, change.max(0)));
            }
            if self.lost[start..].iter().all(|&(_, change)| change == 0) {
                self.lost.truncate(start);
                continue;
            }
            self.losses.push(Loss {
                row: row as u32,
                fold: system.setup.folds().of(row) as u32,
                start: start as u32,
                end: self.lost.len() as u32,
            });
        }
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
    ///    covers the removal together with any one of the flips.
    /// 3. *Losses.* Let L = d_i({r}) - d_i > 0 and P the first max(K, M) + 1 neighbours of i. If R
    ///    meets P in r alone and i stays, g_i = -L: r may be paid L shares. In all other cases with
    ///    r in R, another row of P or i is in R; each of those pays L shares, so that the sum is at
    ///    least what 1 and 2 charge. Removals outside P pay what they did before, which is not
    ///    negative. ∎
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
        if let Some(shares) = &self.shares {
            for loss in &self.losses {
                self.pay_loss(loss, shares, fraction, &mut weights);
            }
        }
        AmortisedBound {
            slack: crate::certify::amortised_bound::clamped(i128::from(self.slack) - constant),
            weights,
            top: Vec::new(),
            strict: self.strict,
        }
    }

    /// Pays the one row whose loss is worth most, and charges the others for it.
    fn pay_loss(&self, loss: &Loss, shares: &FoldWeights, fraction: &[f32], weights: &mut [i64]) {
        let near = &self.lost[loss.start as usize..loss.end as usize];
        let part_of = |row: u32| fraction[row as usize];
        let all: f32 = near.iter().map(|&(row, _)| part_of(row)).sum();
        if all <= 0.0 {
            return;
        }
        let others = all + part_of(loss.row);
        let worth = |&(row, lost): &(u32, i8)| f32::from(lost) * (2.0 * part_of(row) - others);
        let mut best = (0.0, None);
        for (place, entry) in near.iter().enumerate() {
            let worth = worth(entry);
            if worth > best.0 {
                best = (worth, Some(place));
            }
        }
        let Some(paid) = best.1 else { return };
        let (row, lost) = near[paid];
        let fold = loss.fold as usize;
        let (low, high) = (
            i64::from(lost) * shares.low[fold],
            i64::from(lost) * shares.high[fold],
        );
        weights[loss.row as usize] += high;
        for (place, &(other, _)) in near.iter().enumerate() {
            if place != paid {
                weights[other as usize] += high;
            }
        }
        weights[row as usize] -= low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::amortised_bound::SearchState;
    use crate::certify::charging::bound_pair;
    use crate::{Candidates, LearnUpdate, Metric, Parameters, TrainingSet};

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
            let shares = FoldWeights::of(counts.remaining(), poison);
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
