//! Why an audit, of tables or of texts, cannot be done.

use std::path::PathBuf;

use thiserror::Error;

use super::certify::parts::{Part, PartError};
use super::domain::DomainError;
use super::group::error::GroupError;
use super::population::DensityError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_nn::ModelError;
use probity_nn::model::StoreError;
use probity_nn::text::TextNetworkError;
use probity_predictor::PredictorError;
use probity_run::run_directory::RunError;
use probity_run::shards::ShardError;
use probity_run::specification::FieldError;
use probity_run::specification::file::SpecificationError;
use probity_text::corpus::CorpusError;
use probity_text::embeddings::EmbeddingError;
use probity_text::lexicon::LexiconError;
use probity_text::ngrams::NgramError;
use probity_text::tokenizer::TokenizerError;

/// Why an audit cannot be done.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The model cannot be loaded.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The data cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A protected attribute does not exist.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The protected set cannot be searched.
    #[error("{0}")]
    Domain(#[from] DomainError),
    /// Pairs cannot be put into columns.
    #[error(transparent)]
    Columns(#[from] arrow_schema::ArrowError),
    /// The model cannot answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The predictor cannot be opened.
    #[error("{0}")]
    Predictor(#[from] PredictorError),
    /// The run directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// Shards of the run cannot be written or put together.
    #[error("{0}")]
    Shards(#[from] ShardError),
    /// A field of the specification has no meaning.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// The run cannot be written or read.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// A model of texts where one of tables is needed.
    #[error("{} classifies texts, not tables", model.display())]
    ClassifiesTexts {
        /// The model directory.
        model: PathBuf,
    },
    /// A model of tables where one of texts is needed.
    #[error("{} classifies tables, not texts", model.display())]
    ClassifiesTables {
        /// The model directory.
        model: PathBuf,
    },
    /// A schema that cannot be read.
    #[error("{0}")]
    NamedSchema(#[from] NamedSchemaError),
    /// The parts of a text model do not fit each other.
    #[error("{0}")]
    Network(#[from] TextNetworkError),
    /// A text cannot be split into words.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// The lexicon cannot be used.
    #[error("{0}")]
    Lexicon(#[from] LexiconError),
    /// The word vectors cannot be used.
    #[error("{0}")]
    Embeddings(#[from] EmbeddingError),
    /// The n-gram model cannot be used.
    #[error("{0}")]
    Ngrams(#[from] NgramError),
    /// The texts cannot be read.
    #[error("{0}")]
    Corpus(#[from] CorpusError),
    /// The groups of a protected attribute cannot be told.
    #[error("{0}")]
    Groups(#[from] GroupError),
    /// Individuals cannot be graded.
    #[error("{0}")]
    Plausibility(#[from] DensityError),
    /// The parts of the data are not known.
    #[error("{0}")]
    Part(#[from] PartError),
    /// A part of the data has no inputs.
    #[error("the model was trained without a {part} part; choose another part")]
    EmptyPart {
        /// The part that was asked for.
        part: Part,
    },
    /// The data have no outcomes to compare decisions with.
    #[error(
        "{}: no row that is evaluated has an outcome in the column '{column}'; probity predict and groups do without", file.display()
    )]
    NoOutcomes {
        /// The data.
        file: PathBuf,
        /// The label column.
        column: String,
    },
    /// A label that the model does not know.
    #[error(
        "{}, row {row}: the label '{label}' in the column '{column}' is none of the model's classes, {known}", file.display()
    )]
    UnknownLabel {
        /// The file.
        file: PathBuf,
        /// The first row with that label, from 1.
        row: u64,
        /// The label column of the file.
        column: String,
        /// The label.
        label: String,
        /// The model's classes.
        known: String,
    },
    /// The model has no vectors for most values of an attribute.
    #[error(
        "the model knows the words of {values} of the {known} values of '{attribute}', but two are needed to compare; \
         see probity lexicon check"
    )]
    TooFewValues {
        /// The attribute.
        attribute: String,
        /// Values with a known term.
        values: usize,
        /// Values in the lexicon.
        known: usize,
    },
    /// No text can be compared with anything.
    #[error(
        "none of the {texts} texts in {} names a value of {attributes} that another can take the place of{}; see probity lexicon check", file.display(), not_english(*foreign)
    )]
    NoProtectedTerm {
        /// The file.
        file: PathBuf,
        /// Texts in it.
        texts: usize,
        /// Texts that are not English, where the language matters.
        foreign: u64,
        /// The protected attributes.
        attributes: String,
    },
    /// The one text given cannot be compared with anything.
    #[error("{}", no_term_in_text(attributes, kept_by.as_deref(), *is_foreign))]
    NoTermInText {
        /// The protected attributes.
        attributes: String,
        /// Where the text names one of them all the same, the words that keep its value in its place.
        kept_by: Option<Vec<String>>,
        /// Whether it is in another language than terms are looked for in.
        is_foreign: bool,
    },
    /// A run without results.
    #[error(
        "{0} has no summary.json: the run is unfinished; go on with probity {kind} --resume --out {0}", run.display()
    )]
    Unfinished {
        /// The directory of the run.
        run: PathBuf,
        /// The kind of the run.
        kind: &'static str,
    },
    /// The model, or something else that a run is verified with, is not the one that it was made
    /// with.
    #[error("the {role} is not the one that the run was made with (SHA-256 {now}, then {then})")]
    OtherThanThen {
        /// The model, or something else.
        role: String,
        /// The hash of it now.
        now: String,
        /// The hash of it when the run was made.
        then: String,
    },
}

/// That there is nothing to compare a text with: it holds no term of `attributes`, or holds one that other
/// words, those of `kept_by` among them, keep in its place.
fn no_term_in_text(attributes: &str, kept_by: Option<&[String]>, is_foreign: bool) -> String {
    match kept_by {
        None if is_foreign => format!(
            "the text does not read as English, so that no term of {attributes} is looked for in it; {ANY_LANGUAGE}"
        ),
        None => format!(
            "the text holds no term of {attributes}, so there is nothing to compare it with; see probity lexicon show"
        ),
        Some([]) => format!(
            "the text names {attributes}, but nothing can take the place of the value that it names, so there is nothing to compare it with"
        ),
        Some(words) => format!(
            "the text names {attributes}, but other words of it speak of that as well ('{}'), so that nothing is exchanged and there is nothing to compare it with",
            words.join("', '")
        ),
    }
}

/// What looks for terms in other languages.
const ANY_LANGUAGE: &str =
    "--preset paper looks in texts of any language, for single words as they stand";

/// The part of a message about texts that are not English, where there are any.
fn not_english(texts: u64) -> String {
    match texts {
        0 => String::new(),
        1 => format!(" (1 is not English; {ANY_LANGUAGE})"),
        _ => format!(" ({texts} are not English; {ANY_LANGUAGE})"),
    }
}
