//! GloVe: word vectors from a corpus (Pennington, Socher, Manning: "GloVe: Global vectors for word
//! representation", EMNLP 2014).
//!
//! X_ij is the sum of 1 / distance over all places where words i and j stand at most `window` apart in a
//! text. Fitted are w_i, c_j and their biases so that w_i . c_j + b_i + b'_j comes near ln X_ij, weighted by
//! min(1, (X_ij / x_max)^alpha), with AdaGrad. The vector of word i is w_i + c_i.
//!
//! **The result does not depend on the threads.** Words are dealt into a fixed number of groups; the matrix
//! falls into cells of a group of rows and a group of columns. A round takes one cell of each row group,
//! no two in one column group: they touch different parameters and may run side by side. Within a
//! cell the pairs are taken one by one, in an order keyed by (seed, cell, epoch).

mod cooccurrence;
mod fit;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::embeddings::{EmbeddingError, EmbeddingTable};
use super::frequencies::WordFrequencies;

/// Why vectors cannot be fitted.
#[derive(Debug, Error)]
pub enum GloveError {
    /// An option has no sensible value.
    #[error("{option} is {value}; expected {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Too few words are frequent enough.
    #[error(
        "only {words} words occur {min_count} times or more; take a larger corpus or a smaller --min-count"
    )]
    FewWords {
        /// Words that do.
        words: usize,
        /// Occurrences asked for.
        min_count: u64,
    },
    /// No two frequent words ever stand near each other.
    #[error(
        "no two frequent words stand near each other; take longer texts or a smaller --min-count"
    )]
    NoPairs,
    /// The vectors grew beyond all bounds.
    #[error("the vectors diverged in epoch {epoch}; take a smaller --learning-rate")]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
    },
    /// It was stopped.
    #[error("stopped after {epochs} epochs")]
    Stopped {
        /// Epochs that were complete.
        epochs: usize,
    },
    /// The vectors do not make a table.
    #[error(transparent)]
    Table(#[from] EmbeddingError),
}

/// How to fit vectors. The defaults are those of the paper's experiments, as far as it names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GloveOptions {
    /// Numbers in a vector.
    pub width: usize,
    /// How far apart two words may stand to count, in words.
    pub window: usize,
    /// Occurrences below which a word is left out.
    pub min_count: u64,
    /// Co-occurrence from which a pair has full weight.
    pub x_max: f64,
    /// Exponent of the weight below that.
    pub alpha: f64,
    /// Passes over all pairs.
    pub epochs: usize,
    /// First step size of AdaGrad.
    pub learning_rate: f64,
    /// Seed of the initial vectors and the order of pairs.
    pub seed: u64,
}

impl Default for GloveOptions {
    fn default() -> Self {
        GloveOptions {
            width: 50,
            window: 10,
            min_count: 5,
            x_max: 100.0,
            alpha: 0.75,
            epochs: 50,
            learning_rate: 0.05,
            seed: 1,
        }
    }
}

/// How far the fit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GloveProgress {
    /// Epochs done.
    pub epoch: usize,
    /// Epochs to do.
    pub epochs: usize,
    /// Mean weighted squared error of the pairs in this epoch.
    pub loss: f64,
}

/// Fits vectors to `texts`, given as tokens, and calls `progress` after each epoch. Words are sorted by
/// falling frequency.
///
/// # Errors
/// An option out of range, too few frequent words, divergence, or [`GloveError::Stopped`] where `progress`
/// breaks.
pub fn fit<S: AsRef<str> + Sync>(
    texts: &[Vec<S>],
    options: &GloveOptions,
    progress: &mut dyn FnMut(GloveProgress) -> ControlFlow<()>,
) -> Result<EmbeddingTable, GloveError> {
    options.check()?;
    let frequencies = WordFrequencies::of(texts.iter().map(|text| text.iter().map(AsRef::as_ref)));
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

impl GloveOptions {
    /// Checks every option.
    ///
    /// # Errors
    /// [`GloveError::Option`] for the first that is out of range.
    pub fn check(&self) -> Result<(), GloveError> {
        let checks: [(bool, &'static str, String, &'static str); 7] = [
            (
                (1..=4096).contains(&self.width),
                "width",
                self.width.to_string(),
                "1 to 4096",
            ),
            (
                (1..=1000).contains(&self.window),
                "window",
                self.window.to_string(),
                "1 to 1000",
            ),
            (
                self.min_count >= 1,
                "min count",
                self.min_count.to_string(),
                "1 or more",
            ),
            (
                self.x_max > 0.0 && self.x_max.is_finite(),
                "x max",
                self.x_max.to_string(),
                "a positive number",
            ),
            (
                (0.0..=1.0).contains(&self.alpha),
                "alpha",
                self.alpha.to_string(),
                "0 to 1",
            ),
            (
                self.epochs >= 1,
                "epochs",
                self.epochs.to_string(),
                "1 or more",
            ),
            (
                self.learning_rate > 0.0 && self.learning_rate <= 10.0,
                "learning rate",
                self.learning_rate.to_string(),
                "a positive number up to 10",
            ),
        ];
        match checks.into_iter().find(|(good, ..)| !good) {
            Some((_, option, value, expected)) => Err(GloveError::Option {
                option,
                value,
                expected,
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
