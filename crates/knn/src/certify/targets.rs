//! The K in question for one test input: the K that can be learnt and made to vote otherwise.

use crate::analysis::Analysis;
use crate::certify::amortised_bound::RemovalConstraint;
use crate::certify::minimal_removal::violating_removal;
use crate::deadline::Deadline;
use crate::system::Query;

/// A K that could be learnt and be made to vote otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// The index of K in the certified K set.
    pub(crate) at: usize,
    /// The value of K.
    pub k: usize,
    /// The fewest removals among the neighbours of the test input that change its vote at K.
    pub removals: usize,
}

impl Target {
    /// Returns the constraint on a removal set that changes the vote at this K.
    fn constraint<'q>(&self, query: &'q Query, budget: usize) -> RemovalConstraint<'q> {
        let reach = (self.k + self.removals).saturating_sub(1);
        RemovalConstraint {
            budget,
            forced: self.removals,
            window: &query.ranked[..reach.min(query.ranked.len())],
        }
    }
}

/// The most targets for which tighter bounds are worth their cost.
const TIGHTENED: usize = 24;
/// The most steps towards a tighter bound for one K and one test input.
const OWN_ROUNDS: usize = 400;

/// The targets of one test input, the most promising first. If there are none, the prediction is
/// robust.
#[derive(Debug, Clone)]
pub(crate) struct Targets(pub(crate) Vec<Target>);

impl Targets {
    /// Returns the K of the certified set whose vote n removals can change.
    pub fn in_prediction(analysis: &Analysis<'_>, query: &Query, label: u16) -> Self {
        let system = analysis.system;
        let classes = system.setup.training.classes();
        let poison = system.poison();
        let targets =
            analysis.set.ks().iter().enumerate().filter_map(|(at, &k)| {
                violating_removal(query.labels(), classes, k, label, poison)
                    .map(|removals| Target { at, k, removals })
            });
        Self(targets.collect())
    }

    /// Returns the targets of [`Targets::in_prediction`] that can also be learnt by a removal set
    /// that changes the vote.
    ///
    /// **Lemma.** A removal set that changes the vote at K has at least `removals` = h members
    /// among the first K + h - 1 rows of the test input's ranking. If even the n rows that help K
    /// most against K* under that condition do not make up the gap (see `charging`), no such set
    /// makes K learnt. *Proof.* As in the charging lemma, step 2, with the test input in place of
    /// the row. ∎
    pub fn feasible(analysis: &Analysis<'_>, query: &Query, label: u16) -> Self {
        let mut targets = Self::in_prediction(analysis, query, label);
        targets.0.retain(|target| {
            let constraint = target.constraint(query, analysis.system.poison());
            let charges = analysis.set.charges(target.at);
            charges.is_none_or(|charges| !charges.refutes(&constraint))
        });
        let counts = analysis.update.base();
        let best = counts.best();
        let behind = |at: usize| {
            counts
                .total_wrong(at)
                .saturating_sub(counts.total_wrong(best)) as usize
        };
        targets
            .0
            .sort_by_key(|target| (target.removals + behind(target.at), target.k));
        targets
    }

    /// Returns the targets that tighter bounds do not refute; see [`crate::certify::frank_wolfe`].
    /// The first target that they do not refute ends the effort, for then a search is needed
    /// anyway.
    pub(crate) fn left_by_relaxation(
        self,
        analysis: &Analysis<'_>,
        query: &Query,
        deadline: Deadline<'_>,
    ) -> Self {
        let system = analysis.system;
        let mut left = self.0;
        while left.len() <= TIGHTENED
            && let Some(target) = left.last()
            && !deadline.passed()
        {
            let constraint = target.constraint(query, system.poison());
            let refuted = analysis
                .relaxation(target.at)
                .is_some_and(|(relaxation, shared)| {
                    shared.tightest.refutes(&constraint) || {
                        let mut own = shared.clone();
                        own.go(relaxation, &constraint, OWN_ROUNDS, deadline);
                        own.tightest.refutes(&constraint)
                    }
                });
            if !refuted {
                break;
            }
            left.pop();
        }
        Self(left)
    }

    /// The targets in order of promise.
    pub fn as_slice(&self) -> &[Target] {
        &self.0
    }

    /// Whether nothing is left to be tried.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
