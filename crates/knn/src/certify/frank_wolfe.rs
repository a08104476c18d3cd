//! The tightest amortised bound for one K: the dual of the relaxed removal problem, by Frank and
//! Wolfe's method.
//!
//! The primal chooses a fractional removal set; the dual chooses who is charged for each flip.
//! Every dual point is a sound bound.

use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint, SearchState, top_rows};
use crate::certify::charging::bound_pair;
use crate::certify::cost_sharing::CostSharing;
use crate::certify::fractional_removal::FractionalRemoval;
use crate::certify::reference_bound::ReferenceVotes;
use crate::deadline::Deadline;
use crate::system::KnnSystem;

/// The number of parts that the weights of a blend are counted in.
const PARTS: i128 = 1 << 12;
/// The temperature of the fractional removal at first and at last, in shares.
const HOTTEST: f64 = 0.3;
const COLDEST: f64 = 0.01;

/// The flips of one K against a reference on T, recorded once.
pub(crate) struct Relaxation {
    costs: CostSharing,
    /// The bound in which every flip is charged evenly.
    evenly: AmortisedBound,
}

impl Relaxation {
    /// Records the flips of the K with index `at` among all candidates against the K at
    /// `reference`.
    pub(crate) fn record(system: &KnnSystem, at: usize, reference: usize) -> Self {
        let removed = system.nothing_removed();
        let state = SearchState {
            system,
            removed: &removed,
            counts: &system.errors,
            budget: system.poison(),
        };
        let known = ReferenceVotes::at(state, &[at], reference);
        let mut costs = CostSharing::default();
        let known = Some((&known, 0));
        let evenly = bound_pair(state, at, reference, &removed, known, Some(&mut costs));
        Self { costs, evenly }
    }
}

/// A point of the dual: charges for all flips.
#[derive(Clone)]
pub(crate) struct FrankWolfe {
    temperature: f64,
    /// The bound of the current point.
    latest: AmortisedBound,
    /// The best bound so far.
    pub(crate) tightest: AmortisedBound,
}

impl FrankWolfe {
    /// The first point: every flip is charged evenly.
    pub(crate) fn open(relaxation: &Relaxation) -> Self {
        Self {
            temperature: HOTTEST,
            latest: relaxation.evenly.clone(),
            tightest: relaxation.evenly.clone(),
        }
    }

    /// Takes at most `rounds` steps for removal sets that meet `constraint`, until K is refuted or
    /// no blend can refute it.
    ///
    /// **Lemma.** The result satisfies the charging lemma for K against the reference. *Proof.* The
    /// charges of every round satisfy it (lemma of [`CostSharing::charges`]); a blend of sound
    /// bounds is sound. ∎
    ///
    /// In a step the smoothed primal answers the blend (see [`FractionalRemoval`]), every flip is
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
        let unit = relaxation.costs.unit();
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
            let next = relaxation.costs.charges(&answer.fraction);
            let reached = answer.room(&next);
            if reached > 0.0 {
                return;
            }
            let gap = answer.room(&self.latest) - reached;
            let part = self.stride(&next, constraint, unit);
            blend_in(&mut self.latest, &next, part);
            self.latest.top = top_rows(&self.latest.weights, 2 * constraint.budget, |_| true);
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

    /// Searches along the line for the part of `next` with the least smoothed bound.
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
