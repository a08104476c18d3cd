//! Errors of a repair: why it cannot be done.

use std::path::PathBuf;

use thiserror::Error;

use crate::audit::AuditError;
use crate::domain::DomainError;
use crate::group::GroupError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_nn::ModelError;
use probity_nn::model::StoreError;
use probity_nn::text::TextNetworkError;
use probity_nn::train::TrainError;
use probity_nn::train::run::TrainingError;
use probity_run::run_directory::RunError;
use probity_run::specification::FieldError;
use probity_run::specification::file::SpecificationError;
use probity_text::embeddings::EmbeddingError;

/// A reason why a repair cannot be done.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The model cannot be loaded or saved.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A file cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A protected attribute does not exist.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// A protected set has no variants.
    #[error("{0}")]
    Domain(#[from] DomainError),
    /// A run directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// A model cannot answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// Training cannot start or go on.
    #[error("{0}")]
    Train(#[from] TrainError),
    /// The group figures cannot be computed.
    #[error("{0}")]
    Group(#[from] GroupError),
    /// Protected terms, or a search, cannot be used.
    #[error("{0}")]
    Audit(#[source] Box<AuditError>),
    /// The training that made the model cannot be repeated.
    #[error("{0}")]
    Training(#[from] TrainingError),
    /// A network does not fit its word vectors.
    #[error("{0}")]
    Network(#[from] TextNetworkError),
    /// The word vectors do not fit.
    #[error("{0}")]
    Embeddings(#[from] EmbeddingError),
    /// The run cannot be read or written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// A field has a value that does not go with the inputs.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// The run searched another model.
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
    /// The run is on a predictor.
    #[error(
        "{} searched {predictor}, which only answers; a repair trains a network, so it needs a run on a model directory", run.display()
    )]
    PredictorRun {
        /// The run.
        run: PathBuf,
        /// The predictor.
        predictor: String,
    },
    /// The run is on inputs of the other modality.
    #[error("{} searched {searched}, but the model classifies {classified}", run.display())]
    OtherModality {
        /// The run.
        run: PathBuf,
        /// The inputs that it searched.
        searched: &'static str,
        /// The inputs that the model classifies.
        classified: &'static str,
    },
    /// The model does not say how it was trained.
    #[error(
        "{} does not say how it was trained, and texts are learnt as they were for the model; repair a model that probity train made", model.display()
    )]
    NotTrained {
        /// The model.
        model: PathBuf,
    },
    /// The model is not what its training gives.
    #[error(
        "the vocabulary of {} is not that of the training in its provenance.toml; repair a model as probity train wrote it", model.display()
    )]
    OtherVocabulary {
        /// The model.
        model: PathBuf,
    },
    /// The run has other protected terms.
    #[error(
        "{} searched with other protected terms than text.lexicon gives (SHA-256 {searched}, here {own}); give the lexicon of that audit", run.display()
    )]
    OtherTerms {
        /// The run.
        run: PathBuf,
        /// Hash of the terms that were searched with.
        searched: String,
        /// Hash of the terms given.
        own: String,
    },
    /// The decisions of the audits were made differently.
    #[error("in {} other decisions are made of what the model says than in {}", run.display(), first.display())]
    OtherDecision {
        /// The run.
        run: PathBuf,
        /// The first run.
        first: PathBuf,
    },
    /// The samples file is one that this model cannot have given.
    #[error("{}, row {row}: {problem}", file.display())]
    NoPair {
        /// The samples file.
        file: PathBuf,
        /// The row, from 1, below the header.
        row: u64,
        /// The problem with the row.
        problem: String,
    },
    /// A search found nothing to learn from or to measure on: going on would find it again.
    #[error(
        "the search finds no discriminatory text from the {part} texts; begin a new run, in another directory, with more text.seeds, or there is nothing to repair"
    )]
    NothingFound {
        /// The part of the texts.
        part: &'static str,
    },
    /// The run has no summary.
    #[error("{} is unfinished; go on with probity audit --resume --out {}", run.display(), run.display())]
    Unfinished {
        /// The run.
        run: PathBuf,
    },
    /// The run found nothing.
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
        /// The table of the run.
        data: PathBuf,
        /// The problem with the table.
        problem: String,
    },
    /// The label rule needs the classes of the seeds.
    #[error(
        "label seed needs the classes of the inputs that {} began at, but its file has no labels, is not that of the training, or its strategy does not begin at inputs; use label majority", run.display()
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
    /// A file that the model was trained with is not as it was.
    #[error(
        "{} changed since the model was trained with it (SHA-256 {now}, was {then}); retraining needs the same file", file.display()
    )]
    OtherFile {
        /// The file.
        file: PathBuf,
        /// Hash of the file now.
        now: String,
        /// Hash of the file of the training.
        then: String,
    },
    /// There are no rows to measure on.
    #[error(
        "the model was trained without a {part} part, so nothing is left to {purpose}; train it with training.{part} above 0"
    )]
    NothingHeldOut {
        /// The name of the part: `test` or `validation`.
        part: &'static str,
        /// The purpose of the part.
        purpose: &'static str,
    },
    /// The repair was stopped before any network was complete.
    #[error("interrupted before the first repaired network was complete; there is no model yet")]
    Interrupted,
}

impl From<AuditError> for RepairError {
    fn from(error: AuditError) -> RepairError {
        RepairError::Audit(Box::new(error))
    }
}
