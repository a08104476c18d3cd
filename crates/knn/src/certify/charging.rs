//! How much any removal can help one K against another: the counting argument behind every bound.
//!
//! For two candidates K and M let d_i in {-1, 0, 1} be (row i is wrong at K) - (wrong at M), and
//! D_j the sum of d_i over fold j. K can be learnt from T \ R only if `sum_j D_j(R) / |G_j \ R| <=
//! 0`, strictly if M < K.
//!
//! **Lemma (charging).** For every row r there is a weight w(r) such that for all R of at most b
//! rows `sum_j D_j(R) / |G_j \ R| >= gap - correction - sum_{r in R} w(r)`, with gap = sum_j D_j /
//! |G_j|. *Proof.*
//! 1. D_j(R) = D_j - (sum of d_r over R in G_j) - (gains of the rows left). The first sum is the
//!    direct part of w. A row left can gain only by being put right at K or wrong at M.
//! 2. A row whose vote at K takes at least c removals to flip needs c members of R in its first K +
//!    c - 1 neighbours: the a-th removed row before the K-th survivor has place at most K + a - 1.
//!    Each of these rows is charged 1/c of the row's share 1/|G_j|, so a flip is paid for in full.
//!    Rows with the label that has to win need not be charged: putting them back (and dropping the
//!    last voters) only helps it. For a row that has to become wrong this applies if one rival only
//!    can beat its label.
//! 3. If c = 1, either exactly one member of R lies in the first K neighbours' reach, and it flips
//!    the vote alone: it is charged 1; or at least two lie in the first K + 1: all others there are
//!    charged 1/2. Where d = 0 the gain needs *both* votes to end up right (at K and wrong at M,
//!    respectively): a row that does both alone is charged 1, every other of the first max(K, M) +
//!    1 is charged 1/2. The cheaper way is taken.
//! 4. With u_j = 1/|G_j \ R|: D_j(R) u_j = D_j(R)/|G_j| + D_j(R) (u_j - 1/|G_j|), and the last term
//!    is at least -N_j r_j / (|G_j| (|G_j| - r_j)) where r_j rows leave fold j and N_j bounds
//!    -D_j(R). As the r_j sum to at most b, the correction b max_j N_j / (|G_j| (|G_j| - b)) covers
//!    all folds. ∎
//!
//! All arithmetic is in integers, in units of 1/`scale`, rounded towards the weaker bound.

use crate::certify::amortised_bound::{AmortisedBound, SearchState, clamped, top_rows};
use crate::certify::cost_sharing::CostSharing;
use crate::certify::flip_costs::FlipCosts;
use crate::certify::fold_weights::FoldWeights;
use crate::certify::minimal_removal::violating_removal;
use crate::certify::reference_bound::ReferenceVotes;
use crate::certify::vote_flips::{Neighbourhood, VoteFlips};

/// Gains are counted for each fold, which makes the correction smaller, while rows times folds stay
/// below this number.
const TOLD_APART: usize = 1 << 21;

/// Charges every row for what its removal can do for the K at index `at` against the one at
/// `reference`.
///
/// `barred` rows cannot be removed any more (nor can those already removed). `known` holds what
/// many calls on T share, with the place of K in it. The flips are noted in `costs`, if given (on T
/// only).
pub(crate) fn bound_pair(
    state: SearchState<'_>,
    at: usize,
    reference: usize,
    barred: &[bool],
    known: Option<(&ReferenceVotes, usize)>,
    mut costs: Option<&mut CostSharing>,
) -> AmortisedBound {
    let system = state.system;
    let ks = state.counts.ks();
    let (k, m) = (ks[at], ks[reference]);
    let folds = system.setup.folds();
    let labels = system.setup.training.labels();
    let classes = system.setup.training.classes();
    let shares = FoldWeights::new(state.counts.remaining(), state.budget);
    let budget = state.budget;
    let rows = labels.len();
    let mut gains = vec![0_i64; rows];
    let mut penalties = vec![0_i64; rows];
    let apart = rows.saturating_mul(folds.count()) <= TOLD_APART;
    let mut within = vec![0_i64; if apart { rows * folds.count() } else { 0 }];
    let mut cap = vec![0_i64; folds.count()];
    let mut near = Neighbourhood::default();
    let mut flips = FlipCosts::default();
    for row in (0..rows).filter(|&row| !state.removed[row]) {
        let label = labels[row];
        let fold = folds.fold(row);
        let longest = k.max(m) + budget + 1;
        let (wrong_k, lost_m) = match known {
            Some((known, place)) => (known.is_wrong(row, place), known.lost(row)),
            None => {
                near.read(system, row, state.removed, longest);
                let votes = &near.labels;
                let lost_k = violating_removal(votes, classes, k, label, 0);
                let lost_m = violating_removal(votes, classes, m, label, budget);
                (lost_k.is_some(), lost_m)
            }
        };
        match (wrong_k, lost_m) {
            (false, None) => continue,
            (false, Some(0)) => {
                penalties[row] = shares.low[fold];
                continue;
            }
            (false, Some(cost)) if cost > 1 && known.is_some() => {
                near.read(system, row, state.removed, m + budget + 1);
            }
            _ if known.is_some() => near.read(system, row, state.removed, longest),
            _ => {}
        }
        flips.clear();
        let direct = wrong_k && lost_m != Some(0);
        flips.item(row, shares.high[fold], direct);
        let mut votes = VoteFlips {
            near: &near,
            costs: &mut flips,
            budget,
            classes,
            label,
        };
        cap[fold] += match (wrong_k, lost_m == Some(0)) {
            (true, false) => {
                let right = votes.right(k);
                let lost = votes.wrong(m, lost_m);
                1.max(i64::from(right) + i64::from(lost))
            }
            (true, true) => i64::from(votes.right_at_k_only(k, m)),
            (false, _) => i64::from(votes.wrong_at_m_only(k, m, lost_m)),
        };
        let within = if apart {
            &mut within[fold * rows..(fold + 1) * rows]
        } else {
            &mut []
        };
        for item in flips.items() {
            flips.pay_evenly(item, |row, part| {
                let row = row as usize;
                gains[row] += part;
                if let Some(within) = within.get_mut(row) {
                    *within += part;
                }
            });
        }
        if let Some(costs) = &mut costs {
            costs.keep(&flips);
        }
    }
    let open = |row: usize| !state.removed[row] && !barred[row];
    let total_of = |gains: &[i64]| -> i128 {
        let top = top_rows(gains, budget, open);
        top.iter().map(|&row| i128::from(gains[row as usize])).sum()
    };
    let reachable = total_of(&gains);
    let mut slack = 0_i128;
    let mut bend = 0_i128;
    for (fold, &cap) in cap.iter().enumerate() {
        let difference = i64::from(state.counts.wrong(at)[fold])
            - i64::from(state.counts.wrong(reference)[fold]);
        slack += i128::from(shares.at_least(fold, difference));
        let reachable = if apart {
            total_of(&within[fold * rows..(fold + 1) * rows])
        } else {
            reachable
        };
        let limit = (reachable / i128::from(shares.low[fold].max(1))).min(i128::from(cap));
        let negative = (limit - i128::from(difference)).max(0);
        bend = bend.max(negative * i128::from(shares.bend[fold]));
    }
    let slack = clamped(slack - bend * budget as i128);
    if let Some(costs) = costs {
        costs.finish(&shares, &penalties, slack, m < k);
    }
    for (gain, penalty) in gains.iter_mut().zip(&penalties) {
        *gain -= penalty;
    }
    let top = top_rows(&gains, 2 * budget, open);
    AmortisedBound {
        slack,
        weights: gains,
        top,
        strict: m < k,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candidates, KnnSystem, LearnUpdate, Metric, Parameters, TrainingSet};
    use std::cmp::Ordering;

    /// Returns all subsets of `rows` rows with at most `size` members.
    fn subsets(rows: usize, size: u32) -> impl Iterator<Item = Vec<usize>> {
        (0..1_u32 << rows)
            .filter(move |mask| mask.count_ones() <= size)
            .map(move |mask| (0..rows).filter(|&row| mask >> row & 1 == 1).collect())
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(300))]

        /// If the charges of the removed rows exclude K, K is behind the reference, whatever is
        /// removed.
        #[test]
        fn charges_never_exclude_what_a_removal_achieves(
            points in proptest::collection::vec((0_u8..5, 0_u16..3), 4..12),
            folds in 2_usize..5,
            poison in 1_usize..4,
            seed in 0_u64..1000,
        ) {
            let features = points.iter().map(|&(x, _)| f64::from(x)).collect();
            let labels = points.iter().map(|&(_, label)| label).collect();
            let Ok(training) = TrainingSet::new(features, 1, labels) else { return Ok(()) };
            let rows = training.rows();
            let training = training.with_ids((0..rows).map(|row| row.to_string())).unwrap();
            let candidates = Candidates { first: 1, last: 4 };
            let metric = Metric::Euclidean;
            let poison = poison.min(rows - 1);
            let parameters = Parameters { folds, seed, candidates, poison, metric };
            let Ok(setup) = parameters.check(training) else { return Ok(()) };
            let system = KnnSystem::learn(setup);
            let update = LearnUpdate::new(&system);
            let removed = system.nothing_removed();
            let counts = update.base();
            let state = SearchState { system: &system, removed: &removed, counts, budget: poison };
            let all: Vec<usize> = (0..4).collect();
            for at in 0..4 {
                let mut parts = Vec::new();
                for reference in (0..4).filter(|&reference| reference != at) {
                    let known = ReferenceVotes::at(state, &all, reference);
                    let shared = bound_pair(state, at, reference, &removed, Some((&known, at)), None);
                    let mut costs = CostSharing::default();
                    let alone =
                        bound_pair(state, at, reference, &removed, None, Some(&mut costs));
                    assert_eq!(shared.weights, alone.weights);
                    assert_eq!(shared.slack, alone.slack);
                    let evenly = costs.charges(&vec![0.0; rows]);
                    assert_eq!(evenly.weights, alone.weights);
                    assert_eq!(evenly.slack, alone.slack);
                    for turn in 1..5 {
                        let part_of: Vec<f32> = (0..rows as u64)
                            .map(|row| ((row * seed + row * row * turn) % 7) as f32 / 6.0)
                            .collect();
                        let mut sparing = costs.charges(&part_of);
                        sparing.top = top_rows(&sparing.weights, 2 * poison, |_| true);
                        parts.push((reference, sparing));
                    }
                    parts.push((reference, alone));
                }
                for removal in subsets(rows, poison as u32) {
                    let after = update.errors(&removal).unwrap();
                    let gain = |part: &AmortisedBound| -> i128 {
                        removal.iter().map(|&row| i128::from(part.weights[row])).sum()
                    };
                    for (reference, part) in &parts {
                        let behind = match after.compare(at, *reference) {
                            Ordering::Greater => true,
                            Ordering::Equal => *reference < at,
                            Ordering::Less => false,
                        };
                        assert!(behind || !part.excludes(gain(part)), "{removal:?}");
                        assert!(gain(part) <= part.best_gain(poison));
                    }
                }
            }
        }
    }
}
