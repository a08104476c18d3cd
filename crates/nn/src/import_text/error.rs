//! Why the parts of a text classifier cannot be put together.

use probity_text::tokenizer::TokenizerError;
use thiserror::Error;

use super::row_words::RowWordsError;

/// How many tensors, or words, a message names before it only counts.
pub(super) const NAMED: usize = 20;

/// Why a text classifier cannot be imported.
#[derive(Debug, Error)]
pub enum TextImportError {
    /// No recurrent network.
    #[error(
        "no tensor is named like those of a PyTorch nn.LSTM or nn.GRU (weight_ih_l0, weight_hh_l0, bias_ih_l0, …); the file holds {}",
        list(found)
    )]
    NotRecurrent {
        /// All tensors.
        found: Vec<String>,
    },
    /// Another number of parts of a kind than can be told apart.
    #[error("expected {expected}, but found {}", list(found))]
    Ambiguous {
        /// What is needed.
        expected: &'static str,
        /// Tensors or modules that could be it.
        found: Vec<String>,
    },
    /// An LSTM with `proj_size`.
    #[error(
        "'{tensor}' projects hidden states to fewer numbers (proj_size of nn.LSTM); such a network cannot be imported, as there is no such cell to run it with"
    )]
    Projection {
        /// The projection's tensor.
        tensor: String,
    },
    /// Neither an LSTM nor a GRU.
    #[error(
        "'{tensor}' has shape {shape:?}; expected [4 · units, units] of an LSTM or [3 · units, units] of a GRU (an nn.RNN, with [units, units], cannot be imported)"
    )]
    Gates {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Tensors are missing.
    #[error("the weight file lacks {}; it holds {}", list(missing), list(found))]
    Missing {
        /// Names that were looked for.
        missing: Vec<String>,
        /// All tensors.
        found: Vec<String>,
    },
    /// A tensor has another shape.
    #[error("the tensor '{tensor}' has shape {found:?}, but {expected:?} is needed ({why})")]
    Shape {
        /// Its name.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that fits.
        expected: Vec<usize>,
        /// Where the expectation comes from.
        why: String,
    },
    /// Tensors of parts that the imported network would lack.
    #[error(
        "the network has more parts than embeddings, one recurrent network and one linear layer: {}; tensors that are no part of it, as those of a loss, can be left out by name (text.ignore)",
        list(found)
    )]
    Unexpected {
        /// Those tensors.
        found: Vec<String>,
    },
    /// A tensor to leave out is not there.
    #[error(
        "there is no tensor '{name}' to leave out; the file holds {}",
        list(found)
    )]
    NothingToIgnore {
        /// The name.
        name: String,
        /// All tensors.
        found: Vec<String>,
    },
    /// The file's own table lacks its words.
    #[error(
        "the file holds the embedding table '{tensor}' of {rows} rows, which needs a vocabulary (text.vocabulary), a line a row, rather than embeddings of other words"
    )]
    OwnTable {
        /// The table.
        tensor: String,
        /// Its rows.
        rows: usize,
    },
    /// A vocabulary without a table.
    #[error(
        "the file holds no embedding table for the vocabulary (a two-dimensional weight without a bias, as 'embedding.weight'), but {}; give the embeddings that the network was trained on (text.embeddings)",
        list(found)
    )]
    NoTable {
        /// All tensors.
        found: Vec<String>,
    },
    /// Embeddings of another width.
    #[error("the embeddings have {found} numbers a word, but the network reads {expected}")]
    Width {
        /// Of the embeddings.
        found: usize,
        /// Of the network.
        expected: usize,
    },
    /// The words do not fit the table.
    #[error("{0}")]
    RowWords(#[from] RowWordsError),
    /// Other class names than classes.
    #[error("{problem}; the network tells {classes} classes apart")]
    Classes {
        /// Number of classes.
        classes: usize,
        /// What is wrong with the names.
        problem: String,
    },
    /// A network that cannot be run.
    #[error("the network {0}")]
    Unfit(String),
    /// The words make no tokenizer.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
}

/// The first of `names`, for a message.
pub(super) fn list(names: &[String]) -> String {
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > NAMED => format!("{}, … ({count} in all)", names[..NAMED].join(", ")),
        _ => names.join(", "),
    }
}
