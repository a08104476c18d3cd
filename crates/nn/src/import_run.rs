//! A whole import as one call: a weight file from elsewhere → network → model directory.
//!
//! A network for tables is described by a small TOML ([`super::import`]), one for texts by its
//! tensors and the words of its embeddings ([`super::import_text`]).

use std::fs;
use std::path::{Path, PathBuf};

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::alike::DecidedAlike;
use super::fnn::Fnn;
use super::import::{ImportConfig, ImportError, ImportReport};
use super::import_text::{
    RowWords, RowWordsError, TextImportError, TextImportOptions, TextImportReport, Words,
    import_text,
};
use super::modality::ModalityName;
use super::model::{Model, StoreError};
use super::recurrent::network::Shape;
use super::text::{PADDING, TextNetworkError};
use super::text_model::TextModel;
use super::train::text_set::open_embeddings;
use super::weights::{WeightFile, WeightsError, read_weights_hashed};
use super::{ModelError, Rows};
use probity_data::named_schema::{NamedSchemaError, named_schema};
use probity_data::schema::OutOfDomain;
use probity_run::run_directory::{RunDirectory, RunError, hex};
use probity_run::specification::file::{Record, SpecificationError};
use probity_run::specification::{Checked, FieldError, Specification};
use probity_run::stream::{Purpose, Stream, stream};
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{CorpusError, TextColumns, read_texts_hashed};
use probity_text::embeddings::{EmbeddingError, SHIPPED};
use probity_text::tokenizer::TokenizerError;

/// Random inputs that an imported network is tried on.
const TRIED: u64 = 10_000;
/// Random words of a text that it is tried on, at most.
const TRIED_WORDS: usize = 12;

/// The name of the configuration that is built in.
const ADF_FNN: &str = "adf-fnn";
/// That of the ADF paper's network.
const ADF_FNN_TOML: &str = include_str!("../../../models/adf-fnn.toml");

/// Everything that determines an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ImportSpecification {
    /// What the network classifies.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Weight file: safetensors, PyTorch state dictionary (.pt, .pth) or NumPy .npz.
    #[schemars(extend("format" = "path"))]
    pub weights: PathBuf,
    /// TOML that names layers, tensors and activations of a network for tables, or `adf-fnn`, which
    /// is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Schema file, or the name of a built-in schema, for a network for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Missing and outside values, where the schema expects any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// A recurrent network for texts: PyTorch's nn.LSTM or nn.GRU and nn.Linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextImportSpecification>,
}

/// What only imports of networks for texts have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextImportSpecification {
    /// Words of the weight file's own embedding table, a line for each row, from row 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub vocabulary: Option<PathBuf>,
    /// Row of the table that stands for unknown words, from 0; the mean of all words where there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub unknown_row: Option<usize>,
    /// Row of the table that pads texts, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub padding_row: Option<usize>,
    /// Vectors that the network reads if the weight file has no table: GloVe or word2vec text
    /// format, or `shipped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<PathBuf>,
    /// Names of the classes, by number; the second one is that of a single sigmoid. Their numbers
    /// where none are given.
    pub classes: Vec<String>,
    /// Tokens of a text that are read; the rest is cut off.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_length: usize,
    /// Tensors of the weight file that are no part of the network, such as those of a loss.
    pub ignore: Vec<String>,
    /// Texts like those of the training, whose word frequencies weight semantic similarity: a text
    /// a line (.txt), or a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub texts: Option<PathBuf>,
    /// Column of the texts, if they stand in a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
}

impl Default for TextImportSpecification {
    fn default() -> TextImportSpecification {
        TextImportSpecification {
            vocabulary: None,
            unknown_row: None,
            padding_row: None,
            embeddings: None,
            classes: Vec::new(),
            max_length: 200,
            ignore: Vec::new(),
            texts: None,
            text_column: None,
        }
    }
}

impl Specification for ImportSpecification {
    const KIND: &'static str = "import";

    fn rules(&self) -> Result<(), FieldError> {
        let missing = |field| Err(FieldError::new(field, "missing", "given"));
        let given = |field, why| Err(FieldError::new(field, "given", format!("left out: {why}")));
        match (self.modality, &self.text) {
            (ModalityName::Table, Some(_)) => given("text", "modality is table"),
            (ModalityName::Table, None) if self.config.is_none() => missing("config"),
            (ModalityName::Table, None) if self.schema.is_none() => missing("schema"),
            (ModalityName::Table, None) => Ok(()),
            (ModalityName::Text, _) if self.config.is_some() => given("config", "modality is text"),
            (ModalityName::Text, _) if self.schema.is_some() => given("schema", "modality is text"),
            (ModalityName::Text, _) if self.out_of_domain.is_some() => {
                given("out_of_domain", "modality is text")
            }
            (ModalityName::Text, None) => missing("text.vocabulary or text.embeddings"),
            (ModalityName::Text, Some(text)) => text.rules(),
        }
    }
}

impl TextImportSpecification {
    fn rules(&self) -> Result<(), FieldError> {
        let row = match (self.unknown_row, self.padding_row) {
            (Some(_), _) => Some("text.unknown_row"),
            (None, Some(_)) => Some("text.padding_row"),
            (None, None) => None,
        };
        match (&self.vocabulary, &self.embeddings) {
            (None, None) => {
                let field = "text.vocabulary or text.embeddings";
                Err(FieldError::new(field, "missing", "given"))
            }
            (Some(_), Some(_)) => {
                let expected = "left out where text.vocabulary is given";
                Err(FieldError::new("text.embeddings", "given", expected))
            }
            (None, Some(_)) if let Some(row) = row => {
                let expected = "given with text.vocabulary only";
                Err(FieldError::new(row, "given", expected))
            }
            _ if self.text_column.is_some() && self.texts.is_none() => {
                let expected = "given with text.texts only";
                Err(FieldError::new("text.text_column", "given", expected))
            }
            _ => Ok(()),
        }
    }
}

/// Why a model cannot be imported.
#[derive(Debug, Error)]
pub enum ImportRunError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
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
        /// Where the words come from.
        words: PathBuf,
        /// What is wrong.
        source: TextImportError,
    },
    /// The weights cannot be read.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// There is no such schema.
    #[error(transparent)]
    Schema(#[from] NamedSchemaError),
    /// The schema does not go with a field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The vocabulary cannot be read.
    #[error(transparent)]
    Words(#[from] RowWordsError),
    /// The word vectors cannot be read.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingError),
    /// The texts cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The tokenizer has no file form.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The model cannot be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error(transparent)]
    Specification(#[from] SpecificationError),
    /// The network cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its parts do not fit each other.
    #[error(transparent)]
    Network(#[from] TextNetworkError),
}

/// `summary.json` of an import.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `import`.
    pub command: &'static str,
    /// Version that ran.
    pub probity_version: &'static str,
    /// What the model classifies.
    pub modality: ModalityName,
    /// SHA-256 of the weight file.
    pub weights_sha256: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// The class that every random input gets that the network was tried on, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// Numbers of the network.
    pub parameters: usize,
    /// What was found.
    #[serde(flatten)]
    pub found: Found,
}

/// What an import found in the weight file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// A network for tables.
    Table(ImportReport),
    /// A network for texts.
    Text {
        /// Its shape.
        network: Shape,
        /// Its classes, by number.
        classes: Vec<String>,
        /// What was found.
        #[serde(flatten)]
        report: TextImportReport,
    },
}

enum Imported {
    Table(Model),
    Text(Box<TextModel>),
}

impl Imported {
    /// What the network decides random inputs, if it is one class: of a table uniform ones over the
    /// domains of the schema, else texts of random words of its vocabulary.
    fn decides_alike(&self) -> Result<Option<DecidedAlike>, ImportRunError> {
        let device = ComputeDevice::flex();
        let streams = (0..TRIED).map(|item| stream(1, Purpose::UniformInput, item, 0));
        Ok(match self {
            Imported::Table(Model { schema, network }) => {
                let row = |mut stream: Stream| -> Vec<i32> {
                    let domains = schema.attributes.iter().map(|attribute| attribute.domain());
                    domains
                        .map(|(min, max)| stream.random_range(min..=max))
                        .collect()
                };
                let codes: Vec<i32> = streams.flat_map(row).collect();
                let rows = Rows::new(&codes, schema.attributes.len());
                let network = Fnn::new(network, &device);
                DecidedAlike::of(&network, &schema.label.classes, rows)?
            }
            Imported::Text(model) if model.words() > 0 => {
                let width = model.max_length.min(TRIED_WORDS);
                let words = model.words() as i32;
                let row = |mut stream: Stream| -> Vec<i32> {
                    let length = stream.random_range(1..=width);
                    let mut row: Vec<i32> =
                        (0..length).map(|_| stream.random_range(0..words)).collect();
                    row.resize(width, PADDING);
                    row
                };
                let codes: Vec<i32> = streams.flat_map(row).collect();
                let network = model.network(width, &device)?;
                DecidedAlike::of(&network, &model.classes, Rows::new(&codes, width))?
            }
            Imported::Text(_) => None,
        })
    }
}

/// An import whose files are read and fit each other; nothing is written yet.
pub struct Import {
    specification: Checked<ImportSpecification>,
    record: Record,
    weights: WeightFile,
    model: Imported,
    summary: ImportSummary,
}

impl Import {
    /// Opens what `specification` names.
    ///
    /// # Errors
    /// See [`ImportRunError`].
    pub fn open(specification: Checked<ImportSpecification>) -> Result<Import, ImportRunError> {
        let read = read_weights_hashed(&specification.weights)?;
        let (weights, weights_sha256) = (read.value, read.sha256);
        let mut record = Record::new().opened("weights", weights_sha256.clone());
        let (model, model_sha256, parameters, found) = match &specification.text {
            None => {
                let (model, report) = table(&specification, &weights, &mut record)?;
                let (sha256, parameters) = (model.sha256(), model.network.parameters());
                let found = Found::Table(report);
                (Imported::Table(model), sha256, parameters, found)
            }
            Some(text) => {
                let file = &specification.weights;
                let (model, report) = texts(text, (file, &weights), &mut record)?;
                let (sha256, shape) = (model.sha256()?, model.recurrent.shape);
                let found = Found::Text {
                    network: shape,
                    classes: model.classes.clone(),
                    report,
                };
                (
                    Imported::Text(Box::new(model)),
                    sha256,
                    shape.parameters(),
                    found,
                )
            }
        };
        let decides_alike = model.decides_alike()?;
        Ok(Import {
            summary: ImportSummary {
                schema_version: 1,
                command: ImportSpecification::KIND,
                probity_version: env!("CARGO_PKG_VERSION"),
                modality: specification.modality,
                weights_sha256,
                model_sha256,
                decides_alike,
                parameters,
                found,
            },
            specification,
            record,
            weights,
            model,
        })
    }

    /// The weight file.
    pub fn weights(&self) -> &WeightFile {
        &self.weights
    }

    /// Writes the model into `directory`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn run(&self, directory: &RunDirectory) -> Result<&ImportSummary, ImportRunError> {
        let specification: &ImportSpecification = &self.specification;
        directory.write_run(specification, &self.record)?;
        match &self.model {
            Imported::Table(model) => model.save(directory.path())?,
            Imported::Text(model) => model.save(directory.path())?,
        }
        directory.write_summary(&self.summary)?;
        Ok(&self.summary)
    }
}

fn table(
    specification: &ImportSpecification,
    weights: &WeightFile,
    record: &mut Record,
) -> Result<(Model, ImportReport), ImportRunError> {
    let name = specification.config.clone().unwrap_or_default();
    let file = Path::new(&name);
    let text = if name == ADF_FNN && !file.is_file() {
        ADF_FNN_TOML.to_owned()
    } else {
        fs::read_to_string(file).map_err(|source| ImportRunError::Read {
            file: file.to_owned(),
            source,
        })?
    };
    let in_config = |source| ImportRunError::Config {
        config: name.clone(),
        source,
    };
    let config = ImportConfig::from_toml(&text).map_err(in_config)?;
    let named = named_schema(specification.schema.as_deref().unwrap_or_default())?;
    let mut schema = named.schema;
    if let Some(outside) = specification.out_of_domain {
        schema = schema.with_policy(outside)?;
    }
    let (network, report) =
        config
            .network(weights, &schema)
            .map_err(|source| ImportRunError::Table {
                weights: specification.weights.clone(),
                source,
            })?;
    let hashes = [
        ("config", hex(&Sha256::digest(text.as_bytes()))),
        ("schema", named.sha256),
    ];
    let hashes = hashes.map(|(role, sha256)| (role.to_owned(), sha256));
    record.sha256.extend(hashes);
    Ok((Model { schema, network }, report))
}

fn texts(
    text: &TextImportSpecification,
    (file, weights): (&Path, &WeightFile),
    record: &mut Record,
) -> Result<(TextModel, TextImportReport), ImportRunError> {
    let (words, words_file) = match (&text.vocabulary, &text.embeddings) {
        (Some(vocabulary), _) => {
            let read = RowWords::read_words(vocabulary)?;
            record.sha256.insert("vocabulary".to_owned(), read.sha256);
            let words = RowWords {
                words: read.value,
                unknown_row: text.unknown_row,
                padding_row: text.padding_row,
            };
            (Words::Rows(words), vocabulary.clone())
        }
        (None, embeddings) => {
            let embeddings = embeddings.clone().unwrap_or_else(|| SHIPPED.into());
            let table = open_embeddings(&embeddings, record)?;
            (Words::Embeddings(table), embeddings)
        }
    };
    let texts = match &text.texts {
        None => Vec::new(),
        Some(texts) => {
            let columns = TextColumns {
                text: text.text_column.clone(),
                label: None,
            };
            let read = read_texts_hashed(texts, &columns)?;
            record.sha256.insert("texts".to_owned(), read.sha256);
            read.value.texts
        }
    };
    let options = TextImportOptions {
        classes: text.classes.clone(),
        max_length: text.max_length,
        ignored: text.ignore.clone(),
        texts,
    };
    import_text(weights, &words, &options).map_err(|source| ImportRunError::Text {
        weights: file.to_owned(),
        words: words_file,
        source,
    })
}
