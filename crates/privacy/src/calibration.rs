//! The calibration of Gaussian noise for a count: σ(X) = c S(X) for a β-smooth bound S.
//!
//! **Tight calibration.** Let P = N(0, 1) be the answer on X in units of σ(X) = c S(X) around its
//! count, and Q = N(s, ρ²) that on a neighbour X′. ρ = S(X′) / S(X) lies between e^{−β} and e^β.
//! The counts differ by at most LS(X) ≤ S(X), and by at most LS(X′) ≤ S(X′) = ρ S(X), so |s| ≤
//! min(1, ρ) a with a = 1/c. The mechanism is (ε, δ)-DP iff E_ε(s, ρ) = sup over T of P(T) − e^ε
//! Q(T) ≤ δ for all such pairs; X and X′ take both roles.
//!
//! 1. *E grows with |s|.* E = 1 − ∫ min(p, e^ε q_s), and ∫ min(p, e^ε q_s) = ∫ over u > 0 of the
//!    length of {p > u} ∩ {e^ε q_s > u}: two intervals, one around 0 and one around s, whose
//!    overlap shrinks as |s| grows.
//! 2. *For ρ < 1, E grows as ρ falls.* With y = (z − s)/ρ the set where p > e^ε q is the complement
//!    of an interval (y₁, y₂) of y, because the logarithm of the ratio is a convex quadratic there;
//!    and y₁ < 0 < y₂ because at z = s that logarithm is ln ρ − s²/2 < ε. By the envelope theorem
//!    dE/d ln ρ = e^ε (y₁ φ(y₁) − y₂ φ(y₂)) < 0.
//! 3. *For ρ ≥ r ≥ 1,* q_ρ(z) ≥ (r/ρ) q_r(z), so E_ε(s, ρ) ≤ sup over T of P(T) − e^{ε − ln(ρ/r)}
//!    Q_r(T) = E_{ε − ln(ρ/r)}(s, r).
//!
//! The interval of ln ρ is cut into cells of width w = β / 16. In the cell from r e^{−w} to r ≤ 1,
//! E ≤ E_ε(r a, r e^{−w}) by 1 and 2; in the cell from r ≥ 1 to r e^w, E ≤ E_{ε−w}(a, r) by
//! 1 and 3. All are closed forms in Φ and grow with a, so the smallest c for which their maximum,
//! δ(c, β), is at most δ follows by bisection. With β = 0 this is the analytic Gaussian mechanism
//! (Balle and Wang 2018), which serves for a global sensitivity. β itself is free: it is chosen
//! from public numbers alone, so that c times S is smallest for a database with two records in the
//! fullest ball. The answer is rounded to an integer afterwards, which no guarantee suffers from.
//!
//! **The paper's calibration** (Theorem 2; Nissim, Raskhodnikova and Smith 2007): α = ε / (5 √(2
//! ln(2/δ))), β = ε / (4 (1 + ln(2/δ))), c = 1/α. It is proved for ε < 1 and needs about an order
//! of magnitude more noise. It is offered for comparison, and held against δ(c, β) before it is
//! used. For a global sensitivity: σ = GS √(2 ln(2/δ)) / ε (Theorem 1).
//!
//! **Rounding.** S, c and β are computed in floating point with relative errors far below 10⁻¹⁰.
//! δ(c, β) is required for β + 10⁻⁹ and with 1 % of δ to spare, and c is then enlarged by 10⁻⁹,
//! which covers them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc;

use super::error::{LARGEST_EPSILON, LEAST_EPSILON, PrivacyError};
use super::horizon::growing_bound;

/// The amount added to β, relative to c: it covers the rounding of S and c.
const ROUNDING: f64 = 1e-9;
/// The share of δ that is used; the rest covers the rounding of δ(c, β) itself.
const USED: f64 = 0.99;

/// The number of cells into which the range of ln ρ is cut on either side of 0.
const CELLS: u32 = 16;

/// The h′ of the database for which β is chosen, and for which one of the two sensitivities is
/// chosen. The value has no influence on privacy.
pub(super) const EXPECTED: f64 = 2.0;

/// Which constants scale the noise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Calibration {
    /// The least noise that is proved to be enough.
    #[default]
    Tight,
    /// The constants of Theorems 1 and 2.
    Theorem,
}

/// The ε and δ of one answer, checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// The parameter ε.
    pub epsilon: f64,
    /// The parameter δ.
    pub delta: f64,
}

impl Guarantee {
    /// Checks ε ([`check_epsilon`]) and 0 < δ < 1.
    ///
    /// # Errors
    /// When they are not.
    pub fn new(epsilon: f64, delta: f64) -> Result<Guarantee, PrivacyError> {
        check_epsilon(epsilon)?;
        if !(delta > 0.0 && delta < 1.0) {
            return Err(PrivacyError::Delta { delta });
        }
        Ok(Guarantee { epsilon, delta })
    }
}

/// Returns how much of a price of `epsilon` a mechanism may spend: the decimal number that a price
/// is written as ([`super::composition`]) may be below its `f64` by half a unit in the last place.
pub fn spendable(epsilon: f64) -> f64 {
    epsilon.next_down()
}

/// Checks that ε is from [`LEAST_EPSILON`] to [`LARGEST_EPSILON`].
///
/// # Errors
/// When it is not.
pub fn check_epsilon(epsilon: f64) -> Result<(), PrivacyError> {
    if (LEAST_EPSILON..=LARGEST_EPSILON).contains(&epsilon) {
        Ok(())
    } else {
        Err(PrivacyError::Epsilon { epsilon })
    }
}

/// The noise of a count: standard deviation `scale` times a `beta`-smooth bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The smoothness β; 0 for a global sensitivity.
    pub beta: f64,
    /// The scale c.
    pub scale: f64,
}

impl Calibration {
    /// Returns the noise for a smooth bound that is at most `cap` (public).
    ///
    /// # Errors
    /// When the paper's constants do not give the guarantee, or no scale does in floating point.
    pub fn smooth(self, guarantee: Guarantee, cap: f64) -> Result<Noise, PrivacyError> {
        let Guarantee { epsilon, delta } = guarantee;
        match self {
            Calibration::Tight => best_smooth(guarantee, cap),
            Calibration::Theorem => {
                let logarithm = (2.0 / delta).ln();
                let noise = Noise {
                    beta: epsilon / (4.0 * (1.0 + logarithm)),
                    scale: 5.0 * (2.0 * logarithm).sqrt() / epsilon * (1.0 + ROUNDING),
                };
                if needed_delta(epsilon, noise) <= USED * delta {
                    Ok(noise)
                } else {
                    Err(PrivacyError::Theorem { epsilon, delta })
                }
            }
        }
    }

    /// Returns the noise for a global sensitivity.
    ///
    /// # Errors
    /// See [`Calibration::smooth`].
    pub fn global(self, guarantee: Guarantee) -> Result<Noise, PrivacyError> {
        let Guarantee { epsilon, delta } = guarantee;
        match self {
            Calibration::Tight => {
                let scale = least_scale(guarantee, 0.0)
                    .ok_or(PrivacyError::Calibration { epsilon, delta })?;
                Ok(Noise { beta: 0.0, scale })
            }
            Calibration::Theorem => {
                let noise = Noise {
                    beta: 0.0,
                    scale: (2.0 * (2.0 / delta).ln()).sqrt() / epsilon * (1.0 + ROUNDING),
                };
                if needed_delta(epsilon, noise) <= USED * delta {
                    Ok(noise)
                } else {
                    Err(PrivacyError::Theorem { epsilon, delta })
                }
            }
        }
    }
}

/// Returns the noise whose standard deviation is smallest on a database as expected, over a fixed
/// grid of β: every tenth β first, then those around the best of them.
fn best_smooth(guarantee: Guarantee, cap: f64) -> Result<Noise, PrivacyError> {
    const STRIDE: u32 = 10;
    let Guarantee { epsilon, delta } = guarantee;
    let candidate = |step: u32| {
        let beta = epsilon * (-0.05 * f64::from(step)).exp() * 0.9;
        let scale = least_scale(guarantee, beta)?;
        let expected = scale * growing_bound(beta, cap, EXPECTED);
        Some((expected, step, Noise { beta, scale }))
    };
    let least = |steps: &mut dyn Iterator<Item = u32>| {
        steps
            .filter_map(candidate)
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let coarse = least(&mut (0..16).map(|step| step * STRIDE));
    let around = coarse.map_or(0, |(_, step, _)| step.saturating_sub(STRIDE - 1));
    least(&mut (around..around + 2 * STRIDE - 1))
        .map(|(_, _, noise)| noise)
        .ok_or(PrivacyError::Calibration { epsilon, delta })
}

/// Returns the smallest c for β, by bisection; `None` if there is none below 10⁹.
fn least_scale(guarantee: Guarantee, beta: f64) -> Option<f64> {
    let most = USED * guarantee.delta;
    let enough =
        |scale: f64| cells(guarantee.epsilon, Noise { beta, scale }).all(|delta| delta <= most);
    let (mut low, mut high) = (1e-3_f64, 1e9_f64);
    if !enough(high) {
        return None;
    }
    if enough(low) {
        return Some(low * (1.0 + ROUNDING));
    }
    for _ in 0..64 {
        let middle = (low * high).sqrt();
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high * (1.0 + ROUNDING))
}

/// Computes δ(c, β): the δ that the noise needs for `epsilon`.
pub fn needed_delta(epsilon: f64, noise: Noise) -> f64 {
    cells(epsilon, noise).fold(0.0, f64::max)
}

/// Returns an upper bound, for each cell, of the δ that its pairs need.
fn cells(epsilon: f64, noise: Noise) -> impl Iterator<Item = f64> {
    let width = (noise.beta + ROUNDING) / f64::from(CELLS);
    let shift = 1.0 / noise.scale;
    // The worst are at the ends, and come first.
    let narrow = (0..CELLS).rev().map(move |cell| {
        let largest = (-width * f64::from(cell)).exp();
        narrower(epsilon, shift * largest, largest * (-width).exp())
    });
    let wide =
        (1..CELLS).map(move |cell| wider(epsilon - width, shift, (width * f64::from(cell)).exp()));
    std::iter::once(equal(epsilon - width, shift))
        .chain(narrow)
        .chain(wide)
}

/// Computes E of two normal distributions with variance 1 whose means are `shift` apart.
fn equal(epsilon: f64, shift: f64) -> f64 {
    normal(shift / 2.0 - epsilon / shift) - epsilon.exp() * normal(-shift / 2.0 - epsilon / shift)
}

/// Computes E of N(0, 1) and N(shift, ratio²) for a ratio below 1.
fn narrower(epsilon: f64, shift: f64, ratio: f64) -> f64 {
    // The logarithm of p/q exceeds ε outside the two roots of κ z² − 2 (s/ρ²) z + s²/ρ² + 2 (ln ρ −
    // ε) = 0.
    let square = ratio * ratio;
    let curvature = (1.0 - square) / square;
    let half = shift / square;
    let constant = shift * shift / square + 2.0 * (ratio.ln() - epsilon);
    let root = (half * half - curvature * constant).max(0.0).sqrt();
    let upper = (half + root) / curvature;
    let lower = constant / (half + root);
    let outside = |at: f64| (at - shift) / ratio;
    normal(lower) + normal(-upper)
        - epsilon.exp() * (normal(outside(lower)) + normal(-outside(upper)))
}

/// Computes E of N(0, 1) and N(shift, ratio²) for a ratio above 1.
fn wider(epsilon: f64, shift: f64, ratio: f64) -> f64 {
    // The logarithm of p/q exceeds ε between the two roots of κ z² + 2 (s/ρ²) z − s²/ρ² − 2 (ln ρ −
    // ε) = 0.
    let square = ratio * ratio;
    let curvature = (square - 1.0) / square;
    let half = shift / square;
    let constant = shift * shift / square + 2.0 * (ratio.ln() - epsilon);
    let discriminant = half * half + curvature * constant;
    if discriminant <= 0.0 {
        return 0.0;
    }
    let root = discriminant.sqrt();
    let lower = -(half + root) / curvature;
    let upper = constant / (half + root);
    let within = |at: f64| (at - shift) / ratio;
    normal(upper) - normal(lower) - epsilon.exp() * (normal(within(upper)) - normal(within(lower)))
}

/// Computes Φ, the standard normal distribution function.
fn normal(at: f64) -> f64 {
    0.5 * erfc(-at / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes sup over T of P(T) − e^ε Q(T) by plain integration.
    fn integrated(epsilon: f64, shift: f64, ratio: f64) -> f64 {
        let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let (steps, reach) = (60_000, 15.0);
        let width = 2.0 * reach / f64::from(steps);
        (0..steps)
            .map(|step| {
                let z = -reach + (f64::from(step) + 0.5) * width;
                let q = density((z - shift) / ratio) / ratio;
                (density(z) - epsilon.exp() * q).max(0.0) * width
            })
            .sum()
    }

    #[test]
    fn closed_forms_are_the_integrals() {
        for (epsilon, shift, ratio) in [
            (0.5, 0.3, 0.9),
            (0.1, 0.01, 0.99),
            (2.0, 1.0, 0.5),
            (1.0, 0.0, 0.8),
        ] {
            let exact = integrated(epsilon, shift, ratio);
            assert!(
                (narrower(epsilon, shift, ratio) - exact).abs() < 1e-6,
                "{epsilon} {shift} {ratio}"
            );
        }
        for (epsilon, shift, ratio) in [
            (0.5, 0.3, 1.1),
            (0.1, 0.01, 1.01),
            (2.0, 1.0, 2.0),
            (0.1, 0.01, 1.5),
            (1.0, 0.5, 1.000_000_1),
        ] {
            let exact = integrated(epsilon, shift, ratio);
            assert!(
                (wider(epsilon, shift, ratio) - exact).abs() < 1e-6,
                "{epsilon} {shift} {ratio}"
            );
        }
        assert!((equal(0.7, 0.4) - integrated(0.7, 0.4, 1.0)).abs() < 1e-6);
    }

    /// No pair needs more than δ, over a grid of all pairs that β and c allow.
    #[test]
    fn no_pair_needs_more_than_delta() {
        for (epsilon, delta) in [(0.1, 0.01), (0.7, 0.01), (0.5, 1e-4), (3.0, 0.05)] {
            let guarantee = Guarantee::new(epsilon, delta).unwrap();
            for cap in [7.0, 16.0, 1000.0] {
                let noise = Calibration::Tight.smooth(guarantee, cap).unwrap();
                let mut most = 0.0_f64;
                for at in -20..=20 {
                    let ratio = (noise.beta * f64::from(at) / 20.0).exp();
                    for share in [0.0, 0.5, 0.9, 1.0] {
                        let shift = share * ratio.min(1.0) / noise.scale;
                        most = most.max(integrated(epsilon, shift, ratio));
                    }
                }
                assert!(most <= delta, "{epsilon} {delta} {cap}: {most}");
                assert!(most >= 0.8 * delta, "{epsilon} {delta} {cap}: only {most}");
            }
        }
    }

    #[test]
    fn global_noise_is_that_of_the_analytic_gaussian_mechanism() {
        // Balle and Wang: at ε = 1, δ = 10^-5 the standard deviation is 3.730632.
        let guarantee = Guarantee::new(1.0, 1e-5).unwrap();
        let noise = Calibration::Tight.global(guarantee).unwrap();
        assert!((noise.scale - 3.730_632).abs() < 0.003, "{}", noise.scale);
    }

    #[test]
    fn the_theorem_is_used_only_where_it_holds() {
        for epsilon in [0.01, 0.1, 0.5, 0.99] {
            for delta in [1e-9, 1e-5, 0.01, 0.1] {
                let guarantee = Guarantee::new(epsilon, delta).unwrap();
                let theorem = Calibration::Theorem.smooth(guarantee, 7.0).unwrap();
                let tight = Calibration::Tight.smooth(guarantee, 7.0).unwrap();
                assert!(tight.scale < theorem.scale);
                assert!(Calibration::Theorem.global(guarantee).is_ok());
            }
        }
        assert!(Guarantee::new(0.0, 0.1).is_err() && Guarantee::new(f64::NAN, 0.1).is_err());
        assert!(Guarantee::new(1.0, 0.0).is_err() && Guarantee::new(1.0, 1.0).is_err());
    }

    #[test]
    fn extreme_guarantees_are_finite_or_refused() {
        for epsilon in [1e-6, 1e-3, 50.0, 700.0] {
            for delta in [1e-15, 1e-300, 0.999] {
                let guarantee = Guarantee::new(epsilon, delta).unwrap();
                if let Ok(noise) = Calibration::Tight.smooth(guarantee, 100.0) {
                    assert!(noise.scale.is_finite() && noise.beta > 0.0);
                }
            }
        }
    }
}
