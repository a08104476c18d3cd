//! Why a training cannot start or go on.

use thiserror::Error;

use crate::ModelError;

/// Why training cannot start or go on.
#[derive(Debug, Error)]
pub enum TrainError {
    /// An option has no meaning.
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        /// Its name on the command line.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Splitting leaves no training row, or one class only.
    #[error(
        "the training part has {rows} rows of {classes} classes; use smaller --test and --validation shares"
    )]
    TooFewRows {
        /// Rows left.
        rows: usize,
        /// Classes among them.
        classes: usize,
    },
    /// The loss is no longer a number.
    #[error("the loss became {loss} in epoch {epoch}; use a smaller --learning-rate")]
    Diverged {
        /// Epoch, from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
    },
    /// A checkpoint of another training run.
    #[error("the checkpoint belongs to other data or options; start without --resume")]
    ForeignCheckpoint,
    /// The device failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}
