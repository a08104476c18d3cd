//! A transformer on disk: a directory with `model.toml` (shape, classes, length limit),
//! `tokenizer.json` (the pieces and how texts are split, as Hugging Face wrote it) and
//! `weights.safetensors` (the tensors of [`Shape::tensors`] by their names).
//!
//! Pieces and configurations of networks that run elsewhere, such as in ONNX graphs, are read here
//! as well.
//!
//! A directory without classes holds an encoder, on top of which a classifier is trained. An
//! encoder may have the head of a masked language model besides, `masked` in the description, with
//! the tensors of [`MaskedHead::tensors`].

mod elsewhere;
mod export;
mod hugging_face;
mod masked;
mod names;
mod network;
mod pieces;
mod settings;
mod tensors;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::{
    Companions, DESCRIPTION, StoreError, Tensors, WEIGHTS, hash_of, hashes_of, read_companion,
    read_description, save_tensors,
};
use crate::recurrent::network::TensorSpan;
use crate::text_model::TOKENIZER;
use crate::transformer::masked::MaskedHead;
use crate::transformer::shape::{Shape, TransformerWeights};
use probity_run::run_directory::write_atomically;
use probity_run::sealed::{Form, read_text, write_text};
use probity_text::tokenizer::TokenizerError;

pub use self::elsewhere::ElsewhereConfig;
pub use self::export::export;
pub use self::hugging_face::import;
pub use self::masked::{MaskedDescription, MaskedLanguageModel};
pub use self::names::Family;
pub use self::network::TransformerNetwork;
pub use self::pieces::{PieceTokenizer, Pieces};
pub use self::settings::{TokenizerSettings, TruncationSide};
pub use self::tensors::HuggingFaceReport;

/// The form in which the description is sealed.
const FORM: Form = Form {
    kind: "transformer",
    version: "1",
};

/// The files beside the description, whose hashes it states.
const COMPANIONS: [&str; 2] = [TOKENIZER, WEIGHTS];

/// A transformer with all that it needs to read texts.
#[derive(Debug, Clone)]
pub struct TransformerModel {
    /// The classes, by number; none for an encoder.
    pub classes: Vec<String>,
    /// The number of pieces of a text that are read, with those that mark beginning and end.
    pub max_length: usize,
    /// The network of Hugging Face that the model is.
    pub family: Family,
    /// The tokenizer that splits texts into pieces.
    pub tokenizer: PieceTokenizer,
    /// The shape and the parameters.
    pub weights: TransformerWeights,
    /// The head of a masked language model, which only an encoder may have.
    pub masked: Option<MaskedHead>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    transformer: TransformerDescription,
    sha256: Companions,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TransformerDescription {
    max_length: usize,
    family: Family,
    truncation_side: TruncationSide,
    classes: Vec<String>,
    network: Shape,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    masked: Option<MaskedDescription>,
}

/// Whether the model in `directory` is a transformer, as far as its description can be read.
pub fn is_transformer(directory: &Path) -> bool {
    read_text(&directory.join(DESCRIPTION), FORM).is_ok()
}

impl TransformerModel {
    /// Whether the model has no classes yet.
    pub fn is_encoder(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns what is wrong where the parts of the model do not fit each other.
    fn problem(&self) -> Option<String> {
        let shape = &self.weights.shape;
        let marks = self.tokenizer.marks();
        if self.classes.len() != shape.classes || self.classes.len() == 1 {
            return Some(format!(
                "{} classes are named, and the network has {}",
                self.classes.len(),
                shape.classes
            ));
        }
        if let Some(head) = &self.masked {
            if !self.is_encoder() {
                return Some("a classifier has no head of a masked language model".to_owned());
            }
            if !usize::try_from(head.mask).is_ok_and(|mask| mask < shape.vocabulary) {
                return Some(format!(
                    "the mask has the number {}, which no piece has",
                    head.mask
                ));
            }
        }
        (self.max_length <= marks || self.max_length > shape.longest()).then(|| {
            format!(
                "texts have at most {} pieces; {} to {} are possible",
                self.max_length,
                marks + 1,
                shape.longest()
            )
        })
    }

    /// Returns the pieces of `text` that are read.
    ///
    /// # Errors
    /// When the tokenizer cannot split the text.
    pub fn pieces(&self, text: &str) -> Result<Pieces, TokenizerError> {
        self.tokenizer.read(text, self.max_length)
    }

    /// Writes the model into `directory`, which is made if needed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), StoreError> {
        let file = directory.join(DESCRIPTION);
        save_tensors(&directory.join(WEIGHTS), &self.tensors())?;
        write_atomically(&directory.join(TOKENIZER), self.tokenizer.json().as_bytes())?;
        let description = Description {
            sha256: hashes_of(directory, &COMPANIONS)?,
            transformer: TransformerDescription {
                max_length: self.max_length,
                family: self.family,
                truncation_side: self.tokenizer.truncation_side(),
                classes: self.classes.clone(),
                network: self.weights.shape,
                masked: self.masked.as_ref().map(MaskedDescription::new),
            },
        };
        let text = toml::to_string(&description).map_err(|error| StoreError::Description {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        write_text(&file, FORM, &text)?;
        Ok(())
    }

    /// Returns all tensors that hold something, with their numbers.
    fn spans(&self) -> Vec<(TensorSpan, &[f32])> {
        let shape = &self.weights.shape;
        let own = shape.tensors().into_iter();
        let own = own.map(|tensor| (&self.weights.values, tensor));
        let of_head = self.masked.iter().flat_map(|head| {
            let tensors = MaskedHead::tensors(shape, head.is_tied).into_iter();
            tensors.map(|tensor| (&head.values, tensor))
        });
        let kept = own
            .chain(of_head)
            .filter(|(_, tensor)| !tensor.range.is_empty());
        let spans = kept.map(|(values, tensor)| {
            let own = &values[tensor.range.clone()];
            (tensor, own)
        });
        spans.collect()
    }

    fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let spans = self.spans().into_iter();
        spans
            .map(|(tensor, values)| (tensor.name, vec![tensor.rows, tensor.columns], values))
            .collect()
    }

    /// Reads the model in `directory`.
    ///
    /// # Errors
    /// When a file is missing, foreign or changed, or its tensors do not fit the description.
    pub fn load(directory: impl AsRef<Path>) -> Result<TransformerModel, StoreError> {
        let directory = directory.as_ref();
        let file = directory.join(DESCRIPTION);
        let describe = |problem: String| StoreError::Description {
            file: file.clone(),
            problem,
        };
        let text = read_description(&file, FORM)?;
        let description: Description =
            toml::from_str(&text).map_err(|error| describe(error.to_string()))?;
        let TransformerDescription {
            max_length,
            family,
            truncation_side,
            classes,
            network: shape,
            masked,
        } = description.transformer;
        if let Some(problem) = shape.problem() {
            return Err(describe(format!("the network has {problem}")));
        }
        let json = read_companion(directory, TOKENIZER, &description.sha256)?;
        let place = directory.join(TOKENIZER);
        let settings = TokenizerSettings::cut(truncation_side);
        let (tokenizer, _) = PieceTokenizer::from_json(&json, &place, shape.vocabulary, &settings)?;
        let bytes = read_companion(directory, WEIGHTS, &description.sha256)?;
        let mut tensors = Tensors::read(&directory.join(WEIGHTS), &bytes)?;
        drop(bytes);
        let mut take = |spans: Vec<TensorSpan>| {
            let mut values = Vec::with_capacity(spans.last().map_or(0, |last| last.range.end));
            for tensor in spans {
                if !tensor.range.is_empty() {
                    values.extend(tensors.take(&tensor.name, &[tensor.rows, tensor.columns])?);
                }
            }
            Ok::<_, StoreError>(values)
        };
        let values = take(shape.tensors())?;
        let masked = match masked {
            None => None,
            Some(MaskedDescription { mask, is_tied }) => Some(MaskedHead {
                mask,
                is_tied,
                values: take(MaskedHead::tensors(&shape, is_tied))?,
            }),
        };
        tensors.expect_empty()?;
        let model = TransformerModel {
            classes,
            max_length,
            family,
            tokenizer,
            weights: TransformerWeights { shape, values },
            masked,
        };
        match model.problem() {
            Some(problem) => Err(describe(problem)),
            None => Ok(model),
        }
    }

    /// Returns the SHA-256, in hex, of everything that the model computes with.
    pub fn sha256(&self) -> String {
        let mut described = serde_json::json!({
            "kind": FORM.kind,
            "version": 1,
            "tokenizer": self.tokenizer.json(),
            "network": self.weights.shape,
            "classes": self.classes,
            "max_length": self.max_length,
            "truncation_side": self.tokenizer.truncation_side(),
        });
        if let Some(head) = &self.masked {
            described["mask"] = head.mask.into();
        }
        hash_of(&described, &self.tensors())
    }
}

#[cfg(test)]
mod tests;
