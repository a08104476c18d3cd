//! Kissing numbers and the global sensitivity of the outlier count (Theorem 4, equation 18).
//!
//! What the theorem needs is the largest number of points in a closed ball of radius r that are
//! pairwise *more* than r apart: seen from the centre any two are at an angle above 60°, so it is
//! at most the kissing number. Proven upper bounds:
//!
//! - 1, 2: at most 2 and 5 directions are pairwise more than 60° apart (6 touching discs are at
//!   exactly 60°).
//! - 3: Schütte and van der Waerden 1953. 4: Musin 2008. 8: Odlyzko and Sloane 1979; Levenshtein
//!   1979.
//! - 5 to 7 and 9 to 14: Mittelmann and Vallentin, "High-accuracy semidefinite programming bounds
//!   for kissing numbers", Experimental Mathematics 19 (2010), Table 1.
//! - from 15 on: Levenshtein's bound, which is computed here. It is 196,560 in dimension 24, as
//!   Odlyzko and Sloane found too. The bounds of semidefinite programming for 15 to 23 are 4 to 12
//!   % lower; a number that cannot be checked here is not worth that.
//!
//! **Levenshtein's bound** (V. I. Levenshtein, "On bounds for packings in n-dimensional Euclidean
//! space", Soviet Mathematics Doklady 20 (1979); "Universal bounds for codes and designs", Handbook
//! of Coding Theory (1998), chapter 6). Let P_i be the Gegenbauer polynomial of degree i for
//! dimension n with P_i(1) = 1. A set of unit vectors whose inner products are at most s has at
//! most
//!
//! L_{2k−1}(n, s) = C(k+n−3, k−1) ((2k+n−3)/(n−1) − (P_{k−1} − P_k) / ((1−s) P_k)) vectors for
//! t_{k−1} ≤ s ≤ t′_k, and at most L_{2k}(n, s) = C(k+n−2, k) ((2k+n−1)/(n−1) − (1+s)(P_k −
//! P_{k+1}) / ((1−s)(P_k + P_{k+1}))) for t′_k ≤ s ≤ t_k,
//!
//! all at s, where t_k is the largest zero of (P_k − P_{k+2}) / (1 − t²) and t′_k that of (P_k −
//! P_{k+1}) / (1 − t). Both families are orthogonal polynomials, so that t_k grows with k: the
//! first k with P_k(s) ≤ P_{k+2}(s) is the one with t_{k−1} < s ≤ t_k, and then s ≤ t′_k iff P_k(s)
//! ≤ P_{k+1}(s). Here s = cos 60°.

/// The upper bounds for dimensions 1 to 14.
const TABLE: [u64; 14] = [
    2, 5, 12, 24, 44, 78, 134, 240, 364, 554, 870, 1357, 2069, 3183,
];
/// The amount added to Levenshtein's bound, relatively: far more than the rounding of its few
/// hundred operations.
const ROUNDING: f64 = 1e-7;

/// Returns an upper bound of the number of points of a closed ball of radius r that are pairwise
/// more than r apart.
pub fn kissing_number_at_most(dimension: usize) -> u64 {
    match TABLE.get(dimension.saturating_sub(1)) {
        Some(&bound) => bound,
        None => {
            // A cast of a float beyond the range gives the largest integer.
            (levenshtein_bound(dimension) * (1.0 + ROUNDING)) as u64
        }
    }
}

/// Computes Levenshtein's bound for s = 1/2 in 3 or more dimensions; infinite where f64 does not
/// hold it.
fn levenshtein_bound(dimension: usize) -> f64 {
    const S: f64 = 0.5;
    let n = dimension as f64;
    // P_{k−1}, P_k, P_{k+1}, P_{k+2} at s.
    let next = |degree: f64, at: f64, before: f64| {
        ((2.0 * degree + n - 2.0) * S * at - degree * before) / (degree + n - 2.0)
    };
    let second = next(1.0, S, 1.0);
    let mut p = [1.0, S, second, next(2.0, second, S)];
    let mut k = 1.0;
    // C(k+n−3, k−1).
    let mut choices = 1.0;
    while p[1] > p[3] {
        choices *= (k + n - 2.0) / k;
        k += 1.0;
        p = [p[1], p[2], p[3], next(k + 1.0, p[3], p[2])];
    }
    let bound = if p[1] <= p[2] {
        choices * ((2.0 * k + n - 3.0) / (n - 1.0) - (p[0] - p[1]) / ((1.0 - S) * p[1]))
    } else {
        let quotient = (1.0 + S) * (p[1] - p[2]) / ((1.0 - S) * (p[1] + p[2]));
        choices * (k + n - 2.0) / k * ((2.0 * k + n - 1.0) / (n - 1.0) - quotient)
    };
    if bound.is_finite() {
        bound
    } else {
        f64::INFINITY
    }
}

/// Returns an upper bound on the global sensitivity of the outlier count: min(N, k K_d + 1).
///
/// *Proof.* Let the record x₀ move to x₁. A record that becomes an outlier has degree exactly k and
/// is within r of x₀. Take a maximal set of such records that are pairwise more than r apart: at
/// most K of them. Each of the others is within r of one in the set; and one in the set has k
/// neighbours, of which x₀ is one, so it accounts for itself and k − 1 others. Hence at most k K
/// become outliers. In the same way at most k K cease to be outliers at x₁. The two changes have
/// opposite signs, and x₀ itself adds at most 1. ∎
pub fn global_sensitivity_at_most(rows: usize, dimension: usize, k: usize) -> u64 {
    let kissing = kissing_number_at_most(dimension);
    (k as u64)
        .saturating_mul(kissing)
        .saturating_add(1)
        .min(rows as u64)
}

/// Returns the paper's lower bound on the global sensitivity: min(N, 2 d k + 1).
pub fn global_sensitivity_at_least(rows: usize, dimension: usize, k: usize) -> u64 {
    let bound = (2 * dimension as u64).saturating_mul(k as u64);
    bound.saturating_add(1).min(rows as u64)
}

#[cfg(test)]
mod tests {
    use statrs::function::beta::beta_reg;

    use super::*;

    /// Computes a bound from caps of 30° around the directions, which do not overlap: their number
    /// is at most the area of the sphere over that of a cap.
    fn cap_bound(dimension: usize) -> f64 {
        let share = beta_reg((dimension as f64 - 1.0) / 2.0, 0.5, 0.25) / 2.0;
        1.000_001 / share
    }

    #[test]
    fn the_bounds_are_between_known_configurations_and_caps() {
        // Known configurations from dimension 3 on.
        let known = [
            12, 24, 40, 72, 126, 240, 306, 510, 593, 840, 1154, 1932, 2564, 4320, 5730, 7654,
            11_692, 19_448, 29_768, 49_896, 93_150, 196_560,
        ];
        for (at, known) in known.into_iter().enumerate() {
            let dimension = at + 3;
            let bound = kissing_number_at_most(dimension);
            let levenshtein = levenshtein_bound(dimension) * (1.0 + ROUNDING);
            assert!(known <= bound && bound as f64 <= levenshtein, "{dimension}");
            assert!(levenshtein <= cap_bound(dimension), "{dimension}");
        }
        assert!((25..200).all(|d| levenshtein_bound(d) <= cap_bound(d)));
        assert!((1..200).all(|d| kissing_number_at_most(d) <= kissing_number_at_most(d + 1)));
        assert_eq!(kissing_number_at_most(100_000), u64::MAX);
    }

    #[test]
    fn levenshteins_bound_has_its_published_values() {
        for (dimension, value) in [(4, 26.0), (5, 48.0), (6, 84.0), (8, 240.0), (24, 196_560.0)] {
            let bound = levenshtein_bound(dimension);
            assert!((bound / value - 1.0).abs() < 1e-9, "{dimension}: {bound}");
        }
        assert_eq!(kissing_number_at_most(24), 196_560);
    }

    /// Computes P_0 … P_{last} at t.
    fn gegenbauer(dimension: usize, last: usize, t: f64) -> Vec<f64> {
        let n = dimension as f64;
        let mut p = vec![1.0, t];
        for degree in 1..last {
            let k = degree as f64;
            p.push(((2.0 * k + n - 2.0) * t * p[degree] - k * p[degree - 1]) / (k + n - 2.0));
        }
        p
    }

    /// Computes f(1) / f₀ and the least f_i / f₀ of Levenshtein's polynomial of degree 2k − 1
    /// (`gap` 1) or 2k (`gap` 2): f(t) = (1 + t)^(gap − 1) (Q_k(t) Q_{k−1}(s) − Q_{k−1}(t) Q_k(s))²
    /// / (t − s) with Q_i = (P_i − P_{i+gap}) / ((1 − t)(1 + t)^(gap − 1)).
    fn delsarte(dimension: usize, k: usize, gap: usize) -> (f64, f64) {
        let n = dimension as f64;
        let side = |t: f64| (1.0 + t).powi(gap as i32 - 1);
        let q = |degree: usize, t: f64| {
            let p = gegenbauer(dimension, degree + gap + 1, t);
            (p[degree] - p[degree + gap]) / ((1.0 - t) * side(t))
        };
        let at_one = |degree: usize| (2.0 * degree as f64 + n - 2.0 + gap as f64) / (n - 1.0);
        let (upper, lower) = (q(k, 0.5), q(k - 1, 0.5));
        let f = |t: f64, upper_t: f64, lower_t: f64| {
            side(t) * (upper_t * lower - lower_t * upper).powi(2) / (t - 0.5)
        };
        let degrees = 2 * k + gap;
        let mut coefficients = vec![0.0; degrees];
        let mut total = 0.0;
        // 2000 is no multiple of 3, so that no step hits t = 1/2, an angle of 60°.
        let steps = 2000;
        for step in 1..steps {
            let angle = std::f64::consts::PI * f64::from(step) / f64::from(steps);
            let (t, weight) = (angle.cos(), angle.sin().powi(dimension as i32 - 2));
            let value = f(t, q(k, t), q(k - 1, t));
            assert!(value <= 0.0 || t > 0.5);
            for (sum, p) in coefficients
                .iter_mut()
                .zip(gegenbauer(dimension, degrees, t))
            {
                *sum += value * p * weight;
            }
            total += weight;
        }
        let least = coefficients
            .iter()
            .map(|c| c / coefficients[0])
            .fold(f64::INFINITY, f64::min);
        let bound = f(1.0, at_one(k), at_one(k - 1)) * total / coefficients[0];
        (bound, least)
    }

    /// Delsarte's theorem proves the bound anew: if f ≤ 0 on [−1, 1/2] and no coefficient of its
    /// expansion into P_i is negative, at most f(1) / f₀ vectors are possible. f is never positive
    /// there, being a square over t − 1/2.
    #[test]
    fn a_polynomial_of_delsarte_proves_the_bound() {
        for dimension in [8, 15, 16, 18, 19, 20, 22, 23, 24, 30, 34] {
            let bound = levenshtein_bound(dimension);
            let proved = (2..16).any(|k| {
                [1, 2].into_iter().any(|gap| {
                    let (value, least) = delsarte(dimension, k, gap);
                    (value / bound - 1.0).abs() < 1e-7 && least > -1e-9
                })
            });
            assert!(proved, "{dimension}");
        }
    }

    #[test]
    fn the_plane_has_the_exact_value_of_the_paper() {
        assert_eq!(global_sensitivity_at_most(1000, 1, 3), 7);
        assert_eq!(global_sensitivity_at_most(1000, 2, 3), 16);
        assert_eq!(global_sensitivity_at_least(1000, 1, 3), 7);
        assert_eq!(global_sensitivity_at_most(10, 6, 3), 10);
        assert_eq!(global_sensitivity_at_most(50, 128, usize::MAX), 50);
    }
}
