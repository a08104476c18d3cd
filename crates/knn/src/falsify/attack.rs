//! The removals that make one K win the cross-validation, searched once for all test inputs.

use crate::certify::k_set::CertifiedKSet;
use crate::deadline::Deadline;
use crate::falsify::tabu_search::{TabuProblem, TabuSearch};
use crate::learn::update::LearnUpdate;
use crate::system::KnnSystem;

/// An attack that makes one K win the cross-validation, whatever the test input.
pub(crate) struct LearningAttack<'a> {
    /// The index of K in the certified set.
    target: usize,
    pub(super) problem: TabuProblem<'a>,
    /// The removal set that brings K nearest to being learnt, of those that were met.
    pub(super) removal: Vec<usize>,
    /// How much the removal of each row from T helps.
    pub(super) help: Vec<i64>,
}

impl<'a> LearningAttack<'a> {
    /// Searches for the K at index `at` of the certified set.
    pub(crate) fn to(
        system: &'a KnnSystem,
        set: &CertifiedKSet,
        update: &LearnUpdate<'a>,
        at: usize,
        deadline: Deadline<'_>,
    ) -> Self {
        let problem = TabuProblem::new(system, set, update, at);
        let help = problem.help();
        let mut search = TabuSearch::from(&problem, &[], &[]);
        let learnt = |now: &TabuSearch<'_, '_>| {
            let counts = update.counts(&now.removal, &now.removed);
            counts.best() == at
        };
        let removal = if search.towards(deadline, |_| false, learnt) {
            search.removal
        } else {
            search.into_best()
        };
        Self {
            target: at,
            problem,
            removal,
            help,
        }
    }

    /// Returns the other K, by index in the certified set, with the fewest errors after this
    /// attack.
    pub(crate) fn strongest_rival(&self, update: &LearnUpdate<'_>) -> Option<usize> {
        let mut removed = self.problem.nothing_removed();
        self.removal.iter().for_each(|&row| removed[row] = true);
        let counts = update.counts(&self.removal, &removed);
        (0..counts.ks().len())
            .filter(|&rival| rival != self.target)
            .min_by(|&a, &b| counts.compare(a, b).then(a.cmp(&b)))
    }
}
