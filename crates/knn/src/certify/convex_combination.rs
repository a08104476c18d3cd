//! One K held against several references at once.
//!
//! **Lemma.** K is learnt only if it is not behind any reference, hence not behind any convex
//! combination of them: the weighted sums of slacks and weights bound it as the charging lemma
//! does. Any weights are sound.

use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint, top_rows};

/// Means are in parts of this many: slacks are clamped so that their sums fit.
pub(crate) const PARTS: i64 = 256;
/// Steps of [`combine`].
const STEPS: usize = 12;

/// Charges against several references at once: a few steps of multiplicative weights look for the
/// combination that leaves K the least room.
pub(crate) fn combine(
    parts: &[AmortisedBound],
    constraint: &RemovalConstraint<'_>,
) -> Option<AmortisedBound> {
    let mut importance = vec![1.0_f64; parts.len()];
    let mut best: Option<(f64, AmortisedBound)> = None;
    for step in 0..STEPS {
        let mixed = mean(parts, &importance, constraint.budget);
        let chosen = mixed.heaviest(constraint).filter(|_| !parts.is_empty())?;
        let room = mixed.gain_of(&chosen) as f64 - mixed.slack as f64;
        let pull: Vec<f64> = parts
            .iter()
            .map(|part| part.slack as f64 - part.gain_of(&chosen) as f64)
            .collect();
        let scale = pull.iter().fold(1.0_f64, |most, pull| most.max(pull.abs()));
        let rate = 2.0 / (1.0 + step as f64).sqrt();
        for (part, pull) in importance.iter_mut().zip(&pull) {
            *part = (*part * (rate * pull / scale).exp()).max(1e-6);
        }
        if best.as_ref().is_none_or(|&(least, _)| room < least) {
            best = Some((room, mixed));
        }
    }
    best.map(|(_, mixed)| mixed)
}

/// The mean of bounds, weighted by importance, times [`PARTS`].
pub(crate) fn mean(parts: &[AmortisedBound], importance: &[f64], budget: usize) -> AmortisedBound {
    let sum: f64 = importance.iter().sum();
    let mut lambda: Vec<i64> = importance
        .iter()
        .map(|part| (part / sum * PARTS as f64) as i64)
        .collect();
    let most = lambda.iter().copied().max().unwrap_or(0);
    if let Some(first) = lambda.iter().position(|&part| part == most) {
        lambda[first] += PARTS - lambda.iter().sum::<i64>();
    }
    let rows = parts.first().map_or(0, |part| part.weights.len());
    let mut mixed = AmortisedBound {
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
