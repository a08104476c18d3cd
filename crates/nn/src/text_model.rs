//! A text classifier on disk: a directory with `model.toml` (shape, classes, length limit),
//! `tokenizer.json` (the vocabulary and how texts are split), `sentences.json` (word counts of the
//! training texts and the common component, for semantic similarity) and `weights.safetensors`.
//!
//! Tensors: `embeddings` `[words + 1, dimension]`, the last row standing for every unknown word;
//! then the recurrent layers and the linear one under PyTorch's names, two-dimensional as
//! `[rows, columns]`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::{
    Companions, DESCRIPTION, StoreError, Tensors, WEIGHTS, hash_of, hashes_of, read_companion,
    read_description, save_tensors,
};
use super::recurrent::network::{RecurrentWeights, Shape};
use super::text::{TextNetwork, TextNetworkError};
use super::text_reader::TextReader;
use probity_run::run_directory::write_atomically;
use probity_run::sealed::{Form, read_text, write_text};
use probity_tensor::device::ComputeDevice;
use probity_text::embeddings::EmbeddingTable;
use probity_text::tokenizer::{Tokenizer, TokenizerError};
use probity_text::validity::SentenceEmbedder;

/// The name of the tokenizer's file.
pub const TOKENIZER: &str = "tokenizer.json";
/// The name of the file with what semantic similarity needs.
pub const SENTENCES: &str = "sentences.json";

/// The form in which the description is sealed.
const FORM: Form = Form {
    kind: "text model",
    version: "2",
};

/// The files beside the description, whose hashes it states.
const COMPANIONS: [&str; 3] = [TOKENIZER, SENTENCES, WEIGHTS];

/// A text classifier with all that it needs to read texts.
#[derive(Debug, Clone)]
pub struct TextModel {
    /// The classes, by number.
    pub classes: Vec<String>,
    /// The reader of texts; the vectors of its words are what the layers see.
    pub reader: TextReader,
    /// The layers after the embeddings.
    pub recurrent: RecurrentWeights,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    text: TextDescription,
    sha256: Companions,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextDescription {
    max_length: usize,
    classes: Vec<String>,
    network: Shape,
}

/// Whether the model in `directory` classifies texts, as far as its description can be read.
pub fn is_text_model(directory: &Path) -> bool {
    read_text(&directory.join(DESCRIPTION), FORM).is_ok()
}

impl TextModel {
    /// Puts the network on `device`, for rows of `width` tokens, of which it reads as many as the
    /// model does.
    ///
    /// # Errors
    /// When the parts of the model do not fit each other.
    pub fn network(
        &self,
        width: usize,
        device: &ComputeDevice,
    ) -> Result<TextNetwork, TextNetworkError> {
        let vectors = self.reader.table.vectors().to_vec();
        let network = TextNetwork::new(self.recurrent.clone(), vectors, width, device)?;
        Ok(network.reading(self.reader.max_length))
    }

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
        let json = self
            .reader
            .tokenizer
            .to_json()
            .map_err(|error| describe(error.to_string()))?;
        save_tensors(&directory.join(WEIGHTS), &self.tensors())?;
        write_atomically(&directory.join(TOKENIZER), json.as_bytes())?;
        let sentences = serde_json::to_vec(&self.reader.sentences)
            .map_err(|error| describe(error.to_string()))?;
        write_atomically(&directory.join(SENTENCES), &sentences)?;
        let description = Description {
            sha256: hashes_of(directory, &COMPANIONS)?,
            text: TextDescription {
                max_length: self.reader.max_length,
                classes: self.classes.clone(),
                network: self.recurrent.shape,
            },
        };
        let text = toml::to_string(&description).map_err(|error| describe(error.to_string()))?;
        write_text(&file, FORM, &text)?;
        Ok(())
    }

    fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let rows = self.reader.words() + 1;
        let mut tensors = vec![(
            "embeddings".to_owned(),
            vec![rows, self.reader.dimension()],
            self.reader.table.vectors(),
        )];
        for tensor in self.recurrent.shape.tensors() {
            tensors.push((
                tensor.name,
                vec![tensor.rows, tensor.columns],
                &self.recurrent.values[tensor.range],
            ));
        }
        tensors
    }

    /// Reads the model in `directory`.
    ///
    /// # Errors
    /// When a file is missing, foreign or changed, or its tensors do not fit the description.
    pub fn load(directory: impl AsRef<Path>) -> Result<TextModel, StoreError> {
        let directory = directory.as_ref();
        let file = directory.join(DESCRIPTION);
        let describe = |problem: String| StoreError::Description {
            file: file.clone(),
            problem,
        };
        let text = read_description(&file, FORM)?;
        let description: Description =
            toml::from_str(&text).map_err(|error| describe(error.to_string()))?;
        let read = |name| read_companion(directory, name, &description.sha256);
        let [tokenizer, sentences, weights] = [read(TOKENIZER)?, read(SENTENCES)?, read(WEIGHTS)?];
        let TextDescription {
            max_length,
            classes,
            network: shape,
        } = description.text;
        if classes.len() < 2 || classes.len() != shape.classes || max_length == 0 {
            return Err(describe(format!(
                "{} classes are named, the network has {}, and texts have at most {max_length} tokens",
                classes.len(),
                shape.classes
            )));
        }
        if let Some(problem) = shape.problem() {
            return Err(describe(problem));
        }
        let tokenizer_file = directory.join(TOKENIZER);
        let tokenizer = Tokenizer::from_json(&tokenizer, &tokenizer_file)
            .map_err(|error| describe(error.to_string()))?;
        let mut weights = Tensors::read(&directory.join(WEIGHTS), &weights)?;
        let rows = tokenizer.unknown() as usize + 1;
        let embeddings = weights.take("embeddings", &[rows, shape.inputs])?;
        let mut values = Vec::with_capacity(shape.parameters());
        for tensor in shape.tensors() {
            values.extend(weights.take(&tensor.name, &[tensor.rows, tensor.columns])?);
        }
        weights.expect_empty()?;
        if !embeddings
            .iter()
            .chain(&values)
            .all(|value| value.is_finite())
        {
            return Err(describe("a weight is NaN or infinite".into()));
        }
        let words: Vec<String> = (0..tokenizer.unknown())
            .filter_map(|id| tokenizer.word(id))
            .collect();
        let words = words.iter().map(String::as_str);
        let table = EmbeddingTable::with_unknown(words, shape.inputs, embeddings)
            .map_err(|error| describe(error.to_string()))?;
        let sentences: SentenceEmbedder = serde_json::from_slice(&sentences)
            .map_err(|error| describe(format!("{SENTENCES}: {error}")))?;
        if sentences.width() != shape.inputs {
            return Err(describe(format!(
                "{SENTENCES} is made for vectors of {} numbers, not of {}",
                sentences.width(),
                shape.inputs
            )));
        }
        Ok(TextModel {
            classes,
            reader: TextReader {
                max_length,
                tokenizer,
                table,
                sentences,
            },
            recurrent: RecurrentWeights { shape, values },
        })
    }

    /// Returns the SHA-256, in hex, of everything that the model computes with.
    ///
    /// # Errors
    /// When the tokenizer has no JSON form.
    pub fn sha256(&self) -> Result<String, TokenizerError> {
        let described = serde_json::json!({
            "kind": "text model",
            "version": 1,
            "tokenizer": self.reader.tokenizer.to_json()?,
            "network": self.recurrent.shape,
            "classes": self.classes,
            "max_length": self.reader.max_length,
        });
        Ok(hash_of(&described, &self.tensors()))
    }
}
