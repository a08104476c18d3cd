//! Events with probability exp(−γ), exactly (Canonne, Kamath, Steinke: "The discrete Gaussian for
//! differential privacy", 2020, Algorithm 1).
//!
//! For γ ≤ 1 the number of successes of Bernoulli(γ/1), Bernoulli(γ/2) … before the first failure
//! is even with probability Σ (−γ)^i / i! = exp(−γ). A larger γ is a sum of ones and a rest, all of
//! which must succeed.

use num_bigint::BigUint;

use super::{Bits, below};
use crate::error::PrivacyError;

/// A rational number that is not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The numerator.
    pub numerator: BigUint,
    /// The denominator, not 0.
    pub denominator: BigUint,
}

impl Ratio {
    /// Converts a finite number that is not negative, exactly: every such `f64` is a fraction with
    /// a power of two below.
    pub fn from_f64(value: f64) -> Ratio {
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, power) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | (1 << 52), exponent - 1075),
        };
        let one = BigUint::from(1_u32);
        let mantissa = BigUint::from(mantissa);
        if power >= 0 {
            Ratio {
                numerator: mantissa << power as u64,
                denominator: one,
            }
        } else {
            Ratio {
                numerator: mantissa,
                denominator: one << power.unsigned_abs(),
            }
        }
    }

    /// Creates a fraction of whole numbers; the second is not 0.
    pub fn new(numerator: u64, denominator: u64) -> Ratio {
        Ratio {
            numerator: numerator.into(),
            denominator: denominator.into(),
        }
    }

    /// Returns the product.
    pub fn times(&self, other: &Ratio) -> Ratio {
        Ratio {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
        }
    }
}

/// Succeeds with probability exp(−γ).
///
/// # Errors
/// No random bits.
pub fn bernoulli_exp(gamma: &Ratio, bits: &mut dyn Bits) -> Result<bool, PrivacyError> {
    let one = Ratio::new(1, 1);
    let mut rest = gamma.numerator.clone();
    while rest > gamma.denominator {
        if !at_most_one(&one, bits)? {
            return Ok(false);
        }
        rest -= &gamma.denominator;
    }
    let rest = Ratio {
        numerator: rest,
        denominator: gamma.denominator.clone(),
    };
    at_most_one(&rest, bits)
}

/// Succeeds with probability exp(−γ), for γ ≤ 1.
fn at_most_one(gamma: &Ratio, bits: &mut dyn Bits) -> Result<bool, PrivacyError> {
    let mut tries = 1_u32;
    // Bernoulli(γ / tries): a number below denominator × tries falls below the numerator.
    while below(&(&gamma.denominator * tries), bits)? < gamma.numerator {
        tries += 1;
    }
    Ok(tries % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededBits;
    use crate::noise::tests::follows;

    #[test]
    fn the_frequency_is_the_exponential() {
        let mut bits = SeededBits::not_private(2, 0);
        for gamma in [0.0, 1e-3, 0.3, 1.0, 1.5, 3.25] {
            let ratio = Ratio::from_f64(gamma);
            let runs = 100_000;
            let hits = (0..runs)
                .filter(|_| bernoulli_exp(&ratio, &mut bits).unwrap())
                .count() as u64;
            if gamma == 0.0 {
                assert_eq!(hits, runs);
                continue;
            }
            follows(
                &[hits, runs - hits],
                &[(-gamma).exp(), 1.0 - (-gamma).exp()],
            );
        }
    }

    #[test]
    fn floats_are_read_exactly() {
        assert_eq!(
            Ratio::from_f64(0.75).numerator << 1_u32,
            (Ratio::from_f64(0.75).denominator * 3_u32) >> 1_u32
        );
        let tiny = Ratio::from_f64(f64::MIN_POSITIVE / 4.0);
        assert_eq!(tiny.numerator, BigUint::from(1_u64 << 50));
        assert_eq!(
            Ratio::from_f64(3.0 * 2.0_f64.powi(60)).numerator,
            BigUint::from(3_u64) << 60
        );
        assert_eq!(Ratio::from_f64(0.0).numerator, BigUint::ZERO);
    }
}
