//! A full pass: the nearest centroid of every row, exactly, and the sums of every cluster.
//!
//! The nearest centroid is the one of the smallest exact |x − c|², the first one of several. Rows
//! are shared out to threads in chunks; sums are of integers, so neither the chunks nor their order
//! matter.
//!
//! Approximate products propose a centroid for each row: those of [`super::kernel`], or those of
//! the device that the points are on. **Lemma.** Both give the same clusters. *Proof.* A proposal is
//! taken where its gap, less twice the error bound of its products, is above 0, and then it is the
//! only nearest centroid ([`Closest`]); all other rows, every tie among them, are settled in
//! integers. ∎ Gaps and reach are lower and upper bounds that only save work.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::exact::squared_distance;
use super::kernel::{Nearest, Packed, TILE_ROWS, Tile, products, roundings, unit_error};
use super::points::Points;
use crate::vectors::{has_wide_vectors, vectorized};
use probity_tensor::nearest::euclidean::Closest;

/// The number of rows of a chunk.
const CHUNK: usize = 512;
/// The number of products of a pass that is worth the start of a second thread.
const WORTH_THREADS: usize = 1 << 17;

/// The results of a pass.
#[derive(Debug, Clone)]
pub(crate) struct Assigned {
    /// The cluster of each slot; 0 for dead ones.
    pub clusters: Vec<u16>,
    /// The number of points of each cluster.
    pub counts: Vec<u64>,
    /// The sum Σx of each cluster, `[clusters, columns]`.
    pub sums: Vec<i64>,
    /// A lower bound, for each slot, of the second smallest squared distance minus the smallest.
    pub gaps: Vec<f32>,
    /// An upper bound of the distance of any row to its centroid.
    pub reach: f64,
}

/// The clusters of another iteration, from which sums are reached by moving the rows that differ.
#[derive(Clone, Copy)]
pub(crate) struct Previous<'a> {
    pub clusters: &'a [u16],
    pub counts: &'a [u64],
    pub sums: &'a [i64],
}

/// Counts and sums of clusters, as differences to a previous iteration.
#[derive(Debug, Clone)]
struct Accumulator {
    counts: Vec<i64>,
    sums: Vec<i64>,
    reach: f32,
}

impl Accumulator {
    fn none(clusters: usize, columns: usize) -> Accumulator {
        Accumulator {
            counts: vec![0; clusters],
            sums: vec![0; clusters * columns],
            reach: 0.0,
        }
    }

    fn with(mut self, other: Accumulator) -> Accumulator {
        add(&mut self.counts, &other.counts);
        add(&mut self.sums, &other.sums);
        self.reach = self.reach.max(other.reach);
        self
    }
}

fn add(to: &mut [i64], from: &[i64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Assigns every row of `points` to its nearest of `centroids`.
pub(crate) fn assign(
    points: &Points,
    centroids: &[i32],
    previous: Option<Previous<'_>>,
) -> Assigned {
    let clusters = centroids.len() / points.columns();
    let brought = points.brought(clusters);
    let proposed = brought.and_then(|rows| rows.closest(centroids));
    if clusters <= 8 && !has_wide_vectors() {
        Pass::<8>::new(points, centroids, previous, proposed).run()
    } else {
        Pass::<16>::new(points, centroids, previous, proposed).run()
    }
}

/// Returns the nearest of `centroids` for the live rows in `slots`: few, so that no device is
/// asked.
pub(crate) fn assign_some(points: &Points, centroids: &[i32], slots: &[usize]) -> Vec<u16> {
    let clusters = centroids.len() / points.columns();
    if clusters <= 8 && !has_wide_vectors() {
        Pass::<8>::new(points, centroids, None, None).run_some(slots)
    } else {
        Pass::<16>::new(points, centroids, None, None).run_some(slots)
    }
}

/// A pass over some rows, for vectors of any width.
struct SomeRows<'a, 'b, const L: usize> {
    pass: &'b Pass<'a, L>,
    slots: &'b [usize],
    clusters: &'b mut [u16],
}

impl<const L: usize> WithSimd for SomeRows<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.pass.some_of_lanes(simd, self.slots, self.clusters);
    }
}

/// A pass over a chunk of rows, for vectors of any width.
struct Chunk<'a, 'b, const L: usize> {
    pass: &'b Pass<'a, L>,
    start: usize,
    clusters: &'b mut [u16],
    gaps: &'b mut [f32],
    accumulator: &'b mut Accumulator,
}

impl<const L: usize> WithSimd for Chunk<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.pass
            .chunk_of_lanes(simd, self.start, self.clusters, self.gaps, self.accumulator);
    }
}

struct Pass<'a, const L: usize> {
    points: &'a Points,
    centroids: &'a [i32],
    packed: Packed<L>,
    clusters: usize,
    unit: f32,
    previous: Option<Previous<'a>>,
    /// The nearest centroids that a device proposes, by slot, in place of the products.
    proposed: Option<Closest>,
}

impl<'a, const L: usize> Pass<'a, L> {
    fn new(
        points: &'a Points,
        centroids: &'a [i32],
        previous: Option<Previous<'a>>,
        proposed: Option<Closest>,
    ) -> Self {
        let columns = points.columns();
        Pass {
            points,
            centroids,
            packed: Packed::new(centroids, columns),
            clusters: centroids.len() / columns,
            unit: unit_error(roundings(columns)),
            previous,
            proposed,
        }
    }

    fn run(&self) -> Assigned {
        let (slots, columns) = (self.points.slots(), self.points.columns());
        let mut clusters = vec![0_u16; slots];
        let mut gaps = vec![0.0_f32; slots];
        let none = || Accumulator::none(self.clusters, columns);
        let accumulator = if slots * columns * self.clusters < WORTH_THREADS {
            let mut accumulator = none();
            self.chunk(0, &mut clusters, &mut gaps, &mut accumulator);
            accumulator
        } else {
            clusters
                .par_chunks_mut(CHUNK)
                .zip(gaps.par_chunks_mut(CHUNK))
                .enumerate()
                .fold(none, |mut accumulator, (chunk, (clusters, gaps))| {
                    self.chunk(chunk * CHUNK, clusters, gaps, &mut accumulator);
                    accumulator
                })
                .reduce(none, Accumulator::with)
        };
        let (mut counts, mut sums) = (accumulator.counts, accumulator.sums);
        if let Some(previous) = self.previous {
            for (count, &before) in counts.iter_mut().zip(previous.counts) {
                *count += before as i64;
            }
            add(&mut sums, previous.sums);
        }
        Assigned {
            clusters,
            counts: counts.into_iter().map(|count| count as u64).collect(),
            sums,
            gaps,
            reach: f64::from(accumulator.reach).sqrt(),
        }
    }

    fn run_some(&self, slots: &[usize]) -> Vec<u16> {
        let mut clusters = vec![0_u16; slots.len()];
        let work = |(slots, clusters): (&[usize], &mut [u16])| {
            let some = SomeRows {
                pass: self,
                slots,
                clusters,
            };
            vectorized(some, L);
        };
        if slots.len() * self.points.columns() * self.clusters < WORTH_THREADS {
            work((slots, &mut clusters));
        } else {
            slots
                .par_chunks(CHUNK)
                .zip(clusters.par_chunks_mut(CHUNK))
                .for_each(work);
        }
        clusters
    }

    #[inline(always)]
    fn some_of_lanes<S: Simd>(&self, simd: S, slots: &[usize], clusters: &mut [u16]) {
        let mut tile = Tile::new(self.points.columns());
        for (slots, clusters) in slots.chunks(TILE_ROWS).zip(clusters.chunks_mut(TILE_ROWS)) {
            for (row, &slot) in slots.iter().enumerate() {
                tile.set(row, self.points.row(slot));
            }
            let nearest = products(simd, &tile, &self.packed, self.clusters);
            for ((cluster, nearest), &slot) in clusters.iter_mut().zip(&nearest).zip(slots) {
                *cluster = self.settle(slot, nearest).0;
            }
        }
    }

    fn chunk(
        &self,
        start: usize,
        clusters: &mut [u16],
        gaps: &mut [f32],
        accumulator: &mut Accumulator,
    ) {
        if let Some(proposed) = &self.proposed {
            self.chunk_of_proposals(proposed, start, clusters, gaps, accumulator);
            return;
        }
        let chunk = Chunk {
            pass: self,
            start,
            clusters,
            gaps,
            accumulator,
        };
        vectorized(chunk, L);
    }

    fn chunk_of_proposals(
        &self,
        proposed: &Closest,
        start: usize,
        clusters: &mut [u16],
        gaps: &mut [f32],
        accumulator: &mut Accumulator,
    ) {
        for (slot, (cluster, gap)) in (start..).zip(clusters.iter_mut().zip(gaps)) {
            if !self.points.is_live(slot) {
                continue;
            }
            accumulator.reach = accumulator.reach.max(proposed.at_most(slot));
            (*cluster, *gap) = self.decide(slot, proposed.vector(slot), proposed.gap(slot));
            self.count(slot, *cluster, accumulator);
        }
    }

    #[inline(always)]
    fn chunk_of_lanes<S: Simd>(
        &self,
        simd: S,
        start: usize,
        clusters: &mut [u16],
        gaps: &mut [f32],
        accumulator: &mut Accumulator,
    ) {
        let mut tile = Tile::new(self.points.columns());
        let rows = clusters.len();
        for first in (0..rows).step_by(TILE_ROWS) {
            let count = TILE_ROWS.min(rows - first);
            for row in 0..count {
                tile.set(row, self.points.row(start + first + row));
            }
            let nearest = products(simd, &tile, &self.packed, self.clusters);
            for (row, nearest) in nearest.iter().enumerate().take(count) {
                let slot = start + first + row;
                if !self.points.live()[slot] {
                    continue;
                }
                let (cluster, gap, distance) = self.settle(slot, nearest);
                accumulator.reach = if distance > accumulator.reach {
                    distance
                } else {
                    accumulator.reach
                };
                clusters[first + row] = cluster;
                gaps[first + row] = gap;
                self.count(slot, cluster, accumulator);
            }
        }
    }

    /// Returns the exact nearest centroid of a row, a lower bound of its gap and an upper bound of
    /// the squared distance.
    #[inline(always)]
    fn settle(&self, slot: usize, nearest: &Nearest) -> (u16, f32, f32) {
        // |c|² + 2 x·c = 2|c|² − s is largest where |c|² is and s is not.
        let error = self.unit * (2.0 * self.packed.largest_norm() - nearest.best).max(0.0);
        let norm = self.points.norms()[slot];
        let distance = (nearest.best + norm + error) * 1.000_001;
        let gap = nearest.second - nearest.best - 2.0 * error;
        let (cluster, gap) = self.decide(slot, nearest.cluster, gap);
        (cluster, gap, distance)
    }

    /// Returns the cluster that is proposed, where it is nearer than any other by `gap` at least;
    /// else the exact nearest cluster, and no gap.
    #[inline(always)]
    fn decide(&self, slot: usize, proposed: u32, gap: f32) -> (u16, f32) {
        if gap > 0.0 {
            (proposed as u16, gap)
        } else {
            let cluster = nearest_exactly(self.points.row(slot), self.centroids);
            (cluster, 0.0)
        }
    }

    #[inline(always)]
    fn count(&self, slot: usize, cluster: u16, accumulator: &mut Accumulator) {
        let row = self.points.row(slot);
        let columns = row.len();
        let to = usize::from(cluster);
        if let Some(previous) = self.previous {
            let from = usize::from(previous.clusters[slot]);
            if from == to {
                return;
            }
            accumulator.counts[from] -= 1;
            for (sum, &x) in accumulator.sums[from * columns..][..columns]
                .iter_mut()
                .zip(row)
            {
                *sum -= i64::from(x);
            }
        }
        accumulator.counts[to] += 1;
        for (sum, &x) in accumulator.sums[to * columns..][..columns]
            .iter_mut()
            .zip(row)
        {
            *sum += i64::from(x);
        }
    }
}

/// Returns the first of the nearest centroids, in integers.
#[inline(never)]
fn nearest_exactly(row: &[i32], centroids: &[i32]) -> u16 {
    let mut best = (u64::MAX, 0);
    for (cluster, centroid) in centroids.chunks_exact(row.len()).enumerate() {
        let distance = squared_distance(row, centroid);
        if distance < best.0 {
            best = (distance, cluster);
        }
    }
    best.1 as u16
}
