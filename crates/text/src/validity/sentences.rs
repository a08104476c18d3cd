//! Sentence vectors: smooth inverse frequency (Arora, Liang, Ma: "A simple but tough-to-beat
//! baseline for sentence embeddings", ICLR 2017).
//!
//! The vector of a text is the mean of its word vectors, each weighted by a / (a + p(w)) with a =
//! 0.001 and p(w) the word's share of the corpus, less its projection on the first common
//! component: the first right singular vector u of the (uncentred) matrix of all texts' weighted
//! means, found by power iteration. Words without a vector are left out.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::embeddings::EmbeddingTable;
use crate::frequencies::WordFrequencies;

/// The constant a of the weights.
const WEIGHT: f64 = 1e-3;
/// The number of texts whose products one thread sums: fixed, so that the sum does not depend on
/// the threads.
const CHUNK: usize = 256;
/// The largest number of steps of the power iteration.
const STEPS: usize = 1000;
/// The largest change of a number at which the iteration ends.
const SETTLED: f64 = 1e-12;

/// A maker of sentence vectors for texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceEmbedder {
    frequencies: WordFrequencies,
    /// The common component, of length 1; all zeros if there is none.
    component: Vec<f64>,
}

impl SentenceEmbedder {
    /// Finds the common component of `texts` (as tokens), whose words have the given `frequencies`,
    /// in the vectors of `table`.
    pub fn fit<S: AsRef<str> + Sync>(
        texts: &[Vec<S>],
        table: &EmbeddingTable,
        frequencies: WordFrequencies,
    ) -> SentenceEmbedder {
        let mut embedder = SentenceEmbedder {
            frequencies,
            component: vec![0.0; table.width()],
        };
        let parts: Vec<Vec<f64>> = texts
            .par_chunks(CHUNK)
            .map(|texts| embedder.products(texts, table))
            .collect();
        let mut products = vec![0.0; table.width() * table.width()];
        for part in parts {
            products.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        embedder.component = leading_eigenvector(&products, table.width());
        embedder
    }

    /// Returns the sum of v v' over the weighted means v of `texts`, `[width, width]`.
    fn products<S: AsRef<str>>(&self, texts: &[Vec<S>], table: &EmbeddingTable) -> Vec<f64> {
        let width = table.width();
        let mut sum = vec![0.0; width * width];
        for text in texts {
            let mean = self.weighted_mean(text, table);
            for (row, &x) in sum.chunks_exact_mut(width).zip(&mean) {
                row.iter_mut()
                    .zip(&mean)
                    .for_each(|(cell, &y)| *cell += x * y);
            }
        }
        sum
    }

    fn weighted_mean<S: AsRef<str>>(&self, tokens: &[S], table: &EmbeddingTable) -> Vec<f64> {
        let mut mean = vec![0.0; table.width()];
        let mut known = 0_usize;
        for word in tokens {
            let Some(vector) = table.vector_of(word.as_ref()) else {
                continue;
            };
            known += 1;
            let weight = WEIGHT / (WEIGHT + self.frequencies.probability(word.as_ref()));
            mean.iter_mut()
                .zip(vector)
                .for_each(|(sum, &x)| *sum += weight * f64::from(x));
        }
        mean.iter_mut().for_each(|x| *x /= known.max(1) as f64);
        mean
    }

    /// Returns the vector of a text, given as tokens; all zeros if none of its words has a vector.
    /// `table` has the width of the table that this was fitted with.
    pub fn embed<S: AsRef<str>>(&self, tokens: &[S], table: &EmbeddingTable) -> Vec<f64> {
        let mut vector = self.weighted_mean(tokens, table);
        let along = dot(&vector, &self.component);
        vector
            .iter_mut()
            .zip(&self.component)
            .for_each(|(x, &u)| *x -= along * u);
        vector
    }

    /// Returns the cosine of two texts' vectors; where one has none, 1 if the texts are equal and 0
    /// otherwise.
    pub fn similarity<S: AsRef<str> + PartialEq>(
        &self,
        left: &[S],
        right: &[S],
        table: &EmbeddingTable,
    ) -> f64 {
        if left == right {
            return 1.0;
        }
        let (left, right) = (self.embed(left, table), self.embed(right, table));
        let norms = (dot(&left, &left) * dot(&right, &right)).sqrt();
        if norms > 0.0 {
            (dot(&left, &right) / norms).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }

    /// Returns the width of the word vectors that this works with.
    pub fn width(&self) -> usize {
        self.component.len()
    }

    /// Returns the number of times that words occur in the corpus that this was fitted on.
    pub fn frequencies(&self) -> &WordFrequencies {
        &self.frequencies
    }
}

/// Returns the unit eigenvector of the largest eigenvalue of a symmetric matrix without negative
/// eigenvalues, its largest number positive; zeros for the zero matrix. The power iteration starts
/// from the matrix's column with the largest diagonal, which is never orthogonal to it unless it is
/// zero there.
fn leading_eigenvector(matrix: &[f64], width: usize) -> Vec<f64> {
    let diagonal = (0..width).map(|i| matrix[i * width + i]);
    let largest = diagonal.enumerate().fold(
        (0, 0.0),
        |best, (i, x)| if x > best.1 { (i, x) } else { best },
    );
    let mut vector: Vec<f64> = (0..width).map(|i| matrix[largest.0 * width + i]).collect();
    normalise(&mut vector);
    for _ in 0..STEPS {
        let mut next: Vec<f64> = matrix
            .chunks_exact(width.max(1))
            .map(|row| dot(row, &vector))
            .collect();
        normalise(&mut next);
        let change = next
            .iter()
            .zip(&vector)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        vector = next;
        if change < SETTLED {
            break;
        }
    }
    vector
}

/// Makes a vector's length 1 and the sign of its largest number positive.
fn normalise(vector: &mut [f64]) {
    let length = dot(vector, vector).sqrt();
    let largest = vector.iter().fold(
        0.0_f64,
        |best, &x| if x.abs() > best.abs() { x } else { best },
    );
    if length > 0.0 {
        let scale = length.copysign(largest);
        vector.iter_mut().for_each(|x| *x /= scale);
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}
