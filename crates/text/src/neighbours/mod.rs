//! Exact nearest neighbours of words by the cosine of their vectors.
//!
//! The *true* score of two words is the f64 cosine of their f32 vectors: sums in the order of the
//! columns, the dot product divided by the root of the product of the squared lengths. Neighbours are ranked by
//! descending true score, equal ones by ascending row. A word is not its own neighbour, and a vector of
//! zeros has no neighbours and is nobody's.
//!
//! Matrix products of blocks of unit vectors give all scores at once, but rounded, on a GPU to few digits. Let e be a
//! bound on |rounded - true|, and t the k-th largest rounded score of a query. At least k candidates have a true
//! score of t - e or more, so each of the k truly best ones does, and has a rounded score of at least t - 2e.
//! All candidates from there on are ranked by their true scores. So the result does not depend on the device,
//! the block size or the threads.

mod products;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use products::nearest;

/// Scores looked at together before single ones are.
const STRIDE: usize = 32;
/// Scores of one block of queries: small enough that their memory is used again for the next block.
const BLOCK_VALUES: usize = 1 << 22;
/// Queries of a block at least, so that a product is worth its call.
const LEAST_QUERIES: usize = 32;

/// Supplies rounded cosines for blocks of queries, as products of unit vectors.
trait ScoreProducts {
    /// Fills `scores`, `[queries, rows]`, with the dot products of `queries` (rows of unit length or zero,
    /// `[queries, width]`) and all unit vectors. False if that failed: all scores are then taken one by one.
    fn fill(&mut self, queries: &[f32], scores: &mut [f32]) -> bool;

    /// A bound on |rounded score - true score|.
    fn bound(&self) -> f64;
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct NearestOptions<'a> {
    /// How many neighbours a word gets at most.
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
    /// The neighbours of the query at position `query`, nearest first: k, or all there are; none for a
    /// position that is none.
    pub fn of(&self, query: usize) -> &[u32] {
        let end = |at: usize| self.ends.get(at).map_or(0, |&end| end as usize);
        let start = query.checked_sub(1).map_or(0, end);
        self.ids.get(start..end(query)).unwrap_or_default()
    }

    /// How many neighbours were looked for.
    pub fn k(&self) -> usize {
        self.k
    }

    /// How many queries there were.
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

/// The rows of a table of vectors, scaled to unit length.
struct UnitVectors {
    /// `[rows, width]`; zeros stay zeros.
    values: Vec<f32>,
    zero: Vec<bool>,
}

impl UnitVectors {
    /// Scales the rows of `vectors`.
    fn of(vectors: &[f32], width: usize) -> UnitVectors {
        let mut values = Vec::with_capacity(vectors.len());
        let mut zero = Vec::with_capacity(vectors.len() / width);
        for row in vectors.chunks_exact(width) {
            let length = squared(row).sqrt();
            let scale = if length > 0.0 { length.recip() } else { 0.0 };
            values.extend(row.iter().map(|&x| (f64::from(x) * scale) as f32));
            zero.push(length == 0.0);
        }
        UnitVectors { values, zero }
    }

    fn rows(&self) -> usize {
        self.zero.len()
    }

    /// The row `query`; zeros if there is none.
    fn row(&self, query: u32, width: usize) -> impl Iterator<Item = f32> {
        let row = self
            .values
            .get(query as usize * width..)
            .unwrap_or_default();
        row.iter()
            .copied()
            .chain(std::iter::repeat(0.0))
            .take(width)
    }

    /// Whether `query` is a row with a direction.
    fn has_direction(&self, query: u32) -> bool {
        self.zero.get(query as usize) == Some(&false)
    }
}

/// The neighbours of the rows `queries` of `vectors`, from rounded scores.
fn nearest_by(
    vectors: &[f32],
    width: usize,
    unit: &UnitVectors,
    queries: &[u32],
    options: NearestOptions<'_>,
    products: &mut dyn ScoreProducts,
) -> Neighbours {
    let rows = unit.rows();
    if rows == 0 {
        return Neighbours::collect(options.k, queries.iter().map(|_| Vec::new()));
    }
    let offered: Vec<bool> = (0..rows)
        .map(|row| !unit.zero[row] && !options.excluded.get(row).copied().unwrap_or(false))
        .collect();
    let block = (BLOCK_VALUES / rows)
        .max(LEAST_QUERIES)
        .min(queries.len().max(1));
    let margin = 2.0 * products.bound();
    let mut scores = vec![0.0; block * rows];
    let mut lists = Vec::with_capacity(queries.len());
    for queries in queries.chunks(block) {
        let left: Vec<f32> = queries
            .iter()
            .flat_map(|&query| unit.row(query, width))
            .collect();
        let filled = &mut scores[..queries.len() * rows];
        let rounded = products.fill(&left, filled);
        let found: Vec<Vec<u32>> = filled
            .par_chunks_mut(rows)
            .zip(queries)
            .map(|(scores, &query)| {
                if !unit.has_direction(query) {
                    return Vec::new();
                }
                // Without rounded scores every row is a candidate.
                if !rounded {
                    scores.fill(0.0);
                }
                hide(scores, &offered, query as usize);
                let candidates = candidates(scores, options.k, margin);
                settle(vectors, width, query as usize, candidates, options.k)
            })
            .collect();
        lists.extend(found);
    }
    Neighbours::collect(options.k, lists)
}

/// Makes rows that are not offered, and the query, lose against all others.
fn hide(scores: &mut [f32], offered: &[bool], query: usize) {
    for (score, &offered) in scores.iter_mut().zip(offered) {
        *score = if offered { *score } else { f32::NEG_INFINITY };
    }
    scores[query] = f32::NEG_INFINITY;
}

/// The rows whose score is at least the k-th largest one less `margin`.
fn candidates(scores: &[f32], k: usize, margin: f64) -> Vec<u32> {
    if k == 0 {
        return Vec::new();
    }
    // The k largest so far, the smallest first.
    let mut best: Vec<f32> = Vec::with_capacity(k + 1);
    visit_from(scores, f32::NEG_INFINITY, |_, score| {
        let place = best.partition_point(|&other| other < score);
        best.insert(place, score);
        if best.len() > k {
            best.remove(0);
        }
        if best.len() == k {
            best[0]
        } else {
            f32::NEG_INFINITY
        }
    });
    let threshold = match best.first() {
        Some(&least) if best.len() == k => below(f64::from(least) - margin),
        _ => f32::MIN,
    };
    let mut rows = Vec::with_capacity(2 * k);
    visit_from(scores, threshold, |row, _| {
        rows.push(row as u32);
        threshold
    });
    rows
}

/// The largest f32 that is no larger than `x`.
fn below(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x {
        rounded.next_down()
    } else {
        rounded
    }
}

/// Calls `visit` with every row whose finite score is at least the threshold, which is what the last call
/// returned, at first `threshold`.
fn visit_from(scores: &[f32], mut threshold: f32, mut visit: impl FnMut(usize, f32) -> f32) {
    for (chunk, scores) in scores.chunks(STRIDE).enumerate() {
        let largest = scores
            .iter()
            .fold(f32::NEG_INFINITY, |max, &x| if x > max { x } else { max });
        if largest < threshold || largest == f32::NEG_INFINITY {
            continue;
        }
        for (at, &score) in scores.iter().enumerate() {
            if score >= threshold && score > f32::NEG_INFINITY {
                threshold = visit(chunk * STRIDE + at, score);
            }
        }
    }
}

/// The k candidates with the largest true scores.
fn settle(vectors: &[f32], width: usize, query: usize, candidates: Vec<u32>, k: usize) -> Vec<u32> {
    let row = |row: usize| &vectors[row * width..][..width];
    let mut ranked: Vec<(f64, u32)> = candidates
        .into_iter()
        .map(|candidate| (cosine(row(query), row(candidate as usize)), candidate))
        .collect();
    ranked.sort_unstable_by(|(x, a), (y, b)| y.total_cmp(x).then(a.cmp(b)));
    ranked.truncate(k);
    ranked.into_iter().map(|(_, row)| row).collect()
}

/// The true score of two vectors; 0 if one of them is zero.
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
pub(super) mod tests {
    use super::*;
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// Plain loops, made worse by an error of a known size.
    struct Rough<'a> {
        unit: &'a [f32],
        width: usize,
        error: f64,
    }

    impl ScoreProducts for Rough<'_> {
        fn fill(&mut self, queries: &[f32], scores: &mut [f32]) -> bool {
            if self.error.is_nan() {
                return false;
            }
            let rows = self.unit.len() / self.width;
            for (i, score) in scores.iter_mut().enumerate() {
                let left = &queries[i / rows * self.width..][..self.width];
                let right = &self.unit[i % rows * self.width..][..self.width];
                let sum: f32 = left.iter().zip(right).map(|(a, b)| a * b).sum();
                let mut draws = stream(7, Purpose::Synthetic, i as u64, 0);
                *score = sum + (self.error * draws.random_range(-0.9..0.9)) as f32;
            }
            true
        }

        fn bound(&self) -> f64 {
            if self.error.is_nan() {
                0.0
            } else {
                self.error + 1e-5
            }
        }
    }

    /// The definition: all true scores, sorted.
    pub(crate) fn slowly(
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
    pub(crate) fn coarse(item: u64, rows: usize, width: usize) -> Vec<f32> {
        let mut draws = stream(item, Purpose::Synthetic, 1, 0);
        (0..rows * width)
            .map(|_| draws.random_range(-1..=1) as f32 * 0.7)
            .collect()
    }

    #[test]
    fn neighbours_are_the_naive_sorts_whatever_the_products_errors() {
        for item in 0..300 {
            let mut draws = stream(item, Purpose::Synthetic, 0, 0);
            let (rows, width) = (draws.random_range(1..90), draws.random_range(1..5));
            let vectors = coarse(item, rows, width);
            let excluded: Vec<bool> = (0..rows).map(|_| draws.random_bool(0.2)).collect();
            let options = NearestOptions {
                k: draws.random_range(0..12),
                excluded: &excluded,
            };
            let queries: Vec<u32> = (0..rows as u32)
                .filter(|_| draws.random_bool(0.7))
                .collect();
            let unit = UnitVectors::of(&vectors, width);
            let error = [0.0, 1e-6, 0.01, 0.3, f64::NAN][draws.random_range(0..5)];
            let mut products = Rough {
                unit: &unit.values,
                width,
                error,
            };
            let found = nearest_by(&vectors, width, &unit, &queries, options, &mut products);
            assert_eq!((found.queries(), found.k()), (queries.len(), options.k));
            for (at, &query) in queries.iter().enumerate() {
                assert_eq!(
                    found.of(at),
                    slowly(&vectors, width, query as usize, options)
                );
            }
            assert!(found.of(queries.len()).is_empty());
        }
    }

    #[test]
    fn neighbours_are_saved() {
        let neighbours = Neighbours::collect(2, [vec![1, 2], vec![], vec![0]]);
        let bytes = postcard::to_allocvec(&neighbours).unwrap();
        let back: Neighbours = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(
            (back.of(0), back.of(1), back.of(2)),
            (&[1, 2][..], &[][..], &[0][..])
        );
        assert_eq!(back, neighbours);
    }
}
