//! What rows gain and lose by removals, event by event: the charges of one pair (K, M) before they are shared out.
//!
//! [`super::charges`] fixes who pays for a flip once and for all. Here the flips of a pair are kept, so that the
//! payments can be shared out again and again, against the removals that a bound has most trouble with.
//! Every outcome of [`Events::charges`] is a sound bound of its own, whatever the popularity.

use super::charges::PairCharges;
use super::flips::Near;
use super::minimal_violating_removal::violating_removal;
use super::shares::Shares;
use super::system::KnnSystem;

/// The vote of one row at K, or at M, that removals may turn: who turns it alone, and who in company.
#[derive(Debug, Clone, Copy, Default)]
struct Flip {
    start: u32,
    /// Up to here: rows that each turn it alone.
    alone: u32,
    /// Up to here: rows of which `cost` are needed.
    end: u32,
    cost: u32,
}

/// A row that can gain: by its own removal, and by its flips.
#[derive(Debug, Clone, Copy)]
struct Item {
    share: i64,
    /// The row, if its removal alone gains a share; else `NOBODY`.
    direct: u32,
    first: u32,
    flips: u32,
}

const NOBODY: u32 = u32::MAX;

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
pub(crate) struct Events {
    items: Vec<Item>,
    flips: Vec<Flip>,
    rows: Vec<u32>,
    losses: Vec<Loss>,
    lost: Vec<(u32, i8)>,
    penalties: Vec<(u32, i64)>,
    shares: Option<Shares>,
    /// gap - correction, before any constant.
    slack: i64,
    strict: bool,
    count: usize,
}

impl Events {
    /// A row whose flips follow; `direct` if its own removal gains a share too.
    pub(crate) fn item(&mut self, row: usize, share: i64, direct: bool) {
        self.items.push(Item {
            share,
            direct: if direct { row as u32 } else { NOBODY },
            first: self.flips.len() as u32,
            flips: 0,
        });
    }

    /// A flip of the latest item.
    pub(crate) fn flip(&mut self) {
        let start = self.rows.len() as u32;
        self.flips.push(Flip {
            start,
            alone: start,
            end: start,
            cost: 1,
        });
        if let Some(item) = self.items.last_mut() {
            item.flips += 1;
        }
    }

    /// A row that makes the latest flip alone; before any `together`.
    pub(crate) fn alone(&mut self, row: u32) {
        self.rows.push(row);
        if let Some(flip) = self.flips.last_mut() {
            flip.alone = self.rows.len() as u32;
            flip.end = flip.alone;
        }
    }

    /// Rows of which `cost` make the latest flip.
    pub(crate) fn together(&mut self, rows: impl Iterator<Item = u32>, cost: usize) {
        self.rows.extend(rows);
        if let Some(flip) = self.flips.last_mut() {
            flip.end = self.rows.len() as u32;
            flip.cost = cost as u32;
        }
    }

    /// A row's share in the error of its fold, at most.
    pub(crate) fn unit(&self) -> f64 {
        let shares = self.shares.iter().flat_map(|shares| &shares.high);
        shares.copied().max().unwrap_or(1).max(1) as f64
    }

    /// Completes the record: what K pays for the removal of rows (`penalties`), the slack, and the losses of T.
    pub(crate) fn finish(
        &mut self,
        system: &KnnSystem,
        (k, m): (usize, usize),
        shares: Shares,
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
    /// If R has exactly one member r among the first max(K, M) + 1 neighbours of i and i stays, both votes are those
    /// without r alone: the first K survivors lie among the first K + 1, those at M among the first M + 1.
    fn record_losses(&mut self, system: &KnnSystem, k: usize, m: usize) {
        let removed = system.nothing_removed();
        let labels = system.setup.training.labels();
        let classes = system.setup.training.classes();
        let mut near = Near::default();
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

    /// Shares out all payments, given how likely each row is to be removed (`popularity`, one value a row).
    ///
    /// **Lemma.** The result satisfies the lemma of `charges`, whatever the popularity. *Proof.* It is enough to
    /// bound each row i on its own: its gain g_i(R) = d_i - d_i(R), with d_i(R) = 0 if i is removed.
    /// 1. *Sparing.* A flip that takes c of some rows is paid for in full if s < c of them go free and each of the others
    ///    pays 1/(c - s): of c removed rows at least c - s pay.
    /// 2. *Caps.* A flip gains at most one share, whoever makes it: a constant share, charged to the slack, pays for it, and nobody else has
    ///    to. Where the removal of i gains a share as well (d_i = 1), g_i is 1 if i is removed and else
    ///    the number of flips made. So one share covers the removal together with any one of the flips.
    /// 3. *Losses.* Let L = d_i({r}) - d_i > 0 and P the first max(K, M) + 1 neighbours of i. If R meets P in r alone and
    ///    i stays, g_i = -L: r may be paid L shares. In all other cases with r in R, another row of P or i is in R; each of
    ///    those pays L shares, so that the sum is at least what 1 and 2 charge. Removals outside P pay what they
    ///    did before, which is not negative. ∎
    ///
    /// For each row the cheapest of these at the given popularity is taken.
    pub(crate) fn charges(&self, popularity: &[f32]) -> PairCharges {
        let mut weights = vec![0_i64; self.count];
        for &(row, penalty) in &self.penalties {
            weights[row as usize] -= penalty;
        }
        let mut constant = 0_i128;
        let mut order = Vec::new();
        for item in &self.items {
            constant += i128::from(self.pay_item(item, popularity, &mut weights, &mut order));
        }
        if let Some(shares) = &self.shares {
            for loss in &self.losses {
                self.pay_loss(loss, shares, popularity, &mut weights);
            }
        }
        PairCharges {
            slack: super::charges::clamped(i128::from(self.slack) - constant),
            weights,
            top: Vec::new(),
            strict: self.strict,
        }
    }

    /// Charges one row's gains; returns the constant that is charged to the slack.
    fn pay_item(
        &self,
        item: &Item,
        popularity: &[f32],
        weights: &mut [i64],
        order: &mut Vec<u32>,
    ) -> i64 {
        let flips = &self.flips[item.first as usize..(item.first + item.flips) as usize];
        let prices: [(f32, usize); 2] = [0, 1].map(|at| {
            flips
                .get(at)
                .map_or((0.0, 0), |flip| self.price(flip, popularity, order))
        });
        let own = popularity.get(item.direct as usize).copied();
        // Which flips a constant pays for.
        let mut capped = [prices[0].0 > 1.0, prices[1].0 > 1.0];
        let mut direct = own.is_some();
        if let Some(own) = own {
            // The removal of the row itself goes with the flip that is dearest.
            let dearest = usize::from(prices[1].0 > prices[0].0);
            if own + prices[dearest].0 > 1.0 {
                capped[dearest] = true;
                direct = false;
            }
        }
        for (at, flip) in flips.iter().enumerate() {
            if !capped[at] {
                self.pay_flip(flip, item.share, prices[at].1, popularity, weights, order);
            }
        }
        if direct {
            weights[item.direct as usize] += item.share;
        }
        capped.iter().filter(|&&capped| capped).count() as i64 * item.share
    }

    /// What a flip costs at the given popularity, and how many rows are best spared.
    fn price(&self, flip: &Flip, popularity: &[f32], order: &mut Vec<u32>) -> (f32, usize) {
        let popular = |&row: &u32| popularity[row as usize];
        let alone: f32 = self.rows[flip.start as usize..flip.alone as usize]
            .iter()
            .map(popular)
            .sum();
        let group = &self.rows[flip.alone as usize..flip.end as usize];
        let mut rest: f32 = group.iter().map(popular).sum();
        if rest <= 0.0 {
            return (alone, 0);
        }
        let cost = flip.cost as usize;
        let mut least = rest / cost as f32;
        let mut spared = 0;
        if cost > 1 {
            most_popular(group, popularity, order);
            for (count, row) in (1..cost).zip(order.iter()) {
                rest -= popularity[*row as usize];
                let price = rest.max(0.0) / (cost - count) as f32;
                if price < least - 1e-6 {
                    least = price;
                    spared = count;
                }
            }
        }
        (alone + least, spared)
    }

    fn pay_flip(
        &self,
        flip: &Flip,
        share: i64,
        spared: usize,
        popularity: &[f32],
        weights: &mut [i64],
        order: &mut Vec<u32>,
    ) {
        for &row in &self.rows[flip.start as usize..flip.alone as usize] {
            weights[row as usize] += share;
        }
        let group = &self.rows[flip.alone as usize..flip.end as usize];
        if group.is_empty() {
            return;
        }
        let part = (share as u64).div_ceil(u64::from(flip.cost) - spared as u64) as i64;
        for &row in group {
            weights[row as usize] += part;
        }
        if spared > 0 {
            most_popular(group, popularity, order);
            for &row in &order[..spared] {
                weights[row as usize] -= part;
            }
        }
    }

    /// Pays the one row whose loss is worth most, and charges the others for it.
    fn pay_loss(&self, loss: &Loss, shares: &Shares, popularity: &[f32], weights: &mut [i64]) {
        let near = &self.lost[loss.start as usize..loss.end as usize];
        let popular = |row: u32| popularity[row as usize];
        let all: f32 = near.iter().map(|&(row, _)| popular(row)).sum();
        if all <= 0.0 {
            return;
        }
        let others = all + popular(loss.row);
        let worth = |&(row, lost): &(u32, i8)| f32::from(lost) * (2.0 * popular(row) - others);
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

/// The popular rows of `group` in `order`, the most popular first, ties as they stand; then the others.
fn most_popular(group: &[u32], popularity: &[f32], order: &mut Vec<u32>) {
    order.clear();
    let popular = |row: &u32| popularity[*row as usize];
    order.extend(group.iter().filter(|row| popular(row) > 0.0));
    order.sort_by(|a, b| popular(b).total_cmp(&popular(a)));
    order.extend(group.iter().filter(|row| popular(row) <= 0.0));
}

#[cfg(test)]
mod tests {
    use super::super::charges::{Stand, charge_pair};
    use super::*;
    use crate::{Candidates, LearnUpdate, Metric, Parameters, TrainingSet};

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(2000))]

        /// For every removal set and popularity, counted exactly: the differences of wrong predictions over the sizes
        /// of the folds of T are at least the gap less what the charges and constants allow.
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
            let stand = Stand { system: &system, removed: &removed, counts, budget: poison };
            let (at, reference) = ((seed % 4) as usize, (seed / 4 % 3) as usize);
            let reference = reference + usize::from(reference >= at);
            let mut events = Events::default();
            charge_pair(stand, at, reference, &removed, None, Some(&mut events));
            let shares = Shares::of(counts.remaining(), poison);
            let folds = 0..counts.remaining().len();
            let difference = |counts: &crate::ErrorCounts, fold: usize| {
                i64::from(counts.wrong(at)[fold]) - i64::from(counts.wrong(reference)[fold])
            };
            let gap: i64 = folds
                .clone()
                .map(|fold| shares.at_least(fold, difference(counts, fold)))
                .sum();
            let correction = gap - events.slack;
            for turn in 0..6_u64 {
                let popularity: Vec<f32> = (0..rows as u64)
                    .map(|row| ((row * seed + row * row + turn * row) % 5 * turn.min(1)) as f32 / 4.0)
                    .collect();
                let charges = events.charges(&popularity);
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
