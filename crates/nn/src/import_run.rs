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
pub use self::specification::{ImportSpecification, TextImportSpecification};
use self::texts::texts;
use super::Rows;
use super::alike::DecidedAlike;
use super::fnn::Fnn;
use super::import::{ImportConfig, ImportReport};
use super::import_text::TextImportReport;
use super::modality::ModalityName;
use super::model::Model;
use super::recurrent::network::Shape;
use super::text::PADDING;
use super::text_model::TextModel;
use super::weights::{WeightFile, read_weights_hashed};
use probity_data::named_schema::named_schema;
use probity_run::run_directory::{RunDirectory, hex};
use probity_run::specification::file::Record;
use probity_run::specification::{Checked, Specification};
use probity_run::stream::{Purpose, Stream, stream};
use probity_tensor::device::ComputeDevice;

/// Random inputs that an imported network is tried on.
const TRIED: u64 = 10_000;
/// Random words of a text that it is tried on, at most.
const TRIED_WORDS: usize = 12;

/// The name of the configuration that is built in.
const ADF_FNN: &str = "adf-fnn";
/// That of the ADF paper's network.
const ADF_FNN_TOML: &str = include_str!("../../../models/adf-fnn.toml");

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
    /// How the network agrees with the original, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Agreement>,
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
        let reference = match (&specification.reference, &model) {
            (None, _) => None,
            (Some(file), Imported::Table(model)) => {
                Some(reference::compare_rows(file, model, &mut record)?)
            }
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
                weights_sha256,
                model_sha256,
                decides_alike,
                reference,
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
