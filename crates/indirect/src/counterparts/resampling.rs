//! Intervals of the shares of a flipset: halves of the people are matched anew.
//!
//! # What the intervals hold
//!
//! The share of members who are decided worse than their counterparts is no share of independent trials:
//! a person who is added changes the pairs of others. Suppose that the members, and those with whom
//! they are matched, are drawn independently of larger groups. The intervals are of the share that
//! samples of these sizes have on average, over such draws and their matchings.
//!
//! A half of the members and a half of the others are drawn without replacement and matched as all of
//! them are. The variance of a mean over such halves, given the sample, is that of the mean itself
//! (`s²/k · (1 − k/n)` with `k = n/2` is `s²/n`), and so to first order is that of anything which is
//! smooth in the two samples: the jackknife that leaves half out (Shao and Tu 1995, section 2.3). Samples
//! *with* replacement would not do: the copies of a person have counterparts as near as their own, which
//! more different people would not have.
//!
//! With `v` the variance of the share over the halves and `p` the share itself, `p (1 − p) / v`
//! independent trials would vary as much; where everybody or nobody is decided worse, `p` is here the mean
//! over the halves, in which some may be. The interval is the exact one (Clopper, Pearson 1934) of so
//! many trials, but no more than there are people on the smaller side, as surveys have it (Korn,
//! Graubard 1998): so where nobody is decided worse it does not shrink to a point, and two people on the
//! other side are no more than two. Counterparts that are given are pairs of their own, and the
//! interval is the exact one of these.
//!
//! It is an approximation and no theorem. How often it holds is counted in docs/benchmarks.md.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::seq::SliceRandom;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use super::flips::{Flip, Outcomes, share_of};
use super::matching::matched;
use crate::coordinates::Coordinates;
use crate::error::IndirectError;
use crate::people::ProtectedGroup;
use probity_fairness::statistics::weighted_interval;
use probity_run::stream::{Purpose, stream};

/// One minus the confidence of an interval.
const ALPHA: f64 = 0.05;

/// How halves are drawn and matched.
#[derive(Debug, Clone, Copy)]
pub struct Halves {
    /// The number of halves.
    pub halves: u32,
    /// The seed.
    pub seed: u64,
    /// The number of the group among those that are looked at.
    pub place: u64,
    /// How far a matching may be from the best one, as a share of it.
    pub gap: f64,
}

/// What a share is over the halves of the people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
}

/// What both shares are over the halves of the people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spreads {
    /// The share of members who are decided worse.
    pub against: Spread,
    /// The share of members who are decided better.
    pub favouring: Spread,
}

impl Halves {
    /// Matches the halves of `group`, and returns what the shares are over them; nothing where they
    /// are fewer than two, or a side has fewer than two people. `watch` breaks to stop, and gets the
    /// number of halves that are done.
    ///
    /// # Errors
    /// When it is stopped.
    pub fn spreads(
        self,
        people: &Coordinates,
        group: &ProtectedGroup,
        outcomes: &Outcomes<'_>,
        watch: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Spreads>, IndirectError> {
        if self.halves < 2 || group.members.len() < 2 || group.others.len() < 2 {
            return Ok(None);
        }
        let done = AtomicU64::new(0);
        // In the order of the halves, whoever matches them.
        let shares: Result<Vec<[f64; 2]>, IndirectError> = (0..u64::from(self.halves))
            .into_par_iter()
            .map(|half| {
                let half = self.half(group, half);
                let stop = || watch(done.load(Ordering::Relaxed));
                let matching = matched(people, &half, self.gap, &stop)?;
                done.fetch_add(1, Ordering::Relaxed);
                let share = |flip| share_of(&matching.pairs, outcomes, flip);
                Ok([share(Flip::Against), share(Flip::Favouring)])
            })
            .collect();
        let shares = shares?;
        let spread = |way: usize| {
            let values = shares.iter().map(|shares| shares[way]);
            let mean = values.clone().sum::<f64>() / shares.len() as f64;
            let squares: f64 = values.map(|share| (share - mean).powi(2)).sum();
            Spread {
                mean,
                variance: squares / (shares.len() - 1) as f64,
            }
        };
        Ok(Some(Spreads {
            against: spread(0),
            favouring: spread(1),
        }))
    }

    /// Returns `group` with a half of the members and a half of the others.
    fn half(self, group: &ProtectedGroup, half: u64) -> ProtectedGroup {
        let mut stream = stream(self.seed, Purpose::HalfSample, self.place, half);
        let mut drawn = |rows: &[u32]| {
            let mut rows = rows.to_vec();
            let count = rows.len() / 2;
            let (chosen, _) = rows.partial_shuffle(&mut stream, count);
            let mut chosen = chosen.to_vec();
            chosen.sort_unstable();
            chosen
        };
        ProtectedGroup {
            members: drawn(&group.members),
            others: drawn(&group.others),
            ..group.clone()
        }
    }
}

/// Returns the 95 % interval of a `share` of members, where there are `people` on the smaller side and the
/// share has the `spread` over halves; without one, members are independent of each other.
pub fn interval(share: f64, people: u64, spread: Option<Spread>) -> [f64; 2] {
    // Shares are sums of parts, which may miss an end by a rounding.
    let share = snapped(share);
    let people = people as f64;
    let trials = spread.map_or(people, |spread| {
        let shown = match share {
            0.0 | 1.0 => spread.mean,
            share => share,
        };
        match spread.variance {
            0.0 => people,
            variance => (shown * (1.0 - shown) / variance).min(people),
        }
    });
    let [low, high] = weighted_interval(share * trials, trials, ALPHA);
    [snapped(low.min(share)), snapped(high.max(share))]
}

/// Returns 0 or 1 in place of a share that is next to it: of a billion nobody tells one.
fn snapped(share: f64) -> f64 {
    const NEXT: f64 = 1e-9;
    match share {
        share if share < NEXT => 0.0,
        share if share > 1.0 - NEXT => 1.0,
        share => share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_know_no_more_than_the_smaller_side_and_the_halves() {
        let still = Spread {
            mean: 1.0,
            variance: 0.0,
        };
        // The exact interval of 2 of 2.
        let [low, high] = interval(1.0, 2, Some(still));
        assert!(
            (low - 0.025_f64.sqrt()).abs() < 1e-9 && high == 1.0,
            "{low} {high}"
        );
        let of = |mean, variance| Some(Spread { mean, variance });
        // Nobody, though in the halves some are: 0.056·0.944/0.004 trials.
        let [low, high] = interval(0.0, 36, of(0.056, 0.004));
        let trials = 0.056 * 0.944 / 0.004;
        assert!(low == 0.0 && (high - (1.0 - 0.025_f64.powf(1.0 / trials))).abs() < 1e-9);
        let [low, high] = interval(1e-17, 50, of(1e-17, 0.0));
        assert_eq!(low, 0.0);
        assert!((high - (1.0 - 0.025_f64.powf(1.0 / 50.0))).abs() < 1e-9);
        let [low, high] = interval(0.3, 100, of(0.3, 0.021));
        assert!(
            low > 0.05 && low < 0.09 && high > 0.6 && high < 0.66,
            "{low} {high}"
        );
    }
}
