//! What many K share when they are held against one reference on T.

use rayon::prelude::*;

use super::charges::{Stand, top_rows};
use super::flips::{Charge, Near};
use super::learn::visit_tops;
use super::minimal_violating_removal::violating_removal;
use super::predict::Tally;
use super::shares::Shares;

/// What the charges of many K against one reference share on T: who is wrong at which K, and how many removals
/// make each row wrong at the reference.
pub(crate) struct Known {
    wrong: Vec<u64>,
    words: usize,
    lost: Vec<Option<u32>>,
}

impl Known {
    /// Reads off the votes at the K with indices `ats` (ascending) and the costs at `reference`.
    pub(crate) fn at(stand: Stand<'_>, ats: &[usize], reference: usize) -> Self {
        let system = stand.system;
        let training = &system.setup.training;
        let ks: Vec<usize> = ats.iter().map(|&at| stand.counts.ks()[at]).collect();
        let words = ks.len().div_ceil(64).max(1);
        let m = stand.counts.ks()[reference];
        let mut wrong = vec![0_u64; words * training.rows()];
        let mut lost = vec![None; training.rows()];
        wrong
            .par_chunks_mut(words)
            .zip(&mut lost)
            .enumerate()
            .for_each_init(
                || (Tally::new(training.classes()), Near::default()),
                |(tally, near), (row, (bits, lost))| {
                    let label = training.labels()[row];
                    let lists = &system.neighbours;
                    visit_tops(training, lists, row, None, &ks, tally, |place, top| {
                        bits[place / 64] |= u64::from(top != Some(label)) << (place % 64);
                    });
                    near.read(system, row, stand.removed, m + stand.budget);
                    let classes = training.classes();
                    *lost = violating_removal(&near.labels, classes, m, label, stand.budget)
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

/// What any removal can cost the candidate at `reference`: charges for its right rows that may become wrong,
/// and a full share for each right row that is removed while it stays wrong at the other K.
pub(crate) struct Losses {
    shares: Shares,
    reachable: i128,
    budget: usize,
}

impl Losses {
    /// Charges all rows of T for the flips from right to wrong at `reference`.
    pub(crate) fn at(stand: Stand<'_>, reference: usize) -> Self {
        let system = stand.system;
        let m = stand.counts.ks()[reference];
        let shares = Shares::of(stand.counts.remaining(), stand.budget);
        let labels = system.setup.training.labels();
        let mut gains = vec![0_i64; labels.len()];
        let mut near = Near::default();
        for row in (0..labels.len()).filter(|&row| !stand.removed[row]) {
            near.read(system, row, stand.removed, m + stand.budget + 1);
            let classes = system.setup.training.classes();
            let cost = violating_removal(&near.labels, classes, m, labels[row], stand.budget);
            if cost == Some(0) {
                continue;
            }
            let share = shares.high[system.setup.folds().of(row)];
            gains[row] += share;
            Charge {
                near: &near,
                share,
                gains: &mut gains,
                within: &mut [],
                events: None,
                budget: stand.budget,
                classes,
                label: labels[row],
            }
            .wrong(m, cost);
        }
        let reachable = top_rows(&gains, stand.budget, |row| !stand.removed[row])
            .iter()
            .map(|&row| i128::from(gains[row as usize]))
            .sum();
        Self {
            shares,
            reachable,
            budget: stand.budget,
        }
    }

    /// Whether a K with `stuck` rows that no removal puts right (a count each fold) cannot be learnt while the
    /// reference has `wrong` of them on T. `strict`: the reference is the smaller K.
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
