//! How much of the input space is discriminatory: a share of uniform random inputs, with an
//! interval, and the verdict on a declared bound.
//!
//! Inputs are independent and uniform on the product of all domains (NOTES 1, retraining; ADF
//! section 5.2, RQ4). The count is binomial, so the interval is Clopper and Pearson's: it covers
//! the true share with probability at least 95 %, for every share and sample size.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};

use super::check::check_until_flip;
use super::domain::Domain;
use crate::nn::{Classifier, ModelError, Rows};

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

/// Estimates the share from `samples` inputs keyed by (`seed`, number).
///
/// # Errors
/// When the model cannot answer.
pub fn discriminatory_share(
    model: &dyn Classifier,
    domain: &dyn Domain,
    protected: Vec<String>,
    samples: u64,
    seed: u64,
) -> Result<Estimate, ModelError> {
    const CHUNK: u64 = 1024;
    let found: Vec<u64> = (0..samples.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let items = chunk * CHUNK..((chunk + 1) * CHUNK).min(samples);
            let codes: Vec<i32> = items
                .flat_map(|item| domain.random_input(seed, item))
                .collect();
            let rows = Rows::new(&codes, domain.width());
            let hints = vec![0; rows.len()];
            let checks = check_until_flip(model, domain, rows, &hints)?;
            Ok(checks
                .iter()
                .filter(|check| !check.flips.is_empty())
                .count() as u64)
        })
        .collect::<Result<_, ModelError>>()?;
    Ok(Estimate::new(protected, samples, found.iter().sum()))
}

/// The exact (Clopper-Pearson) interval of a binomial share at confidence 1 − `alpha`.
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> [f64; 2] {
    let (k, n) = (successes as f64, trials as f64);
    let quantile = |a: f64, b: f64, p: f64, fallback: f64| {
        Beta::new(a, b).map_or(fallback, |beta| beta.inverse_cdf(p))
    };
    let low = if successes == 0 {
        0.0
    } else {
        quantile(k, n - k + 1.0, alpha / 2.0, 0.0)
    };
    let high = if successes >= trials {
        1.0
    } else {
        quantile(k + 1.0, n - k, 1.0 - alpha / 2.0, 1.0)
    };
    [low, high]
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
    fn verdicts() {
        let estimate = Estimate::new(vec!["sex".into()], 1000, 50);
        assert_eq!(estimate.verdict(0.10), Verdict::Within);
        assert_eq!(estimate.verdict(0.01), Verdict::Exceeds);
        assert_eq!(estimate.verdict(0.05), Verdict::Inconclusive);
    }
}
