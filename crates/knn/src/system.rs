//! The whole system under audit: T, its folds, the candidate K, the threshold n, and what was learnt.

use serde::{Deserialize, Serialize};

use super::analysis::Deadline;
use super::dataset::TrainingSet;
use super::error_rate::ErrorCounts;
use super::errors::PoisoningError;
use super::folds::Folds;
use super::learn::count_errors;
use super::neighbours::{ApproximateDistances, Metric, Neighbours, rank_query};

/// The candidate values `first..=last` for K: fixed from T, never from T \ R.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// The smallest candidate.
    pub first: usize,
    /// The largest candidate.
    pub last: usize,
}

impl Candidates {
    /// 1 to `percent` percent of `rows`, rounded down; the paper takes 10 percent.
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

/// What a user chooses; [`Parameters::check`] binds it to a training set that it fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The number of cross-validation folds p.
    pub folds: usize,
    /// The seed that deals rows into folds.
    pub seed: u64,
    /// The candidate values of K.
    pub candidates: Candidates,
    /// The poisoning threshold n: up to so many rows may be poisoned.
    pub poison: usize,
    /// The distance.
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

impl Parameters {
    /// Checks the parameters against `training`, takes it over and deals its folds.
    ///
    /// # Errors
    /// n >= |T|, fewer than 2 or more than |T| folds, no candidate K of at least 1, or none that
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
        let folds = Folds::deal(rows, self.folds, self.seed)?;
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

    /// The folds dealt to the rows of T.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// K_max + n: no list of neighbours is ever read beyond this many rows.
    pub fn depth(&self) -> usize {
        self.parameters
            .candidates
            .last
            .saturating_add(self.parameters.poison)
    }
}

/// A test input with its K_max + n nearest training rows, nearest first.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) ranked: Vec<u32>,
    pub(crate) labels: Vec<u16>,
    pub(crate) classes: usize,
    pub(crate) candidates: Candidates,
    pub(crate) poison: usize,
}

impl Query {
    /// The nearest training rows, nearest first.
    pub fn ranked(&self) -> impl Iterator<Item = usize> {
        self.ranked.iter().map(|&row| row as usize)
    }

    /// The labels of the nearest training rows, nearest first.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }
}

/// A k-NN classifier learnt from T, with the ranked neighbours that every analysis reads.
#[derive(Debug, Clone)]
pub struct KnnSystem {
    pub(crate) setup: Setup,
    pub(crate) neighbours: Neighbours,
    pub(crate) errors: ErrorCounts,
    learned: usize,
    /// The n that the lists of neighbours are long enough for.
    ranked_for: usize,
}

impl KnnSystem {
    /// KNN_learn_init (Algorithm 5): ranks all neighbours once, counts the errors of every candidate K,
    /// and keeps both for the analyses. Takes O(|T|^2 columns + |T| K_max) time and |T| (K_max + n) ids.
    pub fn learn(setup: Setup) -> Self {
        Self::learn_within(setup, Deadline::never())
    }

    /// Like [`KnnSystem::learn`], given up at the deadline.
    ///
    /// # Errors
    /// A deadline that has passed.
    pub fn learn_until(setup: Setup, deadline: Deadline<'_>) -> Result<Self, PoisoningError> {
        let system = Self::learn_within(setup, deadline);
        if deadline.passed() {
            return Err(PoisoningError::Stopped);
        }
        Ok(system)
    }

    fn learn_within(setup: Setup, deadline: Deadline<'_>) -> Self {
        let neighbours = Neighbours::rank(
            &setup.training,
            setup.folds(),
            setup.parameters.metric,
            setup.depth(),
            deadline,
        );
        Self::from_neighbours(setup, neighbours, deadline)
    }

    /// Like [`KnnSystem::learn_until`], with distances from `source` for `block` rows at a time.
    ///
    /// # Errors
    /// Approximate distances, or a bound on their error, that are not finite; a deadline that has passed.
    pub fn learn_approximately(
        setup: Setup,
        block: usize,
        source: &mut dyn ApproximateDistances,
        deadline: Deadline<'_>,
    ) -> Result<Self, PoisoningError> {
        let neighbours = Neighbours::rank_approximately(
            &setup.training,
            setup.folds(),
            setup.parameters.metric,
            setup.depth(),
            block,
            source,
            deadline,
        )?;
        let system = Self::from_neighbours(setup, neighbours, deadline);
        if deadline.passed() {
            return Err(PoisoningError::Stopped);
        }
        Ok(system)
    }

    fn from_neighbours(setup: Setup, neighbours: Neighbours, deadline: Deadline<'_>) -> Self {
        let ks = setup.parameters.candidates.values().collect();
        let errors = count_errors(
            &setup.training,
            setup.folds(),
            &neighbours,
            ks,
            None,
            deadline,
        );
        let learned = errors.ks()[errors.best()];
        let ranked_for = setup.parameters.poison;
        Self {
            setup,
            neighbours,
            errors,
            learned,
            ranked_for,
        }
    }

    /// The same system under another threshold: what is learnt from T does not depend on n.
    ///
    /// # Errors
    /// A larger n than the one that was learnt for: its lists of neighbours would be too short.
    pub fn with_poison(mut self, poison: usize) -> Result<Self, PoisoningError> {
        if poison > self.ranked_for {
            return Err(PoisoningError::PoisonBeyondLearnt {
                poison,
                learnt: self.ranked_for,
            });
        }
        self.setup.parameters.poison = poison;
        Ok(self)
    }

    /// K*: the K learnt from the whole of T.
    pub fn k(&self) -> usize {
        self.learned
    }

    /// The cross-validation errors of every candidate K on T.
    pub fn errors(&self) -> &ErrorCounts {
        &self.errors
    }

    /// The training set T.
    pub fn training(&self) -> &TrainingSet {
        &self.setup.training
    }

    /// The training set with its parameters and folds.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The ranked neighbours of every training row in the other folds.
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// The poisoning threshold n.
    pub fn poison(&self) -> usize {
        self.setup.parameters.poison
    }

    /// Ranks the training rows for one test input.
    ///
    /// # Errors
    /// Another number of columns than T, or a value that is not finite.
    pub fn query(&self, features: &[f64]) -> Result<Query, PoisoningError> {
        self.setup.training.check_query(features)?;
        let ranked = rank_query(
            &self.setup.training,
            self.setup.parameters.metric,
            features,
            self.setup.depth(),
        );
        let labels = ranked
            .iter()
            .map(|&row| self.setup.training.labels()[row as usize])
            .collect();
        Ok(Query {
            ranked,
            labels,
            classes: self.setup.training.classes(),
            candidates: self.setup.parameters.candidates,
            poison: self.setup.parameters.poison,
        })
    }

    /// K* of T \ R, with R as flags: all errors of every candidate K counted again, from the ranked neighbours of T.
    ///
    /// The order of the rows that are left does not depend on R, and n rows at most are gone from lists of K_max + n: the
    /// first K_max rows left are those of a ranking of T \ R.
    pub(crate) fn learn_without(&self, removed: &[bool]) -> usize {
        let errors = count_errors(
            &self.setup.training,
            self.setup.folds(),
            &self.neighbours,
            self.errors.ks().to_vec(),
            Some(removed),
            Deadline::never(),
        );
        errors.ks()[errors.best()]
    }

    /// The label predicted for a test input with the K learnt from T.
    ///
    /// # Errors
    /// Another number of columns than T, or a value that is not finite.
    pub fn classify(&self, features: &[f64]) -> Result<u16, PoisoningError> {
        let query = self.query(features)?;
        Ok(self.predict(&query, &[], self.learned))
    }

    /// The label of a ranked test input for a given K and removal set (as flags).
    pub(crate) fn predict(&self, query: &Query, removed: &[bool], k: usize) -> u16 {
        // n < |T| leaves a row in every list that starts with the K_max + n nearest.
        super::predict::predict(query.ranked(), self.setup.training.labels(), removed, k)
            .unwrap_or_default()
    }

    /// No row removed.
    pub(crate) fn nothing_removed(&self) -> Vec<bool> {
        vec![false; self.setup.training.rows()]
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
            Some(PoisoningError::TooFewFolds { folds: 1 })
        );
        assert_eq!(
            checked(5, 1, 2, 1),
            Some(PoisoningError::TooManyFolds { folds: 5, rows: 4 })
        );
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
    fn what_is_learnt_serves_every_smaller_threshold_and_can_be_stopped() {
        let features = (0..30).map(|row| f64::from(row * 7 % 11)).collect();
        let labels = (0..30).map(|row| u16::from(row * 7 % 11 > 5)).collect();
        let training = TrainingSet::new(features, 1, labels).unwrap();
        let setup = |poison| {
            let parameters = Parameters {
                folds: 5,
                seed: 3,
                candidates: Candidates { first: 1, last: 4 },
                poison,
                metric: Metric::Euclidean,
            };
            parameters.check(training.clone()).unwrap()
        };
        let learned = KnnSystem::learn(setup(3));
        let fewer = learned.clone().with_poison(1).unwrap();
        let anew = KnnSystem::learn(setup(1));
        assert_eq!((fewer.k(), fewer.poison()), (anew.k(), 1));
        for point in 0..11 {
            let query = [f64::from(point) + 0.3];
            let ranked = |system: &KnnSystem| system.query(&query).unwrap().ranked;
            assert_eq!(ranked(&fewer), ranked(&anew));
            let decided = |system: &KnnSystem| {
                crate::Analysis::new(system)
                    .decide(&query, crate::Method::Auto, Deadline::never())
                    .unwrap()
            };
            assert_eq!(decided(&fewer), decided(&anew));
        }
        assert_eq!(
            learned.with_poison(4).err(),
            Some(PoisoningError::PoisonBeyondLearnt {
                poison: 4,
                learnt: 3
            })
        );
        let stop = std::sync::atomic::AtomicBool::new(true);
        let stopped = KnnSystem::learn_until(setup(1), Deadline::never().or_when(&stop));
        assert_eq!(stopped.err(), Some(PoisoningError::Stopped));
    }

    #[test]
    fn a_share_of_too_few_rows_holds_no_candidate() {
        assert_eq!(Candidates::share(9, 10), Candidates { first: 1, last: 0 });
        assert_eq!(Candidates::share(135, 10).last, 13);
    }
}
