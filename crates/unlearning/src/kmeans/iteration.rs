//! An iteration of a clustering: its centroids, and the assignment of every row to the nearest of
//! them.

use super::assign::{Previous, assign};
use super::exact::squared_distance;
use super::points::{Points, square};
use super::refine::{Margins, moves};

/// The results of one iteration.
#[derive(Debug, Clone)]
pub(crate) struct Iteration {
    /// The centroids, `[clusters, columns]`, fixed point.
    pub(crate) centroids: Vec<i32>,
    /// The nearest centroid of each slot.
    pub(crate) clusters: Vec<u16>,
    /// The number of rows of each cluster.
    pub(crate) counts: Vec<u64>,
    /// The sum Σx of each cluster, `[clusters, columns]`.
    pub(crate) sums: Vec<i64>,
    /// The loss Σ|x − c|², in units of 2⁻⁴⁸.
    pub(crate) loss: i128,
    /// The margins, which are not part of the model: they only save work.
    pub(crate) margins: Option<Margins>,
}

impl Iteration {
    /// Computes the iteration by a full pass over the rows; `before` is the iteration before, from
    /// whose sums those of this one are reached.
    pub(crate) fn by_full_pass(
        points: &Points,
        centroids: Vec<i32>,
        before: Option<&Iteration>,
    ) -> Iteration {
        let previous = before.map(|before| Previous {
            clusters: &before.clusters,
            counts: &before.counts,
            sums: &before.sums,
        });
        let assigned = assign(points, &centroids, previous);
        let mut iteration = Iteration {
            margins: Some(Margins {
                gaps: assigned.gaps,
                reference: centroids.clone(),
                reach: assigned.reach,
                spent: 0,
            }),
            centroids,
            clusters: assigned.clusters,
            counts: assigned.counts,
            sums: assigned.sums,
            loss: 0,
        };
        iteration.loss = iteration.loss_of(points);
        iteration
    }

    /// Returns the iteration in which every live row of `points` belongs to its one of `clusters`,
    /// for `count` of them.
    pub(crate) fn of_clusters(
        points: &Points,
        centroids: Vec<i32>,
        clusters: Vec<u16>,
        count: usize,
    ) -> Iteration {
        let columns = points.columns();
        let mut counts = vec![0; count];
        let mut sums = vec![0; count * columns];
        for slot in points.live_slots() {
            let cluster = usize::from(clusters[slot]);
            counts[cluster] += 1;
            let of_cluster = &mut sums[cluster * columns..(cluster + 1) * columns];
            for (sum, &x) in of_cluster.iter_mut().zip(points.row(slot)) {
                *sum += i64::from(x);
            }
        }
        let mut iteration = Iteration {
            centroids,
            clusters,
            counts,
            sums,
            loss: 0,
            margins: None,
        };
        iteration.loss = iteration.loss_of(points);
        iteration
    }

    /// Returns this iteration with other centroids, by moving rows; `None` if a full pass is the
    /// shorter way.
    pub(crate) fn moved_to(&self, points: &Points, centroids: &[i32]) -> Option<Iteration> {
        let moves = moves(points, centroids, &self.clusters, self.margins.as_ref()?)?;
        let mut iteration = self.clone();
        if let Some(margins) = &mut iteration.margins {
            margins.spent += moves.doubtful;
            for change in &moves.rows {
                margins.gaps[change.slot] = -1.0;
            }
        }
        let columns = points.columns();
        for change in moves.rows {
            let from = usize::from(iteration.clusters[change.slot]);
            let to = usize::from(change.to);
            iteration.counts[from] -= 1;
            iteration.counts[to] += 1;
            for (column, &x) in points.row(change.slot).iter().enumerate() {
                iteration.sums[from * columns + column] -= i64::from(x);
                iteration.sums[to * columns + column] += i64::from(x);
            }
            iteration.clusters[change.slot] = change.to;
        }
        iteration.centroids = centroids.to_vec();
        iteration.loss = iteration.loss_of(points);
        Some(iteration)
    }

    /// Takes a row out that is still live, and returns its cluster.
    pub(crate) fn subtract(&mut self, points: &Points, slot: usize) -> usize {
        let row = points.row(slot);
        let cluster = usize::from(self.clusters[slot]);
        let range = cluster * row.len()..(cluster + 1) * row.len();
        self.counts[cluster] -= 1;
        for (sum, &x) in self.sums[range.clone()].iter_mut().zip(row) {
            *sum -= i64::from(x);
        }
        self.loss -= i128::from(squared_distance(row, &self.centroids[range]));
        // A cluster is a fact about the deleted row too.
        self.clusters[slot] = 0;
        if let Some(margins) = &mut self.margins {
            margins.gaps[slot] = f32::INFINITY;
        }
        cluster
    }

    /// Gives up the slots that are not `live`.
    pub(crate) fn compact(&mut self, live: &[bool]) {
        keep_live(&mut self.clusters, live);
        if let Some(margins) = &mut self.margins {
            keep_live(&mut margins.gaps, live);
        }
    }

    /// Computes the loss Σ|x − c|² = Σ|x|² − 2 Σ c·S + Σ n|c|², over the clusters.
    fn loss_of(&self, points: &Points) -> i128 {
        let columns = points.columns();
        let mut loss = points.square_sum() as i128;
        for (cluster, &count) in self.counts.iter().enumerate() {
            let range = cluster * columns..(cluster + 1) * columns;
            let centroid = &self.centroids[range.clone()];
            let product: i128 = centroid
                .iter()
                .zip(&self.sums[range])
                .map(|(&c, &sum)| i128::from(c) * i128::from(sum))
                .sum();
            loss += i128::from(count) * i128::from(square(centroid)) - 2 * product;
        }
        loss
    }
}

fn keep_live<T>(values: &mut Vec<T>, live: &[bool]) {
    let mut live = live.iter();
    values.retain(|_| live.next().copied().unwrap_or(false));
}
