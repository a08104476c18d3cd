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
//! independent trials would vary as much. The interval is the exact one (Clopper, Pearson 1934) of so
//! many trials, but no more than there are members, as surveys have it (Korn, Graubard 1998): so
//! where nobody is decided worse it does not shrink to a point. Counterparts that are given
//! are pairs of their own, and the interval is the exact one of these.
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
    /// How many.
    pub halves: u32,
    /// The seed.
    pub seed: u64,
    /// The number of the group among those that are looked at.
    pub place: u64,
    /// How far a matching may be from the best one, as a share of it.
    pub gap: f64,
}

/// By how much shares vary over the halves of the people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Variances {
    /// The variance of the share of members who are decided worse.
    pub against: f64,
    /// The variance of the share of members who are decided better.
    pub favouring: f64,
}

impl Halves {
    /// Matches the halves of `group`, and returns by how much the shares vary over them; nothing where
    /// they are fewer than two, or a side has fewer than two people. `watch` breaks to stop, and gets the
    /// number of halves that are done.
    ///
    /// # Errors
    /// When it is stopped.
    pub fn variances(
        self,
        people: &Coordinates,
        group: &ProtectedGroup,
        outcomes: &Outcomes<'_>,
        watch: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Variances>, IndirectError> {
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
        let variance = |way: usize| {
            let values = shares.iter().map(|shares| shares[way]);
            let mean = values.clone().sum::<f64>() / shares.len() as f64;
            let squares: f64 = values.map(|share| (share - mean).powi(2)).sum();
            squares / (shares.len() - 1) as f64
        };
        Ok(Some(Variances {
            against: variance(0),
            favouring: variance(1),
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

/// Returns the 95 % interval of a `share` of `members`, which varies by `variance`; without one, members
/// are independent of each other.
pub fn interval(share: f64, members: u64, variance: Option<f64>) -> [f64; 2] {
    let members = members as f64;
    let alike = match variance {
        Some(variance) if variance > 0.0 => share * (1.0 - share) / variance,
        _ => members,
    };
    // A share of 0 or 1 says nothing of how it varies.
    let trials = if alike > 0.0 {
        alike.min(members)
    } else {
        members
    };
    let [low, high] = weighted_interval(share * trials, trials, ALPHA);
    [low.min(share), high.max(share)]
}
