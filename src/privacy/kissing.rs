//! Kissing numbers and the global sensitivity of the outlier count (Theorem 4, equation 18).
//!
//! What the theorem needs is the largest number of points in a closed ball of radius r that are pairwise *more* than r apart:
//! seen from the centre any two are at an angle above 60°, so it is at most the kissing number. The table holds proven
//! upper bounds:
//!
//! - 1, 2: at most 2 and 5 directions are pairwise more than 60° apart (6 touching discs are at exactly 60°).
//! - 3: Schütte and van der Waerden 1953. 4: Musin 2008. 8 and 24: Odlyzko and Sloane 1979; Levenshtein 1979.
//! - others up to 23: Mittelmann and Vallentin, "High-accuracy semidefinite programming bounds for kissing numbers",
//!   Experimental Mathematics 19 (2010), Table 1.
//! - from 25 on: caps of 30° around the directions do not overlap, so their number is at most the area of the sphere
//!   over that of a cap, 2 / I(1/4; (d−1)/2, 1/2) with the regularised incomplete beta function.

use statrs::function::beta::beta_reg;

/// Upper bounds for dimensions 1 to 24.
const TABLE: [u64; 24] = [
    2, 5, 12, 24, 44, 78, 134, 240, 364, 554, 870, 1357, 2069, 3183, 4866, 7355, 11_072, 16_572,
    24_812, 36_764, 54_584, 82_340, 124_416, 196_560,
];

/// At most so many points of a closed ball of radius r are pairwise more than r apart.
pub fn kissing_number_at_most(dimension: usize) -> u64 {
    match TABLE.get(dimension.saturating_sub(1)) {
        Some(&bound) => bound,
        None => cap_bound(dimension),
    }
}

fn cap_bound(dimension: usize) -> u64 {
    let share = beta_reg((dimension as f64 - 1.0) / 2.0, 0.5, 0.25) / 2.0;
    // A cast of a float beyond the range gives the largest integer.
    (1.000_001 / share).ceil() as u64
}

/// Upper bound on the global sensitivity of the outlier count: min(N, k K_d + 1).
///
/// *Proof.* Let the record x₀ move to x₁. A record that becomes an outlier has degree exactly k and is within r of x₀. Take a
/// maximal set of such records that are pairwise more than r apart: at most K of them. Each of the others is within r of
/// one in the set; and one in the set has k neighbours, of which x₀ is one, so it accounts for itself and k − 1 others.
/// Hence at most k K become outliers. In the same way at most k K cease to be outliers at x₁. The two changes have opposite signs,
/// and x₀ itself adds at most 1. ∎
pub fn global_sensitivity_at_most(rows: usize, dimension: usize, k: usize) -> u64 {
    let kissing = kissing_number_at_most(dimension);
    (k as u64)
        .saturating_mul(kissing)
        .saturating_add(1)
        .min(rows as u64)
}

/// The paper's lower bound on it: min(N, 2 d k + 1).
pub fn global_sensitivity_at_least(rows: usize, dimension: usize, k: usize) -> u64 {
    let bound = (2 * dimension as u64).saturating_mul(k as u64);
    bound.saturating_add(1).min(rows as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_between_known_configurations_and_caps() {
        // Best known configurations (Nebe and Sloane's table) from dimension 3 on.
        let known = [
            12, 24, 40, 72, 126, 240, 306, 500, 582, 840, 1154, 1606, 2564, 4320, 5346, 7398,
            10_668, 17_400, 27_720, 49_896, 93_150, 196_560,
        ];
        for (at, known) in known.into_iter().enumerate() {
            let dimension = at + 3;
            let bound = kissing_number_at_most(dimension);
            assert!(
                known <= bound && bound <= cap_bound(dimension),
                "{dimension}"
            );
        }
        assert!(kissing_number_at_most(25) > 196_560);
        assert!(kissing_number_at_most(34) < 1 << 38);
        assert!((1..127).all(|d| kissing_number_at_most(d) <= kissing_number_at_most(d + 1)));
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
