//! The folds of cross-validation: fixed by the seed, keyed by row, untouched by removals.

use rand::Rng;

use crate::errors::PoisoningError;
use probity_run::stream::{Purpose, stream};

/// A partition of T into folds whose sizes differ by at most one.
///
/// Every row draws its own number from a generator keyed by (seed, row); the rows are dealt out in
/// the order of those numbers. After a removal set R the folds are `G_j \ R`: no row changes fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    of_row: Vec<u32>,
    sizes: Vec<u32>,
}

impl Folds {
    /// Deals `rows` rows into `folds` folds.
    ///
    /// # Errors
    /// Fewer than two folds, or more folds than rows.
    pub fn deal(rows: usize, folds: usize, seed: u64) -> Result<Self, PoisoningError> {
        if folds < 2 {
            return Err(PoisoningError::TooFewFolds { folds });
        }
        if folds > rows {
            return Err(PoisoningError::TooManyFolds { folds, rows });
        }
        let mut order: Vec<(u64, usize)> = (0..rows).map(|row| (key(seed, row), row)).collect();
        order.sort_unstable();
        let mut of_row = vec![0_u32; rows];
        let mut sizes = vec![0_u32; folds];
        for (place, &(_, row)) in order.iter().enumerate() {
            of_row[row] = (place % folds) as u32;
            sizes[place % folds] += 1;
        }
        Ok(Self { of_row, sizes })
    }

    /// The fold of a row.
    pub fn of(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }

    /// The number of folds p.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The number of rows in each fold.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The folds `G_j \ R`, numbered as before, for the rows that are left in their old order.
    pub(crate) fn without(&self, removed: &[bool]) -> Self {
        let of_row: Vec<u32> = (0..self.of_row.len())
            .filter(|&row| !removed[row])
            .map(|row| self.of_row[row])
            .collect();
        let mut sizes = vec![0_u32; self.sizes.len()];
        for &fold in &of_row {
            sizes[fold as usize] += 1;
        }
        Self { of_row, sizes }
    }
}

/// The number that decides where `row` is dealt; it depends on no other row.
fn key(seed: u64, row: usize) -> u64 {
    stream(seed, Purpose::Folds, row as u64, 0).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_differ_by_at_most_one_and_the_seed_decides() {
        let folds = Folds::deal(23, 5, 7).unwrap();
        assert_eq!(folds.sizes().iter().sum::<u32>(), 23);
        assert!(folds.sizes().iter().all(|&size| size == 4 || size == 5));
        assert_eq!(folds, Folds::deal(23, 5, 7).unwrap());
        assert_ne!(folds, Folds::deal(23, 5, 8).unwrap());
    }

    #[test]
    fn a_removal_moves_no_row_to_another_fold() {
        let folds = Folds::deal(9, 3, 1).unwrap();
        let mut removed = vec![false; 9];
        removed[4] = true;
        let left = folds.without(&removed);
        assert_eq!(left.of(4), folds.of(5));
        assert_eq!(left.sizes().iter().sum::<u32>(), 8);
    }

    #[test]
    fn too_few_or_too_many_folds_are_refused() {
        assert_eq!(
            Folds::deal(5, 1, 0),
            Err(PoisoningError::TooFewFolds { folds: 1 })
        );
        assert!(Folds::deal(5, 6, 0).is_err());
    }
}
