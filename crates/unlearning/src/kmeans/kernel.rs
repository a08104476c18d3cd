//! Approximate products in f32 with a proved bound on their error: the fast part of a pass over the
//! rows.
//!
//! What is decided from them is exact: a row whose nearest centroid the error could change is
//! settled in integers ([`super::assign`]). Products may therefore be summed in any order, on any
//! device.
//!
//! **Error bound.** Coordinates of points and centroids are integers from 0 to 2²⁴, exact in f32,
//! and no term of a product x·c is negative. In a sum whose terms pass through at most p roundings
//! each, the error is at most p u / (1 − p u) times the sum itself (u = 2⁻²⁴; Higham, "Accuracy and
//! Stability of Numerical Algorithms", section 3.1). p is [`roundings`] for [`products`] and
//! [`dot_roundings`] for [`dot`]. With |c|² rounded once and one subtraction, s = |c|² − 2 x·c is
//! off by at most (p + 2) u (|c|² + 2 x·c) to first order; [`unit_error`] takes p + 8 and 1 % more
//! for the rest.

use std::array::from_fn;

use pulp::Simd;

/// The number of rows that are multiplied together.
pub(crate) const TILE_ROWS: usize = 8;
/// The number of columns that are read together; rows are filled up with zeros to a multiple.
const STEP: usize = 4;
/// The number of steps that are summed before they are added to the total.
const BLOCK: usize = 16;
/// The number of values of [`dot`] that are converted together.
const DOT_VALUES: usize = 64;
/// The number of sums of [`dot`].
const DOT_SUMS: usize = 4;

/// Returns the largest number of roundings that a term of [`products`] passes through, for
/// `columns` columns.
pub(crate) fn roundings(columns: usize) -> usize {
    let steps = columns.div_ceil(STEP);
    STEP * steps.min(BLOCK) + steps.div_ceil(BLOCK)
}

/// Returns the largest number of roundings that a term of [`dot`] passes through, with vectors of
/// one lane or more.
pub(crate) fn dot_roundings(columns: usize) -> usize {
    columns.div_ceil(DOT_SUMS) + 1 + DOT_VALUES
}

/// Returns the relative error of s for products of `roundings` roundings.
pub(crate) fn unit_error(roundings: usize) -> f32 {
    (roundings + 8) as f32 * (1.01 / f32::from_bits((127 + 24) << 23))
}

/// Up to [`TILE_ROWS`] rows in f32, filled up with zeros.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    /// The values, `[TILE_ROWS, steps]` of `STEP` columns.
    values: Vec<[f32; STEP]>,
    steps: usize,
}

impl Tile {
    /// Creates a tile with room for rows of `columns` columns.
    pub(crate) fn new(columns: usize) -> Tile {
        let steps = columns.div_ceil(STEP);
        Tile {
            values: vec![[0.0; STEP]; TILE_ROWS * steps],
            steps,
        }
    }

    /// Sets row `at` of the tile to `row`.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, row: &[i32]) {
        let to = self.values[at * self.steps..(at + 1) * self.steps].as_flattened_mut();
        for (to, &x) in to.iter_mut().zip(row) {
            *to = x as f32;
        }
    }
}

/// Centroids in the order that [`products`] reads them: groups of `L` clusters, a column after the
/// other.
#[derive(Debug, Clone)]
pub(crate) struct Packed<const L: usize> {
    /// The coordinates, `[groups, steps]` of `STEP` columns of `L` lanes.
    coordinates: Vec<[[f32; L]; STEP]>,
    /// The norms |c|² of each group; infinite for lanes without a cluster.
    norms: Vec<[f32; L]>,
    steps: usize,
    largest: f32,
}

impl<const L: usize> Packed<L> {
    /// Packs `centroids`, `[clusters, columns]`.
    pub(crate) fn new(centroids: &[i32], columns: usize) -> Packed<L> {
        let clusters = centroids.len() / columns;
        let groups = clusters.div_ceil(L);
        let steps = columns.div_ceil(STEP);
        let mut coordinates = vec![[[0.0; L]; STEP]; groups * steps];
        let mut norms = vec![[f32::INFINITY; L]; groups];
        let mut largest = 0_f32;
        for (cluster, centroid) in centroids.chunks_exact(columns).enumerate() {
            let (group, lane) = (cluster / L, cluster % L);
            for (column, &coordinate) in centroid.iter().enumerate() {
                coordinates[group * steps + column / STEP][column % STEP][lane] = coordinate as f32;
            }
            let norm = super::points::square(centroid) as f32;
            norms[group][lane] = norm;
            largest = largest.max(norm);
        }
        Packed {
            coordinates,
            norms,
            steps,
            largest,
        }
    }

    /// Returns the largest |c|².
    pub(crate) fn largest_norm(&self) -> f32 {
        self.largest
    }
}

/// The nearest and the second nearest centroid of one row, by approximate score |c|² − 2 x·c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    /// The position of the nearest centroid.
    pub cluster: u32,
    /// The score of the nearest centroid.
    pub best: f32,
    /// The score of the next; infinite if there is none.
    pub second: f32,
}

/// The [`Nearest`] of the rows of a tile, while centroids are offered.
struct Found {
    clusters: [u32; FOUND],
    best: [f32; FOUND],
    second: [f32; FOUND],
}

/// The number of rows of a tile, or of lanes of the widest vector.
const FOUND: usize = 16;

impl Found {
    const NONE: Found = Found {
        clusters: [0; FOUND],
        best: [f32::INFINITY; FOUND],
        second: [f32::INFINITY; FOUND],
    };

    /// Offers the centroid `cluster` with its |c|² and its products with the rows.
    #[inline(always)]
    fn offer<S: Simd>(&mut self, simd: S, cluster: u32, norm: f32, products: &[f32; FOUND]) {
        let (norm, cluster) = (simd.splat_f32s(norm), simd.splat_u32s(cluster));
        let clusters = S::as_mut_simd_u32s(&mut self.clusters).0;
        let best = S::as_mut_simd_f32s(&mut self.best).0;
        let second = S::as_mut_simd_f32s(&mut self.second).0;
        let products = S::as_simd_f32s(products).0;
        for at in 0..TILE_ROWS.div_ceil(S::F32_LANES) {
            let score = simd.sub_f32s(norm, simd.add_f32s(products[at], products[at]));
            let is_better = simd.less_than_f32s(score, best[at]);
            clusters[at] = simd.select_u32s(is_better, cluster, clusters[at]);
            second[at] = simd.min_f32s(second[at], simd.max_f32s(best[at], score));
            best[at] = simd.min_f32s(best[at], score);
        }
    }
}

/// Finds the nearest centroids of the rows in `tile`.
#[inline(always)]
pub(crate) fn products<S: Simd, const L: usize>(
    simd: S,
    tile: &Tile,
    packed: &Packed<L>,
    clusters: usize,
) -> [Nearest; TILE_ROWS] {
    let steps = packed.steps;
    let rows: [&[[f32; STEP]]; TILE_ROWS] =
        from_fn(|row| &tile.values[row * steps..(row + 1) * steps]);
    let mut found = Found::NONE;
    for (group, norms) in packed.norms.iter().enumerate() {
        let coordinates = &packed.coordinates[group * steps..(group + 1) * steps];
        let mut totals = [[0.0_f32; L]; TILE_ROWS];
        for (block, coordinates) in coordinates.chunks(BLOCK).enumerate() {
            let steps = block * BLOCK..block * BLOCK + coordinates.len();
            let rows = from_fn(|row| &rows[row][steps.clone()]);
            for vector in 0..L / S::F32_LANES {
                let sums = sums(simd, &rows, coordinates, vector);
                for (total, sum) in totals.iter_mut().zip(sums) {
                    let total = &mut S::as_mut_simd_f32s(total).0[vector];
                    *total = simd.add_f32s(*total, sum);
                }
            }
        }
        let lanes = L.min(clusters - group * L);
        for (lane, &norm) in norms.iter().enumerate().take(lanes) {
            let products = from_fn(|row| totals.get(row).map_or(0.0, |total| total[lane]));
            found.offer(simd, (group * L + lane) as u32, norm, &products);
        }
    }
    from_fn(|row| Nearest {
        cluster: found.clusters[row],
        best: found.best[row],
        second: found.second[row],
    })
}

/// Computes x·c of each row over the columns of a block, for the clusters in the lanes of vector
/// `vector`.
#[inline(always)]
fn sums<S: Simd, const L: usize>(
    simd: S,
    rows: &[&[[f32; STEP]]; TILE_ROWS],
    coordinates: &[[[f32; L]; STEP]],
    vector: usize,
) -> [S::f32s; TILE_ROWS] {
    let mut sums = [simd.splat_f32s(0.0); TILE_ROWS];
    for (at, lanes) in coordinates.iter().enumerate() {
        let columns: [&[f32; STEP]; TILE_ROWS] = from_fn(|row| &rows[row][at]);
        for (column, lanes) in lanes.iter().enumerate() {
            let lanes = S::as_simd_f32s(lanes).0[vector];
            for (sum, columns) in sums.iter_mut().zip(&columns) {
                *sum = simd.mul_add_e_f32s(simd.splat_f32s(columns[column]), lanes, *sum);
            }
        }
    }
    sums
}

/// Computes x·c for one row.
#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, row: &[i32], centroid: &[f32]) -> f32 {
    let mut sums = [simd.splat_f32s(0.0); DOT_SUMS];
    let mut values = [0.0_f32; DOT_VALUES];
    for (row, centroid) in row.chunks(DOT_VALUES).zip(centroid.chunks(DOT_VALUES)) {
        let values = &mut values[..row.len()];
        for (to, &x) in values.iter_mut().zip(row) {
            *to = x as f32;
        }
        let (values, rest) = S::as_simd_f32s(values);
        let (coordinates, other) = S::as_simd_f32s(centroid);
        let whole = values.chunks(DOT_SUMS).zip(coordinates.chunks(DOT_SUMS));
        for (values, coordinates) in whole {
            for ((sum, &x), &c) in sums.iter_mut().zip(values).zip(coordinates) {
                *sum = simd.mul_add_e_f32s(x, c, *sum);
            }
        }
        let (x, c) = (simd.partial_load_f32s(rest), simd.partial_load_f32s(other));
        sums[0] = simd.mul_add_e_f32s(x, c, sums[0]);
    }
    let halves = [
        simd.add_f32s(sums[0], sums[1]),
        simd.add_f32s(sums[2], sums[3]),
    ];
    simd.reduce_sum_f32s(simd.add_f32s(halves[0], halves[1]))
}
