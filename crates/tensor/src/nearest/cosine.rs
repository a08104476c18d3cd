//! Exact nearest neighbours of words by the cosine of their vectors.
//!
//! The *true* score of two words is the f64 cosine of their f32 vectors: sums in the order of the
//! columns, the dot product divided by the root of the product of the squared lengths. Neighbours
//! are ranked by descending true score, equal ones by ascending row. A word is not its own
//! neighbour, and a vector of zeros has no neighbours and is the neighbour of no word.
//!
//! Matrix products of blocks of unit vectors give all scores at once, rounded; see [`super`].
//!
//! **Error bound.** Let u = 2^-24 and d the width. A unit vector is rounded from f64 to f32, number
//! by number: a relative error of at most u + 2^-52 each. Each of the d products of two such
//! numbers passes through at most d + 1 roundings of f32, in whatever order the device sums:
//! together at most (d + 4) u (to first order) of the sum of the products' absolute values, which
//! is at most 1 by Cauchy and Schwarz. The bound used takes twice that, which covers terms of
//! second order, numbers too small for f32 (2^-126 each), and the f64 rounding of the true score. A
//! GPU may shorten both factors to 8 significant bits: 2 x 2^-9 more, of which twice is taken, too.

use serde::{Deserialize, Serialize};

use super::Approximation;
use super::products::Products;
use super::rank::Ranking;
use crate::device::ComputeDevice;

/// The most scores of one block of queries: few enough that their memory is used again for the next
/// block.
const BLOCK_VALUES: usize = 1 << 22;
/// The fewest queries of a block, so that a product is worth its call.
const LEAST_QUERIES: usize = 32;

/// The options of a search for nearest neighbours.
#[derive(Debug, Clone, Copy)]
pub struct NearestOptions<'a> {
    /// The number of neighbours that a word gets at most.
    pub k: usize,
    /// For each row whether it must not be offered as a neighbour; rows beyond its end may be.
    pub excluded: &'a [bool],
}

/// The nearest rows of some rows, nearest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    k: usize,
    ends: Vec<u32>,
    ids: Vec<u32>,
}

impl Neighbours {
    /// The neighbours of the query at position `query`, nearest first: k, or all there are; none
    /// for a position that is none.
    pub fn neighbours(&self, query: usize) -> &[u32] {
        let end = |at: usize| self.ends.get(at).map_or(0, |&end| end as usize);
        let start = query.checked_sub(1).map_or(0, end);
        self.ids.get(start..end(query)).unwrap_or_default()
    }

    /// Returns the number of neighbours that were looked for.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Whether these neighbours can belong to `queries` rows of a table of `words`, with at most
    /// `k` a row.
    pub fn fit(&self, queries: usize, k: usize, words: usize) -> bool {
        let ends = || self.ends.iter().map(|&end| end as usize);
        let starts = std::iter::once(0).chain(ends());
        self.k == k
            && self.ends.len() == queries
            && self.ends.last().map_or(0, |&end| end as usize) == self.ids.len()
            && ends()
                .zip(starts)
                .all(|(end, start)| end.checked_sub(start).is_some_and(|length| length <= k))
            && self.ids.iter().all(|&id| (id as usize) < words)
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.ends.len()
    }

    fn collect(k: usize, lists: impl IntoIterator<Item = Vec<u32>>) -> Neighbours {
        let mut neighbours = Neighbours {
            k,
            ends: Vec::new(),
            ids: Vec::new(),
        };
        for list in lists {
            neighbours.ids.extend(list);
            neighbours.ends.push(neighbours.ids.len() as u32);
        }
        neighbours
    }
}

/// Returns the nearest rows of `queries` (rows of `vectors`, row-major `[rows, width]`), with
/// matrix products on `device`, which has no influence on the result.
///
/// Rows are excluded by [`NearestOptions::excluded`]; the row of the unknown word has a vector like
/// others and is to be excluded by the caller. A query that is no row gets no neighbours.
pub fn nearest(
    vectors: &[f32],
    width: usize,
    queries: &[u32],
    options: NearestOptions<'_>,
    device: &ComputeDevice,
) -> Neighbours {
    let unit = UnitVectors::new(vectors, width.max(1));
    let mut cosines = Cosines::new(&unit, device);
    nearest_by(vectors, &unit, queries, options, &mut cosines)
}

/// The rows of a table of vectors, scaled to unit length.
struct UnitVectors {
    /// The scaled rows, `[rows, width]`; rows of zeros stay zeros.
    values: Vec<f32>,
    width: usize,
    zero: Vec<bool>,
}

impl UnitVectors {
    /// Scales the rows of `vectors`.
    fn new(vectors: &[f32], width: usize) -> UnitVectors {
        let mut values = Vec::with_capacity(vectors.len());
        let mut zero = Vec::with_capacity(vectors.len() / width);
        for row in vectors.chunks_exact(width) {
            let length = squared(row).sqrt();
            let scale = if length > 0.0 { length.recip() } else { 0.0 };
            values.extend(row.iter().map(|&x| (f64::from(x) * scale) as f32));
            zero.push(length == 0.0);
        }
        UnitVectors {
            values,
            width,
            zero,
        }
    }

    fn rows(&self) -> usize {
        self.zero.len()
    }

    /// The row `query`; zeros if there is none.
    fn row(&self, query: u32) -> impl Iterator<Item = f32> {
        let row = self
            .values
            .get(query as usize * self.width..)
            .unwrap_or_default();
        row.iter()
            .copied()
            .chain(std::iter::repeat(0.0))
            .take(self.width)
    }

    /// Returns the row `row` of `vectors`, the table that was scaled.
    fn of_row<'v>(&self, vectors: &'v [f32], row: u32) -> &'v [f32] {
        &vectors[row as usize * self.width..][..self.width]
    }

    /// Whether `query` is a row with a direction.
    fn has_direction(&self, query: u32) -> bool {
        self.zero.get(query as usize) == Some(&false)
    }
}

/// Rounded cosines as products of unit vectors on a device, negated: the smaller, the nearer.
struct Cosines<'u> {
    unit: &'u UnitVectors,
    /// The matrix products on the device; nothing if it failed.
    products: Option<Products>,
    bound: f64,
}

impl<'u> Cosines<'u> {
    fn new(unit: &'u UnitVectors, device: &ComputeDevice) -> Self {
        let rounding = 2.0 * (unit.width + 4) as f64 * 2_f64.powi(-24);
        let shortening = if device.is_gpu() { 2_f64.powi(-7) } else { 0.0 };
        Self {
            products: Products::with(unit.values.clone(), unit.width, device),
            unit,
            bound: rounding + shortening,
        }
    }
}

impl Approximation for Cosines<'_> {
    fn fill(&mut self, queries: &[u32], values: &mut [f32]) -> Option<f64> {
        let rows = queries.iter().flat_map(|&query| self.unit.row(query));
        let left = rows.map(|x| -x).collect();
        let products = self.products.as_ref()?;
        products.fill(left, values).map(|()| self.bound)
    }
}

/// Returns the neighbours of the rows `queries` of `vectors`, from rounded cosines.
fn nearest_by(
    vectors: &[f32],
    unit: &UnitVectors,
    queries: &[u32],
    options: NearestOptions<'_>,
    rounded: &mut dyn Approximation,
) -> Neighbours {
    let rows = unit.rows();
    let offered: Vec<bool> = (0..rows)
        .map(|row| !unit.zero[row] && !options.excluded.get(row).copied().unwrap_or(false))
        .collect();
    let ranking = Ranking {
        rows,
        depth: options.k,
        offered: |query, row: u32| {
            row != query && offered[row as usize] && unit.has_direction(query)
        },
        exact: |query, row| -cosine(unit.of_row(vectors, query), unit.of_row(vectors, row)),
    };
    let block = (BLOCK_VALUES / rows.max(1)).max(LEAST_QUERIES);
    let mut lists = Vec::with_capacity(queries.len());
    ranking.rank(queries, block, rounded, &|| true, &mut |_, list| {
        lists.push(list);
    });
    Neighbours::collect(options.k, lists)
}

/// Returns the true score of two vectors; 0 if one of them is zero.
pub fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let products = left
        .iter()
        .zip(right)
        .map(|(&x, &y)| f64::from(x) * f64::from(y));
    let dot: f64 = products.fold(0.0, |sum, product| sum + product);
    let lengths = (squared(left) * squared(right)).sqrt();
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

fn squared(row: &[f32]) -> f64 {
    row.iter()
        .fold(0.0, |sum, &x| sum + f64::from(x) * f64::from(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores by plain loops, made worse by an error of a known size.
    struct Rough<'u> {
        unit: &'u UnitVectors,
        error: f64,
    }

    impl Approximation for Rough<'_> {
        fn fill(&mut self, queries: &[u32], scores: &mut [f32]) -> Option<f64> {
            let rows = self.unit.rows();
            for (i, score) in scores.iter_mut().enumerate() {
                let left = self.unit.row(queries[i / rows]);
                let sum: f32 = left
                    .zip(self.unit.row((i % rows) as u32))
                    .map(|(a, b)| a * b)
                    .sum();
                let noise = Draws(i as u64).below(1801) as f64 / 1000.0 - 0.9;
                *score = (self.error * noise) as f32 - sum;
            }
            (!self.error.is_nan()).then_some(self.error + 1e-5)
        }
    }

    /// A generator of numbers that look random.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            ((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % limit
        }
    }

    /// Finds the neighbours by the definition: all true scores, sorted.
    fn slowly(
        vectors: &[f32],
        width: usize,
        query: usize,
        options: NearestOptions<'_>,
    ) -> Vec<u32> {
        let rows: Vec<&[f32]> = vectors.chunks_exact(width).collect();
        let zero = |row: usize| rows[row].iter().all(|&x| x == 0.0);
        let mut ranked: Vec<(f64, u32)> = (0..rows.len())
            .filter(|&row| row != query && !zero(row) && !zero(query))
            .filter(|&row| !options.excluded.get(row).is_some_and(|&excluded| excluded))
            .map(|row| (cosine(rows[query], rows[row]), row as u32))
            .collect();
        ranked.sort_by(|(x, a), (y, b)| y.total_cmp(x).then(a.cmp(b)));
        ranked
            .into_iter()
            .take(options.k)
            .map(|(_, row)| row)
            .collect()
    }

    /// Vectors on a coarse grid: many equal cosines, some zero vectors.
    fn coarse(item: u64, rows: usize, width: usize) -> Vec<f32> {
        let mut draws = Draws(item << 32);
        (0..rows * width)
            .map(|_| (draws.below(3) as f32 - 1.0) * 0.7)
            .collect()
    }

    #[test]
    fn neighbours_are_the_naive_sorts_whatever_the_products_errors() {
        for item in 0..300 {
            let mut draws = Draws(item);
            let (rows, width) = (1 + draws.below(89) as usize, 1 + draws.below(4) as usize);
            let vectors = coarse(item, rows, width);
            let excluded: Vec<bool> = (0..rows).map(|_| draws.below(5) == 0).collect();
            let options = NearestOptions {
                k: draws.below(12) as usize,
                excluded: &excluded,
            };
            let queries: Vec<u32> = (0..rows as u32).filter(|_| draws.below(10) < 7).collect();
            let unit = UnitVectors::new(&vectors, width);
            let error = [0.0, 1e-6, 0.01, 0.3, f64::NAN][draws.below(5) as usize];
            let mut rough = Rough { unit: &unit, error };
            let found = nearest_by(&vectors, &unit, &queries, options, &mut rough);
            assert_eq!((found.queries(), found.k()), (queries.len(), options.k));
            for (at, &query) in queries.iter().enumerate() {
                assert_eq!(
                    found.neighbours(at),
                    slowly(&vectors, width, query as usize, options)
                );
            }
            assert!(found.neighbours(queries.len()).is_empty());
        }
    }

    #[test]
    fn tensor_products_give_the_naive_sort() {
        for item in 0..40 {
            let (rows, width) = (1 + item as usize * 17, 1 + item as usize % 60);
            let vectors = coarse(item, rows, width);
            let excluded: Vec<bool> = (0..rows).map(|row| row % 7 == 3).collect();
            let options = NearestOptions {
                k: 9,
                excluded: &excluded,
            };
            let queries: Vec<u32> = (0..rows as u32).rev().step_by(3).collect();
            let found = nearest(&vectors, width, &queries, options, &ComputeDevice::flex());
            for (at, &query) in queries.iter().enumerate() {
                assert_eq!(
                    found.neighbours(at),
                    slowly(&vectors, width, query as usize, options)
                );
            }
        }
    }

    #[test]
    fn rows_that_there_are_not_and_empty_tables_have_no_neighbours() {
        let options = NearestOptions {
            k: 3,
            excluded: &[],
        };
        let device = ComputeDevice::flex();
        let found = nearest(&[1.0, 2.0, 3.0], 1, &[7, 0], options, &device);
        assert_eq!(
            (found.neighbours(0), found.neighbours(1)),
            (&[][..], &[1, 2][..])
        );
        assert_eq!(
            nearest(&[], 4, &[0], options, &device).neighbours(0),
            [0_u32; 0]
        );
        assert_eq!(nearest(&[1.0], 1, &[], options, &device).queries(), 0);
    }
}
