//! Training rows ranked by (distance, row): the total order that every other step relies on.
//!
//! The *true* distance of two rows is the f64 sum over the columns, in column order, of squared
//! (Euclidean) or absolute (Manhattan) differences. On integers below 2^26 or so it is exact. Equal
//! distances rank the lower row first.

use std::ops::Range;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dataset::TrainingSet;
use crate::deadline::Deadline;
use crate::learn::folds::Folds;
use probity_run::pause::{self, Point};
use probity_tensor::nearest::Approximation;
use probity_tensor::nearest::rank::Ranking;

/// The number of queries handled together against one tile of training rows.
const QUERY_BLOCK: usize = 16;
/// The number of training rows in a tile: 36 columns of a tile fit a core's second-level cache.
const TILE: usize = 1024;

/// How far apart two rows are. The Euclidean distance is compared as its square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The square root of the sum of squared differences.
    #[default]
    Euclidean,
    /// The sum of absolute differences.
    Manhattan,
}

impl Metric {
    /// The distance by which rows are ranked: squared for [`Metric::Euclidean`].
    pub fn between(self, left: &[f64], right: &[f64]) -> f64 {
        left.iter()
            .zip(right)
            .fold(0.0, |sum, (&a, &b)| sum + self.term(a - b))
    }

    fn term(self, difference: f64) -> f64 {
        match self {
            Metric::Euclidean => difference * difference,
            Metric::Manhattan => difference.abs(),
        }
    }
}

/// For every training row, the rows of the *other* folds nearest to it, nearest first.
///
/// `depth` = K_max + n rows suffice: at most n of them can be removed, and K_max must be left.
#[derive(Debug, Clone)]
pub struct Neighbours {
    ids: Ids,
    depth: usize,
    lengths: Vec<u32>,
}

#[derive(Debug, Clone)]
enum Ids {
    /// Row numbers of two bytes each, which halve the 1.5 GB of MNIST.
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Neighbours {
    /// Ranks the rows of the other folds for every row of `training`, `depth` of them at most. Once
    /// the deadline has passed, the rest is left out: it is for the caller to ask whether it has.
    pub(crate) fn rank(
        training: &TrainingSet,
        folds: &Folds,
        metric: Metric,
        depth: usize,
        deadline: Deadline<'_>,
    ) -> Self {
        let mut lists = Self::empty(training, folds, depth);
        let transposed = Transposed::new(training);
        let depth = lists.depth;
        let ranking = TrueRanking {
            training,
            folds,
            metric,
            transposed,
            depth,
            deadline,
        };
        match &mut lists.ids {
            Ids::Narrow(ids) => ranking.fill(ids, |id| id as u16),
            Ids::Wide(ids) => ranking.fill(ids, |id| id),
        }
        lists
    }

    /// Ranks like [`Neighbours::rank`], from approximate distances of `block` queries at a time:
    /// the order is the true one, by the theorem of [`Ranking::rank`].
    pub(crate) fn rank_approximately(
        training: &TrainingSet,
        folds: &Folds,
        metric: Metric,
        depth: usize,
        block: usize,
        source: &mut dyn Approximation,
        deadline: Deadline<'_>,
    ) -> Self {
        let mut lists = Self::empty(training, folds, depth);
        let ranking = Ranking {
            rows: training.rows(),
            depth: lists.depth,
            offered: |query: u32, row: u32| folds.fold(row as usize) != folds.fold(query as usize),
            exact: |query: u32, row: u32| {
                metric.between(training.row(query as usize), training.row(row as usize))
            },
        };
        let queries: Vec<u32> = (0..training.rows() as u32).collect();
        let go_on = || !deadline.passed();
        ranking.rank(&queries, block, source, &go_on, &mut |query, ids| {
            lists.store(query, &ids);
        });
        lists
    }

    fn empty(training: &TrainingSet, folds: &Folds, depth: usize) -> Self {
        let rows = training.rows();
        let depth = depth.clamp(1, rows);
        let lengths = (0..rows)
            .map(|row| depth.min(rows - folds.sizes()[folds.fold(row)] as usize) as u32)
            .collect();
        let cells = depth * rows;
        let ids = if rows <= usize::from(u16::MAX) + 1 {
            Ids::Narrow(vec![0; cells])
        } else {
            Ids::Wide(vec![0; cells])
        };
        Self {
            ids,
            depth,
            lengths,
        }
    }

    fn store(&mut self, row: usize, ids: &[u32]) {
        let cells = row * self.depth..row * self.depth + ids.len();
        match &mut self.ids {
            Ids::Narrow(all) => put(&mut all[cells], ids, |id| id as u16),
            Ids::Wide(all) => put(&mut all[cells], ids, |id| id),
        }
    }

    /// Calls `visit` with the neighbours of `row`, nearest first, until it returns false.
    #[inline]
    pub fn walk(&self, row: usize, visit: impl FnMut(usize) -> bool) {
        let Some(&length) = self.lengths.get(row) else {
            return;
        };
        let range = row * self.depth..row * self.depth + length as usize;
        match &self.ids {
            Ids::Narrow(ids) => follow(&ids[range], usize::from, visit),
            Ids::Wide(ids) => follow(&ids[range], |id| id as usize, visit),
        }
    }

    /// The neighbours of `row` as a vector, nearest first.
    pub fn neighbours(&self, row: usize) -> Vec<usize> {
        let mut list = Vec::new();
        self.walk(row, |id| {
            list.push(id);
            true
        });
        list
    }
}

#[inline]
fn follow<I: Copy>(ids: &[I], row: impl Fn(I) -> usize, mut visit: impl FnMut(usize) -> bool) {
    for &id in ids {
        if !visit(row(id)) {
            return;
        }
    }
}

fn put<I>(cells: &mut [I], ids: &[u32], narrowed: impl Fn(u32) -> I) {
    for (cell, &id) in cells.iter_mut().zip(ids) {
        *cell = narrowed(id);
    }
}

/// Returns the `depth` training rows nearest to `query`, nearest first.
pub(crate) fn rank_query(
    training: &TrainingSet,
    metric: Metric,
    query: &[f64],
    depth: usize,
) -> Vec<u32> {
    let keys = (0..training.rows())
        .map(|row| key(metric.between(query, training.row(row)), row as u32))
        .collect();
    smallest(keys, depth)
}

/// The columns of T one after the other, so that one query is compared with many rows in vector
/// registers.
struct Transposed {
    columns: Vec<f64>,
    rows: usize,
}

impl Transposed {
    fn new(training: &TrainingSet) -> Self {
        let rows = training.rows();
        let mut columns = vec![0.0; rows * training.columns()];
        for row in 0..rows {
            for (column, &value) in training.row(row).iter().enumerate() {
                columns[column * rows + row] = value;
            }
        }
        Self { columns, rows }
    }

    fn tile(&self, column: usize, range: Range<usize>) -> &[f64] {
        &self.columns[column * self.rows + range.start..column * self.rows + range.end]
    }
}

/// The inputs that ranking a block of rows by true distances needs.
struct TrueRanking<'a> {
    training: &'a TrainingSet,
    folds: &'a Folds,
    metric: Metric,
    transposed: Transposed,
    depth: usize,
    deadline: Deadline<'a>,
}

impl TrueRanking<'_> {
    /// Fills the lists of all rows, `depth` cells a row, with ids of type `I`.
    fn fill<I: Send>(&self, ids: &mut [I], narrowed: impl Fn(u32) -> I + Sync) {
        ids.par_chunks_mut(self.depth * QUERY_BLOCK)
            .enumerate()
            .for_each(|(block, cells)| {
                pause::at(Point::Round);
                if !self.deadline.passed() {
                    self.rank_block(block, |at, ids| put(&mut cells[at..], ids, &narrowed));
                }
            });
    }

    fn rank_block(&self, block: usize, mut store: impl FnMut(usize, &[u32])) {
        let (training, folds) = (self.training, self.folds);
        let rows = training.rows();
        let queries = block * QUERY_BLOCK..rows.min((block + 1) * QUERY_BLOCK);
        let mut distances = vec![0.0; queries.len() * rows];
        for start in (0..rows).step_by(TILE) {
            let range = start..rows.min(start + TILE);
            for (place, query) in queries.clone().enumerate() {
                let sums = &mut distances[place * rows..][range.clone()];
                for (column, &value) in training.row(query).iter().enumerate() {
                    let tile = self.transposed.tile(column, range.clone());
                    match self.metric {
                        Metric::Euclidean => add_terms(sums, tile, |x| (value - x) * (value - x)),
                        Metric::Manhattan => add_terms(sums, tile, |x| (value - x).abs()),
                    }
                }
            }
        }
        for (place, query) in queries.enumerate() {
            let fold = folds.fold(query);
            let keys = distances[place * rows..(place + 1) * rows]
                .iter()
                .enumerate()
                .filter(|&(row, _)| folds.fold(row) != fold)
                .map(|(row, &distance)| key(distance, row as u32))
                .collect();
            store(place * self.depth, &smallest(keys, self.depth));
        }
    }
}

fn add_terms(sums: &mut [f64], tile: &[f64], term: impl Fn(f64) -> f64) {
    for (sum, &value) in sums.iter_mut().zip(tile) {
        *sum += term(value);
    }
}

/// Returns the key by which rows are sorted: the bits of the distance, which order as distances do
/// since these are not negative, then the row, which breaks ties.
fn key(distance: f64, row: u32) -> (u64, u32) {
    (distance.to_bits(), row)
}

/// The rows of the `depth` smallest keys, in order.
fn smallest(mut keys: Vec<(u64, u32)>, depth: usize) -> Vec<u32> {
    if depth < keys.len() {
        keys.select_nth_unstable(depth);
        keys.truncate(depth);
    }
    keys.sort_unstable();
    keys.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: usize) -> TrainingSet {
        let features = (0..rows * 2).map(|at| ((at * 7919) % 5) as f64).collect();
        let labels = (0..rows).map(|row| (row % 2) as u16).collect();
        TrainingSet::new(features, 2, labels).unwrap()
    }

    #[test]
    fn lists_hold_the_other_folds_by_distance_then_row() {
        let training = grid(40);
        let folds = Folds::deal(&(0..40).collect::<Vec<u64>>(), 4, 3).unwrap();
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let lists = Neighbours::rank(&training, &folds, metric, 12, Deadline::never());
            for row in 0..40 {
                let mut expected: Vec<usize> = (0..40)
                    .filter(|&other| folds.fold(other) != folds.fold(row))
                    .collect();
                expected.sort_by(|&a, &b| {
                    let near = |other| metric.between(training.row(row), training.row(other));
                    near(a).total_cmp(&near(b)).then(a.cmp(&b))
                });
                expected.truncate(12);
                assert_eq!(lists.neighbours(row), expected);
            }
        }
    }

    struct Noisy<'a>(&'a TrainingSet);

    impl Approximation for Noisy<'_> {
        fn fill(&mut self, queries: &[u32], distances: &mut [f32]) -> Option<f64> {
            let rows = self.0.rows();
            for (place, &query) in queries.iter().enumerate() {
                let query = query as usize;
                for row in 0..rows {
                    let noise = ((query * 31 + row * 17) % 11) as f64 / 10.0 - 0.5;
                    let exact = Metric::Euclidean.between(self.0.row(query), self.0.row(row));
                    distances[place * rows + row] = (exact + noise) as f32;
                }
            }
            Some(0.5001)
        }
    }

    #[test]
    fn approximate_distances_give_the_true_order() {
        let training = grid(60);
        let folds = Folds::deal(&(0..60).collect::<Vec<u64>>(), 5, 9).unwrap();
        let exact = Neighbours::rank(&training, &folds, Metric::Euclidean, 20, Deadline::never());
        let approximate = Neighbours::rank_approximately(
            &training,
            &folds,
            Metric::Euclidean,
            20,
            7,
            &mut Noisy(&training),
            Deadline::never(),
        );
        for row in 0..60 {
            assert_eq!(exact.neighbours(row), approximate.neighbours(row));
        }
    }
}
