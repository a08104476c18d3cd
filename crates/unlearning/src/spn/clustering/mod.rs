//! Data splits: k-means on a lattice, with a trace that follows rows that leave and rows that come.
//!
//! Lloyd's algorithm with centroids rounded to a lattice (Ginart et al., "Making AI Forget You",
//! 2019, section 4.1), in whole numbers throughout: coordinates, sums, squared distances. Seeds are
//! drawn by D² weights as an exponential race: row r at stage s has −ln(U)/w with U keyed by (node,
//! id of r, s), and the smallest wins, so that a row that did not win leaves no mark.
//!
//! **Lemma.** [`Clustering::follow`] leaves the trace and the seeds that [`Clustering::new`] gives
//! for the rows that are there now. A step of the trace is a function of its centroids and the
//! rows: distances, labels (ties to the lower cluster), sums and counts; leaving and coming rows
//! change the sums by their own terms only. The next centroids are a function of sums, counts and
//! centroids. Where these differ from the ones that the trace has, distances change by the terms of
//! the coordinates that differ, which whole numbers make exact; where they do not, nothing else
//! changes. The lattice makes the latter the usual case. Steps end at the first one whose centroids
//! repeat, or at the twentieth.
//!
//! Distances of many rows may come from a device, which gives the same whole numbers (`brought`).

mod brought;
mod seeds;
pub mod space;
mod step;

use self::space::Space;
use super::row_delta::{RowDelta, places};
use seeds::{draw_seeds, would_be_seed};
use step::{Step, visit};

/// The largest number of steps of Lloyd's algorithm.
const STEPS: usize = 20;
/// The label of a row that has none yet.
const NONE: u8 = u8::MAX;

/// A clustering of rows.
#[derive(Debug, Clone)]
pub struct Clustering {
    /// The positions of the rows, in no order that means anything; labels and distances are by
    /// place here.
    rows: Vec<u32>,
    seeds: Vec<u32>,
    labels: Vec<u8>,
    axes: Vec<usize>,
    /// The steps of the clustering; empty after loading, and made again when a deletion needs them.
    trace: Vec<Step>,
}

impl Clustering {
    /// Clusters the rows at `positions`.
    pub fn new(space: Space<'_>, positions: &[u32]) -> Clustering {
        let mut clustering = Clustering {
            rows: positions.to_vec(),
            seeds: draw_seeds(space, positions),
            labels: vec![0; positions.len()],
            axes: space.geometry.axes(space.scope),
            trace: Vec::new(),
        };
        clustering.run(space);
        clustering.labels = clustering.final_labels();
        clustering
    }

    /// Creates a clustering that was read back: its labels are known, its trace is not.
    pub fn from_parts(
        space: Space<'_>,
        rows: Vec<u32>,
        seeds: Vec<u32>,
        labels: Vec<u8>,
    ) -> Clustering {
        Clustering {
            rows,
            seeds,
            labels,
            axes: space.geometry.axes(space.scope),
            trace: Vec::new(),
        }
    }

    /// Returns the positions of the seeds, in the order of their stages.
    pub fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// Iterates over the rows with their clusters.
    pub fn labelled(&self) -> impl Iterator<Item = (u32, u8)> {
        self.rows.iter().copied().zip(self.labels.iter().copied())
    }

    /// Returns the rows of `cluster`.
    pub fn rows_of(&self, cluster: u8) -> Vec<u32> {
        let labelled = self.labelled().filter(|(_, label)| *label == cluster);
        labelled.map(|(row, _)| row).collect()
    }

    /// Returns the clusters that have rows, ascending.
    pub fn occupied(&self) -> Vec<u8> {
        let mut used = [false; 256];
        for &label in &self.labels {
            used[usize::from(label)] = true;
        }
        (0..=u8::MAX).filter(|&at| used[usize::from(at)]).collect()
    }

    /// Drops the trace; the next change makes it again.
    pub fn forget_trace(&mut self) {
        self.trace = Vec::new();
    }

    /// Lets rows leave and come; returns the change of every cluster that has one.
    pub fn follow(&mut self, space: Space<'_>, change: &RowDelta) -> Vec<(u8, RowDelta)> {
        let mut by_cluster = ByCluster::default();
        let stale = change.left.iter().any(|row| self.seeds.contains(row))
            || change
                .came
                .iter()
                .any(|&row| would_be_seed(space, &self.seeds, row));
        // From the last place to the first, so that no row that is still to leave moves.
        for place in places(&self.rows, &change.left).into_iter().rev() {
            let row = self.rows.swap_remove(place);
            by_cluster
                .entry(self.labels.swap_remove(place))
                .left
                .push(row);
            for step in &mut self.trace {
                step.leave(space, &self.axes, place, row);
            }
        }
        for &row in &change.came {
            self.rows.push(row);
            self.labels.push(NONE);
            for step in &mut self.trace {
                step.join(space, &self.axes, row);
            }
        }
        if stale {
            self.seeds = draw_seeds(space, &self.rows);
            self.trace.clear();
        }
        self.run(space);
        let labels = self.final_labels();
        for (&row, (&from, &to)) in self.rows.iter().zip(self.labels.iter().zip(&labels)) {
            if from != to {
                if from != NONE {
                    by_cluster.entry(from).left.push(row);
                }
                by_cluster.entry(to).came.push(row);
            }
        }
        self.labels = labels;
        by_cluster.0
    }

    fn final_labels(&self) -> Vec<u8> {
        match self.trace.last() {
            Some(step) => step.labels.clone(),
            None => vec![0; self.labels.len()],
        }
    }

    /// Makes the trace consistent from its first step to its last.
    fn run(&mut self, space: Space<'_>) {
        let (axes, positions) = (&self.axes, &self.rows);
        let width = axes[axes.len() - 1];
        if self.trace.is_empty() {
            let mut centroids = vec![0; self.seeds.len() * width];
            for (cluster, &seed) in self.seeds.iter().enumerate() {
                let centroid = &mut centroids[cluster * width..(cluster + 1) * width];
                visit(space, axes, seed, |axis, value| centroid[axis] = value);
            }
            self.trace
                .push(Step::new(space, axes, centroids, positions));
        }
        let mut at = 0;
        loop {
            let next = self.trace[at].next_centroids(axes);
            if at + 1 == STEPS || next == self.trace[at].centroids {
                self.trace.truncate(at + 1);
                return;
            }
            match self.trace.get_mut(at + 1) {
                None => {
                    let mut step = self.trace[at].clone();
                    step.retarget(space, axes, next, positions);
                    self.trace.push(step);
                }
                Some(step) if step.centroids != next => {
                    step.retarget(space, axes, next, positions);
                }
                Some(_) => {}
            }
            at += 1;
        }
    }
}

/// The changes by cluster.
#[derive(Default)]
struct ByCluster(Vec<(u8, RowDelta)>);

impl ByCluster {
    /// Returns the change of `cluster`, which is added where there is none.
    fn entry(&mut self, cluster: u8) -> &mut RowDelta {
        let at = self.0.iter().position(|(have, _)| *have == cluster);
        let at = at.unwrap_or_else(|| {
            self.0.push((cluster, RowDelta::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}
