//! The errors with which a training cannot start or go on.

use thiserror::Error;

use crate::ModelError;
use probity_run::specification::FieldError;

/// Why training cannot start or go on.
#[derive(Debug, Error)]
pub enum TrainError {
    /// An option has no meaning.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// The split leaves no training row, or rows of one class only.
    #[error(
        "the training part has {rows} rows of {classes} classes; use smaller shares for training.test and training.validation"
    )]
    TooFewRows {
        /// The number of rows left.
        rows: usize,
        /// The number of classes among them.
        classes: usize,
    },
    /// Every row has the same label.
    #[error("all {rows} rows have one label; a classifier needs at least two classes")]
    OneClass {
        /// The number of rows.
        rows: usize,
    },
    /// Every row that trains has the same number.
    #[error("the {rows} rows of the training part have one number; a regressor needs at least two")]
    OneNumber {
        /// The number of rows.
        rows: usize,
    },
    /// The loss is no longer a number.
    #[error("the loss became {loss} in epoch {epoch}; use a smaller training.learning_rate")]
    Diverged {
        /// The epoch, from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
    },
    /// The loss is no longer a number in the first epoch after a checkpoint.
    #[error(
        "the loss became {loss} in epoch {epoch}, the first one after it: it was changed, or training.learning_rate is too large; begin anew in another directory"
    )]
    DivergedAfterCheckpoint {
        /// The epoch, from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
    },
    /// The checkpoint is of another training run, or has numbers that no training has.
    #[error("it belongs to other data or options, or was changed; begin anew in another directory")]
    ForeignCheckpoint,
    /// The device failed.
    #[error("{0}")]
    Model(#[from] ModelError),
}
