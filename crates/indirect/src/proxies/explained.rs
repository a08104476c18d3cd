//! How much of a score the predicted protected value explains, among people with the same outcome.
//!
//! Within each stratum of the outcome the score and the predicted probability of the group are taken
//! from their means; r is the correlation of what is left, over all strata together. Its square is the
//! share of the score's variance within strata that a linear function of the prediction explains: the
//! partial R². The prediction is of networks that never saw the row.
//!
//! # The interval
//!
//! With u and v what is left, each divided by its root mean square, √n·(r̂ − r) is asymptotically
//! normal with the variance of u·v − r·(u² + v²)/2, whatever the distribution of scores: the delta
//! method on moments (Steiger and Hakstian 1982 have it for several correlations). The interval is
//! taken on Fisher's scale, artanh r, on which the standard deviation is divided by 1 − r²; that of r²
//! are the squares of what it holds, from 0 where it holds 0.

use std::collections::BTreeMap;

use serde::Serialize;

use super::auc::{Estimate, QUANTILE};

/// How much of a score the predicted protected value explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Explained {
    /// The share of the score's variance within strata.
    pub share: Estimate,
    /// The correlation within strata: below 0 where those who are taken for members have lower
    /// scores.
    pub correlation: Estimate,
    /// The number of strata: outcomes that people have, or 1 where none is known.
    pub strata: u64,
    /// The number of people whose score and outcome are known.
    pub people: u64,
}

/// Returns how much of `scores` the `predicted` probabilities explain within strata of equal
/// `outcomes`; people without an outcome are left out where others have one. `None` where either has no
/// variance within strata, or there are at most three people more than strata.
pub fn explained(scores: &[f64], predicted: &[f64], outcomes: &[Option<u32>]) -> Option<Explained> {
    let are_known = outcomes.iter().any(Option::is_some);
    let mut strata: BTreeMap<Option<u32>, Vec<[f64; 2]>> = BTreeMap::new();
    for ((&score, &predicted), &outcome) in scores.iter().zip(predicted).zip(outcomes) {
        if outcome.is_some() || !are_known {
            strata.entry(outcome).or_default().push([score, predicted]);
        }
    }
    let mut left = Vec::with_capacity(scores.len());
    for people in strata.values() {
        let mean = |side: usize| {
            let sum: f64 = people.iter().map(|pair| pair[side]).sum();
            sum / people.len() as f64
        };
        let means = [mean(0), mean(1)];
        let rest = people.iter();
        left.extend(rest.map(|pair| [pair[0] - means[0], pair[1] - means[1]]));
    }
    let free = left.len().saturating_sub(strata.len() + 3);
    if free == 0 {
        return None;
    }
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| left.iter().map(of).sum::<f64>();
    let squares = [sum(&|it| it[0] * it[0]), sum(&|it| it[1] * it[1])];
    // Rounding leaves this much of values that are equal.
    let size = |side: usize, values: &[f64]| {
        let most = values.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        squares[side] > (left.len() as f64) * (1e-12 * most).powi(2)
    };
    if !size(0, scores) || !size(1, predicted) {
        return None;
    }
    let correlation = sum(&|it| it[0] * it[1]) / (squares[0] * squares[1]).sqrt();
    let correlation = correlation.clamp(-1.0, 1.0);
    let people = left.len() as f64;
    let scale = squares.map(|it| (it / people).sqrt());
    let variance = sum(&|it| {
        let (u, v) = (it[0] / scale[0], it[1] / scale[1]);
        (u * v - correlation * (u * u + v * v) / 2.0).powi(2)
    });
    let error = (variance / people / free as f64).sqrt();
    let ci95 = around(correlation, error);
    Some(Explained {
        share: Estimate {
            value: correlation * correlation,
            ci95: squared(ci95),
        },
        correlation: Estimate {
            value: correlation,
            ci95,
        },
        strata: strata.len() as u64,
        people: left.len() as u64,
    })
}

/// The interval around a correlation with the standard deviation `error`.
fn around(correlation: f64, error: f64) -> [f64; 2] {
    let below = 1.0 - correlation * correlation;
    match below > 0.0 {
        true => {
            let half = QUANTILE * error / below;
            [-half, half].map(|it| (correlation.atanh() + it).tanh())
        }
        false => [correlation; 2],
    }
}

/// The squares of all numbers of an interval.
fn squared([low, high]: [f64; 2]) -> [f64; 2] {
    let (a, b) = (low * low, high * high);
    match low <= 0.0 && high >= 0.0 {
        true => [0.0, a.max(b)],
        false => [a.min(b), a.max(b)],
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use probity_run::stream::{Purpose, stream};

    #[test]
    fn a_linear_score_is_explained_wholly() {
        let predicted: Vec<f64> = (0..50).map(|row| f64::from(row % 7) / 7.0).collect();
        let outcomes: Vec<Option<u32>> = (0..50).map(|row| Some(row % 2)).collect();
        // A large difference between the strata explains nothing within them.
        let scores =
            (0..50).map(|row| 0.9 - 0.3 * predicted[row] + 5.0 * f64::from(row as u32 % 2));
        let found = explained(&scores.collect::<Vec<_>>(), &predicted, &outcomes).unwrap();
        assert!((found.share.value - 1.0).abs() < 1e-9);
        assert!(found.correlation.value < -0.999_999);
        assert_eq!((found.strata, found.people), (2, 50));
    }

    #[test]
    fn the_share_is_that_of_a_regression_on_strata_and_prediction() {
        let mut random = stream(1, Purpose::Synthetic, 0, 1);
        let outcomes: Vec<Option<u32>> = (0..200).map(|row| Some(row % 3)).collect();
        let predicted: Vec<f64> = (0..200)
            .map(|row| random.random::<f64>() + f64::from(row % 3))
            .collect();
        let scores: Vec<f64> = predicted
            .iter()
            .map(|it| 0.4 * it + random.random::<f64>())
            .collect();
        let found = explained(&scores, &predicted, &outcomes).unwrap();
        // Least squares: the means of the strata, then one slope.
        let centred = |values: &[f64]| -> Vec<f64> {
            let mean = |of: usize| {
                let own = (0..200).filter(|row| row % 3 == of).map(|row| values[row]);
                own.clone().sum::<f64>() / own.count() as f64
            };
            let means = [mean(0), mean(1), mean(2)];
            (0..200).map(|row| values[row] - means[row % 3]).collect()
        };
        let (y, x) = (centred(&scores), centred(&predicted));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let slope = dot(&x, &y) / dot(&x, &x);
        let rest: f64 = x.iter().zip(&y).map(|(x, y)| (y - slope * x).powi(2)).sum();
        assert!((found.share.value - (1.0 - rest / dot(&y, &y))).abs() < 1e-12);
        let [low, high] = found.share.ci95;
        assert!(low < found.share.value && found.share.value < high);
    }

    #[test]
    fn intervals_hold_the_true_correlation_as_often_as_they_say() {
        // y = b·x + e with x, e exponential: r = b/√(1 + b²).
        for slope in [0.0_f64, 0.7] {
            let truth = slope / (1.0 + slope * slope).sqrt();
            let held = (0..1000_u64).filter(|&seed| {
                let mut random = stream(seed, Purpose::Synthetic, 0, 1);
                let mut next = || -(1.0 - random.random::<f64>()).ln();
                let x: Vec<f64> = (0..300).map(|_| next()).collect();
                let y: Vec<f64> = x.iter().map(|x| slope * x + next()).collect();
                let found = explained(&y, &x, &[None; 300]).unwrap();
                let [low, high] = found.correlation.ci95;
                (low..=high).contains(&truth)
            });
            let held = held.count();
            assert!((930..=980).contains(&held), "{held}");
        }
    }

    #[test]
    fn what_does_not_vary_is_not_explained() {
        let varying: Vec<f64> = (0..20).map(f64::from).collect();
        let outcomes = [None; 20];
        assert!(explained(&varying, &[0.3; 20], &outcomes).is_none());
        assert!(explained(&[0.1 + 0.2; 20], &varying, &outcomes).is_none());
        assert!(explained(&varying[..4], &varying[..4], &outcomes[..4]).is_none());
        let some: Vec<Option<u32>> = (0..20).map(|row| (row < 12).then_some(1)).collect();
        assert_eq!(explained(&varying, &varying, &some).unwrap().people, 12);
    }
}
