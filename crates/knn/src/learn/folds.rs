//! The folds of cross-validation: the fold of a row depends on this row alone.

use crate::errors::{MOST_FOLDS, PoisoningError};
use probity_run::stream::{Purpose, Words};

/// A partition of T into folds.
///
/// The fold of a row is drawn from the stream of (seed, key of the row), and the key is a function
/// of the row's id or features. **Lemma.** The folds dealt to T \ R are `G_j \ R`, for every R.
/// *Proof.* Nothing that decides a row's fold is a function of another row, of its place, or of
/// how many there are. ∎ So what is learnt from a file without some rows is what the analysis of
/// the whole file took to be learnt. The price is that folds differ in size, as p boxes do into
/// which rows are thrown, and that some may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    of_row: Vec<u32>,
    sizes: Vec<u32>,
}

impl Folds {
    /// Deals rows into `folds` folds by their keys.
    ///
    /// # Errors
    /// Fewer than two folds, or more than 1,000.
    pub(crate) fn deal(keys: &[u64], folds: usize, seed: u64) -> Result<Self, PoisoningError> {
        if !(2..=MOST_FOLDS).contains(&folds) {
            return Err(PoisoningError::BadFolds { folds });
        }
        let fold = |&key| Words::new(seed, Purpose::Folds, &[key]).below(folds as u64, 0) as u32;
        let of_row: Vec<u32> = keys.iter().map(fold).collect();
        let mut sizes = vec![0; folds];
        for &fold in &of_row {
            sizes[fold as usize] += 1;
        }
        Ok(Self { of_row, sizes })
    }

    /// The fold of a row.
    pub fn fold(&self, row: usize) -> usize {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fold_of_a_row_is_its_own_and_the_seed_decides() {
        let keys: Vec<u64> = (0..23).map(|row| row * row % 17).collect();
        let folds = Folds::deal(&keys, 5, 7).unwrap();
        assert_eq!(folds.sizes().iter().sum::<u32>(), 23);
        assert_ne!(folds, Folds::deal(&keys, 5, 8).unwrap());
        for (row, &key) in keys.iter().enumerate() {
            assert_eq!(Folds::deal(&[key], 5, 7).unwrap().fold(0), folds.fold(row));
        }
    }

    /// Expected 1,000 rows a fold; six standard deviations of 30 bound the error by 2e-8.
    #[test]
    fn folds_are_of_about_one_size() {
        let keys: Vec<u64> = (0..10_000).collect();
        let folds = Folds::deal(&keys, 10, 3).unwrap();
        assert!(folds.sizes().iter().all(|&size| size.abs_diff(1000) < 180));
    }

    #[test]
    fn too_few_or_too_many_folds_are_refused() {
        for folds in [0, 1, MOST_FOLDS + 1] {
            assert_eq!(
                Folds::deal(&[1, 2], folds, 0),
                Err(PoisoningError::BadFolds { folds })
            );
        }
        assert!(Folds::deal(&[1, 2], MOST_FOLDS, 0).is_ok());
    }
}
