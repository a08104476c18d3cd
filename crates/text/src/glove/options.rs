//! The options of a fit of word vectors, and the reasons why it can fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::embeddings::EmbeddingError;
use probity_run::specification::{FieldError, Specification};

/// The reason why vectors cannot be fitted.
#[derive(Debug, Error)]
pub enum GloveError {
    /// An option has no sensible value.
    #[error("{0}")]
    Option(#[from] FieldError),
    /// Too few words are frequent enough.
    #[error(
        "only {words} words occur {min_count} times or more; take a larger corpus or a smaller min_count"
    )]
    FewWords {
        /// The number of words that are frequent enough.
        words: usize,
        /// The least number of occurrences asked for.
        min_count: u64,
    },
    /// No two frequent words ever stand near each other.
    #[error(
        "no two frequent words stand near each other; take longer texts or a smaller min_count"
    )]
    NoPairs,
    /// The vectors grew beyond all bounds.
    #[error("the vectors diverged in epoch {epoch}; take a smaller learning_rate")]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
    },
    /// The fit was stopped.
    #[error("stopped after {epochs} epochs")]
    Stopped {
        /// The number of epochs that were complete.
        epochs: usize,
    },
    /// The vectors do not make a table.
    #[error("{0}")]
    Table(#[from] EmbeddingError),
}

/// How to fit vectors. The defaults are those of the paper's experiments, as far as it names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GloveOptions {
    /// Numbers in a vector.
    #[schemars(range(min = 1, max = 4096))]
    pub width: usize,
    /// How far apart two words may stand to count, in words.
    #[schemars(range(min = 1, max = 1000))]
    pub window: usize,
    /// Leave out words that occur less often.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_count: u64,
    /// Co-occurrence from which a pair of words has full weight.
    #[schemars(range(min = 0.000_001, max = 1_000_000_000))]
    pub x_max: f64,
    /// Exponent of the weight below that.
    #[schemars(range(min = 0, max = 1))]
    pub alpha: f64,
    /// Passes over all pairs of words.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub epochs: usize,
    /// First step size of AdaGrad.
    #[schemars(range(min = 1e-12, max = 10))]
    pub learning_rate: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Specification for GloveOptions {
    const KIND: &'static str = "embeddings train";
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
