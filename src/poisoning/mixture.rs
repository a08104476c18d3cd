//! One K held against several references at once.

use super::charges::{Demand, PairCharges, top_rows};

/// Charges against several references at once.
///
/// **Lemma.** K is learnt only if it is not behind any reference, hence not behind any weighted mean of them:
/// the weighted sums of slacks and weights bound it as the lemma of charges does. Any mean is sound;
/// a few steps of multiplicative updates look for one that leaves K the least room.
pub(crate) fn mix(parts: &[PairCharges], demand: &Demand<'_>) -> Option<PairCharges> {
    const TOTAL: i64 = 64;
    let rows = parts.first()?.weights.len();
    let mut importance = vec![1.0_f64; parts.len()];
    let mut best: Option<(f64, PairCharges)> = None;
    for step in 0..MIX_STEPS {
        let sum: f64 = importance.iter().sum();
        let mut lambda: Vec<i64> = importance
            .iter()
            .map(|part| (part / sum * TOTAL as f64) as i64)
            .collect();
        if let Some(first) = lambda
            .iter()
            .position(|&part| part == lambda.iter().copied().max().unwrap_or(0))
        {
            lambda[first] += TOTAL - lambda.iter().sum::<i64>();
        }
        let mut weights = vec![0_i64; rows];
        let mut slack = 0;
        let mut strict = false;
        for (part, &lambda) in parts.iter().zip(&lambda).filter(|&(_, &lambda)| lambda > 0) {
            slack += lambda * part.slack;
            strict |= part.strict;
            for (sum, &weight) in weights.iter_mut().zip(&part.weights) {
                *sum += lambda * weight;
            }
        }
        let top = top_rows(&weights, 2 * demand.budget, |_| true);
        let mixed = PairCharges {
            slack,
            weights,
            top,
            strict,
        };
        let chosen = mixed.heaviest(demand)?;
        let gain: i128 = chosen
            .iter()
            .map(|&row| i128::from(mixed.weights[row as usize]))
            .sum();
        let room = gain as f64 - mixed.slack as f64;
        let pull: Vec<f64> = parts
            .iter()
            .map(|part| {
                let gain: i128 = chosen
                    .iter()
                    .map(|&row| i128::from(part.weights[row as usize]))
                    .sum();
                part.slack as f64 - gain as f64
            })
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

/// Steps of [`mix`].
const MIX_STEPS: usize = 12;
