//! The errors of a sentence encoder, and of texts for it.

use std::path::PathBuf;

use thiserror::Error;

use crate::piece_graph::PieceGraphError;
use probity_tensor::onnx::OnnxError;

/// The reason why there is no sentence encoder, or no embedding of a text.
#[derive(Debug, Error)]
pub enum EncoderError {
    /// The ONNX file cannot be used.
    #[error("{0}")]
    Graph(#[from] OnnxError),
    /// The inputs or the tokenizer are not those of a graph that reads texts.
    #[error("{0}")]
    Pieces(#[from] PieceGraphError),
    /// The graph reads several texts at a time.
    #[error("{path}: the graph reads exactly {height} texts at a time; expected one or any number")]
    Height {
        /// The ONNX file.
        path: PathBuf,
        /// The number of texts.
        height: usize,
    },
    /// The graph has no output.
    #[error("{path}: the graph has no output")]
    NoOutput {
        /// The ONNX file.
        path: PathBuf,
    },
    /// The output is no embedding.
    #[error(
        "{path}: the output `{name}` has shape {shape:?} for a text of {tokens} tokens; expected [1, d] or [1, {tokens}, d]"
    )]
    OutputShape {
        /// The ONNX file.
        path: PathBuf,
        /// The output.
        name: String,
        /// The shape of the output.
        shape: Vec<usize>,
        /// The number of tokens fed.
        tokens: usize,
    },
    /// A text that the tokenizer cannot split.
    #[error("`{text}`: {reason}")]
    Text {
        /// The beginning of the text.
        text: String,
        /// The error message of the tokenizer.
        reason: String,
    },
    /// A text without a token.
    #[error("the text `{text}` has no token for the sentence encoder")]
    Empty {
        /// The text.
        text: String,
    },
    /// The graph failed on a text.
    #[error(
        "the sentence encoder fails on `{text}` ({tokens} tokens): {source}; where an index is out of range, the tokenizer.json is of another model, or its `truncation` allows more tokens than the model reads"
    )]
    Run {
        /// The beginning of the text.
        text: String,
        /// The number of tokens fed.
        tokens: usize,
        /// The error of the graph.
        source: OnnxError,
    },
    /// An embedding that is NaN, infinite or zero.
    #[error("{path}: the embedding of `{text}` is {fault}; the weights are broken or out of range")]
    NotUsable {
        /// The ONNX file.
        path: PathBuf,
        /// The text's beginning.
        text: String,
        /// The fault, "not finite" or "zero".
        fault: &'static str,
    },
}
