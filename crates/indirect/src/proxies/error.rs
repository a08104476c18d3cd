//! The reasons why proxies cannot be looked for.

use thiserror::Error;

use crate::error::IndirectError;
use probity_nn::train::TrainError;
use probity_run::run_directory::RunError;

/// A reason why proxies cannot be looked for.
#[derive(Debug, Error)]
pub enum ProxiesError {
    /// The people cannot be read.
    #[error("{0}")]
    People(#[from] IndirectError),
    /// A network cannot be trained.
    #[error("{0}")]
    Train(#[from] TrainError),
    /// The run directory cannot be written.
    #[error("{0}")]
    Run(#[from] RunError),
    /// A group, or whoever is not in it, has too few people.
    #[error("{group} has {people} people, too few for {folds} parts of the rows")]
    TooFew {
        /// The group, in words.
        group: String,
        /// The number of people in it.
        people: usize,
        /// The number of folds.
        folds: u32,
    },
    /// An attribute has too many values to look at each.
    #[error(
        "{attribute} has {values} values, and at most {most} are looked at one by one; name those that matter, such as {attribute}={example}"
    )]
    ManyValues {
        /// The attribute.
        attribute: String,
        /// The number of its values.
        values: usize,
        /// The most that are looked at.
        most: usize,
        /// One of them.
        example: String,
    },
}
