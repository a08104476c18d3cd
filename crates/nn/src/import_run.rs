//! A whole import as one call: a weight file from elsewhere → network → model directory.
//!
//! A network for tables is described by a small TOML ([`super::import`]), one for texts by its
//! tensors and the words of its embeddings ([`super::import_text`]).

mod error;
mod reference;
mod specification;
mod texts;

use std::fs;
use std::path::Path;

use rand::RngExt;
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use self::error::ImportRunError;
pub use self::reference::Agreement;
pub use self::specification::{
    HuggingFaceSpecification, ImportSpecification, TextImportSpecification,
};
use self::texts::texts;
use super::Rows;
use super::alike::DecidedAlike;
use super::decision::{Decided, Decision, Gap, Score};
use super::fnn::Fnn;
use super::import::{ImportConfig, ImportReport};
use super::import_text::TextImportReport;
use super::modality::ModalityName;
use super::model::Model;
use super::recurrent::network::Shape;
use super::text::PADDING;
use super::text_model::TextModel;
use super::transformer::shape::Shape as TransformerShape;
use super::transformer_model::{self, HuggingFaceReport, MaskedDescription, TransformerModel};
use super::weights::{WeightFile, read_weights_hashed};
use probity_data::named_schema::named_schema;
use probity_run::run_directory::{RunDirectory, hex};
use probity_run::specification::file::Record;
use probity_run::specification::{Checked, Specification};
use probity_run::stream::{Purpose, Stream, stream};
use probity_tensor::device::ComputeDevice;

/// The number of random inputs that an imported network is tried on.
const TRIED: u64 = 10_000;
/// The most random words of a text that a network is tried on.
const TRIED_WORDS: usize = 12;

/// The source that a transformer is read from, in words.
const HUGGING_FACE: &str = "directory of Hugging Face";

/// The name of the configuration that is built in.
const ADF_FNN: &str = "adf-fnn";
/// The configuration of the ADF paper's network, as TOML.
const ADF_FNN_TOML: &str = include_str!("../models/adf-fnn.toml");

/// `summary.json` of an import.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// The name of the command, always `import`.
    pub command: &'static str,
    /// The version of Probity that ran.
    pub probity_version: &'static str,
    /// The modality that the model classifies.
    pub modality: ModalityName,
    /// The format of the weights, in words.
    pub format: String,
    /// SHA-256 of the weight file.
    pub weights_sha256: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// The class that every random input gets that the network was tried on, if they all get one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// The agreement of the network with the original, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Agreement>,
    /// The number of parameters of the network.
    pub parameters: usize,
    /// The parts that were found in the weight file.
    #[serde(flatten)]
    pub found: Found,
}

/// The parts that an import found in the weight file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// A network for tables.
    Table(ImportReport),
    /// A network for texts.
    Text {
        /// The shape of the network.
        network: Shape,
        /// The classes, by number.
        classes: Vec<String>,
        /// The parts that were found.
        #[serde(flatten)]
        report: TextImportReport,
    },
    /// A transformer from a directory of Hugging Face.
    Transformer {
        /// The shape of the network.
        network: TransformerShape,
        /// The classes, by number; none for an encoder.
        classes: Vec<String>,
        /// The number of pieces of a text that are read.
        max_length: usize,
        /// The head of a masked language model, where an encoder has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        masked: Option<MaskedDescription>,
        /// The parts that were found.
        #[serde(flatten)]
        report: HuggingFaceReport,
    },
}

enum Imported {
    Table(Model),
    Text(Box<TextModel>),
    Transformer(Box<TransformerModel>),
}

impl Imported {
    /// Returns the hash of the model, and the number of its parameters.
    fn identity(&self) -> Result<(String, usize), ImportRunError> {
        Ok(match self {
            Imported::Table(model) => (model.sha256(), model.network.parameters()),
            Imported::Text(model) => (model.sha256()?, model.recurrent.shape.parameters()),
            Imported::Transformer(model) => {
                let of_head = model.masked.as_ref().map_or(0, |head| head.values.len());
                (model.sha256(), model.weights.values.len() + of_head)
            }
        })
    }

    /// Returns the class that the network decides for random inputs, if it is one class: for a
    /// table uniform ones over the domains of the schema, else texts of random words of its
    /// vocabulary.
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
                let decision = match schema.label.is_number() {
                    true => Decision::Gap(Gap {
                        score: Score::Number,
                        most: 0.0,
                    }),
                    false => Decision::Largest,
                };
                let model = Decided {
                    model: network,
                    decision,
                };
                DecidedAlike::detect(&model, &schema.label.classes, rows)?
            }
            Imported::Text(model) if model.reader.words() > 0 => {
                let width = model.reader.max_length.min(TRIED_WORDS);
                let words = model.reader.words() as i32;
                let row = |mut stream: Stream| -> Vec<i32> {
                    let length = stream.random_range(1..=width);
                    let mut row: Vec<i32> =
                        (0..length).map(|_| stream.random_range(0..words)).collect();
                    row.resize(width, PADDING);
                    row
                };
                let codes: Vec<i32> = streams.flat_map(row).collect();
                let network = model.network(width, &device)?;
                DecidedAlike::detect(&network, &model.classes, Rows::new(&codes, width))?
            }
            // A transformer is tried on no texts: random pieces say nothing of a network that reads
            // sentences.
            Imported::Text(_) | Imported::Transformer(_) => None,
        })
    }
}

/// An import whose files are read and fit each other; nothing is written yet.
pub struct Import {
    specification: Checked<ImportSpecification>,
    record: Record,
    model: Imported,
    summary: ImportSummary,
}

impl Import {
    /// Opens the files that `specification` names.
    ///
    /// # Errors
    /// See [`ImportRunError`].
    pub fn open(specification: Checked<ImportSpecification>) -> Result<Import, ImportRunError> {
        let mut record = Record::new();
        let (weights_sha256, format, opened) = match &specification.hugging_face {
            Some(hugging_face) => {
                let (model, report) = transformer(hugging_face, &mut record)?;
                let hash = record.sha256_of("weights").to_owned();
                (hash, HUGGING_FACE.to_owned(), (model, report))
            }
            None => {
                let file = specification.weights.clone().unwrap_or_default();
                let read = read_weights_hashed(&file)?;
                record
                    .sha256
                    .insert("weights".to_owned(), read.sha256.clone());
                let format = read.value.format.to_string();
                let opened = from_weights(&specification, (&file, &read.value), &mut record)?;
                (read.sha256, format, opened)
            }
        };
        let (model, found) = opened;
        let (model_sha256, parameters) = model.identity()?;
        let reference = match (&specification.reference, &model) {
            (None, _) => None,
            (Some(file), Imported::Table(model)) => {
                Some(reference::compare_rows(file, model, &mut record)?)
            }
            // A rule of the specification excludes this.
            (Some(_), Imported::Transformer(_)) => None,
            (Some(file), Imported::Text(model)) => {
                let text = specification.text.as_ref();
                let column = text.and_then(|text| text.text_column.as_deref());
                Some(reference::compare_texts(file, column, model, &mut record)?)
            }
        };
        let decides_alike = model.decides_alike()?;
        Ok(Import {
            summary: ImportSummary {
                schema_version: 1,
                command: ImportSpecification::KIND,
                probity_version: env!("CARGO_PKG_VERSION"),
                modality: specification.modality,
                format,
                weights_sha256,
                model_sha256,
                decides_alike,
                reference,
                parameters,
                found,
            },
            specification,
            record,
            model,
        })
    }

    /// Returns the record of what was opened.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the summary of what was imported.
    pub fn into_summary(self) -> ImportSummary {
        self.summary
    }

    /// Writes the model into `directory`.
    ///
    /// # Errors
    /// When the model cannot be written.
    pub fn run(&self, directory: &RunDirectory) -> Result<&ImportSummary, ImportRunError> {
        let specification: &ImportSpecification = &self.specification;
        directory.write_run(specification, &self.record)?;
        match &self.model {
            Imported::Table(model) => model.save(directory.path())?,
            Imported::Text(model) => model.save(directory.path())?,
            Imported::Transformer(model) => model.save(directory.path())?,
        }
        directory.write_summary(&self.summary)?;
        Ok(&self.summary)
    }
}

/// Reads the network in a weight file.
fn from_weights(
    specification: &ImportSpecification,
    (file, weights): (&Path, &WeightFile),
    record: &mut Record,
) -> Result<(Imported, Found), ImportRunError> {
    let Some(text) = &specification.text else {
        let (model, report) = table(specification, (file, weights), record)?;
        return Ok((Imported::Table(model), Found::Table(report)));
    };
    let (model, report) = texts(text, (file, weights), record)?;
    let found = Found::Text {
        network: model.recurrent.shape,
        classes: model.classes.clone(),
        report,
    };
    Ok((Imported::Text(Box::new(model)), found))
}

/// Reads the transformer in a directory of Hugging Face.
fn transformer(
    specification: &HuggingFaceSpecification,
    record: &mut Record,
) -> Result<(Imported, Found), ImportRunError> {
    let HuggingFaceSpecification {
        directory,
        classes,
        max_length,
    } = specification;
    let (model, report) = transformer_model::import(directory, classes, *max_length)?;
    record.sha256.extend(report.sha256.clone());
    let found = Found::Transformer {
        network: model.weights.shape,
        classes: model.classes.clone(),
        max_length: model.max_length,
        masked: model.masked.as_ref().map(MaskedDescription::new),
        report,
    };
    Ok((Imported::Transformer(Box::new(model)), found))
}

fn table(
    specification: &ImportSpecification,
    (file, weights): (&Path, &WeightFile),
    record: &mut Record,
) -> Result<(Model, ImportReport), ImportRunError> {
    let weights_file = file;
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
                weights: weights_file.to_owned(),
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
