//! Better charges for one K: rows that are likely to be removed are spared, the others pay.

use rayon::prelude::*;

use super::analysis::Deadline;
use super::certified_k_set::other_references;
use super::charges::{Demand, PairCharges, Stand, charge_pair, top_rows};
use super::losses::Known;
use super::mixture::mix;
use super::system::KnnSystem;

/// Blends are in parts of this many.
const PARTS: i64 = 64;

/// Charges for the K with index `at` among all candidates, improved over at most `steps` rounds for removal sets that
/// meet `demand`; `None` if there is nothing to hold K against, or no such set.
///
/// **Lemma.** Every round's charges satisfy the lemma of `charges`, whatever the popularity, because a flip that takes c of some
/// rows still takes c - s of those left when s are spared. A blend of sound bounds is sound, and so is
/// a mixture over references (see [`mix`]). ∎ The rounds play a game: one side removes the n heaviest rows of
/// the blend so far; the other charges each flip to the rows that were removed least. A row that
/// meets a flip alone, without the other removals that the flip takes, so pays less and less.
pub(crate) fn tighten(
    system: &KnnSystem,
    at: usize,
    demand: &Demand<'_>,
    steps: usize,
    deadline: Deadline<'_>,
) -> Option<PairCharges> {
    let removed = system.nothing_removed();
    let budget = system.poison();
    let stand = Stand {
        system,
        removed: &removed,
        counts: &system.errors,
        budget,
    };
    let best = system.errors.best();
    let references: Vec<(usize, Known)> = std::iter::once(best)
        .chain(other_references(system, best))
        .filter(|&reference| reference != at)
        .map(|reference| (reference, Known::at(stand, &[at], reference)))
        .collect();
    let charge = |popularity: &[f32]| -> Vec<PairCharges> {
        references
            .par_iter()
            .map(|(reference, known)| {
                charge_pair(
                    stand,
                    at,
                    *reference,
                    &removed,
                    Some((known, 0)),
                    popularity,
                )
            })
            .collect()
    };
    let mut blends = charge(&[]);
    let mut popularity = vec![0.0_f32; removed.len()];
    let mut tightest = mix(&blends, demand)?;
    let mut latest = tightest.clone();
    for step in 1..=steps {
        if tightest.refutes(demand) || deadline.passed() {
            break;
        }
        let pace = 2.0 / (step as f32 + 2.0);
        popularity.iter_mut().for_each(|share| *share *= 1.0 - pace);
        for row in latest.heaviest(demand)? {
            popularity[row as usize] += pace;
        }
        let part = (PARTS as usize * 2 / (step + 2)).max(2) as i64;
        for (blend, next) in blends.iter_mut().zip(charge(&popularity)) {
            blend_in(blend, &next, part, budget);
        }
        latest = mix(&blends, demand)?;
        if room(&latest, demand) < room(&tightest, demand) {
            tightest = latest.clone();
        }
    }
    Some(tightest)
}

/// How far the bound is from excluding K.
fn room(charges: &PairCharges, demand: &Demand<'_>) -> i128 {
    charges.best_gain_with(demand).unwrap_or(0) - i128::from(charges.slack)
}

/// Replaces `part` of [`PARTS`] of a bound by another one, rounded towards the weaker.
fn blend_in(blend: &mut PairCharges, next: &PairCharges, part: i64, budget: usize) {
    let rest = PARTS - part;
    for (weight, &other) in blend.weights.iter_mut().zip(&next.weights) {
        *weight = (*weight * rest + other * part + PARTS - 1).div_euclid(PARTS);
    }
    blend.slack = (blend.slack * rest + next.slack * part).div_euclid(PARTS);
    blend.top = top_rows(&blend.weights, 2 * budget, |_| true);
}
