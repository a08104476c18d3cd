//! Measures of how close a generated text stays to the one it was made from (ADF, section 5.3;
//! Table IX, Figure 8).
//!
//! | metric     | definition here                                                                |
//! |------------|--------------------------------------------------------------------------------|
//! | L0         | token edits: the least number of substitutions, insertions and deletions       |
//! | L2         | Euclidean distance in the space of word vectors over an alignment with the least edits: the root of the sum of \|e - e'\|^2 over substituted tokens and of \|e\|^2 over inserted and deleted ones; of all such alignments the one with the smallest sum |
//! | Jaccard    | tokens in both texts over tokens in either, as sets                            |
//! | BLEU       | sentence BLEU of 1- to 4-grams ([`bleu()`]), the original being the reference    |
//! | similarity | cosine of two sentence vectors ([`SentenceEmbedder`])                          |
//!
//! Without insertions and deletions L0 is the number of changed positions (unless tokens were
//! shifted), and L2 the distance of the two rows of vectors, as in the paper. The paper's sentence
//! vectors are those of a pre-trained encoder with 512 numbers; ours are frequency-weighted means
//! of word vectors, so that figures of this metric are not comparable with the paper's in size, but
//! in order.

mod alignment;
mod bleu;
mod sentences;

use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::embeddings::EmbeddingTable;

pub use alignment::token_edits;
pub use bleu::bleu;
pub use sentences::SentenceEmbedder;

/// The five metrics of one pair of texts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The number of token edits.
    pub l0: usize,
    /// The distance in the space of word vectors.
    pub l2: f64,
    /// Jaccard coefficient of the token sets, 0 to 1.
    pub jaccard: f64,
    /// Sentence BLEU, 0 to 1.
    pub bleu: f64,
    /// Cosine of the sentence vectors, -1 to 1.
    pub similarity: f64,
}

/// A measure of pairs of texts.
#[derive(Debug, Clone, Copy)]
pub struct ValidityMeasure<'a> {
    table: &'a EmbeddingTable,
    sentences: &'a SentenceEmbedder,
}

impl<'a> ValidityMeasure<'a> {
    /// Creates a measure with the word vectors of `table` and the sentence vectors of `sentences`.
    pub fn new(table: &'a EmbeddingTable, sentences: &'a SentenceEmbedder) -> Self {
        ValidityMeasure { table, sentences }
    }

    /// Measures how far `changed` is from `original`, both as tokens.
    pub fn measure<S: AsRef<str>>(&self, original: &[S], changed: &[S]) -> Validity {
        let original: Vec<&str> = original.iter().map(AsRef::as_ref).collect();
        let changed: Vec<&str> = changed.iter().map(AsRef::as_ref).collect();
        let vector = |word: &&str| match self.table.vector_of(word) {
            Some(vector) => vector,
            None => self.table.vector(self.table.unknown()),
        };
        let (l0, squared) = alignment::edit_distance(&original, &changed, vector);
        Validity {
            l0,
            l2: squared.sqrt(),
            jaccard: jaccard(&original, &changed),
            bleu: bleu(&original, &changed),
            similarity: self.sentences.similarity(&original, &changed, self.table),
        }
    }
}

/// Returns the number of tokens in both texts over the number of tokens in either, as sets; 1 for
/// two empty texts.
pub fn jaccard<T: Eq + Hash>(left: &[T], right: &[T]) -> f64 {
    let left: HashSet<&T> = left.iter().collect();
    let right: HashSet<&T> = right.iter().collect();
    let both = left.intersection(&right).count();
    let either = left.len() + right.len() - both;
    if either == 0 {
        1.0
    } else {
        both as f64 / either as f64
    }
}

#[cfg(test)]
mod tests;
