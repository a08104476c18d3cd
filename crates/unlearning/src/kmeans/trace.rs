//! The trace of a clustering (in the sense of self-adjusting computation): the results of every
//! iteration of every restart. The trace is the model, and all that deletion needs.
//!
//! The restarts (`run`) draw random numbers of their own. The result is that of the one
//! with the smallest loss, the first of several.
//!
//! **Theorem.** After [`Trace::delete`] the trace equals the one that [`Trace::fit`] makes of the
//! remaining rows. *Proof.* Every restart equals the one of the remaining rows, by the lemma of
//! `run`. Their losses are integers, so that the first of the smallest is the same one too. ∎
//!
//! A deletion is *free* when no centroid of any iteration of any restart changes, and the restart
//! with the smallest loss stays the same one: it costs O(k d) an iteration and O(k d ln k) for the
//! seeding of each restart, whatever the number of rows. Otherwise it costs passes from the first
//! iteration that changes, most of which need not look at most rows (`refine`).

use rayon::prelude::*;

use super::errors::KMeansError;
use super::iteration::Iteration;
use super::points::Points;
use super::quantizer::Parameters;
use super::run::{Plan, Run};
use super::seeding::{Draws, Key, Seeding};

/// A clustering with everything that deletion needs.
#[derive(Debug, Clone)]
pub struct Trace {
    pub(crate) parameters: Parameters,
    pub(crate) key: Key,
    pub(crate) points: Points,
    /// The restarts.
    pub(crate) runs: Vec<Run>,
}

/// The effects of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deletion {
    /// The number of rows deleted.
    pub deleted: usize,
    /// The first stage that has another seed, in any restart.
    pub reseeded_from: Option<usize>,
    /// The first iteration whose centroids changed, or that is there no more, in any restart; 0 is
    /// the seeding.
    pub redone_from: Option<usize>,
    /// Whether another restart has the smallest loss now.
    pub other_restart: bool,
    /// The remaining rows whose cluster changed, by id, ascending.
    pub moved: Vec<u64>,
}

impl Deletion {
    /// Returns whether no centroid of any iteration changed, so that no row but the deleted ones
    /// was looked at.
    pub fn is_free(&self) -> bool {
        self.redone_from.is_none() && !self.other_restart
    }
}

impl Trace {
    /// Clusters `points`.
    ///
    /// # Errors
    /// Parameters that make no sense for these points.
    pub fn fit(points: Points, parameters: &Parameters, key: Key) -> Result<Trace, KMeansError> {
        let draws = |restart| Draws { key, restart };
        parameters.check(points.columns(), draws(0))?;
        if points.len() < parameters.clusters {
            return Err(KMeansError::TooFewRows {
                clusters: parameters.clusters,
                rows: points.len(),
            });
        }
        let runs = (0..parameters.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                let update = parameters.check(points.columns(), draws(restart))?;
                Ok(Run::new(&points, update, draws(restart)))
            })
            .collect::<Result<Vec<Run>, KMeansError>>()?;
        Ok(Trace {
            parameters: *parameters,
            key,
            points,
            runs,
        })
    }

    /// Creates a trace whose restarts are known.
    ///
    /// # Errors
    /// [`KMeansError::Damaged`] where they are not what [`Trace::fit`] makes of their clusters.
    pub(crate) fn from_runs(
        points: Points,
        parameters: Parameters,
        key: Key,
        runs: Vec<(Seeding, Vec<Iteration>)>,
    ) -> Result<Trace, KMeansError> {
        if runs.len() != parameters.restarts {
            let problem = "it has another number of restarts";
            return Err(KMeansError::Damaged { problem });
        }
        let runs = runs
            .into_iter()
            .enumerate()
            .map(|(restart, (seeding, iterations))| {
                let restart = restart as u64;
                let draws = Draws { key, restart };
                let update = parameters.check(points.columns(), draws)?;
                Run::from_parts(&points, update, draws, seeding, iterations)
            })
            .collect::<Result<Vec<Run>, KMeansError>>()?;
        Ok(Trace {
            parameters,
            key,
            points,
            runs,
        })
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the key of the random numbers that were drawn.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Returns the remaining rows.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Returns the number of clusters.
    pub fn clusters(&self) -> usize {
        self.parameters.clusters
    }

    /// Returns the centroids, `[clusters, columns]`, fixed point.
    pub fn centroids(&self) -> &[i32] {
        &self.result().centroids
    }

    /// Returns the number of rows of each cluster.
    pub fn counts(&self) -> &[u64] {
        &self.result().counts
    }

    /// Returns the loss Σ|x − c|² in scaled units: a column is 1 wide.
    pub fn loss(&self) -> f64 {
        scaled(self.result().loss)
    }

    /// Returns the loss of each restart.
    pub fn losses(&self) -> Vec<f64> {
        let runs = self.runs.iter();
        runs.map(|run| scaled(run.result().loss)).collect()
    }

    /// Returns the restart with the smallest loss, the first of several.
    pub fn best_restart(&self) -> usize {
        let losses = self.runs.iter().map(|run| run.result().loss).enumerate();
        losses
            .min_by_key(|&(at, loss)| (loss, at))
            .map_or(0, |(at, _)| at)
    }

    /// Returns the number of iterations that the result took.
    pub fn iterations(&self) -> usize {
        self.runs[self.best_restart()].result_at()
    }

    /// Returns the ids of the rows that are the seeds of the result, by stage.
    pub fn seeds(&self) -> &[u64] {
        &self.runs[self.best_restart()].seeding.seeds
    }

    /// Returns the ids of the rows that are seeds of any restart.
    pub fn all_seeds(&self) -> Vec<u64> {
        let mut ids: Vec<u64> = self
            .runs
            .iter()
            .flat_map(|run| &run.seeding.seeds)
            .copied()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the ids of the rows that were candidates for a seed of any restart: the seeds, and
    /// those that were not chosen.
    pub fn candidates(&self) -> Vec<u64> {
        let stages = self.runs.iter().flat_map(|run| &run.seeding.stages);
        let mut ids: Vec<u64> = stages
            .flat_map(|stage| &stage.candidates)
            .copied()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Iterates over the remaining rows with their clusters, in the order of their ids.
    pub fn assignment(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let clusters = &self.result().clusters;
        self.points
            .live_slots()
            .map(move |slot| (self.points.id(slot), usize::from(clusters[slot])))
    }

    fn result(&self) -> &Iteration {
        self.runs[self.best_restart()].result()
    }

    /// Deletes the rows `ids`, in any order. All of it happens or, with an error, nothing.
    ///
    /// # Errors
    /// An id that is not there or comes twice; fewer rows left than clusters.
    pub fn delete(&mut self, ids: &[u64]) -> Result<Deletion, KMeansError> {
        let slots = self.slots_of(ids)?;
        if slots.is_empty() {
            return Ok(Deletion::default());
        }
        let mut gone = ids.to_vec();
        gone.sort_unstable();
        let best = self.best_restart();
        let result = self.runs[best].result_at();
        let points = &self.points;
        let subtracted: Vec<_> = self
            .runs
            .iter_mut()
            .map(|run| run.subtract(points, &slots))
            .collect();
        for &slot in &slots {
            self.points.remove(slot);
        }
        let points = &self.points;
        let plans: Vec<Plan> = self
            .runs
            .iter_mut()
            .zip(&subtracted)
            .map(|(run, subtracted)| run.plan(points, &gone, subtracted))
            .collect();
        let mut deletion = Deletion {
            deleted: ids.len(),
            reseeded_from: plans.iter().filter_map(|plan| plan.reseeded_from).min(),
            redone_from: plans.iter().filter_map(Plan::redone_from).min(),
            ..Deletion::default()
        };
        // The loss alone can make another iteration the result, or another restart.
        let stands =
            |trace: &Trace| trace.best_restart() == best && trace.runs[best].result_at() == result;
        if deletion.redone_from.is_some() || !stands(self) {
            let before = self.runs[best].iterations[result].clusters.clone();
            let points = &self.points;
            let runs = self.runs.par_iter_mut().zip(plans);
            runs.for_each(|(run, plan)| run.follow(points, plan));
            deletion.other_restart = self.best_restart() != best;
            deletion.moved = self.moved_since(&before);
        }
        if self.points.is_sparse() {
            self.compact();
        }
        Ok(deletion)
    }

    fn slots_of(&self, ids: &[u64]) -> Result<Vec<usize>, KMeansError> {
        let slots = ids
            .iter()
            .map(|&id| self.points.slot(id).ok_or(KMeansError::UnknownId { id }))
            .collect::<Result<Vec<usize>, KMeansError>>()?;
        if ids.len() > 1 {
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(KMeansError::RepeatedId { id: pair[0] });
            }
        }
        if self.points.len() - ids.len() < self.clusters() {
            return Err(KMeansError::TooFewRemain {
                clusters: self.clusters(),
                rows: self.points.len(),
                deleted: ids.len(),
            });
        }
        Ok(slots)
    }

    fn moved_since(&self, before: &[u16]) -> Vec<u64> {
        let now = &self.result().clusters;
        self.points
            .live_slots()
            .filter(|&slot| before[slot] != now[slot])
            .map(|slot| self.points.id(slot))
            .collect()
    }

    /// Gives up the slots of deleted rows.
    pub(crate) fn compact(&mut self) {
        for run in &mut self.runs {
            run.compact(self.points.live());
        }
        self.points.compact();
    }
}

/// Converts a loss in units of 2⁻⁴⁸ to scaled units.
fn scaled(loss: i128) -> f64 {
    loss as f64 / (1_u64 << 48) as f64
}
