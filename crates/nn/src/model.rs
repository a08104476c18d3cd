//! A model on disk: a directory with `model.toml` (schema, architecture, encodings) and
//! `weights.safetensors` (the numbers). The description is sealed, and says the SHA-256 of the
//! other files, so that no file is taken for one of another model, or of a damaged one.
//!
//! Tensors: `layers.N.weight` `[inputs, outputs]`, `layers.N.bias` `[outputs]`, and
//! `embeddings.NAME` `[levels, dimension]` for each embedded attribute.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::encoding::{Encoding, InputLayout};
use super::fnn::{Activation, Dense, Embedding, Network};
use super::weights::{Weight, WeightsError, read_safetensors_bytes};
use probity_data::schema::{Schema, SchemaError};
use probity_run::run_directory::{RunError, file_sha256, hex, write_atomically};
use probity_run::sealed::{Form, read_text, write_text};
use probity_run::specification::canonical_json;

/// The name of the description in a model directory.
pub const DESCRIPTION: &str = "model.toml";
/// The name of the file of weights in a model directory.
pub const WEIGHTS: &str = "weights.safetensors";

/// The form in which the description is sealed.
const FORM: Form = Form {
    kind: "table model",
    version: "2",
};

/// Why a model cannot be saved or loaded.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}; a model directory holds {DESCRIPTION} and {WEIGHTS}{}", file.display(), of_file(file))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file cannot be written, is another file than the description says, or was changed.
    #[error("{0}")]
    File(#[from] RunError),
    /// The description is not what this build writes.
    #[error("{}: {problem}", file.display())]
    Description {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The schema inside is not valid.
    #[error("{}: {source}", file.display())]
    Schema {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: SchemaError,
    },
    /// The weights cannot be read.
    #[error("{0}")]
    Weights(#[from] WeightsError),
    /// A tensor is missing or of another shape.
    #[error("{}: the tensor '{tensor}' {problem}", file.display())]
    Tensor {
        /// The file.
        file: PathBuf,
        /// The name of the tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
}

/// A network together with the schema of its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The schema of the inputs and classes.
    pub schema: Schema,
    /// The network that answers.
    pub network: Network,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    network: Architecture,
    schema: Schema,
    sha256: Companions,
}

/// The hashes of the files beside a description, by their names.
pub(super) type Companions = BTreeMap<String, String>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Architecture {
    hidden: Vec<usize>,
    activation: Activation,
    encoding: BTreeMap<String, Encoding>,
}

impl Model {
    /// Writes the model into `directory`, which is made if needed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), StoreError> {
        let file = directory.join(DESCRIPTION);
        let describe = |problem: String| StoreError::Description {
            file: file.clone(),
            problem,
        };
        save_tensors(&directory.join(WEIGHTS), &self.tensors())?;
        let description = Description {
            sha256: hashes_of(directory, &[WEIGHTS])?,
            network: self.architecture(),
            schema: self.schema.clone(),
        };
        let text = toml::to_string(&description).map_err(|error| describe(error.to_string()))?;
        write_text(&file, FORM, &text)?;
        Ok(())
    }

    fn architecture(&self) -> Architecture {
        let hidden = self.network.layers.iter().map(|layer| layer.outputs);
        let attributes = self.schema.attributes.iter();
        let encoding = attributes
            .zip(self.network.layout.spans())
            .map(|(attribute, span)| (attribute.name.clone(), span.encoding));
        Architecture {
            hidden: hidden.take(self.network.layers.len() - 1).collect(),
            activation: self.network.activation,
            encoding: encoding.collect(),
        }
    }

    fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let mut tensors = Vec::new();
        for (number, layer) in self.network.layers.iter().enumerate() {
            let shape = vec![layer.inputs, layer.outputs];
            tensors.push((
                format!("layers.{number}.weight"),
                shape,
                layer.weight.as_slice(),
            ));
            let shape = vec![layer.outputs];
            tensors.push((
                format!("layers.{number}.bias"),
                shape,
                layer.bias.as_slice(),
            ));
        }
        let embedded = self
            .schema
            .attributes
            .iter()
            .zip(self.network.layout.spans())
            .filter(|(_, span)| matches!(span.encoding, Encoding::Embedded { .. }));
        for ((attribute, _), table) in embedded.zip(&self.network.embeddings) {
            let shape = vec![table.levels, table.dimension];
            tensors.push((
                format!("embeddings.{}", attribute.name),
                shape,
                &table.values,
            ));
        }
        tensors
    }

    /// Reads the model in `directory`.
    ///
    /// # Errors
    /// When a file is missing, foreign or changed, or its tensors do not fit the description.
    pub fn load(directory: impl AsRef<Path>) -> Result<Model, StoreError> {
        let directory = directory.as_ref();
        let file = directory.join(DESCRIPTION);
        let text = read_description(&file, FORM)?;
        let describe = |problem: String| StoreError::Description {
            file: file.clone(),
            problem,
        };
        let description: Description =
            toml::from_str(&text).map_err(|error| describe(error.to_string()))?;
        let weights = read_companion(directory, WEIGHTS, &description.sha256)?;
        let schema = description.schema;
        schema.check().map_err(|source| StoreError::Schema {
            file: file.clone(),
            source,
        })?;
        let encodings = schema
            .attributes
            .iter()
            .map(|attribute| description.network.encoding.get(&attribute.name).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| describe("an attribute has no encoding".into()))?;
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let mut weights = Tensors::read(&directory.join(WEIGHTS), &weights)?;
        let mut widths = vec![layout.layer_inputs()];
        widths.extend_from_slice(&description.network.hidden);
        widths.push(schema.label.classes.len());
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(number, pair)| {
                Ok(Dense {
                    inputs: pair[0],
                    outputs: pair[1],
                    weight: weights.take(&format!("layers.{number}.weight"), pair)?,
                    bias: weights.take(&format!("layers.{number}.bias"), &pair[1..])?,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let mut embeddings = Vec::new();
        for (attribute, span) in schema.attributes.iter().zip(layout.spans()) {
            if let Encoding::Embedded { dimension } = span.encoding {
                let name = format!("embeddings.{}", attribute.name);
                embeddings.push(Embedding {
                    levels: span.levels,
                    dimension,
                    values: weights.take(&name, &[span.levels, dimension])?,
                });
            }
        }
        weights.expect_empty()?;
        let network = Network {
            layout,
            embeddings,
            layers,
            activation: description.network.activation,
        };
        match network.problem() {
            None => Ok(Model { network, schema }),
            Some(problem) => Err(describe(format!("the network has {problem}"))),
        }
    }

    /// Returns the SHA-256, in hex, of everything that the model computes with: schema,
    /// architecture, weights.
    pub fn sha256(&self) -> String {
        let described = serde_json::json!({
            "kind": "table model",
            "version": 1,
            "schema": self.schema,
            "network": self.architecture(),
        });
        hash_of(&described, &self.tensors())
    }
}

/// Returns the SHA-256, in hex, of the description `described` of a model, in its canonical form,
/// and of its `tensors`.
pub(super) fn hash_of(
    described: &serde_json::Value,
    tensors: &[(String, Vec<usize>, &[f32])],
) -> String {
    let mut hasher = Sha256::new();
    hasher.update(canonical_json(described));
    for (name, shape, values) in tensors {
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        hasher.update(format!("{name} {};", lengths.join(" ")));
        for value in *values {
            hasher.update(value.to_le_bytes());
        }
    }
    hex(&hasher.finalize())
}

/// Reads the text of the description in `file`, which is sealed as `form`.
pub(super) fn read_description(file: &Path, form: Form) -> Result<String, StoreError> {
    match read_text(file, form) {
        Err(RunError::Read { file, source }) => Err(StoreError::Read { file, source }),
        text => Ok(text?),
    }
}

/// Returns what helps where a file is named in the place of the model directory that `description` should
/// be in.
fn of_file(description: &Path) -> &'static str {
    match description.parent().is_some_and(Path::is_file) {
        true => {
            "; weights come into one by probity import, and an ONNX file is asked by --predictor onnx:FILE"
        }
        false => "",
    }
}

/// Computes the hashes of the files `names` in `directory`.
pub(super) fn hashes_of(directory: &Path, names: &[&str]) -> Result<Companions, StoreError> {
    let hash = |name: &&str| Ok(((*name).to_owned(), file_sha256(&directory.join(name))?));
    names.iter().map(hash).collect()
}

/// Reads the file `name` in `directory`; refused if it was changed since its description was
/// written, with its hash in `written`.
pub(super) fn read_companion(
    directory: &Path,
    name: &str,
    written: &Companions,
) -> Result<Vec<u8>, StoreError> {
    let file = directory.join(name);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(source) => return Err(StoreError::Read { file, source }),
    };
    match written.get(name) == Some(&hex(&Sha256::digest(&bytes))) {
        true => Ok(bytes),
        false => Err(StoreError::File(RunError::Changed { file })),
    }
}

/// Writes named tensors (name, shape, row-major values) as one safetensors file.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn save_tensors(
    file: &Path,
    tensors: &[(String, Vec<usize>, &[f32])],
) -> Result<(), StoreError> {
    let describe = |problem: String| StoreError::Description {
        file: file.to_owned(),
        problem,
    };
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, _, values)| {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let views = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, shape, _), bytes)| {
            TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (name.as_str(), view))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| describe(error.to_string()))?;
    let weights =
        safetensors::serialize(views, None).map_err(|error| describe(error.to_string()))?;
    write_atomically(file, &weights)?;
    Ok(())
}

/// The tensors of a weight file, to be taken one by one.
pub(super) struct Tensors {
    file: PathBuf,
    tensors: BTreeMap<String, Weight>,
}

impl Tensors {
    /// Reads the tensors in the `bytes` of `file`.
    pub(super) fn read(file: &Path, bytes: &[u8]) -> Result<Tensors, WeightsError> {
        Ok(Tensors {
            tensors: read_safetensors_bytes(file, bytes)?,
            file: file.to_owned(),
        })
    }

    /// Takes out the values of `name`, which must have `shape`.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, StoreError> {
        let problem = match self.tensors.remove(name) {
            Some(weight) if weight.shape == shape => return Ok(weight.values),
            Some(weight) => format!(
                "has shape {:?}, but {DESCRIPTION} asks for {shape:?}",
                weight.shape
            ),
            None => "is missing".to_owned(),
        };
        Err(StoreError::Tensor {
            file: self.file.clone(),
            tensor: name.to_owned(),
            problem,
        })
    }

    /// Fails when a tensor is left.
    pub(super) fn expect_empty(&self) -> Result<(), StoreError> {
        match self.tensors.keys().next() {
            None => Ok(()),
            Some(tensor) => Err(StoreError::Tensor {
                file: self.file.clone(),
                tensor: tensor.clone(),
                problem: format!("is not part of the network that {DESCRIPTION} describes"),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
