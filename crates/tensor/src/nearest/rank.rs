//! The nearest of many rows, in their true order, from rounded values.

use rayon::prelude::*;

use super::smallest::candidates;
use super::{Approximation, settle};

/// Where a query gets fewer than one in this many rows, most rows are passed over before the others
/// are sorted.
const FEW: usize = 32;

/// A ranking of rows for queries that are rows themselves: which rows, and by what reference.
pub struct Ranking<O, E> {
    /// The number of rows.
    pub rows: usize,
    /// The most rows that a query gets.
    pub depth: usize,
    /// Whether a query is offered a row.
    pub offered: O,
    /// The reference: how far a row is from a query. The reference is asked about rows that are
    /// offered.
    pub exact: E,
}

impl<O, E> Ranking<O, E>
where
    O: Fn(u32, u32) -> bool + Sync,
    E: Fn(u32, u32) -> f64 + Sync,
{
    /// Shows `store` the nearest rows of each of `queries`, in the order of the queries, from the
    /// rounded values that `source` gives for `block` of them at a time. Returns false if `go_on`
    /// said so between two blocks.
    ///
    /// **Theorem.** The rows are the first `depth` of those offered, ordered by (exact, row).
    /// *Proof.* [`super`] where the values are finite and come with a bound. Otherwise the source
    /// has failed: all rows that are offered are put at distance 0 with a bound of 0, so that none
    /// are apart and the reference orders them. ∎
    pub fn rank(
        &self,
        queries: &[u32],
        block: usize,
        source: &mut dyn Approximation,
        go_on: &dyn Fn() -> bool,
        store: &mut dyn FnMut(usize, Vec<u32>),
    ) -> bool {
        if self.rows == 0 {
            (0..queries.len()).for_each(|at| store(at, Vec::new()));
            return true;
        }
        let block = block.clamp(1, queries.len().max(1));
        let mut values = vec![0.0; block * self.rows];
        for (at, queries) in queries.chunks(block).enumerate() {
            if !go_on() {
                return false;
            }
            let filled = &mut values[..queries.len() * self.rows];
            let bound = source.fill(queries, filled);
            let bound = bound.filter(|bound| bound.is_finite() && *bound >= 0.0);
            let ranked: Vec<Vec<u32>> = filled
                .par_chunks_mut(self.rows)
                .zip(queries)
                .map(|(values, &query)| self.rank_query(query, values, bound))
                .collect();
            for (place, rows) in ranked.into_iter().enumerate() {
                store(at * block + place, rows);
            }
        }
        true
    }

    /// Returns the nearest rows of one query, by its rounded values.
    fn rank_query(&self, query: u32, values: &mut [f32], bound: Option<f64>) -> Vec<u32> {
        let finite = values.iter().all(|value| value.is_finite());
        let bound = bound.filter(|_| finite).unwrap_or_else(|| {
            values.fill(0.0);
            0.0
        });
        for (row, value) in values.iter_mut().enumerate() {
            if !(self.offered)(query, row as u32) {
                *value = f32::INFINITY;
            }
        }
        let near = if self.depth < values.len() / FEW {
            candidates(values, self.depth, 2.0 * bound)
        } else {
            let rows = values.iter().zip(0..);
            rows.filter(|(value, _)| value.is_finite())
                .map(|(&value, row)| (f64::from(value), row))
                .collect()
        };
        settle(near, bound, self.depth, |row| (self.exact)(query, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of distances with noise below its bound; now and then without a bound, or without
    /// an order.
    struct Noisy {
        turn: u32,
        bound: f64,
    }

    fn exact(query: u32, row: u32) -> f64 {
        f64::from((row * 7919 + query * 31) % 23)
    }

    impl Approximation for Noisy {
        fn fill(&mut self, queries: &[u32], values: &mut [f32]) -> Option<f64> {
            let rows = values.len() / queries.len();
            for (place, &query) in queries.iter().enumerate() {
                for row in 0..rows {
                    let noise = f64::from((row as u32 * 13 + self.turn) % 17) / 8.5 - 1.0;
                    let value = exact(query, row as u32) + 0.999 * self.bound * noise;
                    values[place * rows + row] = value as f32;
                }
            }
            match self.turn % 7 {
                0 => return None,
                1 => values[rows / 2] = f32::NAN,
                2 => return Some(f64::INFINITY),
                _ => {}
            }
            Some(self.bound + 1e-5)
        }
    }

    #[test]
    fn rows_are_those_of_the_reference_whatever_the_source_does() {
        for turn in 0..140 {
            let rows = [1, 40, 500][turn as usize % 3];
            let queries: Vec<u32> = (0..9).collect();
            let offered = |query: u32, row: u32| !(row + query + turn).is_multiple_of(4);
            for depth in [0, 1, 9, 600] {
                let ranking = Ranking {
                    rows,
                    depth,
                    offered,
                    exact,
                };
                let bound = [0.0, 0.4, 3.0][turn as usize % 3];
                let mut found = Vec::new();
                let whole = ranking.rank(
                    &queries,
                    4,
                    &mut Noisy { turn, bound },
                    &|| true,
                    &mut |at, rows| {
                        assert_eq!(at, found.len());
                        found.push(rows);
                    },
                );
                assert!(whole);
                for (&query, found) in queries.iter().zip(&found) {
                    let mut expected: Vec<u32> = (0..rows as u32)
                        .filter(|&row| offered(query, row))
                        .collect();
                    expected.sort_by(|&a, &b| {
                        let order = exact(query, a).total_cmp(&exact(query, b));
                        order.then(a.cmp(&b))
                    });
                    expected.truncate(depth);
                    assert_eq!(*found, expected, "turn {turn}, depth {depth}");
                }
                let stopped = ranking.rank(
                    &queries,
                    4,
                    &mut Noisy { turn, bound },
                    &|| false,
                    &mut |_, _| {},
                );
                assert!(!stopped);
            }
        }
    }
}
