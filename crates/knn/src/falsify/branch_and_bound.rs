//! Exhaustion of the reduced space by branch and bound, the most promising removals first.

use crate::analysis::Analysis;
use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint, SearchState};
use crate::certify::charging::bound_pair;
use crate::certify::minimal_removal::violating_removal;
use crate::certify::targets::{Target, Targets};
use crate::deadline::Deadline;
use crate::falsify::violation;
use crate::system::Query;
use crate::verdict::Violation;

/// How an exhaustive search ended.
pub(crate) enum Outcome {
    /// A removal set that changes the label.
    Violated(Violation),
    /// No removal set changes the label.
    Exhausted,
    /// The deadline passed before the search ended.
    OutOfTime,
}

/// Searches all removal sets that could make one of the targets learnt and vote otherwise.
///
/// **Theorem.** Without a deadline the search returns a violation iff there is one. *Proof.* A
/// violation R makes some K learnt that votes otherwise; by the theorem of the certified K set and
/// the lemma of `Targets::feasible`, K is a target. The search for one target keeps the invariant:
/// if a violation by K exists that contains the rows removed so far and none that is barred, it is
/// a descendant of the node. A node is closed only if K cannot vote otherwise within the budget
/// left (lemma of `minimal_violating_removal`), or K cannot overtake some other candidate (charging
/// lemma, on what is left of T). Otherwise, if the vote needs h > 0 more removals, R has a member
/// among the first K + h - 1 rows left of the ranking: the children remove each of these in turn,
/// and bar it for the later ones. If h = 0, children remove each row in descending order of weight,
/// barring it for the later ones; R's heaviest row is the child where R is found. Once the b
/// heaviest rows that remain cannot close the gap, neither can any later child. ∎
pub(crate) fn branch_and_bound(
    analysis: &Analysis<'_>,
    query: &Query,
    label: u16,
    targets: &Targets,
    deadline: Deadline<'_>,
) -> Outcome {
    let mut late = false;
    for &target in targets.as_slice() {
        let rows = analysis.system.setup.training.rows();
        let mut search = Search {
            analysis,
            query,
            label,
            target,
            deadline,
            removal: Vec::new(),
            removed: vec![false; rows],
            barred: vec![false; rows],
        };
        match search.node() {
            Outcome::Exhausted => {}
            Outcome::OutOfTime => {
                late = true;
                break;
            }
            violated => return violated,
        }
    }
    if late {
        Outcome::OutOfTime
    } else {
        Outcome::Exhausted
    }
}

struct Search<'s, 'a> {
    analysis: &'s Analysis<'a>,
    query: &'s Query,
    label: u16,
    target: Target,
    deadline: Deadline<'s>,
    removal: Vec<usize>,
    removed: Vec<bool>,
    barred: Vec<bool>,
}

impl Search<'_, '_> {
    fn node(&mut self) -> Outcome {
        if self.deadline.passed() {
            return Outcome::OutOfTime;
        }
        let analysis = self.analysis;
        let counts = analysis.update.counts(&self.removal, &self.removed);
        let found = violation(
            analysis,
            self.query,
            self.label,
            &counts,
            &self.removal,
            &self.removed,
        );
        if let Some(found) = found {
            return Outcome::Violated(found);
        }
        let budget = analysis.system.poison() - self.removal.len();
        let Some((forced, window)) = self.vote_window(budget) else {
            return Outcome::Exhausted;
        };
        let state = SearchState {
            system: analysis.system,
            removed: &self.removed,
            counts: &counts,
            budget,
        };
        let mut tightest: Option<(i128, AmortisedBound)> = None;
        for reference in self.references(&counts) {
            let charges = bound_pair(state, self.target.at, reference, &self.barred, None, None);
            let constraint = RemovalConstraint {
                budget,
                forced,
                window: &window,
            };
            let Some(gain) = charges.best_gain_with(&constraint) else {
                return Outcome::Exhausted;
            };
            if charges.excludes(gain) {
                return Outcome::Exhausted;
            }
            let room = gain - i128::from(charges.slack);
            if tightest.as_ref().is_none_or(|&(other, _)| room < other) {
                tightest = Some((room, charges));
            }
        }
        let charges = tightest.map(|(_, charges)| charges);
        if budget == 0 {
            return Outcome::Exhausted;
        }
        let mut children = if forced > 0 {
            window
        } else {
            (0..self.removed.len() as u32)
                .filter(|&row| !self.removed[row as usize] && !self.barred[row as usize])
                .collect()
        };
        if let Some(charges) = &charges {
            children.sort_by_key(|&row| std::cmp::Reverse(charges.weights[row as usize]));
        }
        self.branch(&children, budget, forced, charges.as_ref())
    }

    /// Returns how many removals the vote at K still needs, and the open rows they come from;
    /// `None` if too many.
    fn vote_window(&self, budget: usize) -> Option<(usize, Vec<u32>)> {
        let system = self.analysis.system;
        let left: Vec<u32> = self
            .query
            .ranked
            .iter()
            .copied()
            .filter(|&row| !self.removed[row as usize])
            .take(self.target.k + budget)
            .collect();
        let labels: Vec<u16> = left
            .iter()
            .map(|&row| system.setup.training.labels()[row as usize])
            .collect();
        let classes = system.setup.training.classes();
        let forced = violating_removal(&labels, classes, self.target.k, self.label, budget)?;
        if forced == 0 {
            return Some((0, Vec::new()));
        }
        let window: Vec<u32> = left
            .into_iter()
            .take(self.target.k + forced - 1)
            .filter(|&row| !self.barred[row as usize])
            .collect();
        (window.len() >= forced).then_some((forced, window))
    }

    /// Returns the candidates that the target is held against: the leader here and the one on T.
    fn references(&self, counts: &crate::learn::error_rate::ErrorCounts) -> Vec<usize> {
        let mut references = vec![counts.best(), self.analysis.update.base().best()];
        references.dedup();
        references.retain(|&at| at != self.target.at);
        references
    }

    fn branch(
        &mut self,
        children: &[u32],
        budget: usize,
        forced: usize,
        charges: Option<&AmortisedBound>,
    ) -> Outcome {
        let mut outcome = Outcome::Exhausted;
        let mut tried = Vec::new();
        for (place, &row) in children.iter().enumerate() {
            if forced == 0
                && let Some(charges) = charges
            {
                let gain = children[place..]
                    .iter()
                    .take(budget)
                    .map(|&row| i128::from(charges.weights[row as usize].max(0)))
                    .sum();
                if charges.excludes(gain) {
                    break;
                }
            }
            self.removed[row as usize] = true;
            self.removal.push(row as usize);
            let below = self.node();
            self.removal.pop();
            self.removed[row as usize] = false;
            if !matches!(below, Outcome::Exhausted) {
                outcome = below;
                break;
            }
            self.barred[row as usize] = true;
            tried.push(row);
        }
        for row in tried {
            self.barred[row as usize] = false;
        }
        outcome
    }
}
