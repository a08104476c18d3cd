//! Sentence encoders: a text becomes one vector of length 1, and two texts are as alike as the
//! cosine of theirs. The network is an ONNX file that the user names, with the `tokenizer.json`
//! that it was trained with.
//!
//! **Which output.** `sentence_embedding` where the file has one; else the first output with three
//! dimensions, `[1, tokens, d]`, whose vectors are averaged over the text's tokens; else the first
//! output, `[1, d]`. A `pooler_output` beside the vectors of the tokens is thus never taken: it was
//! trained to tell whether two sentences follow each other, not what they say.
//!
//! **Which inputs.** `input_ids`, and where the graph asks for them `attention_mask`,
//! `token_type_ids` and `position_ids`, of any number type. A graph for a fixed number of tokens is
//! fed padding off the mask.
//!
//! A text is embedded alone and by one thread, so its vector depends on nothing else.

mod error;

use std::path::{Path, PathBuf};

use probity_nn::transformer_model::{Pieces, TokenizerSettings};
use probity_tensor::onnx::{OnnxFile, OnnxModel, Port};

use crate::piece_graph::{PieceInputs, PieceReader};

pub use error::EncoderError;

/// A sentence encoder.
pub struct SentenceEncoder {
    path: PathBuf,
    reader: PieceReader,
    graph: OnnxModel,
    inputs: PieceInputs,
    width: usize,
}

impl SentenceEncoder {
    /// Reads the ONNX file `model` and its tokenizer, the file `tokenizer.json` beside the model
    /// unless another is named, and embeds one text to see that they work.
    ///
    /// # Errors
    /// When a file cannot be read, when the graph cannot be run here, or when it is no sentence
    /// encoder.
    pub fn open(model: &Path, tokenizer: Option<&Path>) -> Result<Self, EncoderError> {
        let file = OnnxFile::read(model)?;
        let graph = file.model(&sentence_output(model, &file.outputs())?)?;
        let inputs = PieceInputs::new(model, graph.inputs())?;
        if let Some(height) = inputs.height.filter(|&height| height > 1) {
            return Err(EncoderError::Height {
                path: model.to_path_buf(),
                height,
            });
        }
        let place = PieceReader::place(model, tokenizer);
        // How many pieces a sentence encoder reads is in its tokenizer alone.
        let settings = TokenizerSettings::default();
        let reader = PieceReader::open(&place, inputs.length, None, &settings)?;
        let mut encoder = Self {
            path: model.to_path_buf(),
            reader,
            graph,
            inputs,
            width: 0,
        };
        encoder.width = encoder.embed("a text")?.len();
        Ok(encoder)
    }

    /// Returns the width `d` of an embedding.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the largest number of tokens of a text that are read, with those that mark begin and
    /// end: the limit of `truncation` in the tokenizer, and no more than the graph is fixed to; 512
    /// where neither sets a limit.
    pub fn limit(&self) -> usize {
        self.reader.limit
    }

    /// Returns whether `text` is longer than [`Self::limit`], so that its end (or, where the
    /// tokenizer says so, its beginning) has no part in its embedding.
    ///
    /// # Errors
    /// When the text cannot be split into tokens.
    pub fn is_cut(&self, text: &str) -> Result<bool, EncoderError> {
        Ok(self.pieces(text)?.is_truncated)
    }

    /// Returns the embedding of `text`, `[d]`, with length 1.
    ///
    /// # Errors
    /// When the text has no token or one that the model does not know, or when the output is not
    /// an embedding: of another shape, not finite, or zero.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, EncoderError> {
        let pieces = self.pieces(text)?;
        let found = pieces.ids.len();
        if found == 0 {
            return Err(EncoderError::Empty {
                text: text.to_owned(),
            });
        }
        let fed = self.inputs.length.unwrap_or(found);
        let padding = self.reader.tokenizer.padding();
        let inputs = self.inputs.tensors(&[&pieces], fed, padding);
        let result = self.graph.run(inputs);
        let (shape, values) = result.map_err(|source| EncoderError::Run {
            text: beginning(text),
            tokens: found,
            source,
        })?;
        // The mean's direction is the sum's, and only the direction is kept.
        let sum = match shape[..] {
            [1, _] => values.iter().map(|value| f64::from(*value)).collect(),
            [1, rows, width] if rows == fed => total(&values, found, width),
            _ => {
                return Err(EncoderError::OutputShape {
                    path: self.path.clone(),
                    name: self.graph.output().to_owned(),
                    shape,
                    tokens: fed,
                });
            }
        };
        self.normalised(&sum, text)
    }

    /// Returns the cosine of the embeddings of two texts: 1 for equal ones, at least −1.
    ///
    /// # Errors
    /// When [`Self::embed`] fails on one of them.
    pub fn similarity(&self, first: &str, second: &str) -> Result<f32, EncoderError> {
        Ok(cosine(&self.embed(first)?, &self.embed(second)?))
    }

    /// Returns the pieces of `text` that the graph is fed.
    fn pieces(&self, text: &str) -> Result<Pieces, EncoderError> {
        let read = self.reader.read(text);
        read.map_err(|reason| EncoderError::Text {
            text: beginning(text),
            reason,
        })
    }

    fn normalised(&self, vector: &[f64], text: &str) -> Result<Vec<f32>, EncoderError> {
        let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        let fault = match length {
            0.0 => "zero",
            _ if length.is_finite() => {
                return Ok(vector.iter().map(|value| (value / length) as f32).collect());
            }
            _ => "not finite",
        };
        Err(EncoderError::NotUsable {
            path: self.path.clone(),
            text: beginning(text),
            fault,
        })
    }
}

/// Returns the cosine of two embeddings of one encoder, `[d]` each: 1 for equal ones, at least −1.
pub fn cosine(first: &[f32], second: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| {
        let terms = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
        terms.sum::<f64>()
    };
    let lengths = (product(first, first) * product(second, second)).sqrt();
    (product(first, second) / lengths).clamp(-1.0, 1.0) as f32
}

/// Finds the output that holds the embedding.
fn sentence_output(path: &Path, outputs: &[Port]) -> Result<String, EncoderError> {
    let named = outputs
        .iter()
        .find(|output| output.name == "sentence_embedding");
    let per_token = |output: &&Port| output.shape.as_ref().is_some_and(|shape| shape.len() == 3);
    let chosen = named
        .or_else(|| outputs.iter().find(per_token))
        .or(outputs.first());
    chosen
        .map(|output| output.name.clone())
        .ok_or_else(|| EncoderError::NoOutput {
            path: path.to_path_buf(),
        })
}

/// Returns the sum of the first `rows` rows of a matrix of `width` columns.
fn total(values: &[f32], rows: usize, width: usize) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    for row in values.chunks_exact(width.max(1)).take(rows) {
        for (total, value) in sum.iter_mut().zip(row) {
            *total += f64::from(*value);
        }
    }
    sum
}

/// Returns the first words of a text, for a message.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
