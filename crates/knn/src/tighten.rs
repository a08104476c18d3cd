//! Better charges for one K: a game between removals and those who pay for what removals do.

use rayon::prelude::*;

use super::analysis::Deadline;
use super::charges::{Demand, PairCharges, Stand, charge_pair};
use super::events::Events;
use super::losses::Known;
use super::mixture::{self, mean};
use super::response::Response;
use super::system::KnnSystem;

/// Blends are in parts of this many.
const PARTS: i128 = 1 << 12;
/// How soft the answer of the removals is at first and at last, in shares.
const SOFTEST: f64 = 0.3;
const HARDEST: f64 = 0.01;

/// One K against a few references on T: the flips, recorded once.
pub(crate) struct Game {
    parts: Vec<Events>,
    first: Vec<PairCharges>,
    /// A row's share in the error.
    unit: f64,
}

impl Game {
    /// Records the K with index `at` among all candidates; `None` if there is nothing to hold it against, or if the
    /// deadline passes.
    pub(crate) fn of(
        system: &KnnSystem,
        at: usize,
        references: &[usize],
        deadline: Deadline<'_>,
    ) -> Option<Self> {
        let removed = system.nothing_removed();
        let stand = Stand {
            system,
            removed: &removed,
            counts: &system.errors,
            budget: system.poison(),
        };
        let (parts, first): (Vec<Events>, Vec<PairCharges>) = references
            .par_iter()
            .filter_map(|&reference| {
                if deadline.passed() {
                    return None;
                }
                let known = Known::at(stand, &[at], reference);
                let mut events = Events::default();
                let known = Some((&known, 0));
                let charges = charge_pair(stand, at, reference, &removed, known, Some(&mut events));
                Some((events, charges))
            })
            .unzip();
        let unit = parts.first().map_or(1.0, Events::unit);
        (!parts.is_empty()).then_some(Self { parts, first, unit })
    }
}

/// Where a game stands.
#[derive(Clone)]
pub(crate) struct Play {
    blends: Vec<PairCharges>,
    importance: Vec<f64>,
    softness: f64,
    /// The bounds of the moment, mixed over the references.
    latest: PairCharges,
    /// The best bound so far.
    pub(crate) tightest: PairCharges,
}

impl Play {
    /// The opening: every flip is shared out evenly.
    pub(crate) fn open(game: &Game, demand: &Demand<'_>) -> Option<Self> {
        let importance = vec![1.0; game.first.len()];
        let latest = mean(&game.first, &importance, demand.budget);
        latest.heaviest(demand)?;
        Some(Self {
            blends: game.first.clone(),
            importance,
            softness: SOFTEST,
            tightest: latest.clone(),
            latest,
        })
    }

    /// Plays at most `rounds` for removal sets that meet `demand`, until K is refuted or no blend can refute it.
    ///
    /// **Lemma.** The result satisfies the lemma of `charges` for K against a mixture of references. *Proof.* So do the
    /// charges of every round (lemma of [`Events::charges`]); a blend of sound bounds is sound. K is learnt only if it is
    /// behind no reference, hence not behind a weighted mean of them: the weighted sums of slacks and weights bound it. ∎
    ///
    /// The removals answer the blend softly (see [`Response`]); every flip is shared out anew at the least expense
    /// for that answer, and so much of the outcome is blended in as lowers the softened bound most (Frank and
    /// Wolfe's method on the dual). The answer hardens as the two sides approach each other.
    pub(crate) fn go(
        &mut self,
        game: &Game,
        demand: &Demand<'_>,
        rounds: usize,
        deadline: Deadline<'_>,
    ) {
        let unit = game.unit * mixture::PARTS as f64;
        let room = |bound: &PairCharges| {
            bound
                .best_gain_with(demand)
                .map(|gain| gain - i128::from(bound.slack))
        };
        let Some(mut least) = room(&self.tightest) else {
            return;
        };
        for _ in 0..rounds {
            if self.tightest.refutes(demand) || deadline.passed() {
                return;
            }
            let answer = Response::to(&self.latest.weights, demand, self.softness * unit);
            let next: Vec<PairCharges> = game
                .parts
                .par_iter()
                .map(|events| events.charges(&answer.popularity))
                .collect();
            let values: Vec<f64> = next.iter().map(|part| answer.room(part)).collect();
            let mixed_next = mean(&next, &self.importance, demand.budget);
            let gap = answer.room(&self.latest) - answer.room(&mixed_next);
            if values.iter().all(|&value| value > 0.0) {
                return;
            }
            let part = self.stride(&mixed_next, demand, unit);
            self.blends
                .par_iter_mut()
                .zip(&next)
                .for_each(|(blend, next)| blend_in(blend, next, part));
            self.weigh_references(demand, unit);
            if let Some(found) = room(&self.latest)
                && found < least
            {
                least = found;
                self.tightest = self.latest.clone();
            }
            if gap < 0.5 * answer.entropy * self.softness * unit {
                self.softness = (self.softness * 0.7).max(HARDEST);
            }
        }
    }

    /// The part of `next` to blend in: the one with the least softened bound.
    fn stride(&self, next: &PairCharges, demand: &Demand<'_>, unit: f64) -> i128 {
        let mut best = (f64::INFINITY, 1);
        for shift in 1..8 {
            let part = PARTS >> shift;
            let mut blend = self.latest.clone();
            blend_in(&mut blend, next, part);
            let answer = Response::to(&blend.weights, demand, self.softness * unit);
            let bound = answer.bound - blend.slack as f64;
            if bound < best.0 {
                best = (bound, part);
            } else {
                break;
            }
        }
        best.1
    }

    /// References that the answer to the blend overtakes least gain importance, as far as that lowers the bound.
    fn weigh_references(&mut self, demand: &Demand<'_>, unit: f64) {
        self.latest = mean(&self.blends, &self.importance, demand.budget);
        let softness = self.softness * unit;
        let answer = Response::to(&self.latest.weights, demand, softness);
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
            let bound = mean(&self.blends, &importance, demand.budget);
            let answer = Response::to(&bound.weights, demand, softness);
            if answer.bound - (bound.slack as f64) < least {
                least = answer.bound - bound.slack as f64;
                self.importance = importance;
                self.latest = bound;
            }
        }
    }
}

/// Replaces `part` of [`PARTS`] of a bound by another one, rounded towards the weaker.
fn blend_in(blend: &mut PairCharges, next: &PairCharges, part: i128) {
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
