//! GloVe: word vectors from a corpus (Pennington, Socher, Manning: "GloVe: Global vectors for word
//! representation", EMNLP 2014).
//!
//! X_ij is the sum of 1 / distance over all places where words i and j stand at most `window` apart
//! in a text. Fitted are w_i, c_j and their biases so that w_i . c_j + b_i + b'_j comes near ln
//! X_ij, weighted by min(1, (X_ij / x_max)^alpha), with AdaGrad. The vector of word i is w_i + c_i.
//!
//! **The result does not depend on the threads.** Words are dealt into a fixed number of groups;
//! the matrix falls into cells of a group of rows and a group of columns. A round takes one cell of
//! each row group, no two in one column group: they touch different parameters and may run side by
//! side. Within a cell the pairs are taken one by one, in an order keyed by (seed, cell, epoch).

mod cooccurrence;
mod fit;
mod options;

use std::ops::ControlFlow;

use super::embeddings::EmbeddingTable;
use super::frequencies::WordFrequencies;
pub use fit::GloveProgress;
pub use options::{GloveError, GloveOptions};
use probity_run::specification::Specification;

/// Fits vectors to `texts`, given as tokens, and calls `progress` after each epoch. Words are
/// sorted by falling frequency.
///
/// # Errors
/// An option out of range, too few frequent words, divergence, or [`GloveError::Stopped`] where
/// `progress` breaks.
pub fn fit<S: AsRef<str> + Sync>(
    texts: &[Vec<S>],
    options: &GloveOptions,
    progress: &mut dyn FnMut(GloveProgress) -> ControlFlow<()>,
) -> Result<EmbeddingTable, GloveError> {
    let options = &*options.clone().check()?;
    let frequencies =
        WordFrequencies::from_texts(texts.iter().map(|text| text.iter().map(AsRef::as_ref)));
    let words: Vec<&str> = frequencies
        .most_frequent(options.min_count)
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    if words.len() < 2 {
        return Err(GloveError::FewWords {
            words: words.len(),
            min_count: options.min_count,
        });
    }
    let pairs = cooccurrence::count(texts, &words, options.window);
    if pairs.is_empty() {
        return Err(GloveError::NoPairs);
    }
    let vectors = fit::fit(&pairs, words.len(), options, progress)?;
    Ok(EmbeddingTable::new(words, options.width, vectors)?)
}

#[cfg(test)]
mod tests;
