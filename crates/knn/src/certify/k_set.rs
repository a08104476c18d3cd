//! The candidate K that can be learnt at all after up to n removals (after Li et al., FMCAD 2022).

use rayon::prelude::*;

use crate::certify::amortised_bound::{AmortisedBound, SearchState};
use crate::certify::charging::bound_pair;
use crate::certify::minimal_removal::Excess;
use crate::certify::reference_bound::{ReferenceBound, ReferenceVotes};
use crate::deadline::Deadline;
use crate::learn::error_rate::ErrorCounts;
use crate::learn::visit_tops;
use crate::system::KnnSystem;
use crate::votes::Votes;

/// The most bytes of charges of pairs that are kept; charges of more pairs are dropped after use.
const CHARGE_BYTES: usize = 1 << 30;

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

    /// The indices of these K among all candidates.
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

/// Computes the certified K set up to the deadline: a K that was not judged before it is not
/// excluded.
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
    let judged = judge(state, survivors, reference, deadline);
    let (indices, charges): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    CertifiedKSet {
        ks: indices.iter().map(|&at| system.errors.ks()[at]).collect(),
        indices,
        charges,
    }
}

/// Returns the members of `survivors` that the charges against `reference` do not exclude, with
/// these charges.
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

/// Counts, for every candidate K and fold, the rows that are wrong at K after any n removals.
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
                let fold = folds.fold(row);
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
