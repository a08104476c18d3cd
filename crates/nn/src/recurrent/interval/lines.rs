//! The first layer's products with the embeddings of some tokens, and their hulls over
//! replacements.
//!
//! The hull is taken after the first product, gate row by gate row, not over the embeddings: the
//! product is linear, so the hull of its values is inside what the hull of the embeddings gives.

use super::super::kernels::{EmbeddingTable, project};
use super::direction::IntervalDirection;

/// A text in which a run of tokens stands for any of several.
#[derive(Debug, Clone)]
pub struct Substituted<'a> {
    /// The tokens before the run.
    pub before: &'a [i32],
    /// The replacements that may stand in the run's place: at least one, all of one length above 0.
    pub by: Vec<&'a [i32]>,
    /// The tokens behind the run.
    pub after: &'a [i32],
}

impl Substituted<'_> {
    /// The number of tokens of every replacement.
    pub fn length(&self) -> usize {
        self.by.first().map_or(0, |first| first.len())
    }

    fn tokens(&self) -> impl Iterator<Item = i32> {
        let by = self.by.iter().copied().flatten();
        self.before.iter().chain(by).chain(self.after).copied()
    }
}

/// The biases plus input products of some tokens in every direction of the first layer: one line a
/// token.
#[derive(Debug)]
pub(super) struct Lines {
    /// The tokens, ascending.
    tokens: Vec<i32>,
    /// The embeddings of the tokens, row-major `[tokens, dimension]`.
    pub embeddings: Vec<f32>,
    /// The lines of each direction, row-major `[tokens, input gate rows]`.
    pub values: Vec<Vec<f32>>,
}

/// Bounds on the input gate rows at the positions of a run, in one direction: `[length, rows]`.
#[derive(Debug, Clone, Default)]
pub(super) struct Hull {
    /// The lower bounds.
    pub low: Vec<f32>,
    /// The upper bounds.
    pub high: Vec<f32>,
    /// The line that each lower bound is taken from.
    pub low_line: Vec<u32>,
    /// The line that each upper bound is taken from.
    pub high_line: Vec<u32>,
}

impl Lines {
    /// Computes the lines of all tokens of `texts` and of `others`; the bits are those of the
    /// kernels.
    pub fn new<'a, 'b: 'a>(
        first: &[IntervalDirection],
        table: EmbeddingTable<'_>,
        texts: impl Iterator<Item = &'a Substituted<'b>>,
        others: impl Iterator<Item = i32>,
    ) -> Lines {
        let mut tokens: Vec<i32> = texts.flat_map(Substituted::tokens).chain(others).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let vector = |&token: &i32| {
            table.values[token as usize * table.dimension..][..table.dimension]
                .iter()
                .copied()
        };
        let embeddings: Vec<f32> = tokens.iter().flat_map(vector).collect();
        let some = EmbeddingTable {
            values: &embeddings,
            dimension: table.dimension,
        };
        let values = first
            .iter()
            .map(|direction| project(&direction.plain, some));
        Lines {
            values: values.collect(),
            embeddings,
            tokens,
        }
    }

    /// Returns the number of the line of a token that was among the texts'.
    pub fn line(&self, token: i32) -> i32 {
        self.tokens.partition_point(|&other| other < token) as i32
    }

    /// Returns the text as numbers of lines, the first replacement in the run's place.
    pub fn text(&self, text: &Substituted<'_>) -> Vec<i32> {
        let by = text.by.first().copied().unwrap_or_default();
        let tokens = text.before.iter().chain(by).chain(text.after);
        tokens.map(|&token| self.line(token)).collect()
    }

    /// Computes the hull of a text's replacements in direction `direction`, whose lines have `rows`
    /// numbers.
    pub fn hull(&self, text: &Substituted<'_>, direction: usize, rows: usize) -> Hull {
        let values = &self.values[direction];
        let mut hull = Hull::default();
        for position in 0..text.length() {
            let start = hull.low.len();
            for (number, by) in text.by.iter().enumerate() {
                let line = self.line(by[position]);
                let own = &values[line as usize * rows..][..rows];
                if number == 0 {
                    hull.low.extend_from_slice(own);
                    hull.high.extend_from_slice(own);
                    hull.low_line.resize(start + rows, line as u32);
                    hull.high_line.resize(start + rows, line as u32);
                    continue;
                }
                for (row, &value) in own.iter().enumerate() {
                    if value < hull.low[start + row] {
                        hull.low[start + row] = value;
                        hull.low_line[start + row] = line as u32;
                    }
                    if value > hull.high[start + row] {
                        hull.high[start + row] = value;
                        hull.high_line[start + row] = line as u32;
                    }
                }
            }
        }
        hull
    }
}
