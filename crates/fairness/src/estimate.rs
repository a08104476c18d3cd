//! How much of the input space is discriminatory: a share of uniform random inputs, with an
//! interval, and the verdict on a declared bound.
//!
//! Inputs are independent and uniform on the product of all domains (as in ADF, section 5.2, RQ4). The count is binomial, so the interval is Clopper and Pearson's: it covers
//! the true share with probability at least 95 %, for every share and sample size.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::check::check_until_flip;
use super::domain::Domain;
use probity_nn::{Classifier, ModelError, Rows};

/// A share of discriminatory inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Names of the protected attributes, taken together.
    pub protected: Vec<String>,
    /// Inputs drawn.
    pub sampled: u64,
    /// Discriminatory ones among them.
    pub discriminatory: u64,
    /// Their share.
    pub rate: f64,
    /// 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// What an interval says about a declared bound on the share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval is at or below the bound.
    Within,
    /// The whole interval is above the bound.
    Exceeds,
    /// The interval contains the bound: more samples are needed to tell.
    Inconclusive,
}

/// `12.4 % (11.8 – 13.1)`: the share and its 95 % interval, in percent.
impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, high] = self.ci95.map(|share| 100.0 * share);
        write!(f, "{:.1} % ({low:.1} – {high:.1})", 100.0 * self.rate)
    }
}

impl Estimate {
    /// The estimate from a count.
    pub fn new(protected: Vec<String>, sampled: u64, discriminatory: u64) -> Estimate {
        Estimate {
            protected,
            sampled,
            discriminatory,
            rate: discriminatory as f64 / sampled.max(1) as f64,
            ci95: clopper_pearson(discriminatory, sampled, 0.05),
        }
    }

    /// Compares the interval with `bound`.
    pub fn verdict(&self, bound: f64) -> Verdict {
        if self.ci95[1] <= bound {
            Verdict::Within
        } else if self.ci95[0] > bound {
            Verdict::Exceeds
        } else {
            Verdict::Inconclusive
        }
    }
}

/// What shares are stated of: each protected attribute alone and, if there are several, all jointly.
pub(super) fn estimated_sets(protected: &[String]) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = protected.iter().map(|name| vec![name.clone()]).collect();
    if protected.len() > 1 {
        sets.push(protected.to_vec());
    }
    sets
}

/// Estimates the share from `samples` inputs keyed by (`seed`, number). `observe` is told now and
/// then how many are done, and may stop: the estimate is then of the inputs so far.
///
/// # Errors
/// When the model cannot answer.
pub fn discriminatory_share(
    model: &dyn Classifier,
    domain: &dyn Domain,
    protected: Vec<String>,
    samples: u64,
    seed: u64,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Estimate, ModelError> {
    const CHUNK: u64 = 1024;
    const BLOCK: u64 = 64 * CHUNK;
    let (mut done, mut found) = (0, 0);
    while done < samples {
        let end = (done + BLOCK).min(samples);
        let counts: Vec<u64> = (0..(end - done).div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let start = done + chunk * CHUNK;
                let codes: Vec<i32> = (start..(start + CHUNK).min(end))
                    .flat_map(|item| domain.random_input(seed, item))
                    .collect();
                let rows = Rows::new(&codes, domain.width());
                let hints = vec![0; rows.len()];
                let checks = check_until_flip(model, domain, rows, &hints)?;
                let flipped = checks.iter().filter(|check| !check.flips.is_empty());
                Ok(flipped.count() as u64)
            })
            .collect::<Result<_, ModelError>>()?;
        found += counts.iter().sum::<u64>();
        done = end;
        if observe(done).is_break() {
            break;
        }
    }
    Ok(Estimate::new(protected, done, found))
}

/// The exact (Clopper-Pearson) interval of a binomial share at confidence 1 − `alpha`.
///
/// Its ends are quantiles of beta distributions, found by bisection on the regularised incomplete
/// beta function. (The inverse of the statistics crate in use does not end for some large counts.)
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> [f64; 2] {
    let (k, n) = (successes as f64, trials as f64);
    let low = if successes == 0 {
        0.0
    } else {
        beta_quantile(k, n - k + 1.0, alpha / 2.0)
    };
    let high = if successes >= trials {
        1.0
    } else {
        beta_quantile(k + 1.0, n - k, 1.0 - alpha / 2.0)
    };
    [low, high]
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

/// I_x(a, b) by its continued fraction (DLMF 8.17.22), evaluated from the front by the modified
/// Lentz method on the side where it converges fast.
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

    #[test]
    fn verdicts() {
        let estimate = Estimate::new(vec!["sex".into()], 1000, 50);
        assert_eq!(estimate.verdict(0.10), Verdict::Within);
        assert_eq!(estimate.verdict(0.01), Verdict::Exceeds);
        assert_eq!(estimate.verdict(0.05), Verdict::Inconclusive);
    }
}
