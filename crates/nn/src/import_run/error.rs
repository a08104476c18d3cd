//! The errors of an import of a model.

use std::path::PathBuf;

use thiserror::Error;

use crate::ModelError;
use crate::import::ImportError;
use crate::import_text::{RowWordsError, TextImportError};
use crate::model::StoreError;
use crate::text::TextNetworkError;
use crate::weights::WeightsError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::read::ReadError;
use probity_run::run_directory::RunError;
use probity_run::specification::FieldError;
use probity_run::specification::file::SpecificationError;
use probity_text::corpus::CorpusError;
use probity_text::embeddings::EmbeddingError;
use probity_text::tokenizer::TokenizerError;

/// Why a model cannot be imported.
#[derive(Debug, Error)]
pub enum ImportRunError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The configuration is of another form.
    #[error("{config}: {source}")]
    Config {
        /// The configuration.
        config: String,
        /// What is wrong.
        source: ImportError,
    },
    /// The weights do not fit the configuration and the schema.
    #[error("{}: {source}", weights.display())]
    Table {
        /// The weight file.
        weights: PathBuf,
        /// What is wrong.
        source: ImportError,
    },
    /// The weights make no classifier of texts.
    #[error("{} with {}: {source}", weights.display(), words.display())]
    Text {
        /// The weight file.
        weights: PathBuf,
        /// The file that the words come from.
        words: PathBuf,
        /// What is wrong.
        source: TextImportError,
    },
    /// The weights cannot be read.
    #[error("{0}")]
    Weights(#[from] WeightsError),
    /// There is no such schema.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
    /// The schema does not go with a field.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// The vocabulary cannot be read.
    #[error("{0}")]
    Words(#[from] RowWordsError),
    /// The word vectors cannot be read.
    #[error("{0}")]
    Embeddings(#[from] EmbeddingError),
    /// The texts cannot be read.
    #[error("{0}")]
    Corpus(#[from] CorpusError),
    /// The imported network gives other answers than the original.
    #[error("{}: {problem}", file.display())]
    Reference {
        /// The file with the original's answers.
        file: PathBuf,
        /// How they differ, or why they cannot be compared.
        problem: String,
    },
    /// The data cannot be read.
    #[error("{0}")]
    Data(#[from] ReadError),
    /// The tokenizer cannot be used, or has no file form.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// The model cannot be saved.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// The network cannot answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The parts of the network do not fit each other.
    #[error("{0}")]
    Network(#[from] TextNetworkError),
}
