//! The expected calibration error with an interval that holds for any number of rows.
//!
//! The error of a group is ECE = Σ_b |E[(p − y) 1_b]|: p is the predicted probability of the
//! favourable class, y is 1 for a row of that class and else 0, and 1_b is 1 where p lies in bin b
//! (Naeini, Cooper, Hauskrecht 2015). Its estimate from n rows, with means in place of
//! expectations, is too large on average, by more the fewer rows a bin has (Kumar, Liang, Ma 2019;
//! Roelofs, Cain, Shlens, Mozer 2022). So resampling it says little of how far it is off.
//!
//! **Theorem.** Let the n rows be drawn independently from the group, let there be B bins, m be the
//! mean of (p − y)² over the rows and v the largest x in \[m, 1\] with n kl(m, x) ≤ ln(5/α), where
//! kl is the relative entropy of two coins. With r(L) = √(2 v L / n) + 2 L / (3 n),
//!
//! ECE ∈ [estimate − r(ln(5/(2α)) + B ln 2), estimate + r(ln(5/(2α)))]
//!
//! with probability at least 1 − α.
//!
//! *Proof.* For signs s ∈ {−1, 1}^B let X(s) = s_b (p − y) where b is the bin of p, and μ(s) be its
//! expectation. Then ECE = max_s μ(s), and the estimate is the largest over s of the mean of X(s)
//! over the rows. X(s) lies in \[−1, 1\] and has a variance of at most E (p − y)², whatever s is,
//! and that is at most v but with probability α/5 (Hoeffding 1963, Theorem 1). Where it is, the
//! mean of X(s) for a fixed s is more than r(L) below, or above, μ(s) with a probability of at most
//! e^−L (Bernstein's inequality; Boucheron, Lugosi, Massart 2013, Corollary 2.11 with its sub-gamma
//! form). *Upper end:* take the s with μ(s) = ECE. Its mean is at most the estimate, so ECE is at
//! most the estimate + r(L) but with probability e^−L = 2α/5. *Lower end:* for all 2^B signs at
//! once the mean is at most μ(s) + r(L + B ln 2) ≤ ECE + r(L + B ln 2), but with probability 2α/5;
//! so is the largest, the estimate. ∎

/// A calibration error as it was estimated from the rows of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationError {
    /// The estimate.
    pub value: f64,
    /// Number of rows.
    pub rows: u64,
    /// Mean of (p − y)² over the rows.
    pub mean_square: f64,
    /// Number of bins.
    pub bins: usize,
}

impl CalibrationError {
    /// The interval that holds the group's calibration error with probability 1 − `alpha`.
    pub fn interval(&self, alpha: f64) -> [f64; 2] {
        let rows = self.rows as f64;
        let variance = largest_mean(self.mean_square, (5.0 / alpha).ln() / rows);
        let reach = |bits: f64| (2.0 * variance * bits / rows).sqrt() + 2.0 * bits / (3.0 * rows);
        let one = (2.5 / alpha).ln();
        let all = one + self.bins as f64 * std::f64::consts::LN_2;
        [
            (self.value - reach(all)).max(0.0),
            (self.value + reach(one)).min(1.0),
        ]
    }
}

/// The largest x from `mean` to 1 with kl(`mean`, x) ≤ `entropy`.
fn largest_mean(mean: f64, entropy: f64) -> f64 {
    let term = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    let mean = mean.clamp(0.0, 1.0);
    let (mut low, mut high) = (mean, 1.0);
    // The upper end of the last bracket is taken: never too small by rounding of the search.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if term(mean, middle) + term(1.0 - mean, 1.0 - middle) <= entropy {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_bounded_by_relative_entropy() {
        // kl(0, x) = −ln(1 − x).
        for entropy in [0.001, 0.05, 0.7, 3.0_f64] {
            let exact = 1.0 - (-entropy).exp();
            assert!((largest_mean(0.0, entropy) - exact).abs() < 1e-12);
        }
        // Pinsker: kl ≥ 2 (x − m)².
        for mean in [0.0, 0.01, 0.12, 0.5, 0.99, 1.0] {
            let largest = largest_mean(mean, 0.02);
            assert!(
                largest >= mean && largest <= mean + 0.1 + 1e-9,
                "{mean} {largest}"
            );
        }
    }

    #[test]
    fn the_interval_shrinks_with_rows_and_never_leaves_0_to_1() {
        let interval = |rows, bins| {
            let error = CalibrationError {
                value: 0.1,
                rows,
                mean_square: 0.12,
                bins,
            };
            error.interval(0.05)
        };
        let mut last = [0.0, 1.0];
        for rows in [1, 10, 80, 1000, 5000, 1_000_000] {
            let [low, high] = interval(rows, 10);
            assert!(last[0] <= low && low <= 0.1 && 0.1 <= high && high <= last[1]);
            last = [low, high];
        }
        assert!(last[1] - last[0] < 0.004, "{last:?}");
        // More bins, more signs.
        assert!(interval(5000, 1000)[0] == 0.0 && interval(5000, 10)[0] > 0.05);
    }
}
