//! The learning phase: cross-validation errors of every K, and the plain replay of a removal.

pub(crate) mod error_rate;
pub(crate) mod folds;
pub(crate) mod neighbours;
pub(crate) mod update;

use rayon::prelude::*;

use crate::dataset::TrainingSet;
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::parameters::{Parameters, Setup};
use crate::votes::{Votes, predict};
use error_rate::ErrorCounts;
use folds::Folds;
use neighbours::{Neighbours, rank_query};

/// The most rows counted by one task; each task holds one counter for each K and fold.
const ROWS_A_TASK: usize = 2048;

/// Returns the K that KNN_learn learns: the one with the smallest mean cross-validation error on T,
/// the smallest K on ties.
///
/// Every row x of fold G_j is predicted from T \ G_j. Where fewer than K rows are left in T \ G_j
/// all of them vote; where none is left the row counts as wrong. Empty folds are skipped. Counting
/// is incremental over K: one walk along the ranked neighbours of x updates the most frequent label
/// in constant time a step, so all K_max predictions of a row cost K_max steps. Source: section 2.2
/// and Algorithm 5.
pub fn learn(setup: &Setup) -> usize {
    learn_in(setup.training(), setup.folds(), setup.parameters())
}

fn learn_in(training: &TrainingSet, folds: &Folds, parameters: Parameters) -> usize {
    let lists = Neighbours::rank(
        training,
        folds,
        parameters.metric,
        parameters.candidates.last,
        Deadline::never(),
    );
    let ks = parameters.candidates.values().collect();
    let errors = count_errors(training, folds, &lists, ks, None, Deadline::never());
    errors.ks()[errors.best()]
}

/// What the system does after a removal: the K it learns and the label it predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The K learnt from T \ R.
    pub k: usize,
    /// The label predicted from T \ R.
    pub label: u16,
}

/// Learns from T \ R and predicts `features`, from scratch: new distances, no increment, no
/// shortcut.
///
/// This is the yardstick for every *falsified* verdict: the folds are dealt anew to T \ R, and
/// nothing of what was learnt from T is used.
///
/// # Errors
/// A removal set that repeats a row, names one that does not exist or takes all rows; a bad test
/// input.
pub fn replay(
    setup: &Setup,
    removal: &[usize],
    features: &[f64],
) -> Result<Replay, PoisoningError> {
    let (training, parameters) = (setup.training(), setup.parameters());
    training.check_query(features)?;
    let removed = removal_flags(training.rows(), removal)?;
    if removal.len() >= training.rows() {
        return Err(PoisoningError::PoisonTooLarge {
            poison: removal.len(),
            rows: training.rows(),
        });
    }
    let left = training.without(&removed);
    let folds = Folds::deal(left.keys(), parameters.folds, parameters.seed)?;
    let k = learn_in(&left, &folds, parameters);
    let ranked = rank_query(&left, parameters.metric, features, k);
    let label = predict(
        ranked.into_iter().map(|row| row as usize),
        left.labels(),
        &vec![false; left.rows()],
        k,
    );
    Ok(Replay {
        k,
        label: label.unwrap_or_default(),
    })
}

/// Returns the flags of a removal set, one a row.
pub(crate) fn removal_flags(rows: usize, removal: &[usize]) -> Result<Vec<bool>, PoisoningError> {
    let mut removed = vec![false; rows];
    for &row in removal {
        match removed.get_mut(row) {
            Some(flag) if !*flag => *flag = true,
            _ => return Err(PoisoningError::BadRemoval { row, rows }),
        }
    }
    Ok(removed)
}

/// Counts the wrong predictions at the values `ks` (ascending) over all rows of T \ R, with R as
/// flags. Once the deadline has passed, the rest is left out.
pub(crate) fn count_errors(
    training: &TrainingSet,
    folds: &Folds,
    neighbours: &Neighbours,
    ks: Vec<usize>,
    removed: Option<&[bool]>,
    deadline: Deadline<'_>,
) -> ErrorCounts {
    let stays = |row: usize| removed.is_none_or(|removed| !removed[row]);
    let rows: Vec<usize> = (0..training.rows()).filter(|&row| stays(row)).collect();
    let mut sizes = vec![0; folds.count()];
    for &row in &rows {
        sizes[folds.fold(row)] += 1;
    }
    let none = ErrorCounts::none(ks, sizes);
    rows.par_chunks(ROWS_A_TASK)
        .map(|rows| {
            let mut errors = none.clone();
            let mut votes = Votes::new(training.classes());
            for &row in rows {
                if deadline.passed() {
                    break;
                }
                let label = training.labels()[row];
                let fold = folds.fold(row);
                visit_tops(
                    training,
                    neighbours,
                    row,
                    removed,
                    none.ks(),
                    &mut votes,
                    |at, top| {
                        if top != Some(label) {
                            errors.add(at, fold, 1);
                        }
                    },
                );
            }
            errors
        })
        .reduce(|| none.clone(), |sum, part| sum.merge(&part))
}

/// Calls `visit` with the predicted label of `row` at each of `ks` (ascending), by index.
#[inline]
pub(crate) fn visit_tops(
    training: &TrainingSet,
    neighbours: &Neighbours,
    row: usize,
    removed: Option<&[bool]>,
    ks: &[usize],
    votes: &mut Votes,
    mut visit: impl FnMut(usize, Option<u16>),
) {
    votes.clear();
    let labels = training.labels();
    let mut counted = 0;
    let mut at = 0;
    neighbours.walk(row, |id| {
        if removed.is_some_and(|removed| removed[id]) {
            return true;
        }
        if at == ks.len() {
            return false;
        }
        votes.add(labels[id]);
        counted += 1;
        if counted == ks[at] {
            visit(at, votes.top());
            at += 1;
        }
        at < ks.len()
    });
    for rest in at..ks.len() {
        visit(rest, votes.top());
    }
}
