//! Which candidate K can be learnt at all after up to n removals (after Li et al., FMCAD 2022).

use rayon::prelude::*;

use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint, SearchState};
use crate::certify::charging::bound_pair;
use crate::certify::convex_combination::combine;
use crate::certify::minimal_removal::Excess;
use crate::certify::reference_bound::{ReferenceBound, ReferenceVotes};
use crate::deadline::Deadline;
use crate::learn::error_rate::ErrorCounts;
use crate::learn::visit_tops;
use crate::system::KnnSystem;
use crate::votes::Votes;

/// Charges of more pairs than this many bytes hold are dropped after use.
const CHARGE_BYTES: usize = 1 << 30;
/// More charges than this are not worth mixing over references for all test inputs: the few K that
/// one test input puts in question get that, and more, when it is their turn (see `frank_wolfe`).
const MIXED_CHARGES: usize = 1 << 25;
/// The candidates that each K is held against: those with the fewest errors on T.
const REFERENCES: usize = 8;

/// The candidates that no argument excludes, with the charges that may exclude them for one test
/// input.
#[derive(Debug, Clone)]
pub struct CertifiedKSet {
    indices: Vec<usize>,
    ks: Vec<usize>,
    charges: Vec<Option<AmortisedBound>>,
}

impl CertifiedKSet {
    /// The values of K that may be learnt from T \ R for some |R| <= n, ascending; K* among them.
    pub fn ks(&self) -> &[usize] {
        &self.ks
    }

    /// Their indices among all candidates.
    pub(crate) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The charges of the `at`-th member against K*, where they were kept.
    pub(crate) fn charges(&self, at: usize) -> Option<&AmortisedBound> {
        self.charges[at].as_ref()
    }
}

/// Excludes every candidate K that is worse than K* = learn(T) after *every* removal of at most n
/// rows.
///
/// **Theorem.** For all R with |R| <= n, learn(T \ R) is in the result. *Proof.* K is excluded only
/// if error^K > error^{K*} for all such R, or >= if K* < K; then K is not the argmin with the
/// smallest-K rule. Two arguments show it, both from the charging lemma (`charging`):
/// 1. *Stuck rows.* A row is stuck wrong at K if no n removals put it right; its error stays unless
///    it is removed itself. Stuck rows bound error^K from below and charges bound error^{K*} from
///    above. One pass over each row's K_max + n neighbours finds the stuck rows of every K.
/// 2. *Pairs.* For the K left, gains at K and losses at K* are charged together, row by row. ∎
///
/// Li et al. bound both errors by counting rows that could flip, each with all n removals to
/// itself; charging lets n removals be spent once.
pub fn certified_k_set(system: &KnnSystem) -> CertifiedKSet {
    certified_until(system, Deadline::never())
}

/// The same; a K that was not judged before the deadline is not excluded.
pub(crate) fn certified_until(system: &KnnSystem, deadline: Deadline<'_>) -> CertifiedKSet {
    let removed = system.nothing_removed();
    let state = SearchState {
        system,
        removed: &removed,
        counts: &system.errors,
        budget: system.poison(),
    };
    let reference = system.errors.best();
    let stuck = stuck_wrong(system);
    let losses = ReferenceBound::at(state, reference);
    let survivors: Vec<usize> = (0..system.errors.ks().len())
        .filter(|&at| {
            at == reference
                || !losses.exclude(
                    stuck.wrong(at),
                    system.errors.wrong(reference),
                    system.errors.remaining(),
                    reference < at,
                )
        })
        .collect();
    let rows = system.setup.training.rows();
    let judged = judge(state, survivors, reference, deadline);
    let left: Vec<usize> = judged.iter().map(|&(at, _)| at).collect();
    let few = left.len() * rows * REFERENCES <= MIXED_CHARGES && !deadline.passed();
    let mut parts: Vec<Vec<AmortisedBound>> = judged
        .into_iter()
        .map(|(_, charges)| charges.into_iter().collect())
        .collect();
    if few {
        for other in other_references(system, reference) {
            let known = ReferenceVotes::at(state, &left, other);
            let more: Vec<Option<AmortisedBound>> = left
                .par_iter()
                .enumerate()
                .map(|(place, &at)| {
                    let distinct = at != other && at != reference;
                    distinct.then(|| {
                        bound_pair(state, at, other, &removed, Some((&known, place)), None)
                    })
                })
                .collect();
            for (part, more) in parts.iter_mut().zip(more) {
                part.extend(more);
            }
        }
    }
    let poison = system.poison();
    let judged: Vec<(usize, Option<AmortisedBound>)> = left
        .into_par_iter()
        .zip(parts)
        .filter_map(
            |(at, parts)| match combine(&parts, &RemovalConstraint::any(poison)) {
                Some(mixed) if mixed.excludes(mixed.best_gain(poison)) => None,
                mixed => Some((at, mixed)),
            },
        )
        .collect();
    let (indices, charges): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    CertifiedKSet {
        ks: indices.iter().map(|&at| system.errors.ks()[at]).collect(),
        indices,
        charges,
    }
}

/// Those of `survivors` that the charges against `reference` do not exclude, with these charges.
fn judge(
    state: SearchState<'_>,
    survivors: Vec<usize>,
    reference: usize,
    deadline: Deadline<'_>,
) -> Vec<(usize, Option<AmortisedBound>)> {
    let known = ReferenceVotes::at(state, &survivors, reference);
    let rows = state.system.setup.training.rows();
    let keep = survivors.len() * rows * size_of::<i64>() <= CHARGE_BYTES;
    survivors
        .into_par_iter()
        .enumerate()
        .filter_map(|(place, at)| {
            if at == reference || deadline.passed() {
                return Some((at, None));
            }
            let known = Some((&known, place));
            let charges = bound_pair(state, at, reference, state.removed, known, None);
            let excluded = charges.excludes(charges.best_gain(state.budget));
            (!excluded).then_some((at, keep.then_some(charges)))
        })
        .collect()
}

/// The candidates next best on T: they too must be overtaken.
fn other_references(system: &KnnSystem, reference: usize) -> Vec<usize> {
    let errors = &system.errors;
    let mut order: Vec<usize> = (0..errors.ks().len())
        .filter(|&at| at != reference)
        .collect();
    order.sort_by(|&a, &b| errors.compare(a, b).then(a.cmp(&b)));
    order.truncate(REFERENCES - 1);
    order
}

/// For every candidate K and fold: the rows that are wrong at K after any n removals.
///
/// By the lemma of `minimal_winning_removal`, the label y of a row can win at K only if the
/// excesses of the other labels over y in the first K + t rows sum to at most t, for some t <= n;
/// checked at t = n, because removing further rows of other labels never hurts y.
fn stuck_wrong(system: &KnnSystem) -> ErrorCounts {
    let folds = system.setup.folds();
    let training = &system.setup.training;
    let poison = system.poison();
    let none = ErrorCounts::none(system.errors.ks().to_vec(), folds.sizes().to_vec());
    let rows: Vec<usize> = (0..training.rows()).collect();
    rows.par_chunks(2048)
        .map(|rows| {
            let mut stuck = none.clone();
            let mut votes = Votes::new(training.classes());
            let mut excess = Excess::new(training.classes());
            let mut labels: Vec<u16> = Vec::new();
            for &row in rows {
                let label = training.labels()[row];
                let fold = folds.of(row);
                labels.clear();
                system.neighbours.walk(row, |id| {
                    labels.push(training.labels()[id]);
                    true
                });
                excess.start(label, []);
                let mut read = 0;
                let ks = none.ks();
                visit_tops(
                    training,
                    &system.neighbours,
                    row,
                    None,
                    ks,
                    &mut votes,
                    |at, _| {
                        let prefix = (ks[at] + poison).min(labels.len());
                        for &other in &labels[read..prefix.max(read)] {
                            excess.add(other);
                        }
                        read = prefix.max(read);
                        if !excess.bearable(poison) {
                            stuck.add(at, fold, 1);
                        }
                    },
                );
            }
            stuck
        })
        .reduce(|| none.clone(), |sum, part| sum.merge(&part))
}
