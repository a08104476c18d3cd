//! What can be wrong with a sentence encoder or with a text for it.

use std::path::PathBuf;

use thiserror::Error;

use probity_tensor::onnx::OnnxError;

/// Why there is no sentence encoder, or no embedding of a text.
#[derive(Debug, Error)]
pub enum EncoderError {
    /// The ONNX file cannot be used.
    #[error(transparent)]
    Graph(#[from] OnnxError),
    /// There is no tokenizer.
    #[error(
        "{path}: no such file; put the tokenizer.json of the encoder beside the model or name it"
    )]
    NoTokenizer {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The tokenizer cannot be used.
    #[error("{path}: not a usable tokenizer.json: {reason}")]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The limit leaves no room for a word.
    #[error(
        "{path}: texts are cut to {limit} tokens, but {added} are added to each; raise the limit in `truncation`, `max_length`"
    )]
    Limit {
        /// The tokenizer.
        path: PathBuf,
        /// Tokens of a text, at most.
        limit: usize,
        /// Tokens that mark begin and end.
        added: usize,
    },
    /// The graph asks for an input that a text does not give.
    #[error(
        "{path}: the input `{name}` is not one of a sentence encoder: input_ids, attention_mask, token_type_ids, position_ids"
    )]
    Input {
        /// The ONNX file.
        path: PathBuf,
        /// The input.
        name: String,
    },
    /// The graph has no output.
    #[error("{path}: the graph has no output")]
    NoOutput {
        /// The ONNX file.
        path: PathBuf,
    },
    /// The graph does not read tokens.
    #[error("{path}: no input is named `input_ids`, so the graph does not read tokens")]
    NoIds {
        /// The ONNX file.
        path: PathBuf,
    },
    /// The shape of an input is not that of one text.
    #[error(
        "{path}: the input `{name}` has shape {shape}; expected [1 or any, tokens], with at most 65,536 tokens"
    )]
    InputShape {
        /// The ONNX file.
        path: PathBuf,
        /// The input.
        name: String,
        /// Its declared shape.
        shape: String,
    },
    /// A fixed number of tokens, and no way to tell padding from text.
    #[error(
        "{path}: the graph reads exactly {length} tokens and has no `attention_mask`; export it with a free number of tokens"
    )]
    Padding {
        /// The ONNX file.
        path: PathBuf,
        /// That number.
        length: usize,
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
        /// Its shape.
        shape: Vec<usize>,
        /// Tokens fed.
        tokens: usize,
    },
    /// A text that the tokenizer cannot split.
    #[error("the text `{text}` cannot be split into tokens: {reason}")]
    Text {
        /// Its beginning.
        text: String,
        /// What the tokenizer says.
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
        /// The text's beginning.
        text: String,
        /// Tokens fed.
        tokens: usize,
        /// What the graph says.
        source: OnnxError,
    },
    /// An embedding that is NaN, infinite or zero.
    #[error("{path}: the embedding of `{text}` is {fault}; the weights are broken or out of range")]
    NotUsable {
        /// The ONNX file.
        path: PathBuf,
        /// The text's beginning.
        text: String,
        /// "not finite" or "zero".
        fault: &'static str,
    },
}
