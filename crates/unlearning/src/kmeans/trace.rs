//! The trace of a clustering (in the sense of self-adjusting computation): what every iteration
//! found. It is the model, and all that deletion needs.
//!
//! An iteration holds its centroids, the cluster of every row, and count, sum and loss of the
//! clusters; the next iteration's centroids follow from these (`quantizer`).
//!
//! **Theorem.** After [`Trace::delete`] the trace equals the one that [`Trace::fit`] makes of the
//! remaining rows. *Proof.* By induction over iterations. The seeds are those of the remaining rows
//! (`seeding`). If the centroids of an iteration are, so is the cluster of every remaining row, for
//! it depends on that row and the centroids alone; count, sum and loss lose exactly what the
//! deleted rows added, since they are integers. The centroids of the next iteration, or the
//! decision to stop, are a function of these and of the number of rows; where its value is another
//! one than before, the iterations from there on are made anew. ∎
//!
//! A deletion is *free* when no centroid of any iteration changes: it costs O(k d) an iteration,
//! whatever the number of rows. Otherwise it costs passes from the first iteration that changes,
//! most of which need not look at most rows (`refine`).

use std::collections::VecDeque;

use super::errors::KMeansError;
use super::iteration::Iteration;
use super::points::Points;
use super::quantizer::{Next, Parameters, Quantizer, UpdateStep};
use super::seeding::{Key, seed};

/// A clustering with everything that deletion needs, but for its parameters and points.
#[derive(Debug, Clone)]
pub struct Trace {
    pub(crate) parameters: Parameters,
    pub(crate) key: Key,
    pub(crate) update: UpdateStep,
    pub(crate) points: Points,
    pub(crate) seeds: Vec<u64>,
    pub(crate) iterations: Vec<Iteration>,
    /// Iterations that others have replaced, by position, the latest last. Not part of the model:
    /// means that lie near the wall of a lattice cell come back across it, and find their iteration
    /// here, kept up to date.
    spares: Vec<VecDeque<Iteration>>,
}

/// Replaced iterations that are kept for each position.
const SPARES: usize = 3;

/// What a deletion did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deletion {
    /// Rows deleted.
    pub deleted: usize,
    /// The first stage that was seeded anew, if a seed was deleted.
    pub reseeded_from: Option<usize>,
    /// The first iteration whose centroids changed, or that is there no more; 0 is the seeding.
    pub redone_from: Option<usize>,
    /// Remaining rows whose cluster changed, by id, ascending.
    pub moved: Vec<u64>,
}

impl Deletion {
    /// Whether no centroid of any iteration changed, so that no row but the deleted ones was looked
    /// at.
    pub fn is_free(&self) -> bool {
        self.redone_from.is_none()
    }
}

impl Trace {
    /// Clusters `points`.
    ///
    /// # Errors
    /// Parameters that make no sense for these points.
    pub fn fit(points: Points, parameters: &Parameters, key: Key) -> Result<Trace, KMeansError> {
        let update = parameters.check(points.columns(), key)?;
        if points.len() < update.clusters {
            return Err(KMeansError::TooFewRows {
                clusters: update.clusters,
                rows: points.len(),
            });
        }
        let seeds = seed(&points, update.clusters, key, &[]);
        let mut trace = Trace {
            parameters: *parameters,
            key,
            update,
            points,
            seeds,
            iterations: Vec::new(),
            spares: Vec::new(),
        };
        let centroids = trace.seed_rows();
        trace.redo(0, centroids);
        Ok(trace)
    }

    /// A trace whose iterations are known. They must be what [`Trace::fit`] makes of their
    /// clusters: each begins with the centroids that follow from the one before, and the last one
    /// ends.
    ///
    /// # Errors
    /// [`KMeansError::Damaged`] where they do not.
    pub(crate) fn from_iterations(
        points: Points,
        parameters: Parameters,
        key: Key,
        seeds: Vec<u64>,
        iterations: Vec<Iteration>,
    ) -> Result<Trace, KMeansError> {
        let damaged = |problem| Err(KMeansError::Damaged { problem });
        let mut update = parameters.check(points.columns(), key)?;
        if seeds.len() != update.clusters || seeds.iter().any(|&id| points.slot(id).is_none()) {
            return damaged("its seeds are not among its rows");
        }
        if iterations.is_empty() || iterations.len() - 1 > update.iterations {
            return damaged("it has no iteration, or too many");
        }
        update.draw_phases(iterations.len());
        let trace = Trace {
            parameters,
            key,
            update,
            points,
            seeds,
            iterations,
            spares: Vec::new(),
        };
        let mut expected = Next::Centroids(trace.seed_rows());
        for (at, iteration) in trace.iterations.iter().enumerate() {
            if !matches!(&expected, Next::Centroids(centroids) if *centroids == iteration.centroids)
            {
                return damaged("its centroids do not follow from its clusters");
            }
            expected = trace.update.next(&trace.iterations, at, trace.points.len());
        }
        if expected != Next::Stop {
            return damaged("it ends before its last iteration");
        }
        Ok(trace)
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The random numbers that were drawn.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The remaining rows.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.update.clusters
    }

    /// The centroids, `[clusters, columns]`, fixed point.
    pub fn centroids(&self) -> &[i32] {
        &self.result().centroids
    }

    /// Rows of each cluster.
    pub fn counts(&self) -> &[u64] {
        &self.result().counts
    }

    /// Σ|x − c|² in scaled units: a column is 1 wide.
    pub fn loss(&self) -> f64 {
        self.result().loss as f64 / (1_u64 << 48) as f64
    }

    /// Iterations that the result took.
    pub fn iterations(&self) -> usize {
        self.update.result(&self.iterations)
    }

    /// Ids of the rows that were seeds, by stage.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The cluster of row `id`.
    pub fn cluster_of(&self, id: u64) -> Option<usize> {
        let slot = self.points.slot(id)?;
        Some(usize::from(self.result().clusters[slot]))
    }

    /// The cluster of every remaining row, in the order of their ids.
    pub fn assignment(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let clusters = &self.result().clusters;
        self.points
            .live_slots()
            .map(move |slot| (self.points.id(slot), usize::from(clusters[slot])))
    }

    fn result(&self) -> &Iteration {
        &self.iterations[self.update.result(&self.iterations)]
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
        let before = self.points.len();
        let result = self.update.result(&self.iterations);
        let touched = self.subtract(&slots);
        let reseeded_from = self.seeds.iter().position(|seed| ids.contains(seed));
        let change = match reseeded_from {
            Some(stage) => {
                let kept = &self.seeds[..stage];
                self.seeds = seed(&self.points, self.update.clusters, self.key, kept);
                Some((0, Next::Centroids(self.seed_rows())))
            }
            None => self.first_change(before, &touched),
        };
        let redone_from = change.as_ref().map(|&(iteration, _)| iteration);
        // The loss alone can make another iteration the result.
        let moved = if change.is_some() || self.update.result(&self.iterations) != result {
            let clusters = self.iterations[result].clusters.clone();
            match change {
                Some((iteration, Next::Centroids(centroids))) => self.redo(iteration, centroids),
                Some((iteration, Next::Stop)) => self.shorten(iteration),
                None => {}
            }
            self.moved_since(&clusters)
        } else {
            Vec::new()
        };
        if self.points.is_sparse() {
            self.compact();
        }
        Ok(Deletion {
            deleted: ids.len(),
            reseeded_from,
            redone_from,
            moved,
        })
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
        if self.points.len() - ids.len() < self.update.clusters {
            return Err(KMeansError::TooFewRemain {
                clusters: self.update.clusters,
                rows: self.points.len(),
                deleted: ids.len(),
            });
        }
        Ok(slots)
    }

    /// Takes rows out of every iteration; for each iteration, which clusters they were in.
    fn subtract(&mut self, slots: &[usize]) -> Vec<Vec<bool>> {
        let clusters = self.update.clusters;
        let mut touched = Vec::with_capacity(self.iterations.len());
        for iteration in &mut self.iterations {
            let mut of_iteration = vec![false; clusters];
            for &slot in slots {
                of_iteration[iteration.subtract(&self.points, slot)] = true;
            }
            touched.push(of_iteration);
        }
        for iteration in self.spares.iter_mut().flatten() {
            for &slot in slots {
                iteration.subtract(&self.points, slot);
            }
        }
        for &slot in slots {
            self.points.remove(slot);
        }
        touched
    }

    /// The first iteration that is not what it has to be, and what it has to be.
    fn first_change(&self, before: usize, touched: &[Vec<bool>]) -> Option<(usize, Next)> {
        let n = self.points.len();
        let standing = |at: usize| {
            self.update
                .stands(&self.iterations, at, n, before, &touched[at])
        };
        let at = (0..self.iterations.len()).find(|&at| !standing(at))?;
        Some((at + 1, self.update.next(&self.iterations, at, n)))
    }

    /// Makes the iterations from `at` on, the first of them with `centroids`.
    fn redo(&mut self, at: usize, mut centroids: Vec<i32>) {
        let n = self.points.len();
        let mut at = at;
        loop {
            self.make_iteration(at, centroids);
            self.update.draw_phases(at + 1);
            match self.update.next(&self.iterations[..=at], at, n) {
                Next::Stop => {
                    self.shorten(at + 1);
                    return;
                }
                Next::Centroids(next) => centroids = next,
            }
            at += 1;
        }
    }

    /// Makes iteration `at`, from one that was there if there is one.
    fn make_iteration(&mut self, at: usize, centroids: Vec<i32>) {
        if self
            .iterations
            .get(at)
            .is_some_and(|iteration| iteration.centroids == centroids)
        {
            return;
        }
        let iteration = match self.take_spare(at, &centroids) {
            Some(spare) => spare,
            None => self.new_iteration(at, centroids),
        };
        if at == self.iterations.len() {
            self.iterations.push(iteration);
        } else {
            let replaced = std::mem::replace(&mut self.iterations[at], iteration);
            self.keep_spare(at, replaced);
        }
    }

    fn new_iteration(&self, at: usize, centroids: Vec<i32>) -> Iteration {
        let near = self.iterations.get(at);
        near.and_then(|near| near.moved_to(&self.points, &centroids))
            .unwrap_or_else(|| {
                let before = at.checked_sub(1).map(|before| &self.iterations[before]);
                Iteration::by_full_pass(&self.points, centroids, before)
            })
    }

    fn take_spare(&mut self, at: usize, centroids: &[i32]) -> Option<Iteration> {
        let spares = self.spares.get_mut(at)?;
        let found = spares
            .iter()
            .position(|spare| spare.centroids == centroids)?;
        spares.remove(found)
    }

    /// Lloyd's centroids never come back; those on a lattice do.
    fn keep_spare(&mut self, at: usize, iteration: Iteration) {
        if self.parameters.quantizer == Quantizer::None {
            return;
        }
        if self.spares.len() <= at {
            self.spares.resize_with(at + 1, VecDeque::new);
        }
        let spares = &mut self.spares[at];
        if spares.len() == SPARES {
            spares.pop_front();
        }
        spares.push_back(iteration);
    }

    /// Drops the iterations from `count` on.
    fn shorten(&mut self, count: usize) {
        let dropped = self.iterations.split_off(count);
        for (at, iteration) in dropped.into_iter().enumerate() {
            self.keep_spare(count + at, iteration);
        }
    }

    /// The seeds as centroids.
    fn seed_rows(&self) -> Vec<i32> {
        self.seeds
            .iter()
            .filter_map(|&id| self.points.slot(id))
            .flat_map(|slot| self.points.row(slot))
            .copied()
            .collect()
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
        for iteration in self
            .iterations
            .iter_mut()
            .chain(self.spares.iter_mut().flatten())
        {
            iteration.compact(self.points.live());
        }
        self.points.compact();
    }
}
