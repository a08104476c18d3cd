//! Learning again after a removal, at the cost of the rows that it influences.

use crate::errors::PoisoningError;
use crate::learn::error_rate::ErrorCounts;
use crate::learn::{removal_flags, visit_tops};
use crate::system::KnnSystem;
use crate::votes::Votes;

/// KNN_learn_update (Algorithm 6) for a fixed set of K: which rows a removed row can influence.
///
/// **Lemma.** Let L be the largest K of the set. A row x outside R is predicted differently from
/// T \ G_j and from (T \ R) \ (G_j \ R) at some K of the set only if one of its L nearest rows is
/// in R. *Proof.* If none of them is in R, the first L rows of both rankings are the same, and with
/// them every vote of at most L rows. ∎ So counting anew only the rows of R and the rows that list
/// a member of R among their L nearest gives exactly the counts of [`crate::learn::learn`] on T \
/// R. The paper's further filter (QuickCertify on the influenced rows) is left out: it costs as
/// much as the recount.
///
/// Over a certified K set (see `certify::k_set`) the K* that the update returns is still that of
/// the plain learner.
#[derive(Debug, Clone)]
pub struct LearnUpdate<'a> {
    system: &'a KnnSystem,
    base: ErrorCounts,
    starts: Vec<usize>,
    influenced: Vec<u32>,
}

impl<'a> LearnUpdate<'a> {
    /// Prepares updates over every candidate K.
    pub fn new(system: &'a KnnSystem) -> Self {
        let all: Vec<usize> = (0..system.errors.ks().len()).collect();
        Self::over(system, &all)
    }

    /// Prepares updates over the candidates with indices `kept` (ascending, not empty).
    pub(crate) fn over(system: &'a KnnSystem, kept: &[usize]) -> Self {
        let base = system.errors.select(kept);
        let longest = base.ks().last().copied().unwrap_or(1);
        let rows = system.setup.training.rows();
        let mut starts = vec![0_usize; rows + 1];
        let prefix = |row: usize, visit: &mut dyn FnMut(usize)| {
            let mut left = longest;
            system.neighbours.walk(row, |id| {
                visit(id);
                left -= 1;
                left > 0
            });
        };
        for row in 0..rows {
            prefix(row, &mut |id| starts[id + 1] += 1);
        }
        for at in 0..rows {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut influenced = vec![0_u32; starts[rows]];
        for row in 0..rows {
            prefix(row, &mut |id| {
                influenced[next[id]] = row as u32;
                next[id] += 1;
            });
        }
        Self {
            system,
            base,
            starts,
            influenced,
        }
    }

    /// The error counts on T.
    pub fn base(&self) -> &ErrorCounts {
        &self.base
    }

    /// The rows whose predictions the removal of `row` can change.
    pub(crate) fn influenced_by(&self, row: usize) -> &[u32] {
        &self.influenced[self.starts[row]..self.starts[row + 1]]
    }

    /// The exact error counts on T \ R.
    ///
    /// # Errors
    /// More than n removals, a repeated row, or one that does not exist.
    pub fn errors(&self, removal: &[usize]) -> Result<ErrorCounts, PoisoningError> {
        let poison = self.system.poison();
        if removal.len() > poison {
            return Err(PoisoningError::RemovalTooLarge {
                removed: removal.len(),
                poison,
            });
        }
        let removed = removal_flags(self.system.setup.training.rows(), removal)?;
        Ok(self.counts(removal, &removed))
    }

    /// Returns the counts of [`LearnUpdate::errors`] for a removal set that is known to be sound.
    pub(crate) fn counts(&self, removal: &[usize], removed: &[bool]) -> ErrorCounts {
        let system = self.system;
        let folds = system.setup.folds();
        let mut counts = self.base.clone();
        let mut votes = Votes::new(system.setup.training.classes());
        let mut touched: Vec<u32> = removal
            .iter()
            .flat_map(|&row| self.influenced_by(row).iter().copied())
            .chain(removal.iter().map(|&row| row as u32))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let ks = self.base.ks();
        for row in touched {
            let row = row as usize;
            let fold = folds.fold(row);
            let label = system.setup.training.labels()[row];
            let (training, lists) = (&system.setup.training, &system.neighbours);
            visit_tops(training, lists, row, None, ks, &mut votes, |at, top| {
                if top != Some(label) {
                    counts.take(at, fold);
                }
            });
            if removed[row] {
                counts.shrink(fold);
                continue;
            }
            visit_tops(
                training,
                lists,
                row,
                Some(removed),
                ks,
                &mut votes,
                |at, top| {
                    if top != Some(label) {
                        counts.add(at, fold, 1);
                    }
                },
            );
        }
        counts
    }
}

/// Returns K* after the removal of `removal`: the update of Algorithm 6 over every candidate K.
///
/// # Errors
/// As for [`LearnUpdate::errors`].
pub fn learn_update(update: &LearnUpdate<'_>, removal: &[usize]) -> Result<usize, PoisoningError> {
    let errors = update.errors(removal)?;
    Ok(errors.ks()[errors.best()])
}
