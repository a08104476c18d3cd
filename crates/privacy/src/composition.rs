//! The composition of answers: the price of several answers together.
//!
//! Every query is charged in two currencies at once, ε and ρ; δ adds up in both:
//!
//! - *sequential*: Σε;
//! - *zCDP* (Bun and Steinke 2016): a total of ρ is (ρ + 2 √(ρ ln(1/δ′)), δ′)-DP for any δ′. An (ε,
//!   δ)-DP query is, but for an event of probability δ, ε-DP (Kairouz, Oh and Viswanath 2015) and
//!   so ε²/2-zCDP; an exponential mechanism with ε is ε²/8-zCDP (it is ε-bounded-range: Cesar and
//!   Rogers 2021). This is at least as good as the advanced composition theorem of the paper's
//!   reference \[21\], which is therefore not a third currency.
//!
//! A budget (ε, δ) sets a part of δ aside as `slack` when it is declared. A query is admitted if
//! afterwards Σδ ≤ δ − slack and either Σε ≤ ε or Σρ + 2 √(Σρ ln(1/slack)) ≤ ε.
//!
//! **The answers together are (ε, δ)-DP, also if each query is chosen after seeing the answers
//! before.** *Proof.* Leave out the events of the queries' δ_i: at most δ − slack together on every
//! path. After that every query is ε_i-DP and ρ_i-zCDP. Let L be the privacy loss of all answers.
//! On paths with Σε ≤ ε, |L| ≤ ε. For λ > 1 the process exp((λ−1) L_n − λ(λ−1) Σ_{i≤n} ρ_i) is a
//! nonnegative supermartingale that starts at 1, so P(L > ε and Σρ ≤ R) ≤ exp(−(λ−1) ε + λ(λ−1) R)
//! by Markov's inequality; for the largest R that is admitted and the best λ this is slack. Hence
//! P(L > ε) ≤ slack. ∎ (The ρ_i may depend on earlier answers: Feldman and Zrnic 2021; Whitehouse,
//! Ramdas, Rogers and Wu 2023.)
//!
//! **Rounding.** A price is the decimal number that is written in the ledger, and so is a budget.
//! Sums of prices are exact decimal sums ([`Spent`]), compared with the budget exactly: ten queries
//! of 0.1 fill a budget of 1.0, and nothing more is admitted. The `f64` of a decimal may lie above
//! it by half a unit in its last place; mechanisms therefore run with the next smaller `f64`
//! ([`super::calibration::spendable`]). ρ is rounded up for a query and down for a
//! budget.

use std::ops::Add;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use super::calibration::check_epsilon;
use super::error::PrivacyError;

/// The margin subtracted from what is computed of a budget: far more than the rounding of a few
/// operations.
const ROUNDING: f64 = 1e-12;

/// The price of one query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The ε of sequential composition.
    pub epsilon: f64,
    /// The parameter δ.
    pub delta: f64,
    /// The ρ of zCDP.
    pub rho: f64,
}

impl Cost {
    /// Returns the price of any (ε, δ)-DP query.
    pub fn approximate(epsilon: f64, delta: f64) -> Cost {
        Cost {
            epsilon,
            delta,
            rho: (epsilon * epsilon / 2.0).next_up(),
        }
    }

    /// Returns the price of `picks` exponential mechanisms that share ε equally.
    pub fn exponential(epsilon: f64, picks: usize) -> Cost {
        Cost {
            epsilon,
            delta: 0.0,
            rho: (epsilon * epsilon / (8.0 * picks as f64))
                .next_up()
                .next_up(),
        }
    }

    /// Returns whether each part of the cost is a price: not negative, and finite. A number that is
    /// no price cannot be added up, and no budget admits it.
    pub fn is_price(&self) -> bool {
        let is_part = |part: f64| part >= 0.0 && part.is_finite();
        is_part(self.epsilon) && is_part(self.delta) && is_part(self.rho)
    }

    /// Returns the sum of two costs, rounded up where a sum has no exact form.
    #[must_use]
    pub fn and(self, other: Cost) -> Cost {
        Cost {
            epsilon: sum_rounded_up(self.epsilon, other.epsilon),
            delta: sum_rounded_up(self.delta, other.delta),
            rho: sum_rounded_up(self.rho, other.rho),
        }
    }
}

/// Returns the smallest `f64` that is at least `a + b`, for finite numbers that are not negative.
fn sum_rounded_up(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    let sum = less + more;
    // What the sum holds of the smaller one, which is exact (Dekker 1971).
    if sum - more < less {
        sum.next_up()
    } else {
        sum
    }
}

/// Splits `whole` into two parts: about `share` of it, and the rest. The exact sum of the parts is
/// `whole`.
pub(super) fn split(whole: f64, share: f64) -> (f64, f64) {
    // The difference of two numbers is exact where neither is above twice the other (Sterbenz
    // 1974).
    let larger = whole * share.max(1.0 - share).clamp(0.5, 1.0);
    let smaller = whole - larger;
    if share < 0.5 {
        (smaller, larger)
    } else {
        (larger, smaller)
    }
}

/// An exact sum of decimal numbers, as a multiple of 10⁻³²⁴. Every finite `f64`, written with as
/// few digits as tell it from others, is a whole multiple of that.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Decimal(BigUint);

/// The number of decimal places of the unit of [`Decimal`].
const PLACES: i64 = 324;
/// The number of digits of a decimal number that every `f64` keeps.
const KEPT_DIGITS: usize = 15;

impl Decimal {
    /// Returns the decimal that `value`, which is not negative, is written as. A value that is too
    /// large for an `f64` is more than any budget has.
    fn from_f64(value: f64) -> Decimal {
        let text = format!("{:e}", value.min(f64::MAX));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let fraction = mantissa
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let exponent: i64 = exponent.parse().unwrap_or_default();
        let zeros = (PLACES + exponent - fraction as i64).max(0) as usize;
        let digits = format!("{}{}", mantissa.replace('.', ""), "0".repeat(zeros));
        Decimal(digits.parse().unwrap_or_default())
    }

    /// Returns the nearest `f64`.
    fn nearest(&self) -> f64 {
        format!("{}e-{PLACES}", self.0)
            .parse()
            .unwrap_or(f64::INFINITY)
    }

    /// Returns an `f64` that is written as this decimal, or as a slightly smaller one.
    fn rounded_down(&self) -> f64 {
        let digits = self.0.to_string();
        let kept = &digits[..digits.len().min(KEPT_DIGITS)];
        let exponent = (digits.len() - kept.len()) as i64 - PLACES;
        format!("{kept}e{exponent}").parse().unwrap_or_default()
    }

    /// Returns this sum less `other`; zero where `other` is more.
    fn without(&self, other: &Decimal) -> Decimal {
        match self > other {
            true => Decimal(&self.0 - &other.0),
            false => Decimal::default(),
        }
    }
}

impl Add for &Decimal {
    type Output = Decimal;

    fn add(self, other: &Decimal) -> Decimal {
        Decimal(&self.0 + &other.0)
    }
}

/// The sum of the prices that were spent, kept exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spent {
    epsilon: Decimal,
    delta: Decimal,
    rho: Decimal,
}

impl Spent {
    /// Returns the sum with one more price, whose numbers are finite and not negative.
    #[must_use]
    pub fn and(&self, cost: Cost) -> Spent {
        Spent {
            epsilon: &self.epsilon + &Decimal::from_f64(cost.epsilon),
            delta: &self.delta + &Decimal::from_f64(cost.delta),
            rho: &self.rho + &Decimal::from_f64(cost.rho),
        }
    }

    /// Returns the nearest numbers, for display.
    pub fn total(&self) -> Cost {
        Cost {
            epsilon: self.epsilon.nearest(),
            delta: self.delta.nearest(),
            rho: self.rho.nearest(),
        }
    }
}

impl FromIterator<Cost> for Spent {
    fn from_iter<I: IntoIterator<Item = Cost>>(prices: I) -> Spent {
        prices
            .into_iter()
            .fold(Spent::default(), |sum, cost| sum.and(cost))
    }
}

/// A declared budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The ε of all queries together.
    pub epsilon: f64,
    /// The δ of all queries together.
    pub delta: f64,
    /// The part of δ that zCDP composition uses; 0 for sequential composition alone.
    pub slack: f64,
}

/// The part of a budget that is left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Remaining {
    /// The largest ε of one more query of any kind.
    pub epsilon: f64,
    /// The largest δ of one more query.
    pub delta: f64,
}

impl Budget {
    /// Checks ε as that of a query, 0 ≤ δ < 1 and 0 ≤ slack ≤ δ.
    ///
    /// # Errors
    /// When they are not.
    pub fn check(self) -> Result<Budget, PrivacyError> {
        check_epsilon(self.epsilon)?;
        if !(0.0..1.0).contains(&self.delta) {
            return Err(PrivacyError::Delta { delta: self.delta });
        }
        if !(0.0..=self.delta).contains(&self.slack) {
            return Err(PrivacyError::Slack {
                slack: self.slack,
                delta: self.delta,
            });
        }
        Ok(self)
    }

    /// Returns whether `spent` is within the budget.
    pub fn admits(&self, spent: &Spent) -> bool {
        &spent.delta + &Decimal::from_f64(self.slack) <= Decimal::from_f64(self.delta)
            && (spent.epsilon <= Decimal::from_f64(self.epsilon) || spent.rho <= self.largest_rho())
    }

    /// Returns the ε that `spent` amounts to: the smaller one of sequential composition and of
    /// zCDP.
    pub fn spent_epsilon(&self, spent: &Spent) -> f64 {
        let Cost { epsilon, rho, .. } = spent.total();
        if self.slack <= 0.0 {
            return epsilon;
        }
        let logarithm = (1.0 / self.slack).ln();
        epsilon.min((rho + 2.0 * (rho * logarithm).sqrt()) * (1.0 + ROUNDING))
    }

    /// Returns what is left after `spent`: a query of that price is admitted.
    pub fn remaining(&self, spent: &Spent) -> Remaining {
        let sequential = Decimal::from_f64(self.epsilon).without(&spent.epsilon);
        let rho = self.largest_rho().without(&spent.rho).rounded_down();
        // Not √(2ρ): 2ρ may have no finite form.
        let by_rho = rho.sqrt() * std::f64::consts::SQRT_2 * (1.0 - ROUNDING);
        let delta = Decimal::from_f64(self.delta).without(&Decimal::from_f64(self.slack));
        Remaining {
            epsilon: sequential.rounded_down().max(by_rho),
            delta: delta.without(&spent.delta).rounded_down(),
        }
    }

    /// Returns the ρ with ρ + 2 √(ρ ln(1/slack)) = ε, rounded down.
    fn largest_rho(&self) -> Decimal {
        if self.slack <= 0.0 {
            return Decimal::default();
        }
        let logarithm = (1.0 / self.slack).ln();
        // ε / (√(L + ε) + √L), squared, which does not cancel.
        let rho = (self.epsilon / ((logarithm + self.epsilon).sqrt() + logarithm.sqrt())).powi(2);
        Decimal::from_f64(rho * (1.0 - ROUNDING))
    }
}

#[cfg(test)]
mod tests;
