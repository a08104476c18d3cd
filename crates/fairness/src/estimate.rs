//! The discriminatory share of the input space: a share of uniform random inputs, with an interval,
//! and the verdict on a declared bound.
//!
//! Inputs are independent and uniform on the product of all domains (as in ADF, section 5.2, RQ4).
//! The count is binomial, so the interval is Clopper and Pearson's: it covers the true share with
//! probability at least 95 %, for every share and sample size.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::check::{Wanted, check_until_flip};
use super::domain::Domain;
use super::statistics::clopper_pearson;
use super::text::exchange_counts::ExchangeCounts;
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
    /// The discriminatory share of the inputs drawn.
    pub rate: f64,
    /// 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// The verdict of an interval on a declared bound on the share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval is at or below the bound.
    Within,
    /// The whole interval is above the bound.
    Exceeds,
    /// The interval contains the bound: more samples are needed to tell.
    Inconclusive,
    /// The model does not take the protected attributes: the share is 0 whatever it does.
    #[serde(rename = "not_applicable")]
    NotApplicable,
}

/// Writes the share and its 95 % interval, in percent: `12.4 % (11.8 – 13.1)`.
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

/// The sets of attributes that shares are stated of: each protected attribute alone and, if there
/// are several, all jointly.
pub(super) fn estimated_sets(protected: &[String]) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = protected.iter().map(|name| vec![name.clone()]).collect();
    if protected.len() > 1 {
        sets.push(protected.to_vec());
    }
    sets
}

/// The counts of the inputs of some sets of protected attributes.
#[derive(Debug, Default)]
pub struct SetCounts {
    /// For each set, the inputs done and the discriminatory ones among them.
    pub of_sets: Vec<[u64; 2]>,
    /// The effects of exchanges on the inputs of the joint set, where these are texts.
    pub exchanges: Option<ExchangeCounts>,
    /// Whether the count was stopped before all inputs were done.
    pub is_cut: bool,
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
    let (done, found) = count_discriminatory(model, domain, 0..samples, seed, observe)?;
    Ok(Estimate::new(protected, done, found))
}

/// Counts the discriminatory inputs among those of these numbers: returns how many were done, and
/// how many are discriminatory.
///
/// # Errors
/// When the model cannot answer.
pub(super) fn count_discriminatory(
    model: &dyn Classifier,
    domain: &dyn Domain,
    items: Range<u64>,
    seed: u64,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(u64, u64), ModelError> {
    const CHUNK: u64 = 1024;
    const BLOCK: u64 = 64 * CHUNK;
    let (mut done, mut found) = (items.start, 0);
    while done < items.end {
        let end = (done + BLOCK).min(items.end);
        let counts: Vec<u64> = (0..(end - done).div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let start = done + chunk * CHUNK;
                let codes: Vec<i32> = (start..(start + CHUNK).min(end))
                    .flat_map(|item| domain.random_input(seed, item))
                    .collect();
                let rows = Rows::new(&codes, domain.width());
                let hints = vec![0; rows.len()];
                let checks = check_until_flip(model, domain, rows, &hints, Wanted::Decisions)?;
                let flipped = checks.iter().filter(|check| !check.flips.is_empty());
                Ok(flipped.count() as u64)
            })
            .collect::<Result<_, ModelError>>()?;
        found += counts.iter().sum::<u64>();
        done = end;
        if observe(done - items.start).is_break() {
            break;
        }
    }
    Ok((done - items.start, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let estimate = Estimate::new(vec!["sex".into()], 1000, 50);
        assert_eq!(estimate.verdict(0.10), Verdict::Within);
        assert_eq!(estimate.verdict(0.01), Verdict::Exceeds);
        assert_eq!(estimate.verdict(0.05), Verdict::Inconclusive);
    }
}
