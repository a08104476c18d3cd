//! A private upper bound on the noise scale, and with it an interval for the true count.
//!
//! The scale c S(X) depends on the records, so neither it nor anything computed from it may be
//! printed for free. But ln S(X) changes by at most β between neighbours. With w = ⌈ln S / g⌉ on a
//! grid of g = β/64, |w − w′| ≤ 64, so w plus discrete Laplace noise of rate γ = ε′/64 is ε′-DP.
//! Since P(noise < −j) is known, exp(g (w + noise + j)) is an upper bound U on S with a chosen
//! confidence; everything after the noisy w is processing of it.
//!
//! The answer is ⌊count + c S Z + 1/2⌋. With confidence 1 − α/2 is U ≥ S, and with confidence 1 −
//! α/2 is |Z| ≤ z, so with confidence 1 − α the count is within z c U + 1/2 of the answer. The
//! interval is cut to 0 … N.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::calibration::Noise;
use super::error::PrivacyError;
use super::noise::Bits;
use super::noise::bernoulli::Ratio;
use super::noise::laplace::{discrete_laplace, lower_margin};

/// The number of grid steps to one β.
const STEPS: u64 = 64;
/// The amount added to β for the rounding of S.
const ROUNDING: f64 = 1e-9;

/// An interval for the true count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The smallest count.
    pub low: i64,
    /// The largest count.
    pub high: i64,
    /// A lower bound of the probability that the interval holds the count.
    pub confidence: f64,
    /// The bound on the standard deviation of the noise that it rests on.
    pub standard_deviation_at_most: f64,
}

/// Returns an upper bound U on S(X), private with `epsilon`, wrong with probability at most
/// `failure`; never above `cap`.
///
/// # Errors
/// No random bits.
pub fn private_upper_bound(
    smooth_bound: f64,
    cap: f64,
    noise: Noise,
    epsilon: f64,
    failure: f64,
    bits: &mut dyn Bits,
) -> Result<f64, PrivacyError> {
    let step = (noise.beta + ROUNDING) / STEPS as f64;
    let at = (smooth_bound.ln() / step).ceil();
    let gamma = Ratio::from_f64(epsilon).times(&Ratio::new(1, STEPS));
    let noisy = at + discrete_laplace(&gamma, bits)? as f64;
    let margin = lower_margin(epsilon / STEPS as f64, failure) as f64;
    Ok((step * (noisy + margin)).exp().min(cap))
}

/// Returns the interval around `answer` for a noise of at most `standard_deviation`, of which Z
/// exceeds its part with probability `failure`.
pub fn interval(
    answer: i64,
    standard_deviation: f64,
    failure: f64,
    confidence: f64,
    rows: usize,
) -> Interval {
    let quantile = Normal::standard().inverse_cdf(1.0 - failure / 2.0);
    let reach = (quantile * standard_deviation + 0.5).ceil().min(4e18) as i64;
    let rows = rows as i64;
    Interval {
        low: answer.saturating_sub(reach).clamp(0, rows),
        high: answer.saturating_add(reach).clamp(0, rows),
        confidence,
        standard_deviation_at_most: standard_deviation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededBits;

    #[test]
    fn the_bound_holds_as_often_as_it_says() {
        let mut bits = SeededBits::not_private(21, 0);
        let noise = Noise {
            beta: 0.1,
            scale: 4.0,
        };
        let (runs, failure) = (20_000, 0.05);
        let mut below = 0;
        let mut sum = 0.0;
        for _ in 0..runs {
            let bound = private_upper_bound(9.7, 1e9, noise, 0.2, failure, &mut bits).unwrap();
            below += u32::from(bound < 9.7);
            sum += (bound / 9.7).ln();
        }
        // 1,000 expected at most; six standard deviations above are 1,185. And not far fewer: the
        // bound is tight.
        assert!((800..1185).contains(&below), "{below}");
        // ln U − ln S is the margin ln(1 / 2·0.05) β/ε′ = 1.15 on average.
        assert!(
            (sum / f64::from(runs) - 1.15).abs() < 0.1,
            "{}",
            sum / f64::from(runs)
        );
        let cut = private_upper_bound(9.7, 10.0, noise, 1e-3, failure, &mut bits).unwrap();
        assert!(cut <= 10.0);
    }

    #[test]
    fn intervals_are_cut_to_possible_counts() {
        let found = interval(3, 2.0, 0.05, 0.9, 10);
        assert_eq!((found.low, found.high), (0, 8));
        let found = interval(-50, 2.0, 0.05, 0.9, 10);
        assert_eq!((found.low, found.high), (0, 0));
        assert_eq!(interval(i64::MAX - 5, 1e30, 0.05, 0.9, 10).high, 10);
    }
}
