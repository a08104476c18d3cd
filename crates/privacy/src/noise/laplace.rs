//! The discrete Laplace distribution: P(X = x) proportional to exp(−γ |x|) for integers x.
//!
//! Each side is a geometric distribution: how many events of probability exp(−γ) succeed in a row.
//! A negative zero is drawn again, so that 0 is not counted twice. For large 1/γ the geometric is
//! drawn in two parts (Canonne, Kamath, Steinke 2020, Algorithm 2): with γ = s/t, the number of
//! whole multiples of t and what remains of it.

use num_bigint::BigUint;

use super::bernoulli::{Ratio, bernoulli_exp};
use super::{Bits, below};
use crate::error::PrivacyError;

/// Draws with rate γ > 0; values beyond ±2⁶² are cut there, which is processing after the fact.
///
/// # Errors
/// No random bits.
pub fn discrete_laplace(gamma: &Ratio, bits: &mut dyn Bits) -> Result<i64, PrivacyError> {
    loop {
        let magnitude = geometric(gamma, bits)?;
        let negative = bits.word()? >> 63 == 1;
        if negative && magnitude == 0 {
            continue;
        }
        return Ok(if negative { -magnitude } else { magnitude });
    }
}

/// Draws x ≥ 0 with P(X = x) proportional to exp(−γ x), with γ = s/t: X = ⌊Y / s⌋ for Y geometric
/// with rate 1/t. Y = u + t v with u below t accepted with probability exp(−u/t), and v geometric
/// with rate 1.
fn geometric(gamma: &Ratio, bits: &mut dyn Bits) -> Result<i64, PrivacyError> {
    let period = &gamma.denominator;
    let low = loop {
        let low = below(period, bits)?;
        let share = Ratio {
            numerator: low.clone(),
            denominator: period.clone(),
        };
        if bernoulli_exp(&share, bits)? {
            break low;
        }
    };
    let one = Ratio::new(1, 1);
    let mut high = BigUint::ZERO;
    while bernoulli_exp(&one, bits)? {
        high += 1_u32;
    }
    let drawn = (low + period * high) / &gamma.numerator;
    Ok(i64::try_from(&drawn).unwrap_or(i64::MAX).min(1 << 62))
}

/// Returns the smallest j ≥ 0 with P(X < −j) ≤ `failure`. P(X ≤ −m) = q^m / (1 + q) with q =
/// exp(−γ), for m ≥ 1.
pub fn lower_margin(gamma: f64, failure: f64) -> i64 {
    let q = (-gamma).exp();
    let m = (failure * (1.0 + q)).ln() / -gamma;
    // One more than needed covers the rounding of the logarithms.
    (m.ceil().max(1.0) as i64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededBits;
    use crate::noise::tests::follows;

    #[test]
    fn frequencies_are_those_of_the_distribution() {
        let mut bits = SeededBits::not_private(3, 0);
        for gamma in [0.25, 0.5, 1.0, 2.5, 0.3] {
            let ratio = Ratio::from_f64(gamma);
            let mut counts = [0; 31];
            for _ in 0..60_000 {
                let drawn = discrete_laplace(&ratio, &mut bits).unwrap().clamp(-15, 15);
                counts[(drawn + 15) as usize] += 1;
            }
            let q = (-gamma).exp();
            let probabilities: Vec<f64> = (-15_i32..=15)
                .map(|x| {
                    let tail = q.powi(x.abs()) / (1.0 + q);
                    if x.abs() == 15 {
                        tail
                    } else {
                        tail * (1.0 - q)
                    }
                })
                .collect();
            follows(&counts, &probabilities);
        }
    }

    #[test]
    fn the_margin_holds() {
        for gamma in [1e-4, 0.1, 1.0, 5.0] {
            for failure in [0.025, 1e-6] {
                let margin = lower_margin(gamma, failure);
                let q = (-gamma).exp();
                let beyond = |j: f64| (-gamma * (j + 1.0)).exp() / (1.0 + q);
                assert!(beyond(margin as f64) <= failure);
                assert!(
                    margin <= 3 || beyond(margin as f64 - 3.0) > failure,
                    "{gamma} {failure}"
                );
            }
        }
    }
}
