//! The whole system under audit: T, its folds, the candidate K, the threshold n, and what was
//! learnt.

use probity_tensor::device::ComputeDevice;
use probity_tensor::nearest::Approximation;
use probity_tensor::nearest::euclidean::SquaredDistances;

use crate::dataset::TrainingSet;
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::learn::count_errors;
use crate::learn::error_rate::ErrorCounts;
use crate::learn::neighbours::{Metric, Neighbours, rank_query};
use crate::parameters::{Candidates, Parameters, Setup};

/// The number of training rows below which they are ranked by their true distances at once.
const LARGE: usize = 4096;
/// The number of columns below which a CPU ranks rows by their true distances at once: a product
/// saves little there (see `benches/knn.rs`).
const WIDE: usize = 32;
/// The most values of one block of distances.
const BLOCK_VALUES: usize = 1 << 24;

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
    /// The poisoning threshold n for which the lists of neighbours are long enough.
    ranked_for: usize,
}

impl Parameters {
    /// Learns from `training`.
    ///
    /// # Errors
    /// See [`Parameters::check`].
    pub fn learn(self, training: TrainingSet) -> Result<KnnSystem, PoisoningError> {
        Ok(KnnSystem::learn(self.check(training)?))
    }
}

impl KnnSystem {
    /// KNN_learn_init (Algorithm 5): ranks all neighbours once, counts the errors of every
    /// candidate K, and keeps both for the analyses. Takes O(|T|^2 columns + |T| K_max) time and
    /// |T| (K_max + n) ids.
    pub fn learn(setup: Setup) -> Self {
        Self::learn_within(setup, Deadline::never())
    }

    /// Learns like [`KnnSystem::learn`], but gives up at the deadline.
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
            setup.parameters().metric,
            setup.depth(),
            deadline,
        );
        Self::from_neighbours(setup, neighbours, deadline)
    }

    /// Learns like [`KnnSystem::learn_until`], and with the same result, with products on `device`
    /// where they help: for the Euclidean distance of many rows.
    ///
    /// # Errors
    /// A deadline that has passed. What a device cannot do is done without it.
    pub fn learn_on(
        setup: Setup,
        device: &ComputeDevice,
        deadline: Deadline<'_>,
    ) -> Result<Self, PoisoningError> {
        let training = setup.training();
        let worth = training.rows() >= LARGE && (device.is_gpu() || training.columns() >= WIDE);
        if worth
            && setup.parameters().metric == Metric::Euclidean
            && let Some(mut distances) =
                SquaredDistances::new(training.features(), training.columns(), device)
        {
            let block = (BLOCK_VALUES / training.rows()).max(1);
            return Self::learn_approximately(setup.clone(), block, &mut distances, deadline);
        }
        Self::learn_until(setup, deadline)
    }

    /// Learns like [`KnnSystem::learn_until`], with distances from `source` for `block` rows at a
    /// time.
    ///
    /// # Errors
    /// A deadline that has passed. What `source` does not give is computed without it.
    pub fn learn_approximately(
        setup: Setup,
        block: usize,
        source: &mut dyn Approximation,
        deadline: Deadline<'_>,
    ) -> Result<Self, PoisoningError> {
        let neighbours = Neighbours::rank_approximately(
            &setup.training,
            setup.folds(),
            setup.parameters().metric,
            setup.depth(),
            block,
            source,
            deadline,
        );
        let system = Self::from_neighbours(setup, neighbours, deadline);
        if deadline.passed() {
            return Err(PoisoningError::Stopped);
        }
        Ok(system)
    }

    fn from_neighbours(setup: Setup, neighbours: Neighbours, deadline: Deadline<'_>) -> Self {
        let ks = setup.parameters().candidates.values().collect();
        let errors = count_errors(
            &setup.training,
            setup.folds(),
            &neighbours,
            ks,
            None,
            deadline,
        );
        let learned = errors.ks()[errors.best()];
        let ranked_for = setup.parameters().poison;
        Self {
            setup,
            neighbours,
            errors,
            learned,
            ranked_for,
        }
    }

    /// Returns the same system under another threshold: what is learnt from T does not depend on n.
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
        self.setup = self.setup.with_poison(poison);
        Ok(self)
    }

    /// The K learnt from the whole of T, K*.
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
        self.setup.parameters().poison
    }

    /// Ranks the training rows for one test input.
    ///
    /// # Errors
    /// Another number of columns than T, or a value that is not finite.
    pub fn query(&self, features: &[f64]) -> Result<Query, PoisoningError> {
        self.setup.training.check_query(features)?;
        let ranked = rank_query(
            &self.setup.training,
            self.setup.parameters().metric,
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
            candidates: self.setup.parameters().candidates,
            poison: self.setup.parameters().poison,
        })
    }

    /// Returns K* of T \ R, with R as flags: all errors of every candidate K counted again, from
    /// the ranked neighbours of T.
    ///
    /// The order of the rows that are left does not depend on R, and n rows at most are gone from
    /// lists of K_max + n: the first K_max rows left are those of a ranking of T \ R.
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
        crate::votes::predict(query.ranked(), self.setup.training.labels(), removed, k)
            .unwrap_or_default()
    }

    /// Returns the flags of the empty removal set.
    pub(crate) fn nothing_removed(&self) -> Vec<bool> {
        vec![false; self.setup.training.rows()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;

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
}
