//! Why a repair cannot be done.

use std::path::PathBuf;

use thiserror::Error;

use crate::audit_error::AuditError;
use crate::domain::DomainError;
use crate::group::GroupError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_nn::ModelError;
use probity_nn::model::StoreError;
use probity_nn::train::TrainError;
use probity_run::run_directory::RunError;
use probity_run::specification::file::SpecificationError;

/// Why a repair cannot be done.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The model cannot be loaded or saved.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An audit cannot be read.
    #[error(transparent)]
    Audit(Box<AuditError>),
    /// The specification of an audit cannot be read.
    #[error(transparent)]
    Specification(#[from] SpecificationError),
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A protected attribute does not exist.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A protected set has no variants.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A run directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Training cannot start or go on.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The group figures cannot be computed.
    #[error(transparent)]
    Group(#[from] GroupError),
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
    /// A run that searched another model.
    #[error(
        "{} searched another model than {} (SHA-256 {searched}, this one has {own}); run probity audit on this model", run.display(), model.display()
    )]
    OtherModel {
        /// The run.
        run: PathBuf,
        /// The model to repair.
        model: PathBuf,
        /// Hash of the model that was searched.
        searched: String,
        /// Hash of the model to repair.
        own: String,
    },
    /// A run on a predictor.
    #[error(
        "{} searched {predictor}, which only answers; a repair trains a network, so it needs a run on a model directory", run.display()
    )]
    PredictorRun {
        /// The run.
        run: PathBuf,
        /// The predictor.
        predictor: String,
    },
    /// A run on texts.
    #[error("{} searched texts; a model of texts is repaired with --texts instead of --data", run.display())]
    TextRun {
        /// The run.
        run: PathBuf,
    },
    /// The model or the data are no longer what the repair began with.
    #[error("{what} changed since the repair began (SHA-256 {now}, was {then}); start a new one")]
    Changed {
        /// The model or the data file.
        what: String,
        /// Its hash now.
        now: String,
        /// Its hash at the start.
        then: String,
    },
    /// A run without its summary.
    #[error("{} is unfinished; go on with probity audit --resume --out {}", run.display(), run.display())]
    Unfinished {
        /// The run.
        run: PathBuf,
    },
    /// A run that found nothing.
    #[error(
        "{} found no discriminatory sample, so there is nothing to learn from{}", run.display(),
        if *held_out > 0 { format!(" (but for {held_out} found from held-out rows)") } else { String::new() }
    )]
    NoSamples {
        /// The run.
        run: PathBuf,
        /// Individuals left out because they were found from rows that are held out.
        held_out: u64,
    },
    /// The table of a run is gone or has changed, and is not the one given.
    #[error(
        "the table {} that {} searched from is not there as it was ({problem}); it is needed to tell which samples come from held-out rows", data.display(), run.display()
    )]
    RunData {
        /// The run.
        run: PathBuf,
        /// Its table.
        data: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The label rule needs the classes of the seeds.
    #[error(
        "--label seed needs the classes of the rows that {} began at, but its table has no label column, or its strategy does not begin at rows; use --label majority", run.display()
    )]
    NoTruth {
        /// The run.
        run: PathBuf,
    },
    /// The data are not those that the model was trained on.
    #[error(
        "the model was trained on {} (SHA-256 {trained}), not on {} ({given}); retraining needs the same rows, so that those held out then stay held out", trained_on.display(), data.display()
    )]
    OtherData {
        /// The data given.
        data: PathBuf,
        /// The data of the training.
        trained_on: PathBuf,
        /// Hash of the data given.
        given: String,
        /// Hash of the data of the training.
        trained: String,
    },
    /// No rows to measure on.
    #[error(
        "the model was trained without a {part} part, so nothing is left to {purpose}; train it with --{part} above 0"
    )]
    NothingHeldOut {
        /// `test` or `validation`.
        part: &'static str,
        /// What the part is for.
        purpose: &'static str,
    },
    /// Stopped before any network was complete.
    #[error("interrupted before the first repaired network was complete; there is no model yet")]
    Interrupted,
}

impl From<AuditError> for RepairError {
    fn from(error: AuditError) -> RepairError {
        RepairError::Audit(Box::new(error))
    }
}
