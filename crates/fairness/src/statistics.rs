//! Shares and means with their intervals.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::ln_gamma;

/// A mean and the 95 % interval of what it estimates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// 95 % interval by Student's t; absent for a single value, and for values that are all
    /// equal: a spread of 0 is no estimate of how far the mean may be off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
}

impl Mean {
    /// The mean of `values`; 0 of none.
    pub fn new(values: &[f64]) -> Mean {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        if values.iter().all(|value| *value == values[0]) {
            return Mean { mean, ci95: None };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let ci95 = StudentsT::new(0.0, 1.0, count - 1.0).ok().map(|t| {
            let half = t.inverse_cdf(0.975) * error;
            [mean - half, mean + half]
        });
        Mean { mean, ci95 }
    }

    /// The mean of `values` that are never below 0, such as counts.
    pub fn of_amounts(values: &[f64]) -> Mean {
        Mean::within(values, [0.0, f64::INFINITY])
    }

    /// The mean of `values` that are shares.
    pub fn of_shares(values: &[f64]) -> Mean {
        Mean::within(values, [0.0, 1.0])
    }

    /// The mean of `values` that lie from `low` to `high`. Its interval is cut to that: the mean
    /// that is estimated lies there, so the part that is cut off cannot hold it, and the interval
    /// covers it as often as before.
    pub fn within(values: &[f64], [low, high]: [f64; 2]) -> Mean {
        let Mean { mean, ci95 } = Mean::new(values);
        Mean {
            mean,
            ci95: ci95.map(|[from, to]| [from.max(low), to.min(high)]),
        }
    }
}

/// A share, with its 95 % interval (Clopper and Pearson).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Number of items of the kind that is counted.
    pub count: u64,
    /// The share of these items among all.
    pub share: f64,
    /// 95 % interval of the share in what the items were drawn from.
    pub ci95: [f64; 2],
}

impl Share {
    /// The share of `count` among `of` items.
    pub fn new(count: u64, of: u64) -> Share {
        Share {
            count,
            share: count as f64 / of.max(1) as f64,
            ci95: clopper_pearson(count, of, 0.05),
        }
    }
}

/// The exact (Clopper-Pearson) interval of a binomial share at confidence 1 − `alpha`.
///
/// The ends of the interval are quantiles of beta distributions, found by bisection on the
/// regularised incomplete beta function. (The inverse of the statistics crate in use does not end
/// for some large counts.)
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> [f64; 2] {
    weighted_interval(successes as f64, trials as f64, alpha)
}

/// The interval of a share at confidence 1 − `alpha` that [`clopper_pearson`] gives of so many trials,
/// which need not be whole numbers: with the number of independent trials that tell as much as dependent
/// or weighted ones do, it is the interval of Korn and Graubard (1998).
pub fn weighted_interval(successes: f64, trials: f64, alpha: f64) -> [f64; 2] {
    let (k, n) = (successes, trials);
    let low = if k <= 0.0 {
        0.0
    } else {
        beta_quantile(k, n - k + 1.0, alpha / 2.0)
    };
    let high = if k >= n {
        1.0
    } else {
        beta_quantile(k + 1.0, n - k, 1.0 - alpha / 2.0)
    };
    [low, high]
}

/// An interval of the mean μ of independent values from 0 to 1, at confidence 1 − `alpha`, of which
/// `count` have the mean `mean`.
///
/// It holds whatever the values are between 0 and 1: P(mean ≥ x) ≤ exp(−n·KL(x ‖ μ)) for x ≥ μ, and
/// likewise below (Hoeffding 1963, theorem 1), where KL(x ‖ μ) = x·ln(x/μ) + (1−x)·ln((1−x)/(1−μ)).
/// The interval are those μ at which this bound is above `alpha` / 2. Each end is on the outer side of
/// the exact one by no more than a rounding.
pub fn bounded_mean_interval(mean: f64, count: u64, alpha: f64) -> [f64; 2] {
    let mean = mean.clamp(0.0, 1.0);
    let most = (2.0 / alpha).ln() / count.max(1) as f64;
    if count == 0 {
        return [0.0, 1.0];
    }
    let part = |x: f64, of: f64| if x == 0.0 { 0.0 } else { x * (x / of).ln() };
    let is_within = |mu: f64| part(mean, mu) + part(1.0 - mean, 1.0 - mu) <= most;
    // From the mean, which is within, to an end, which is not.
    let end = |mut outer: f64| {
        let mut inner = mean;
        for _ in 0..200 {
            let middle = (inner + outer) / 2.0;
            if middle == inner || middle == outer {
                break;
            }
            match is_within(middle) {
                true => inner = middle,
                false => outer = middle,
            }
        }
        outer
    };
    [
        if mean == 0.0 { 0.0 } else { end(0.0) },
        if mean == 1.0 { 1.0 } else { end(1.0) },
    ]
}

/// The x at which the beta distribution of `a` and `b` reaches probability `p`.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // 200 halvings reach neighbouring numbers even next to 0.
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if regularised_beta(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function I_x(a, b) by its continued fraction (DLMF 8.17.22),
/// evaluated from the front by the modified Lentz method on the side where it converges fast.
fn regularised_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularised_beta(1.0 - x, b, a);
    }
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let factor =
        (a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp();
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // About √max(a, b) terms are needed near the mean.
    for m in 1..1_000_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (factor * fraction / a).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_against_published_values() {
        // 10 of 100: 4.90 % to 17.62 %; 0 of 20: 0 to 16.84 % (standard tables).
        let [low, high] = clopper_pearson(10, 100, 0.05);
        assert!(
            (low - 0.0490).abs() < 5e-5 && (high - 0.1762).abs() < 5e-5,
            "{low} {high}"
        );
        let [low, high] = clopper_pearson(0, 20, 0.05);
        assert!(low == 0.0 && (high - 0.1684).abs() < 5e-5, "{high}");
        assert_eq!(clopper_pearson(20, 20, 0.05)[1], 1.0);
    }

    #[test]
    fn interval_ends_solve_their_binomial_equations() {
        // P(X ≥ k | low) = P(X ≤ k | high) = α/2, by direct summation.
        let tail = |n: u64, p: f64, ks: std::ops::RangeInclusive<u64>| -> f64 {
            ks.map(|k| {
                let ways: f64 = (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product();
                ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
            })
            .sum()
        };
        for (k, n) in [(1, 10), (3, 40), (25, 60)] {
            let [low, high] = clopper_pearson(k, n, 0.05);
            assert!((tail(n, low, k..=n) - 0.025).abs() < 1e-6);
            assert!((tail(n, high, 0..=k) - 0.025).abs() < 1e-6);
        }
    }

    #[test]
    fn large_counts_have_an_interval_too() {
        // Against the Poisson limit: an upper end of 3.6889 / n for k = 0, 11.6683 / n for k = 5, a
        // lower one of 1.6235 / n (chi-squared tables).
        for n in [10_000_000, 1_000_000_000] {
            let share = |value: f64| value * n as f64;
            assert!((share(clopper_pearson(0, n, 0.05)[1]) - 3.6889).abs() < 1e-3);
            let [low, high] = clopper_pearson(5, n, 0.05);
            assert!((share(low) - 1.6235).abs() < 1e-3 && (share(high) - 11.6683).abs() < 1e-3);
            // And to the normal one in the middle.
            let [low, high] = clopper_pearson(n / 2, n, 0.05);
            let half = 1.959_964 * (0.25 / n as f64).sqrt();
            assert!((high - 0.5 - half).abs() < half * 1e-2, "{high}");
            assert!((0.5 - low - half).abs() < half * 1e-2, "{low}");
        }
    }

    /// Ends against the equation that they solve, and against the exact interval of shares, within
    /// which they cannot lie.
    #[test]
    fn the_interval_of_a_bounded_mean_is_outside_the_exact_one_of_a_share() {
        for (k, n) in [(0, 7), (1, 7), (3, 40), (40, 40), (500, 1000), (999, 1000)] {
            let mean = k as f64 / n as f64;
            let [low, high] = bounded_mean_interval(mean, n, 0.05);
            let [least, most] = clopper_pearson(k, n, 0.05);
            assert!(low <= least && most <= high, "{k} of {n}");
            assert!((0.0..=mean).contains(&low) && (mean..=1.0).contains(&high));
            let bound = |mu: f64| {
                let ln = |x: f64, of: f64| if x > 0.0 { x * (x / of).ln() } else { 0.0 };
                (-(n as f64) * (ln(mean, mu) + ln(1.0 - mean, 1.0 - mu))).exp()
            };
            for end in [low, high]
                .into_iter()
                .filter(|end| (1e-9..0.999_999_9).contains(end))
            {
                assert!((bound(end) - 0.025).abs() < 1e-6, "{k} of {n}: {end}");
            }
        }
        assert_eq!(bounded_mean_interval(0.0, 0, 0.05), [0.0, 1.0]);
        // 0 of 20: 1 − μ = 0.025^(1/20).
        let [_, high] = bounded_mean_interval(0.0, 20, 0.05);
        assert!((high - (1.0 - 0.025_f64.powf(0.05))).abs() < 1e-9);
    }

    #[test]
    fn interval_against_the_table_of_students_t() {
        // t(0.975, 4) = 2.776; the standard error of 1 … 5 is √(2.5 / 5).
        let mean = Mean::new(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let [low, high] = mean.ci95.unwrap();
        assert_eq!(mean.mean, 3.0);
        assert!((3.0 - low - 2.776 * 0.5f64.sqrt()).abs() < 1e-3, "{low}");
        assert!((high - 3.0 - 2.776 * 0.5f64.sqrt()).abs() < 1e-3, "{high}");
        assert_eq!(Mean::new(&[7.0]).ci95, None);
        // Two networks that came out alike do not say that all would.
        assert_eq!(Mean::new(&[0.1714, 0.1714]).ci95, None);
        assert_eq!(Mean::of_shares(&[0.1, 0.1, 0.1]).ci95, None);
        assert_eq!(Mean::new(&[]).mean, 0.0);
    }

    #[test]
    fn intervals_of_shares_stay_among_shares() {
        for values in [[0.0, 0.3], [0.9, 1.0], [0.0, 1.0], [0.4, 0.41]] {
            let [low, high] = Mean::new(&values).ci95.unwrap();
            let cut = Mean::of_shares(&values);
            assert_eq!(cut.ci95, Some([low.max(0.0), high.min(1.0)]));
            assert_eq!(cut.mean, Mean::new(&values).mean);
        }
        assert!(
            Mean::new(&[0.0, 0.3]).ci95.unwrap()[0] < 0.0,
            "there is something to cut"
        );
        assert_eq!(Mean::of_shares(&[0.5]).ci95, None);
    }
}
