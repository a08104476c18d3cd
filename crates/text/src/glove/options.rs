//! How vectors are fitted, and why they cannot be.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::embeddings::EmbeddingError;
use probity_run::specification::FieldError;

/// Why vectors cannot be fitted.
#[derive(Debug, Error)]
pub enum GloveError {
    /// An option has no sensible value.
    #[error(transparent)]
    Option(#[from] FieldError),
    /// Too few words are frequent enough.
    #[error(
        "only {words} words occur {min_count} times or more; take a larger corpus or a smaller min_count"
    )]
    FewWords {
        /// Words that do.
        words: usize,
        /// Occurrences asked for.
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

impl GloveOptions {
    /// Checks every option.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        let within = |holds: bool, option, value: &dyn ToString, expected| match holds {
            true => Ok(()),
            false => Err(FieldError::new(option, value.to_string(), expected)),
        };
        let is_width = (1..=4096).contains(&self.width);
        within(is_width, "width", &self.width, "from 1 to 4096")?;
        let is_window = (1..=1000).contains(&self.window);
        within(is_window, "window", &self.window, "from 1 to 1000")?;
        within(
            self.min_count >= 1,
            "min_count",
            &self.min_count,
            "at least 1",
        )?;
        let is_x_max = self.x_max > 0.0 && self.x_max.is_finite();
        within(is_x_max, "x_max", &self.x_max, "above 0")?;
        let is_alpha = (0.0..=1.0).contains(&self.alpha);
        within(is_alpha, "alpha", &self.alpha, "from 0 to 1")?;
        within(self.epochs >= 1, "epochs", &self.epochs, "at least 1")?;
        let (rate, expected) = (self.learning_rate, "above 0 and at most 10");
        within(rate > 0.0 && rate <= 10.0, "learning_rate", &rate, expected)
    }
}
