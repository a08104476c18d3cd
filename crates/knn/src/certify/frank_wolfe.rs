//! The tightest amortised bound for one K: the dual of the relaxed removal problem, by Frank and
//! Wolfe's method.
//!
//! The primal chooses a fractional removal set; the dual chooses who is charged for each flip, and
//! how the references are weighted. Every dual point is a sound bound.

use rayon::prelude::*;

use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint, SearchState};
use crate::certify::charging::bound_pair;
use crate::certify::convex_combination::{self, mean};
use crate::certify::cost_sharing::CostSharing;
use crate::certify::fractional_removal::FractionalRemoval;
use crate::certify::reference_bound::ReferenceVotes;
use crate::deadline::Deadline;
use crate::system::KnnSystem;

/// Blends are in parts of this many.
const PARTS: i128 = 1 << 12;
/// The temperature of the fractional removal at first and at last, in shares.
const HOTTEST: f64 = 0.3;
const COLDEST: f64 = 0.01;

/// One K against a few references on T: the flips, recorded once.
pub(crate) struct Relaxation {
    parts: Vec<CostSharing>,
    first: Vec<AmortisedBound>,
    /// A row's share in the error.
    unit: f64,
}

impl Relaxation {
    /// Records the K with index `at` among all candidates; `None` if there is nothing to hold it
    /// against, or if the deadline passes.
    pub(crate) fn of(
        system: &KnnSystem,
        at: usize,
        references: &[usize],
        deadline: Deadline<'_>,
    ) -> Option<Self> {
        let removed = system.nothing_removed();
        let state = SearchState {
            system,
            removed: &removed,
            counts: &system.errors,
            budget: system.poison(),
        };
        let (parts, first): (Vec<CostSharing>, Vec<AmortisedBound>) = references
            .par_iter()
            .filter_map(|&reference| {
                if deadline.passed() {
                    return None;
                }
                let known = ReferenceVotes::at(state, &[at], reference);
                let mut costs = CostSharing::default();
                let known = Some((&known, 0));
                let charges = bound_pair(state, at, reference, &removed, known, Some(&mut costs));
                Some((costs, charges))
            })
            .unzip();
        let unit = parts.first().map_or(1.0, CostSharing::unit);
        (!parts.is_empty()).then_some(Self { parts, first, unit })
    }
}

/// A point of the dual.
#[derive(Clone)]
pub(crate) struct FrankWolfe {
    blends: Vec<AmortisedBound>,
    importance: Vec<f64>,
    temperature: f64,
    /// The bounds of the moment, mixed over the references.
    latest: AmortisedBound,
    /// The best bound so far.
    pub(crate) tightest: AmortisedBound,
}

impl FrankWolfe {
    /// The first point: every flip is charged evenly.
    pub(crate) fn open(
        relaxation: &Relaxation,
        constraint: &RemovalConstraint<'_>,
    ) -> Option<Self> {
        let importance = vec![1.0; relaxation.first.len()];
        let latest = mean(&relaxation.first, &importance, constraint.budget);
        latest.heaviest(constraint)?;
        Some(Self {
            blends: relaxation.first.clone(),
            importance,
            temperature: HOTTEST,
            tightest: latest.clone(),
            latest,
        })
    }

    /// Takes at most `rounds` steps for removal sets that meet `constraint`, until K is refuted or
    /// no blend can refute it.
    ///
    /// **Lemma.** The result satisfies the charging lemma for K against a convex combination of
    /// references. *Proof.* So do the charges of every round (lemma of [`CostSharing::charges`]); a
    /// blend of sound bounds is sound. K is learnt only if it is behind no reference, hence not
    /// behind a weighted mean of them: the weighted sums of slacks and weights bound it. ∎
    ///
    /// A step: the smoothed primal answers the blend (see [`FractionalRemoval`]), every flip is
    /// charged anew at the least expense for that answer (the linear minimisation), and so much of
    /// the outcome is blended in as lowers the smoothed bound most (the line search). The
    /// temperature falls as the duality gap closes.
    pub(crate) fn go(
        &mut self,
        relaxation: &Relaxation,
        constraint: &RemovalConstraint<'_>,
        rounds: usize,
        deadline: Deadline<'_>,
    ) {
        let unit = relaxation.unit * convex_combination::PARTS as f64;
        let room = |bound: &AmortisedBound| {
            bound
                .best_gain_with(constraint)
                .map(|gain| gain - i128::from(bound.slack))
        };
        let Some(mut least) = room(&self.tightest) else {
            return;
        };
        for _ in 0..rounds {
            if self.tightest.refutes(constraint) || deadline.passed() {
                return;
            }
            let answer =
                FractionalRemoval::to(&self.latest.weights, constraint, self.temperature * unit);
            let next: Vec<AmortisedBound> = relaxation
                .parts
                .par_iter()
                .map(|costs| costs.charges(&answer.fraction))
                .collect();
            let values: Vec<f64> = next.iter().map(|part| answer.room(part)).collect();
            let mixed_next = mean(&next, &self.importance, constraint.budget);
            let gap = answer.room(&self.latest) - answer.room(&mixed_next);
            if values.iter().all(|&value| value > 0.0) {
                return;
            }
            let part = self.stride(&mixed_next, constraint, unit);
            self.blends
                .par_iter_mut()
                .zip(&next)
                .for_each(|(blend, next)| blend_in(blend, next, part));
            self.weigh_references(constraint, unit);
            if let Some(found) = room(&self.latest)
                && found < least
            {
                least = found;
                self.tightest = self.latest.clone();
            }
            if gap < 0.5 * answer.entropy * self.temperature * unit {
                self.temperature = (self.temperature * 0.7).max(COLDEST);
            }
        }
    }

    /// The line search: the part of `next` with the least smoothed bound.
    fn stride(&self, next: &AmortisedBound, constraint: &RemovalConstraint<'_>, unit: f64) -> i128 {
        let mut best = (f64::INFINITY, 1);
        for shift in 1..8 {
            let part = PARTS >> shift;
            let mut blend = self.latest.clone();
            blend_in(&mut blend, next, part);
            let answer = FractionalRemoval::to(&blend.weights, constraint, self.temperature * unit);
            let bound = answer.bound - blend.slack as f64;
            if bound < best.0 {
                best = (bound, part);
            } else {
                break;
            }
        }
        best.1
    }

    /// References that the answer to the blend overtakes least gain importance, as far as that
    /// lowers the bound.
    fn weigh_references(&mut self, constraint: &RemovalConstraint<'_>, unit: f64) {
        self.latest = mean(&self.blends, &self.importance, constraint.budget);
        let temperature = self.temperature * unit;
        let answer = FractionalRemoval::to(&self.latest.weights, constraint, temperature);
        let mut least = answer.bound - self.latest.slack as f64;
        let values: Vec<f64> = self.blends.iter().map(|part| answer.room(part)).collect();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let scale = values
            .iter()
            .fold(1.0, |most, value| f64::max(most, value - lowest));
        for rate in [2.0, 0.5, 0.1] {
            let mut importance: Vec<f64> = self
                .importance
                .iter()
                .zip(&values)
                .map(|(part, value)| part * (-rate * (value - lowest) / scale).exp())
                .collect();
            let sum: f64 = importance.iter().sum();
            importance
                .iter_mut()
                .for_each(|part| *part = (*part / sum).max(1e-4));
            let bound = mean(&self.blends, &importance, constraint.budget);
            let answer = FractionalRemoval::to(&bound.weights, constraint, temperature);
            if answer.bound - (bound.slack as f64) < least {
                least = answer.bound - bound.slack as f64;
                self.importance = importance;
                self.latest = bound;
            }
        }
    }
}

/// Replaces `part` of [`PARTS`] of a bound by another one, rounded towards the weaker.
fn blend_in(blend: &mut AmortisedBound, next: &AmortisedBound, part: i128) {
    let rest = PARTS - part;
    for (weight, &other) in blend.weights.iter_mut().zip(&next.weights) {
        if *weight != 0 || other != 0 {
            let sum = i128::from(*weight) * rest + i128::from(other) * part;
            *weight = ((sum + PARTS - 1) >> PARTS.trailing_zeros()) as i64;
        }
    }
    let sum = i128::from(blend.slack) * rest + i128::from(next.slack) * part;
    blend.slack = (sum >> PARTS.trailing_zeros()) as i64;
}
