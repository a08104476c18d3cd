//! Exact first and second moments of fixed-point values.

use serde::{Deserialize, Serialize};

/// The sum and the sum of squares in whole numbers: adding and removing a value are exact inverses,
/// and the order of values does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    sum: i64,
    squares: u128,
}

impl Moments {
    /// Counts `fixed` into the moments.
    pub fn add(&mut self, fixed: i32) {
        self.sum += i64::from(fixed);
        self.squares += square(fixed);
    }

    /// Takes `fixed`, which was counted in, out again.
    pub fn remove(&mut self, fixed: i32) {
        self.sum -= i64::from(fixed);
        self.squares -= square(fixed);
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> i64 {
        self.sum
    }

    /// Returns whether all `rows` values are equal, that is, their minimum is their maximum.
    ///
    /// By Lagrange's identity n Σq² − (Σq)² = Σ (q_i − q_j)² over pairs, in whole numbers and
    /// without rounding: it is zero exactly when no two values differ.
    pub fn is_constant(&self, rows: usize) -> bool {
        self.spread(rows) == 0
    }

    /// Returns n Σq² − (Σq)², that is n² times the variance, for `rows` = n.
    pub fn spread(&self, rows: usize) -> u128 {
        let total = u128::from(self.sum.unsigned_abs());
        rows as u128 * self.squares - total * total
    }
}

fn square(fixed: i32) -> u128 {
    let wide = i64::from(fixed);
    (wide * wide) as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_means_that_minimum_is_maximum_at_any_size() {
        let mut moments = Moments::default();
        for _ in 0..100_000 {
            moments.add(1 << 30);
        }
        assert!(moments.is_constant(100_000));
        moments.add((1 << 30) - 1);
        assert!(!moments.is_constant(100_001));
        moments.remove((1 << 30) - 1);
        assert!(moments.is_constant(100_000));
    }
}
