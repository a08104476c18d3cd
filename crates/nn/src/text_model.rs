//! A text classifier on disk: a directory with `model.toml` (shape, classes, length limit),
//! `tokenizer.json` (the vocabulary and how texts are split), `sentences.json` (word counts of the
//! training texts and the common component, for semantic similarity) and `weights.safetensors`.
//!
//! Tensors: `embeddings` `[words + 1, dimension]`, the last row standing for every unknown word;
//! then the recurrent layers and the linear one under PyTorch's names, two-dimensional as
//! `[rows, columns]`.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::{
    Companions, DESCRIPTION, StoreError, Tensors, WEIGHTS, hash_of, hashes_of, read_companion,
    read_description, save_tensors,
};
use super::recurrent::network::{RecurrentWeights, Shape};
use super::text::{TextNetwork, TextNetworkError};
use probity_run::run_directory::write_atomically;
use probity_run::sealed::{Form, read_text, write_text};
use probity_tensor::device::ComputeDevice;
use probity_text::embeddings::EmbeddingTable;
use probity_text::tokenizer::{Tokenizer, TokenizerError};
use probity_text::validity::SentenceEmbedder;

/// Name of the tokenizer's file.
pub const TOKENIZER: &str = "tokenizer.json";
/// Name of the file with what semantic similarity needs.
pub const SENTENCES: &str = "sentences.json";

/// What the description is sealed as.
const FORM: Form = Form {
    kind: "text model",
    version: "2",
};

/// The files beside it, whose hashes it says.
const COMPANIONS: [&str; 3] = [TOKENIZER, SENTENCES, WEIGHTS];

/// A text classifier with all that it needs to read texts.
#[derive(Debug, Clone)]
pub struct TextModel {
    /// Classes, by number.
    pub classes: Vec<String>,
    /// Tokens of a text that are read; the rest is cut off.
    pub max_length: usize,
    /// Splits texts into words of the vocabulary.
    pub tokenizer: Tokenizer,
    /// The vectors of its words, and one for all others.
    pub table: EmbeddingTable,
    /// Measures semantic similarity; fitted on the training texts.
    pub sentences: SentenceEmbedder,
    /// The layers after the embeddings.
    pub recurrent: RecurrentWeights,
}

/// A text as the model reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedText {
    /// The text, up to its last token that is read.
    pub text: String,
    /// Its tokens: ids of the vocabulary, the unknown word for others.
    pub ids: Vec<i32>,
    /// The tokens as the model sees them, unknown ones spelled out.
    pub words: Vec<String>,
    /// Where each token stands in `text`.
    pub bytes: Vec<Range<usize>>,
    /// Whether something was cut off.
    pub is_truncated: bool,
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
    /// Length of a word's vector.
    pub fn dimension(&self) -> usize {
        self.recurrent.shape.inputs
    }

    /// Number of words, without the unknown one.
    pub fn words(&self) -> usize {
        self.tokenizer.unknown() as usize
    }

    /// The network on `device`, for rows of `width` tokens, of which it reads as many as the model
    /// does.
    ///
    /// # Errors
    /// When its parts do not fit each other.
    pub fn network(
        &self,
        width: usize,
        device: &ComputeDevice,
    ) -> Result<TextNetwork, TextNetworkError> {
        let vectors = self.table.vectors().to_vec();
        let network = TextNetwork::new(self.recurrent.clone(), vectors, width, device)?;
        Ok(network.reading(self.max_length))
    }

    /// The word with the number `id`; empty for the unknown one and for no number of a word.
    pub fn word(&self, id: i32) -> &str {
        usize::try_from(id).map_or("", |id| self.table.words().word(id))
    }

    /// The ids of all tokens of `text`, also of those that are cut off.
    ///
    /// # Errors
    /// When the tokenizer cannot split it.
    pub fn tokens(&self, text: &str) -> Result<Vec<i32>, TokenizerError> {
        let tokens = self.tokenizer.tokens(text)?;
        Ok(tokens.iter().map(|token| token.id as i32).collect())
    }

    /// Splits `text` into tokens and cuts it to the length limit.
    ///
    /// # Errors
    /// When the tokenizer cannot split it.
    pub fn encode(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.encode_to(text, self.max_length)
    }

    /// Splits `text` into tokens, also those that the model does not read.
    ///
    /// # Errors
    /// When the tokenizer cannot split it.
    pub fn encode_whole(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.encode_to(text, usize::MAX)
    }

    fn encode_to(&self, text: &str, most: usize) -> Result<EncodedText, TokenizerError> {
        let mut tokens = self.tokenizer.tokens(text)?;
        let is_truncated = tokens.len() > most;
        tokens.truncate(most);
        let end = match tokens.last() {
            Some(last) if is_truncated => last.bytes.end,
            _ => text.len(),
        };
        Ok(EncodedText {
            text: text.get(..end).unwrap_or(text).to_owned(),
            ids: tokens.iter().map(|token| token.id as i32).collect(),
            bytes: tokens.iter().map(|token| token.bytes.clone()).collect(),
            words: tokens.into_iter().map(|token| token.text).collect(),
            is_truncated,
        })
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
            .tokenizer
            .to_json()
            .map_err(|error| describe(error.to_string()))?;
        save_tensors(&directory.join(WEIGHTS), &self.tensors())?;
        write_atomically(&directory.join(TOKENIZER), json.as_bytes())?;
        let sentences =
            serde_json::to_vec(&self.sentences).map_err(|error| describe(error.to_string()))?;
        write_atomically(&directory.join(SENTENCES), &sentences)?;
        let description = Description {
            sha256: hashes_of(directory, &COMPANIONS)?,
            text: TextDescription {
                max_length: self.max_length,
                classes: self.classes.clone(),
                network: self.recurrent.shape,
            },
        };
        let text = toml::to_string(&description).map_err(|error| describe(error.to_string()))?;
        write_text(&file, FORM, &text)?;
        Ok(())
    }

    fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let rows = self.words() + 1;
        let mut tensors = vec![(
            "embeddings".to_owned(),
            vec![rows, self.dimension()],
            self.table.vectors(),
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
            max_length,
            tokenizer,
            table,
            sentences,
            recurrent: RecurrentWeights { shape, values },
        })
    }

    /// SHA-256, in hex, of everything that the model computes with.
    ///
    /// # Errors
    /// When the tokenizer has no JSON form.
    pub fn sha256(&self) -> Result<String, TokenizerError> {
        let described = serde_json::json!({
            "kind": "text model",
            "version": 1,
            "tokenizer": self.tokenizer.to_json()?,
            "network": self.recurrent.shape,
            "classes": self.classes,
            "max_length": self.max_length,
        });
        Ok(hash_of(&described, &self.tensors()))
    }
}
