//! Directed search for a violation: direct removals around the test input, then removals that steer K*.

use super::analysis::{Analysis, Deadline, Violation};
use super::error_rate::ErrorCounts;
use super::errors::PoisoningError;
use super::steer::{Steering, rivals};
use super::system::Query;
use super::targets::{Target, Targets};

/// Searches for a removal set of at most n rows that changes the label of a test input.
///
/// For each target K: removes h rows labelled `label` near the test input, first the nearest, then those
/// whose removal helps K most; then adds rows that help K against the candidates ahead of it
/// until K, or any other K that votes otherwise, is learnt. *Soundness*: a set is returned only if exact counts
/// over the certified K set ([`super::learn_update`]) learn a K whose vote without the set differs from `label`.
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
                .find_map(|&target| search.by_steering(target))
        })
}

/// Targets tried with direct removals alone before any steering.
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
        let removal = self.nearest_own(target, |_| 0);
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

    /// Removes what the vote needs, then what the learning needs.
    fn by_steering(&self, target: Target) -> Option<Violation> {
        let analysis = self.analysis;
        if target.removals == 0 {
            return self.steered_alone(target);
        }
        if !analysis.effects().knows(target.at) {
            return None;
        }
        let base = analysis.update.base();
        let help = analysis
            .effects()
            .help(target.at, &rivals(base, target.at))?;
        self.steer_from(self.nearest_own(target, |row| -help[row]), target)
            .or_else(|| self.steer_from(self.nearest_own(target, |_| 0), target))
    }

    fn steer_from(&self, removal: Vec<usize>, target: Target) -> Option<Violation> {
        let analysis = self.analysis;
        let reach = target.k + analysis.system.poison();
        // Rows that vote against the label: their removal would undo what the direct removals do.
        let mut allies = analysis.system.nothing_removed();
        self.query
            .ranked()
            .take(reach)
            .filter(|&row| analysis.system.setup.training.labels()[row] != self.label)
            .for_each(|row| allies[row] = true);
        let mut steering = Steering::from(analysis, removal);
        let mut found = None;
        steering.towards(
            target.at,
            self.deadline,
            |row| allies[row],
            |now| {
                let (counts, removal, removed) = (&now.counts, &now.removal, &now.removed);
                found = violation(analysis, self.query, self.label, counts, removal, removed);
                found.is_some()
            },
        );
        found
    }

    /// The vote at K differs already: any removal set that makes K learnt may do. One is found once for all
    /// test inputs.
    fn steered_alone(&self, target: Target) -> Option<Violation> {
        let analysis = self.analysis;
        if !analysis.effects().knows(target.at) {
            return None;
        }
        let removal = analysis.steers[target.at].get_or_init(|| {
            let mut steering = Steering::from(analysis, Vec::new());
            let never = Deadline::never();
            steering
                .towards(
                    target.at,
                    never,
                    |_| false,
                    |now| now.counts.best() == target.at,
                )
                .then_some(steering.removal)
        });
        let known = removal.as_ref().and_then(|removal| {
            let mut removed = analysis.system.nothing_removed();
            removal.iter().for_each(|&row| removed[row] = true);
            let counts = analysis.update.counts(removal, &removed);
            violation(analysis, self.query, self.label, &counts, removal, &removed)
        });
        known.or_else(|| self.steer_from(Vec::new(), target))
    }

    /// h rows with the label among the first K + h of the ranking: those with the smallest `order`, then the nearest.
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

/// The violation that `removal` is, if it is one: exact counts, exact vote.
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
