//! The search for a violation: direct removals around the test input, then removals that change
//! what is learnt.

pub(crate) mod attack;
pub(crate) mod branch_and_bound;
pub(crate) mod marginal_gains;
pub(crate) mod tabu_search;

use crate::analysis::Analysis;
use crate::certify::targets::{Target, Targets};
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::falsify::attack::LearningAttack;
use crate::falsify::tabu_search::TabuSearch;
use crate::learn::error_rate::ErrorCounts;
use crate::system::Query;
use crate::verdict::Violation;

/// Searches for a removal set of at most n rows that changes the label of a test input.
///
/// First the h nearest rows labelled `label` are removed, for a few target K. Then, for each target
/// K: the h of them whose removal helps K most, and the set that makes K win best whatever the test
/// input, which is searched once and shared; rows are exchanged (see `tabu_search`) until K, or any
/// other K that votes otherwise, is learnt. *Soundness*: a set is returned only if exact counts
/// over the certified K set (`learn::update`) learn a K whose vote without the set differs
/// from `label`.
///
/// # Errors
/// Another number of columns than T, or a value that is not finite.
pub fn falsify(
    analysis: &Analysis<'_>,
    features: &[f64],
    deadline: Deadline<'_>,
) -> Result<Option<Violation>, PoisoningError> {
    let system = analysis.system;
    let query = system.query(features)?;
    let label = system.predict(&query, &[], system.k());
    let targets = Targets::feasible(analysis, &query, label);
    Ok(falsify_targets(analysis, &query, label, &targets, deadline))
}

pub(crate) fn falsify_targets(
    analysis: &Analysis<'_>,
    query: &Query,
    label: u16,
    targets: &Targets,
    deadline: Deadline<'_>,
) -> Option<Violation> {
    let search = Search {
        analysis,
        query,
        label,
        deadline,
    };
    targets
        .as_slice()
        .iter()
        .filter(|target| target.removals > 0)
        .take(DIRECT)
        .find_map(|&target| search.directly(target))
        .or_else(|| {
            targets
                .as_slice()
                .iter()
                .take_while(|_| !deadline.passed())
                .find_map(|&target| search.by_learning_attack(target))
        })
}

/// Targets tried with direct removals alone before any attack on the learning.
const DIRECT: usize = 8;

struct Search<'s, 'a> {
    analysis: &'s Analysis<'a>,
    query: &'s Query,
    label: u16,
    deadline: Deadline<'s>,
}

impl Search<'_, '_> {
    /// Removes the nearest rows with the label, and nothing else.
    fn directly(&self, target: Target) -> Option<Violation> {
        self.judged(self.nearest_own(target, |_| 0))
    }

    /// Removes what the vote needs, then what the learning needs.
    fn by_learning_attack(&self, target: Target) -> Option<Violation> {
        let attack = self.analysis.attack(target.at);
        if target.removals == 0 {
            // The vote at K differs already: what makes K win for all test inputs may do.
            return self
                .judged(attack.removal.clone())
                .or_else(|| self.attack_from(attack, &[], target));
        }
        let help = &attack.help;
        self.attack_from(attack, &self.nearest_own(target, |row| -help[row]), target)
    }

    fn attack_from(
        &self,
        attack: &LearningAttack<'_>,
        fixed: &[usize],
        target: Target,
    ) -> Option<Violation> {
        let analysis = self.analysis;
        let labels = analysis.system.setup.training.labels();
        // Rows that vote against the label: their removal would undo what the direct removals do.
        let mut allies = analysis.system.nothing_removed();
        let reach = target.k + analysis.system.poison();
        self.query
            .ranked()
            .take(reach)
            .filter(|&row| labels[row] != self.label)
            .for_each(|row| allies[row] = true);
        let others: Vec<usize> = attack
            .removal
            .iter()
            .copied()
            .filter(|&row| !allies[row])
            .collect();
        let mut search = TabuSearch::from(&attack.problem, fixed, &others);
        let mut found = None;
        search.towards(
            self.deadline,
            |row| allies[row],
            |now| {
                found = self.judged(now.removal.clone());
                found.is_some()
            },
        );
        found
    }

    /// Returns the violation that `removal` is, if it changes the label.
    fn judged(&self, removal: Vec<usize>) -> Option<Violation> {
        let mut removed = self.analysis.system.nothing_removed();
        removal.iter().for_each(|&row| removed[row] = true);
        let counts = self.analysis.update.counts(&removal, &removed);
        violation(
            self.analysis,
            self.query,
            self.label,
            &counts,
            &removal,
            &removed,
        )
    }

    /// Returns h rows with the label among the first K + h of the ranking: the rows with the
    /// smallest `order`, then the nearest.
    fn nearest_own(&self, target: Target, order: impl Fn(usize) -> i64) -> Vec<usize> {
        let labels = self.analysis.system.setup.training.labels();
        let mut own: Vec<(i64, usize, usize)> = self
            .query
            .ranked()
            .take(target.k + target.removals)
            .enumerate()
            .filter(|&(_, row)| labels[row] == self.label)
            .map(|(place, row)| (order(row), place, row))
            .collect();
        own.sort_unstable();
        own.truncate(target.removals);
        own.into_iter().map(|(_, _, row)| row).collect()
    }
}

/// Returns the violation that `removal` is, if it changes the label: exact counts, exact vote.
pub(crate) fn violation(
    analysis: &Analysis<'_>,
    query: &Query,
    label: u16,
    counts: &ErrorCounts,
    removal: &[usize],
    removed: &[bool],
) -> Option<Violation> {
    let k = counts.ks()[counts.best()];
    let found = analysis.system.predict(query, removed, k);
    (found != label).then(|| {
        let mut removal = removal.to_vec();
        removal.sort_unstable();
        Violation {
            removal,
            k,
            label: found,
        }
    })
}
