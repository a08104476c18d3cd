//! Cross-validation errors as exact rationals.
//!
//! The error of K is the mean over the folds that are not empty of |wrong| / |G_j \ R|. For one
//! removal set all K share the denominators, so the mean can be compared as the sum over folds.
//! Nothing here rounds to a float: a tie is a tie, and the smallest K wins it.

use std::cmp::Ordering;

/// Fractional bits of the first, approximate comparison.
const SCALE_BITS: u32 = 80;

/// Wrong cross-validation predictions, counted for each K and fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCounts {
    ks: Vec<usize>,
    wrong: Vec<u32>,
    remaining: Vec<u32>,
}

impl ErrorCounts {
    /// Returns counts of no errors yet, for the values `ks` (ascending) over folds of `remaining`
    /// rows.
    pub(crate) fn none(ks: Vec<usize>, remaining: Vec<u32>) -> Self {
        Self {
            wrong: vec![0; ks.len() * remaining.len()],
            ks,
            remaining,
        }
    }

    /// The values of K that were counted, ascending.
    pub fn ks(&self) -> &[usize] {
        &self.ks
    }

    /// The number of rows left in each fold j, |G_j \ R|.
    pub fn remaining(&self) -> &[u32] {
        &self.remaining
    }

    /// The wrong predictions at the K with index `at`, one count a fold; empty if there is no such
    /// K.
    pub fn wrong(&self, at: usize) -> &[u32] {
        let folds = self.remaining.len();
        let start = at.saturating_mul(folds);
        self.wrong
            .get(start..start.saturating_add(folds))
            .unwrap_or_default()
    }

    /// All wrong predictions at the K with index `at`.
    pub fn total_wrong(&self, at: usize) -> u64 {
        self.wrong(at).iter().map(|&count| u64::from(count)).sum()
    }

    /// The mean error rate at the K with index `at`, rounded: for display only.
    pub fn mean_error(&self, at: usize) -> f64 {
        let filled = self.remaining.iter().filter(|&&size| size > 0).count();
        let sum: f64 = self
            .wrong(at)
            .iter()
            .zip(&self.remaining)
            .filter(|&(_, &size)| size > 0)
            .map(|(&wrong, &size)| f64::from(wrong) / f64::from(size))
            .sum();
        sum / filled.max(1) as f64
    }

    /// Adds `by` to the count of one K and fold.
    pub(crate) fn add(&mut self, at: usize, fold: usize, by: u32) {
        self.wrong[at * self.remaining.len() + fold] += by;
    }

    /// Takes one from the count of one K and fold.
    pub(crate) fn take(&mut self, at: usize, fold: usize) {
        self.wrong[at * self.remaining.len() + fold] -= 1;
    }

    /// Takes one row out of the size of a fold.
    pub(crate) fn shrink(&mut self, fold: usize) {
        self.remaining[fold] -= 1;
    }

    /// Adds the counts of other rows of the same folds.
    pub(crate) fn merge(mut self, other: &Self) -> Self {
        for (mine, theirs) in self.wrong.iter_mut().zip(&other.wrong) {
            *mine += theirs;
        }
        self
    }

    /// Keeps only the values of K at the indices `kept` (ascending).
    pub(crate) fn select(&self, kept: &[usize]) -> Self {
        Self {
            ks: kept.iter().map(|&at| self.ks[at]).collect(),
            wrong: kept
                .iter()
                .flat_map(|&at| self.wrong(at).iter().copied())
                .collect(),
            remaining: self.remaining.clone(),
        }
    }

    /// Compares the exact error rates of two K, given by index.
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        let (a, b) = (self.wrong(left), self.wrong(right));
        let mut near = 0_i128;
        let mut slack = 0_i128;
        for ((&x, &y), &size) in a.iter().zip(b).zip(&self.remaining) {
            if size > 0 && x != y {
                let difference = i128::from(x) - i128::from(y);
                near += difference * ((1_i128 << SCALE_BITS) / i128::from(size));
                slack += difference.abs();
            }
        }
        if near > slack {
            return Ordering::Greater;
        }
        if near < -slack {
            return Ordering::Less;
        }
        let mut terms: Vec<(i64, u32)> = Vec::new();
        for ((&x, &y), &size) in a.iter().zip(b).zip(&self.remaining) {
            if size > 0 && x != y {
                let difference = i64::from(x) - i64::from(y);
                match terms.iter_mut().find(|(_, other)| *other == size) {
                    Some((sum, _)) => *sum += difference,
                    None => terms.push((difference, size)),
                }
            }
        }
        sign_of_sum(&terms)
    }

    /// The index of K*: the smallest error, on ties the smallest K.
    pub fn best(&self) -> usize {
        let mut best = 0;
        for at in 1..self.ks.len() {
            if self.compare(at, best) == Ordering::Less {
                best = at;
            }
        }
        best
    }
}

/// Returns the exact sign of the sum of d / s over `terms` (d, s).
///
/// Digit by digit in base 2^32: the value is A + f with an integer A and a sum f of proper
/// fractions, 0 <= f < number of terms. A >= 0 decides (f is zero iff every remainder is), and so
/// does A <= -terms. Otherwise the next digits are drawn. The sum is a multiple of 1 / product(s),
/// so a value that is still undecided once 2^(32 t) exceeds (terms + 1) * product(s) is zero.
fn sign_of_sum(terms: &[(i64, u32)]) -> Ordering {
    let count = terms.len() as i128;
    let mut whole: i128 = 0;
    let mut rests: Vec<(u64, u64)> = Vec::with_capacity(terms.len());
    let mut bits = 64 - (terms.len() as u64 + 1).leading_zeros();
    for &(difference, size) in terms {
        let size = i64::from(size);
        whole += i128::from(difference.div_euclid(size));
        rests.push((difference.rem_euclid(size) as u64, size as u64));
        bits += 64 - (size as u64).leading_zeros();
    }
    for _ in 0..=bits / 32 + 1 {
        if whole >= 0 {
            let exact = whole == 0 && rests.iter().all(|&(rest, _)| rest == 0);
            return if exact {
                Ordering::Equal
            } else {
                Ordering::Greater
            };
        }
        if whole <= -count {
            return Ordering::Less;
        }
        whole <<= 32;
        for (rest, size) in &mut rests {
            let shifted = *rest << 32;
            whole += i128::from(shifted / *size);
            *rest = shifted % *size;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rational_signs_are_exact() {
        assert_eq!(sign_of_sum(&[(1, 2), (1, 3), (-5, 6)]), Ordering::Equal);
        assert_eq!(sign_of_sum(&[(1, 2), (1, 3), (-4, 5)]), Ordering::Greater);
        assert_eq!(sign_of_sum(&[(1, 2), (1, 3), (-6, 7)]), Ordering::Less);
        assert_eq!(sign_of_sum(&[]), Ordering::Equal);
        // 1/p - 1/(p+2) - 2/((p+2)^2) has no common structure that a float of any size would keep.
        let p = 65_521;
        assert_eq!(
            sign_of_sum(&[(1, p), (-1, p + 2), (-2, p * (p + 2) / 65_536)]),
            Ordering::Less
        );
    }

    #[test]
    fn the_smallest_k_wins_a_tie() {
        let mut counts = ErrorCounts::none(vec![1, 2, 3], vec![2, 4, 0]);
        counts.add(0, 0, 2);
        counts.add(1, 0, 1);
        counts.add(2, 1, 2);
        assert_eq!(counts.best(), 1);
        assert_eq!(counts.compare(1, 2), Ordering::Equal);
        assert_eq!(counts.compare(0, 2), Ordering::Greater);
    }
}
