//! A restart of a clustering: its seeding, and the results of every iteration.
//!
//! An iteration holds its centroids, the cluster of every row, and count, sum and loss of the
//! clusters; the next iteration's centroids follow from these ([`super::quantizer`]).
//!
//! **Lemma.** After [`Run::subtract`], [`Run::plan`] and [`Run::follow`] the run equals the one
//! that [`Run::new`] makes of the remaining rows. *Proof.* By induction over iterations. The seeds
//! are those of the remaining rows ([`super::seeding`]). If the centroids of an iteration are, so
//! is the cluster of every remaining row, for it depends on that row and the centroids alone;
//! count, sum and loss lose exactly what the deleted rows added, since they are integers. The
//! centroids of the next iteration, or the decision to stop, are a function of these and of the
//! number of rows; where its value is another one than before, the iterations from there on are
//! made anew. ∎

use std::collections::VecDeque;

use super::errors::KMeansError;
use super::iteration::Iteration;
use super::points::Points;
use super::quantizer::{Next, UpdateStep};
use super::seeding::{Draws, Seeding, candidates_of};

/// The number of replaced iterations that are kept for each position.
const SPARES: usize = 3;

/// A clustering from one seeding.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    update: UpdateStep,
    draws: Draws,
    pub seeding: Seeding,
    pub iterations: Vec<Iteration>,
    /// The iterations that others have replaced, by position, the latest last. They are not part of
    /// the model: means that lie near the wall of a lattice cell come back across it, and find
    /// their iteration here, kept up to date.
    spares: Vec<VecDeque<Iteration>>,
}

/// Rows that are taken out of a run.
pub(crate) struct Subtracted {
    /// For each iteration, the clusters that the rows were in.
    touched: Vec<Vec<bool>>,
    /// The number of rows before.
    before: usize,
}

/// The changes that a run needs.
pub(crate) struct Plan {
    /// The first stage that has another seed.
    pub reseeded_from: Option<usize>,
    /// The first iteration that is not what it has to be, and what has to be in its place.
    change: Option<(usize, Next)>,
}

impl Plan {
    /// Returns the first iteration that changes, or is there no more; 0 is the seeding.
    pub fn redone_from(&self) -> Option<usize> {
        self.change.as_ref().map(|&(iteration, _)| iteration)
    }
}

impl Run {
    /// Clusters `points`, which has a row a cluster.
    pub fn new(points: &Points, update: UpdateStep, draws: Draws) -> Run {
        let mut run = Run {
            seeding: Seeding::new(points, update.clusters, draws),
            update,
            draws,
            iterations: Vec::new(),
            spares: Vec::new(),
        };
        let centroids = run.seed_rows(points);
        run.redo(points, 0, centroids);
        run
    }

    /// Creates a run whose iterations are known. The iterations must be what [`Run::new`] makes of
    /// their clusters: each begins with the centroids that follow from the one before, and the last
    /// one ends.
    ///
    /// # Errors
    /// [`KMeansError::Damaged`] where they do not.
    pub fn from_parts(
        points: &Points,
        mut update: UpdateStep,
        draws: Draws,
        seeding: Seeding,
        iterations: Vec<Iteration>,
    ) -> Result<Run, KMeansError> {
        let damaged = |problem| Err(KMeansError::Damaged { problem });
        let clusters = update.clusters;
        let stages = seeding.stages.iter().enumerate();
        let drawn = stages.clone().all(|(at, stage)| {
            let races = candidates_of(at, clusters);
            let choice = if races > 1 { races } else { 0 };
            stage.candidates.len() == races && stage.potentials.len() == choice
        });
        let candidates = || stages.clone().flat_map(|(_, stage)| &stage.candidates);
        if seeding.seeds.len() != clusters
            || !drawn
            || candidates().any(|&id| points.slot(id).is_none())
        {
            return damaged("its seeds are not among its rows");
        }
        if iterations.is_empty() || iterations.len() - 1 > update.iterations {
            return damaged("it has no iteration, or too many");
        }
        update.draw_phases(iterations.len());
        let run = Run {
            update,
            draws,
            seeding,
            iterations,
            spares: Vec::new(),
        };
        let mut expected = Next::Centroids(run.seed_rows(points));
        for (at, iteration) in run.iterations.iter().enumerate() {
            if !matches!(&expected, Next::Centroids(centroids) if *centroids == iteration.centroids)
            {
                return damaged("its centroids do not follow from its clusters");
            }
            expected = run.update.next(&run.iterations, at, points.len());
        }
        if expected != Next::Stop {
            return damaged("it ends before its last iteration");
        }
        Ok(run)
    }

    /// Returns the position of the iteration that is the result.
    pub fn result_at(&self) -> usize {
        self.update.result(&self.iterations)
    }

    /// Returns the iteration that is the result.
    pub fn result(&self) -> &Iteration {
        &self.iterations[self.result_at()]
    }

    /// Takes the rows in `slots`, which are still there, out of everything.
    pub fn subtract(&mut self, points: &Points, slots: &[usize]) -> Subtracted {
        let mut touched = Vec::with_capacity(self.iterations.len());
        for &slot in slots {
            self.seeding.subtract(points, slot);
        }
        for iteration in &mut self.iterations {
            let mut of_iteration = vec![false; self.update.clusters];
            for &slot in slots {
                of_iteration[iteration.subtract(points, slot)] = true;
            }
            touched.push(of_iteration);
        }
        for iteration in self.spares.iter_mut().flatten() {
            for &slot in slots {
                iteration.subtract(points, slot);
            }
        }
        Subtracted {
            touched,
            before: points.len(),
        }
    }

    /// Finds what has to change now that `points` lacks the rows `gone` (ids, ascending), which
    /// were `subtracted`. Only the seeding changes at once.
    pub fn plan(&mut self, points: &Points, gone: &[u64], subtracted: &Subtracted) -> Plan {
        let reseeded_from = self.seeding.repair(points, gone, self.draws);
        let change = match reseeded_from {
            Some(_) => Some((0, Next::Centroids(self.seed_rows(points)))),
            None => self.first_change(points, subtracted),
        };
        Plan {
            reseeded_from,
            change,
        }
    }

    /// Returns the first iteration that is not what it has to be, and what has to be in its place.
    fn first_change(&self, points: &Points, subtracted: &Subtracted) -> Option<(usize, Next)> {
        let (n, before) = (points.len(), subtracted.before);
        let standing = |at: usize| {
            let touched = &subtracted.touched[at];
            self.update.stands(&self.iterations, at, n, before, touched)
        };
        let at = (0..self.iterations.len()).find(|&at| !standing(at))?;
        Some((at + 1, self.update.next(&self.iterations, at, n)))
    }

    /// Makes the iterations that `plan` asks for.
    pub fn follow(&mut self, points: &Points, plan: Plan) {
        match plan.change {
            Some((at, Next::Centroids(centroids))) => self.redo(points, at, centroids),
            Some((at, Next::Stop)) => self.shorten(at),
            None => {}
        }
    }

    /// Makes the iterations from `at` on, the first of them with `centroids`.
    fn redo(&mut self, points: &Points, mut at: usize, mut centroids: Vec<i32>) {
        loop {
            self.make_iteration(points, at, centroids);
            self.update.draw_phases(at + 1);
            let made = &self.iterations[..=at];
            match self.update.next(made, at, points.len()) {
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
    fn make_iteration(&mut self, points: &Points, at: usize, centroids: Vec<i32>) {
        if self
            .iterations
            .get(at)
            .is_some_and(|iteration| iteration.centroids == centroids)
        {
            return;
        }
        let iteration = match self.take_spare(at, &centroids) {
            Some(spare) => spare,
            None => self.new_iteration(points, at, centroids),
        };
        if at == self.iterations.len() {
            self.iterations.push(iteration);
        } else {
            let replaced = std::mem::replace(&mut self.iterations[at], iteration);
            self.keep_spare(at, replaced);
        }
    }

    fn new_iteration(&self, points: &Points, at: usize, centroids: Vec<i32>) -> Iteration {
        let near = self.iterations.get(at);
        near.and_then(|near| near.moved_to(points, &centroids))
            .unwrap_or_else(|| {
                let before = at.checked_sub(1).map(|before| &self.iterations[before]);
                Iteration::by_full_pass(points, centroids, before)
            })
    }

    fn take_spare(&mut self, at: usize, centroids: &[i32]) -> Option<Iteration> {
        let spares = self.spares.get_mut(at)?;
        let found = spares
            .iter()
            .position(|spare| spare.centroids == centroids)?;
        spares.remove(found)
    }

    /// Keeps a replaced iteration, if centroids lie on a lattice: Lloyd's centroids never come
    /// back, those on a lattice do.
    fn keep_spare(&mut self, at: usize, iteration: Iteration) {
        if !self.update.has_lattice() {
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

    /// Returns the seeds as centroids.
    fn seed_rows(&self, points: &Points) -> Vec<i32> {
        let seeds = self.seeding.seeds.iter();
        seeds
            .filter_map(|&id| points.slot(id))
            .flat_map(|slot| points.row(slot))
            .copied()
            .collect()
    }

    /// Gives up the slots that are not `live`.
    pub fn compact(&mut self, live: &[bool]) {
        let spares = self.spares.iter_mut().flatten();
        for iteration in self.iterations.iter_mut().chain(spares) {
            iteration.compact(live);
        }
    }
}
