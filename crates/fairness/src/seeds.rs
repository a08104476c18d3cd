//! Seeds of the global phase: k-means on the data, then the clusters in turn.
//!
//! The method is ADF's, Algorithm 1 line 2, which leaves the order open; here: the i-th member of
//! each cluster in data order, clusters in turn, exhausted ones skipped, so that no row comes
//! twice. Coordinates are the integer codes.
//!
//! Lloyd's algorithm with k-means++ seeding. Sums are of integers, hence exact and independent of
//! the order and the number of threads.
//!
//! [`probity_unlearning::kmeans`] is another clustering and is not used here: it scales every
//! column to its declared bounds, rounds centroids to fixed point and draws seeds by a race of the
//! rows' ids, so that rows can be deleted. ADF clusters the codes as they are; sharing it would
//! give every audit other seeds. The analysers do not depend on one another either.

use rand::RngExt;
use rayon::prelude::*;

use probity_data::table::Table;
use probity_run::stream::{Purpose, stream};

/// Largest number of rounds of Lloyd's algorithm; it ends before when no row changes its cluster.
const MAX_ROUNDS: usize = 100;

/// The indices of the first `count` seeds among the rows of `table` (all rows, if there are
/// fewer), from `clusters` clusters.
pub fn clustered_seeds(table: &Table, clusters: usize, count: usize, seed: u64) -> Vec<u32> {
    let (assignment, _) = self::clusters(table, clusters.max(1).min(table.rows()), seed);
    let mut members: Vec<Vec<u32>> = Vec::new();
    for (row, &cluster) in assignment.iter().enumerate() {
        let cluster = cluster as usize;
        if members.len() <= cluster {
            members.resize(cluster + 1, Vec::new());
        }
        members[cluster].push(row as u32);
    }
    let longest = members.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|turn| members.iter().filter_map(move |rows| rows.get(turn)))
        .copied()
        .take(count)
        .collect()
}

/// The cluster of each row, and the centres of at most `count` clusters; a cluster that lost its
/// rows keeps its centre.
pub(super) fn clusters(table: &Table, count: usize, seed: u64) -> (Vec<u32>, Vec<Vec<f64>>) {
    let mut centres = plus_plus(table, count, seed);
    let mut assignment: Vec<u32> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let next: Vec<u32> = table
            .codes()
            .par_chunks_exact(table.width())
            .map(|row| nearest(row, &centres).0)
            .collect();
        if next == assignment {
            break;
        }
        assignment = next;
        centres = means(table, &assignment, centres);
    }
    (assignment, centres)
}

/// Chooses the first centres by k-means++ (Arthur, Vassilvitskii 2007), with one keyed draw a
/// centre.
fn plus_plus(table: &Table, clusters: usize, seed: u64) -> Vec<Vec<f64>> {
    let point = |row: usize| -> Vec<f64> { table.row(row).iter().map(|&c| f64::from(c)).collect() };
    let first = stream(seed, Purpose::Clusters, 0, 0).random_range(0..table.rows());
    let mut centres = vec![point(first)];
    let mut distances = vec![f64::INFINITY; table.rows()];
    while centres.len() < clusters {
        let newest = &centres[centres.len() - 1..];
        distances
            .par_iter_mut()
            .zip(table.codes().par_chunks_exact(table.width()))
            .for_each(|(distance, row)| *distance = distance.min(nearest(row, newest).1));
        let total: f64 = distances.iter().sum();
        if total == 0.0 {
            break;
        }
        let draw: f64 = stream(seed, Purpose::Clusters, centres.len() as u64, 0).random();
        let mut left = draw * total;
        let chosen = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        let farthest =
            || (0..distances.len()).max_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        match chosen.or_else(farthest) {
            Some(row) => centres.push(point(row)),
            None => break,
        }
    }
    centres
}

fn nearest(row: &[i32], centres: &[Vec<f64>]) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for (index, centre) in centres.iter().enumerate() {
        let distance: f64 = row
            .iter()
            .zip(centre)
            .map(|(&code, &c)| (f64::from(code) - c).powi(2))
            .sum();
        if distance < best.1 {
            best = (index as u32, distance);
        }
    }
    best
}

/// The mean of each cluster; an empty cluster keeps its centre.
fn means(table: &Table, assignment: &[u32], old: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let width = table.width();
    let mut sums = vec![0i64; old.len() * width];
    let mut sizes = vec![0i64; old.len()];
    for (row, &cluster) in assignment.iter().enumerate() {
        let cluster = cluster as usize;
        sizes[cluster] += 1;
        for (sum, &code) in sums[cluster * width..].iter_mut().zip(table.row(row)) {
            *sum += i64::from(code);
        }
    }
    old.into_iter()
        .enumerate()
        .map(|(cluster, centre)| {
            if sizes[cluster] == 0 {
                return centre;
            }
            sums[cluster * width..(cluster + 1) * width]
                .iter()
                .map(|&sum| sum as f64 / sizes[cluster] as f64)
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clouds_are_told_apart_and_taken_in_turn() {
        // Rows 0, 2, 4 … near 0; rows 1, 3 near 1000.
        let codes: Vec<i32> = (0..10)
            .map(|row| {
                if row == 1 || row == 3 {
                    1000 + row
                } else {
                    row
                }
            })
            .collect();
        let table = Table::new(1, codes, Vec::new());
        let seeds = clustered_seeds(&table, 2, 100, 7);
        let mut first: Vec<u32> = seeds[..4].to_vec();
        first.sort_unstable();
        assert_eq!(
            first,
            [0, 1, 2, 3],
            "alternating while both last: {seeds:?}"
        );
        let mut all = seeds.clone();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>(), "every row once");
        assert_eq!(clustered_seeds(&table, 2, 3, 7), seeds[..3]);
    }

    #[test]
    fn more_clusters_than_distinct_rows() {
        let table = Table::new(1, vec![5, 5, 5], Vec::new());
        assert_eq!(clustered_seeds(&table, 4, 10, 1).len(), 3);
    }
}
