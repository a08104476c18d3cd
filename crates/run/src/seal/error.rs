//! Errors of sealing a run and of checking a seal.

use std::path::PathBuf;

use thiserror::Error;

use crate::error::RunError;
use crate::names::SUMMARY;
use crate::specification::file::SpecificationError;

/// The reason why a run cannot be sealed, or a seal not be checked.
#[derive(Debug, Error)]
pub enum SealError {
    /// A file of the run cannot be read or written, or was changed before it was sealed.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The `run.toml` of the run cannot be read.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// A key is in another form.
    #[error(
        "{} is no {expected}: {problem}; openssl genpkey -algorithm ed25519 makes a private key, \
         openssl pkey -pubout the public one of it",
        file.display()
    )]
    Key {
        /// The file.
        file: PathBuf,
        /// The form that the key must have.
        expected: &'static str,
        /// The problem with the key.
        problem: String,
    },
    /// The run has no results yet.
    #[error("{} has no {SUMMARY}: its run is unfinished, and there is nothing to seal", directory.display())]
    Unfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// Something in the directory cannot be sealed.
    #[error("{} {problem}; a seal stands for files alone", file.display())]
    NoFile {
        /// The path of the entry.
        file: PathBuf,
        /// What the entry is, instead of a file that can be sealed.
        problem: String,
    },
    /// A run that this one was made from does not hold what its own seal says.
    #[error("{} {problem}, so that nothing can be sealed on it", file.display())]
    Parent {
        /// The file of the other run.
        file: PathBuf,
        /// The problem with the file.
        problem: String,
    },
}
