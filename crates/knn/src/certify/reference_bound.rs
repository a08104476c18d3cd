//! The work that many K share when they are held against one reference on T.

use rayon::prelude::*;

use crate::certify::amortised_bound::{SearchState, top_rows};
use crate::certify::flip_costs::FlipCosts;
use crate::certify::fold_weights::FoldWeights;
use crate::certify::minimal_removal::violating_removal;
use crate::certify::vote_flips::{Neighbourhood, VoteFlips};
use crate::learn::visit_tops;
use crate::votes::Votes;

/// The votes that the charges of many K against one reference share on T: who is wrong at which K,
/// and how many removals make each row wrong at the reference.
pub(crate) struct ReferenceVotes {
    wrong: Vec<u64>,
    words: usize,
    lost: Vec<Option<u32>>,
}

impl ReferenceVotes {
    /// Reads off the votes at the K with indices `ats` (ascending) and the costs at `reference`.
    pub(crate) fn at(state: SearchState<'_>, ats: &[usize], reference: usize) -> Self {
        let system = state.system;
        let training = &system.setup.training;
        let ks: Vec<usize> = ats.iter().map(|&at| state.counts.ks()[at]).collect();
        let words = ks.len().div_ceil(64).max(1);
        let m = state.counts.ks()[reference];
        let mut wrong = vec![0_u64; words * training.rows()];
        let mut lost = vec![None; training.rows()];
        wrong
            .par_chunks_mut(words)
            .zip(&mut lost)
            .enumerate()
            .for_each_init(
                || (Votes::new(training.classes()), Neighbourhood::default()),
                |(votes, near), (row, (bits, lost))| {
                    let label = training.labels()[row];
                    let lists = &system.neighbours;
                    visit_tops(training, lists, row, None, &ks, votes, |place, top| {
                        bits[place / 64] |= u64::from(top != Some(label)) << (place % 64);
                    });
                    near.read(system, row, state.removed, m + state.budget);
                    let classes = training.classes();
                    *lost = violating_removal(&near.labels, classes, m, label, state.budget)
                        .map(|cost| cost as u32);
                },
            );
        Self { wrong, words, lost }
    }

    pub(crate) fn is_wrong(&self, row: usize, place: usize) -> bool {
        self.wrong[row * self.words + place / 64] >> (place % 64) & 1 == 1
    }

    pub(crate) fn lost(&self, row: usize) -> Option<usize> {
        self.lost[row].map(|cost| cost as usize)
    }
}

/// A bound on what any removal can cost the candidate at `reference`: charges for its right rows
/// that may become wrong, and a full share for each right row that is removed while it stays wrong
/// at the other K.
pub(crate) struct ReferenceBound {
    shares: FoldWeights,
    reachable: i128,
    budget: usize,
}

impl ReferenceBound {
    /// Charges all rows of T for the flips from right to wrong at `reference`.
    pub(crate) fn at(state: SearchState<'_>, reference: usize) -> Self {
        let system = state.system;
        let m = state.counts.ks()[reference];
        let shares = FoldWeights::new(state.counts.remaining(), state.budget);
        let labels = system.setup.training.labels();
        let mut gains = vec![0_i64; labels.len()];
        let mut near = Neighbourhood::default();
        let mut flips = FlipCosts::default();
        for row in (0..labels.len()).filter(|&row| !state.removed[row]) {
            near.read(system, row, state.removed, m + state.budget + 1);
            let classes = system.setup.training.classes();
            let cost = violating_removal(&near.labels, classes, m, labels[row], state.budget);
            if cost == Some(0) {
                continue;
            }
            let share = shares.high[system.setup.folds().fold(row)];
            flips.clear();
            flips.item(row, share, true);
            VoteFlips {
                near: &near,
                costs: &mut flips,
                budget: state.budget,
                classes,
                label: labels[row],
            }
            .wrong(m, cost);
            for item in flips.items() {
                flips.pay_evenly(item, |row, part| gains[row as usize] += part);
            }
        }
        let reachable = top_rows(&gains, state.budget, |row| !state.removed[row])
            .iter()
            .map(|&row| i128::from(gains[row as usize]))
            .sum();
        Self {
            shares,
            reachable,
            budget: state.budget,
        }
    }

    /// Returns whether a K with `stuck` rows that no removal puts right (a count for each fold)
    /// cannot be learnt while the reference has `wrong` of them on T. `strict`: the reference is
    /// the smaller K.
    pub(crate) fn exclude(
        &self,
        stuck: &[u32],
        wrong: &[u32],
        sizes: &[u32],
        strict: bool,
    ) -> bool {
        let mut left = -self.reachable;
        let mut bend = 0_i64;
        for fold in 0..sizes.len() {
            let difference = i64::from(stuck[fold]) - i64::from(wrong[fold]);
            left += i128::from(self.shares.at_least(fold, difference));
            let limit = (self.reachable / i128::from(self.shares.low[fold].max(1)))
                .min(i128::from(sizes[fold])) as i64;
            bend = bend.max((limit - difference).max(0) * self.shares.bend[fold]);
        }
        left -= i128::from(bend) * self.budget as i128;
        left > 0 || (left == 0 && strict)
    }
}
