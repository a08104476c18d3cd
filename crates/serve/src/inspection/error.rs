//! Errors in the files that users send.

use std::path::PathBuf;

use thiserror::Error;

use probity_data::infer::InferError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_nn::model::StoreError;
use probity_report::PageError;
use probity_run::run_directory::RunError;

/// An error in a file that a user sent.
#[derive(Debug, Error)]
pub enum InspectionError {
    /// The table or the texts cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// No schema can be inferred.
    #[error("{0}")]
    Infer(#[from] InferError),
    /// The schema is wrong.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The model cannot be loaded.
    #[error("{0}")]
    Model(#[from] StoreError),
    /// The samples of two audits cannot be compared.
    #[error("{0}")]
    Samples(#[from] PageError),
    /// A file cannot be written.
    #[error("{0}")]
    Run(#[from] RunError),
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The answer or the request has no JSON form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The file is not a .zip archive that can be read.
    #[error("the file is no .zip archive that can be read: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// Any other error.
    #[error("{0}")]
    Refused(String),
}
