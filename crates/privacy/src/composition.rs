//! What several answers cost together.
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

use serde::{Deserialize, Serialize};

use super::calibration::check_epsilon;
use super::error::PrivacyError;

/// Decimal fractions are rounded in binary: sums may exceed a budget by this relative amount.
const ROUNDING: f64 = 1e-12;

/// What one query costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// ε of sequential composition.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// ρ of zCDP.
    pub rho: f64,
}

impl Cost {
    /// Any (ε, δ)-DP query.
    pub fn approximate(epsilon: f64, delta: f64) -> Cost {
        Cost {
            epsilon,
            delta,
            rho: epsilon * epsilon / 2.0,
        }
    }

    /// `picks` exponential mechanisms that share ε equally.
    pub fn exponential(epsilon: f64, picks: usize) -> Cost {
        Cost {
            epsilon,
            delta: 0.0,
            rho: epsilon * epsilon / (8.0 * picks as f64),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Cost) -> Cost {
        Cost {
            epsilon: self.epsilon + other.epsilon,
            delta: self.delta + other.delta,
            rho: self.rho + other.rho,
        }
    }
}

/// A declared budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// ε in all.
    pub epsilon: f64,
    /// δ in all.
    pub delta: f64,
    /// The part of δ that zCDP composition uses; 0 for sequential composition alone.
    pub slack: f64,
}

/// A number with as many digits as say something: 0.30000000000000004 as `0.3`.
pub fn readable(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    if rounded != 0.0 && rounded.abs() < 1e-6 {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// What is left of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Remaining {
    /// The largest ε of one more query of any kind.
    pub epsilon: f64,
    /// The largest δ of one more query.
    pub delta: f64,
}

impl Budget {
    /// Checks ε > 0, 0 ≤ δ < 1 and 0 ≤ slack ≤ δ.
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

    /// Whether a total of `spent` is within the budget.
    pub fn admits(&self, spent: Cost) -> bool {
        let within = |sum: f64, limit: f64| sum <= limit * (1.0 + ROUNDING);
        within(spent.delta, self.delta - self.slack)
            && (within(spent.epsilon, self.epsilon) || within(spent.rho, self.largest_rho()))
    }

    /// The ε that `spent` amounts to: the smaller of the two currencies.
    pub fn spent_epsilon(&self, spent: Cost) -> f64 {
        if self.slack <= 0.0 {
            return spent.epsilon;
        }
        let logarithm = (1.0 / self.slack).ln();
        let by_rho = spent.rho + 2.0 * (spent.rho * logarithm).sqrt();
        spent.epsilon.min(by_rho)
    }

    /// What is left after `spent`.
    pub fn remaining(&self, spent: Cost) -> Remaining {
        let sequential = self.epsilon - spent.epsilon;
        let by_rho = (2.0 * (self.largest_rho() - spent.rho).max(0.0)).sqrt();
        Remaining {
            epsilon: sequential.max(by_rho).max(0.0),
            delta: (self.delta - self.slack - spent.delta).max(0.0),
        }
    }

    /// The ρ with ρ + 2 √(ρ ln(1/slack)) = ε.
    fn largest_rho(&self) -> f64 {
        if self.slack <= 0.0 {
            return 0.0;
        }
        let logarithm = (1.0 / self.slack).ln();
        // ε / (√(L + ε) + √L), squared, which does not cancel.
        (self.epsilon / ((logarithm + self.epsilon).sqrt() + logarithm.sqrt())).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget {
        epsilon: 1.0,
        delta: 1e-5,
        slack: 1e-6,
    };

    fn how_many(budget: Budget, cost: Cost) -> usize {
        let mut spent = Cost::default();
        (0..1_000_000)
            .find(|_| {
                spent = spent.and(cost);
                !budget.admits(spent)
            })
            .unwrap()
    }

    #[test]
    fn decimal_fractions_fill_a_budget_exactly() {
        let sequential = Budget {
            slack: 0.0,
            delta: 0.0,
            ..BUDGET
        };
        assert_eq!(how_many(sequential, Cost::approximate(0.1, 0.0)), 10);
        assert_eq!(how_many(sequential, Cost::approximate(1.0, 0.0)), 1);
        assert_eq!(how_many(sequential, Cost::approximate(1.000_001, 0.0)), 0);
        assert_eq!(how_many(sequential, Cost::approximate(0.1, 1e-9)), 0);
    }

    #[test]
    fn many_small_queries_compose_better_than_their_sum() {
        let sum = how_many(
            Budget {
                slack: 0.0,
                ..BUDGET
            },
            Cost::approximate(0.001, 0.0),
        );
        let zcdp = how_many(BUDGET, Cost::approximate(0.001, 0.0));
        assert_eq!(sum, 1000);
        // ρ of the budget is 0.01750; each query takes 5e-7.
        assert!((30_000..40_000).contains(&zcdp), "{zcdp}");
        // A few large ones do not.
        assert_eq!(how_many(BUDGET, Cost::approximate(0.5, 0.0)), 2);
        // The exponential mechanism is four times cheaper in ρ.
        let picks = how_many(BUDGET, Cost::exponential(0.001, 1));
        assert!((4 * zcdp..4 * zcdp + 8).contains(&picks));
    }

    #[test]
    fn delta_is_spent_beside_the_slack() {
        assert_eq!(how_many(BUDGET, Cost::approximate(0.01, 3e-6)), 3);
        let left = BUDGET.remaining(Cost::approximate(0.4, 3e-6));
        assert!((left.epsilon - 0.6).abs() < 1e-12 && (left.delta - 6e-6).abs() < 1e-18);
        assert!(
            BUDGET.admits(
                Cost::approximate(0.4, 3e-6).and(Cost::approximate(left.epsilon, left.delta))
            )
        );
        assert_eq!(BUDGET.remaining(Cost::approximate(5.0, 1e-4)).epsilon, 0.0);
        assert!(
            Budget {
                slack: 1e-4,
                ..BUDGET
            }
            .check()
            .is_err()
        );
        assert!(
            Budget {
                epsilon: -1.0,
                ..BUDGET
            }
            .check()
            .is_err()
        );
    }

    /// Randomised response, the worst ε-DP mechanism, n times: the exact δ at the ε that the
    /// composition states is at most the slack.
    #[test]
    fn the_stated_epsilon_holds_for_randomised_response() {
        for (epsilon, times, slack) in [
            (0.05_f64, 200_usize, 1e-6),
            (0.2, 40, 1e-3),
            (0.5, 10, 0.01),
        ] {
            let budget = Budget {
                epsilon: 1.0,
                delta: 0.5,
                slack,
            };
            let one = Cost::approximate(epsilon, 0.0);
            let spent = (0..times).fold(Cost::default(), |sum, _| sum.and(one));
            let stated = budget.spent_epsilon(spent);
            let p = epsilon.exp() / (1.0 + epsilon.exp());
            // Losses are (2 j − n) ε with binomial weights.
            let mut delta = 0.0;
            let mut weight = (1.0 - p).powi(times as i32);
            for j in 0..=times {
                let loss = (2.0 * j as f64 - times as f64) * epsilon;
                delta += weight * (1.0 - (stated - loss).exp()).max(0.0);
                weight *= (times - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
            }
            assert!(
                stated <= spent.epsilon && delta <= slack,
                "{epsilon}: {delta} at {stated}"
            );
        }
    }
}
