//! Why a text classifier cannot be repaired.

use std::path::PathBuf;

use thiserror::Error;

use crate::audit::AuditError;
use probity_data::read::ReadError;
use probity_nn::ModelError;
use probity_nn::text::TextNetworkError;
use probity_nn::text_training_run::TextTrainingError;
use probity_nn::train::TrainError;
use probity_run::run_directory::RunError;
use probity_text::embeddings::EmbeddingError;

/// Why a text classifier cannot be repaired.
#[derive(Debug, Error)]
pub enum TextRepairError {
    /// Model, texts or protected terms cannot be used.
    #[error(transparent)]
    Audit(Box<AuditError>),
    /// The training that made the model cannot be repeated.
    #[error(transparent)]
    Training(#[from] TextTrainingError),
    /// A network cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A network does not fit its vectors.
    #[error(transparent)]
    Network(#[from] TextNetworkError),
    /// The word vectors do not fit.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingError),
    /// The samples of a run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
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
    /// The model is not what its training gives.
    #[error(
        "the vocabulary of {} is not that of the training in its run.toml; repair a model as probity train wrote it",
        model.display()
    )]
    OtherVocabulary {
        /// The model.
        model: PathBuf,
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
    /// A run on a table.
    #[error("{} searched a table; a model of tables is repaired with --data instead of --texts", run.display())]
    TableRun {
        /// The run.
        run: PathBuf,
    },
    /// A run without its summary.
    #[error("{} is unfinished; go on with probity audit --resume --out {}", run.display(), run.display())]
    Unfinished {
        /// The run.
        run: PathBuf,
    },
    /// A run with other protected terms.
    #[error(
        "{} searched with other protected terms than --lexicon gives (SHA-256 {searched}, here {own}); give the lexicon of that audit", run.display()
    )]
    OtherTerms {
        /// The run.
        run: PathBuf,
        /// Hash of the terms that were searched with.
        searched: String,
        /// Hash of those given.
        own: String,
    },
    /// A run that found nothing to learn from.
    #[error(
        "{} found no discriminatory text, so there is nothing to learn from{}", run.display(),
        if *held_out > 0 { format!(" (but for {held_out} found from texts that are held out)") } else { String::new() }
    )]
    NoSamples {
        /// The run.
        run: PathBuf,
        /// Texts left out because they were found from texts that are held out.
        held_out: u64,
    },
    /// A samples file that this model cannot have given.
    #[error("{}, row {row}: the text has {tokens} tokens, but the model reads at most {most}", file.display())]
    TooLong {
        /// The samples file.
        file: PathBuf,
        /// The row, from 1, below the header.
        row: u64,
        /// Its tokens.
        tokens: usize,
        /// Tokens that are read.
        most: usize,
    },
    /// The label rule needs the classes of the seeds.
    #[error(
        "--label seed needs the classes of the texts that {} began at, but they are not those of --texts; use --label majority", run.display()
    )]
    NoTruth {
        /// The run.
        run: PathBuf,
    },
    /// There is nothing to learn from or to measure on.
    #[error(
        "the search finds no discriminatory text from the {part} texts; give it more --seeds, or there is nothing to repair"
    )]
    NothingFound {
        /// Which part.
        part: &'static str,
    },
    /// A part that is needed is empty.
    #[error("the model was trained without a {part} part, which a repair needs")]
    NoPart {
        /// Which part.
        part: &'static str,
    },
    /// It was stopped before a network was complete.
    #[error("stopped before a repaired network was complete; there is no model yet")]
    Stopped,
}

impl From<AuditError> for TextRepairError {
    fn from(error: AuditError) -> TextRepairError {
        TextRepairError::Audit(Box::new(error))
    }
}
