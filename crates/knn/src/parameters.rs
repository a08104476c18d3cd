//! The parameters that a user chooses, and their binding to a training set that they fit.

use serde::{Deserialize, Serialize};

use crate::dataset::TrainingSet;
use crate::errors::PoisoningError;
use crate::learn::folds::Folds;
use crate::learn::neighbours::Metric;

/// The candidate values `first..=last` for K: numbers, which no removal changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// The smallest candidate.
    pub first: usize,
    /// The largest candidate.
    pub last: usize,
}

impl Candidates {
    /// The candidates from 1 to `percent` percent of `rows`, rounded down; the paper takes 10
    /// percent of |T|. To learn from T \ R what the analysis of T says, take the share of |T| there
    /// as well.
    pub fn share(rows: usize, percent: usize) -> Self {
        Self {
            first: 1,
            last: rows.saturating_mul(percent) / 100,
        }
    }

    /// The values in ascending order.
    pub fn values(self) -> impl Iterator<Item = usize> {
        self.first..=self.last
    }
}

/// The parameters that a user chooses; [`Parameters::check`] binds them to a training set that they
/// fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameters {
    /// The number of cross-validation folds p.
    pub folds: usize,
    /// The seed that deals rows into folds, by their keys.
    pub seed: u64,
    /// The candidate values of K.
    pub candidates: Candidates,
    /// The poisoning threshold n: at most this many rows may be poisoned.
    pub poison: usize,
    /// The distance by which neighbours are ranked.
    pub metric: Metric,
}

/// A training set with parameters that fit it and its folds: all that learning needs.
///
/// The three belong together: folds dealt to one training set say nothing about another.
#[derive(Debug, Clone)]
pub struct Setup {
    pub(crate) training: TrainingSet,
    parameters: Parameters,
    folds: Folds,
}

impl Default for Parameters {
    /// Returns the usual parameters: up to 30 neighbours, chosen in 10 folds, for one poisoned row.
    fn default() -> Parameters {
        Parameters {
            folds: 10,
            seed: 1,
            candidates: Candidates { first: 1, last: 30 },
            poison: 1,
            metric: Metric::default(),
        }
    }
}

impl Parameters {
    /// Sets the number of cross-validation folds.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Parameters {
        self.folds = folds;
        self
    }

    /// Sets the seed that deals the folds.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Parameters {
        self.seed = seed;
        self
    }

    /// Sets the candidate values of K.
    #[must_use]
    pub fn candidates(mut self, first: usize, last: usize) -> Parameters {
        self.candidates = Candidates { first, last };
        self
    }

    /// Sets the poisoning threshold.
    #[must_use]
    pub fn poison(mut self, poison: usize) -> Parameters {
        self.poison = poison;
        self
    }

    /// Sets the distance.
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> Parameters {
        self.metric = metric;
        self
    }

    /// Checks the parameters against `training`, takes it over and deals its folds.
    ///
    /// # Errors
    /// n >= |T|, fewer than 2 or more than 1,000 folds, no candidate K of at least 1, or none that
    /// |T| - n rows could fill.
    pub fn check(self, training: TrainingSet) -> Result<Setup, PoisoningError> {
        let rows = training.rows();
        if self.poison >= rows {
            return Err(PoisoningError::PoisonTooLarge {
                poison: self.poison,
                rows,
            });
        }
        let Candidates { first, last } = self.candidates;
        if first == 0 || first > last {
            return Err(PoisoningError::NoCandidates { first, last });
        }
        if first > rows - self.poison {
            return Err(PoisoningError::CandidatesBeyondRows {
                first,
                left: rows - self.poison,
                poison: self.poison,
            });
        }
        let folds = Folds::deal(training.keys(), self.folds, self.seed)?;
        Ok(Setup {
            training,
            parameters: self,
            folds,
        })
    }
}

impl Setup {
    /// The training set T.
    pub fn training(&self) -> &TrainingSet {
        &self.training
    }

    /// The parameters that were checked.
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// Returns the setup with another poisoning threshold.
    pub(crate) fn with_poison(mut self, poison: usize) -> Self {
        self.parameters.poison = poison;
        self
    }

    /// The folds dealt to the rows of T.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// The number of neighbours that are ranked for a row, K_max + n: no list of neighbours is ever
    /// read beyond it.
    pub fn depth(&self) -> usize {
        self.parameters
            .candidates
            .last
            .saturating_add(self.parameters.poison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(folds: usize, first: usize, last: usize, poison: usize) -> Option<PoisoningError> {
        let training = TrainingSet::new(vec![0.0, 1.0, 2.0, 3.0], 1, vec![0, 0, 1, 1]).unwrap();
        let parameters = Parameters {
            folds,
            seed: 0,
            candidates: Candidates { first, last },
            poison,
            metric: Metric::Euclidean,
        };
        parameters.check(training).err()
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        assert_eq!(checked(2, 1, 2, 1), None);
        assert_eq!(
            checked(2, 1, 2, 4),
            Some(PoisoningError::PoisonTooLarge { poison: 4, rows: 4 })
        );
        assert_eq!(
            checked(1, 1, 2, 1),
            Some(PoisoningError::BadFolds { folds: 1 })
        );
        // More folds than rows: some are empty, as some may be with fewer.
        assert_eq!(checked(5, 1, 2, 1), None);
        assert_eq!(
            checked(2, 1, 0, 1),
            Some(PoisoningError::NoCandidates { first: 1, last: 0 })
        );
        assert!(matches!(
            checked(2, 4, 5, 2),
            Some(PoisoningError::CandidatesBeyondRows {
                first: 4,
                left: 2,
                poison: 2
            })
        ));
    }

    #[test]
    fn a_share_of_too_few_rows_holds_no_candidate() {
        assert_eq!(Candidates::share(9, 10), Candidates { first: 1, last: 0 });
        assert_eq!(Candidates::share(135, 10).last, 13);
    }
}
