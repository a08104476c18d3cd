//! Better charges for one K: a game between removals and those who pay for what removals do.

use rayon::prelude::*;

use super::analysis::Deadline;
use super::certified_k_set::other_references;
use super::charges::{Demand, PairCharges, Stand, charge_pair, top_rows};
use super::events::Events;
use super::losses::Known;
use super::system::KnnSystem;

/// Blends are in parts of this many.
const PARTS: i128 = 1 << 12;
/// Mixtures over references are in parts of this many.
const MIXED: i64 = 64;

/// One K against every reference on T: the flips, recorded once.
pub(crate) struct Game {
    parts: Vec<Events>,
    first: Vec<PairCharges>,
}

impl Game {
    /// Records the K with index `at` among all candidates; `None` if there is nothing to hold it against.
    pub(crate) fn of(system: &KnnSystem, at: usize) -> Option<Self> {
        let removed = system.nothing_removed();
        let stand = Stand {
            system,
            removed: &removed,
            counts: &system.errors,
            budget: system.poison(),
        };
        let best = system.errors.best();
        let references: Vec<usize> = std::iter::once(best)
            .chain(other_references(system, best))
            .filter(|&reference| reference != at)
            .collect();
        let (parts, first): (Vec<Events>, Vec<PairCharges>) = references
            .par_iter()
            .map(|&reference| {
                let known = Known::at(stand, &[at], reference);
                let mut events = Events::default();
                let known = Some((&known, 0));
                let charges = charge_pair(stand, at, reference, &removed, known, Some(&mut events));
                (events, charges)
            })
            .unzip();
        (!parts.is_empty()).then_some(Self { parts, first })
    }
}

/// Where a game stands.
#[derive(Clone)]
pub(crate) struct Play {
    blends: Vec<PairCharges>,
    importance: Vec<f64>,
    popularity: Vec<f32>,
    step: usize,
    /// The best bound so far.
    pub(crate) tightest: PairCharges,
}

impl Play {
    /// The opening: every flip is shared out evenly.
    pub(crate) fn open(game: &Game, demand: &Demand<'_>) -> Option<Self> {
        let importance = vec![1.0; game.first.len()];
        let tightest = mixed(&game.first, &importance, demand.budget);
        tightest.heaviest(demand)?;
        Some(Self {
            blends: game.first.clone(),
            importance,
            popularity: vec![0.0; tightest.weights.len()],
            step: 0,
            tightest,
        })
    }

    /// Takes over a game that was played for other demands.
    pub(crate) fn resume(mut self, step: usize) -> Self {
        self.step = self.step.min(step);
        self
    }

    /// Plays at most `rounds` for removal sets that meet `demand`, until K is refuted.
    ///
    /// **Lemma.** The result satisfies the lemma of `charges` for K against a mixture of references. *Proof.* So do the
    /// charges of every round (lemma of [`Events::charges`]); a blend of sound bounds is sound. K is learnt only if it is
    /// behind no reference, hence not behind a weighted mean of them: the weighted sums of slacks and weights bound it. ∎
    ///
    /// In each round one side removes the heaviest rows of the blend, and the other shares out every flip anew, at the
    /// least expense for the average of these removals. Averages of both sides approach the best that this kind
    /// of bound can do (fictitious play in a zero-sum game).
    pub(crate) fn go(
        &mut self,
        game: &Game,
        demand: &Demand<'_>,
        rounds: usize,
        deadline: Deadline<'_>,
    ) {
        let mut least: Option<i128> = None;
        for _ in 0..rounds {
            let latest = mixed(&self.blends, &self.importance, demand.budget);
            let Some(chosen) = latest.heaviest(demand) else {
                return;
            };
            let room = latest.gain_of(&chosen) - i128::from(latest.slack);
            if least.is_none_or(|least| room < least) {
                least = Some(room);
                self.tightest = latest;
            }
            if self.tightest.refutes(demand) || deadline.passed() {
                return;
            }
            self.weigh_references(&chosen);
            self.step += 1;
            let pace = 2.0 / (self.step as f32 + 2.0);
            self.popularity
                .iter_mut()
                .for_each(|share| *share *= 1.0 - pace);
            for &row in &chosen {
                self.popularity[row as usize] += pace;
            }
            let part = (2 * PARTS / (self.step as i128 + 2)).max(1);
            let popularity = &self.popularity;
            self.blends
                .par_iter_mut()
                .zip(&game.parts)
                .for_each(|(blend, events)| blend_in(blend, &events.charges(popularity), part));
        }
    }

    /// References that the chosen removals overtake least gain importance.
    fn weigh_references(&mut self, chosen: &[u32]) {
        let pull: Vec<f64> = self
            .blends
            .iter()
            .map(|part| part.slack as f64 - part.gain_of(chosen) as f64)
            .collect();
        let scale = pull.iter().fold(1.0_f64, |most, pull| most.max(pull.abs()));
        let rate = 2.0 / (1.0 + self.step as f64).sqrt();
        for (part, pull) in self.importance.iter_mut().zip(&pull) {
            *part *= (rate * pull / scale).exp();
        }
        let sum: f64 = self.importance.iter().sum();
        for part in &mut self.importance {
            *part = (*part / sum).max(1e-6);
        }
    }
}

/// The weighted sum of bounds against several references.
fn mixed(parts: &[PairCharges], importance: &[f64], budget: usize) -> PairCharges {
    let sum: f64 = importance.iter().sum();
    let mut lambda: Vec<i64> = importance
        .iter()
        .map(|part| (part / sum * MIXED as f64) as i64)
        .collect();
    let most = lambda.iter().copied().max().unwrap_or(0);
    if let Some(first) = lambda.iter().position(|&part| part == most) {
        lambda[first] += MIXED - lambda.iter().sum::<i64>();
    }
    let rows = parts.first().map_or(0, |part| part.weights.len());
    let mut mixed = PairCharges {
        slack: 0,
        weights: vec![0; rows],
        top: Vec::new(),
        strict: false,
    };
    for (part, &lambda) in parts.iter().zip(&lambda).filter(|&(_, &lambda)| lambda > 0) {
        mixed.slack += lambda * part.slack;
        mixed.strict |= part.strict;
        for (sum, &weight) in mixed.weights.iter_mut().zip(&part.weights) {
            *sum += lambda * weight;
        }
    }
    mixed.top = top_rows(&mixed.weights, 2 * budget, |_| true);
    mixed
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
