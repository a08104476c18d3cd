//! The errors of putting the parts of a text classifier together.

use probity_text::tokenizer::TokenizerError;
use thiserror::Error;

use super::row_words::RowWordsError;

/// The most tensors, or words, that a message names; it only counts the others.
pub(super) const NAMED: usize = 20;

/// Why a text classifier cannot be imported.
#[derive(Debug, Error)]
pub enum TextImportError {
    /// The file has no recurrent network.
    #[error(
        "no tensor is named like those of a PyTorch nn.LSTM or nn.GRU (weight_ih_l0, weight_hh_l0, bias_ih_l0, …); the file holds {}",
        list(found)
    )]
    NotRecurrent {
        /// The names of all tensors.
        found: Vec<String>,
    },
    /// The file has more parts of a kind than can be told apart, or none.
    #[error("expected {expected}, but found {}", list(found))]
    Ambiguous {
        /// The part that is needed.
        expected: &'static str,
        /// The tensors or modules that could be this part.
        found: Vec<String>,
    },
    /// The network is an LSTM with `proj_size`.
    #[error(
        "'{tensor}' projects hidden states to fewer numbers (proj_size of nn.LSTM); such a network cannot be imported, as there is no such cell to run it with"
    )]
    Projection {
        /// The projection's tensor.
        tensor: String,
    },
    /// The network is neither an LSTM nor a GRU.
    #[error(
        "'{tensor}' has shape {shape:?}; expected [4 · units, units] of an LSTM or [3 · units, units] of a GRU (an nn.RNN, with [units, units], cannot be imported)"
    )]
    Gates {
        /// The tensor.
        tensor: String,
        /// The shape of the tensor.
        shape: Vec<usize>,
    },
    /// Tensors are missing.
    #[error("the weight file lacks {}; it holds {}", list(missing), list(found))]
    Missing {
        /// The names that were looked for.
        missing: Vec<String>,
        /// The names of all tensors.
        found: Vec<String>,
    },
    /// A tensor has another shape.
    #[error("the tensor '{tensor}' has shape {found:?}, but {expected:?} is needed ({why})")]
    Shape {
        /// The name of the tensor.
        tensor: String,
        /// The shape of the tensor.
        found: Vec<usize>,
        /// The shape that fits.
        expected: Vec<usize>,
        /// The reason why this shape is expected.
        why: String,
    },
    /// The file has tensors of parts that the imported network would lack.
    #[error(
        "the network has more parts than embeddings, one recurrent network and one linear layer: {}; tensors that are no part of it, as those of a loss, can be left out by name (text.ignore)",
        list(found)
    )]
    Unexpected {
        /// The names of these tensors.
        found: Vec<String>,
    },
    /// A tensor to leave out is not there.
    #[error(
        "there is no tensor '{name}' to leave out; the file holds {}",
        list(found)
    )]
    NothingToIgnore {
        /// The name of the tensor to leave out.
        name: String,
        /// The names of all tensors.
        found: Vec<String>,
    },
    /// The file has an embedding table of its own, but its words are not given.
    #[error(
        "the file holds the embedding table '{tensor}' of {rows} rows, which needs a vocabulary (text.vocabulary), a line a row, rather than embeddings of other words"
    )]
    OwnTable {
        /// The name of the table.
        tensor: String,
        /// The number of rows of the table.
        rows: usize,
    },
    /// A vocabulary is given, but the file has no embedding table.
    #[error(
        "the file holds no embedding table for the vocabulary (a two-dimensional weight without a bias, as 'embedding.weight'), but {}; give the embeddings that the network was trained on (text.embeddings)",
        list(found)
    )]
    NoTable {
        /// The names of all tensors.
        found: Vec<String>,
    },
    /// The embeddings have another width than the network reads.
    #[error("the embeddings have {found} numbers a word, but the network reads {expected}")]
    Width {
        /// The width of the embeddings.
        found: usize,
        /// The width that the network reads.
        expected: usize,
    },
    /// The words do not fit the table.
    #[error("{0}")]
    RowWords(#[from] RowWordsError),
    /// The number of class names differs from the number of classes.
    #[error("{problem}; the network tells {classes} classes apart")]
    Classes {
        /// The number of classes.
        classes: usize,
        /// What is wrong with the names.
        problem: String,
    },
    /// The network cannot be run.
    #[error("the network {0}")]
    Unfit(String),
    /// The words make no tokenizer.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
}

/// Lists the first of `names`, for a message.
pub(super) fn list(names: &[String]) -> String {
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > NAMED => format!("{}, … ({count} in all)", names[..NAMED].join(", ")),
        _ => names.join(", "),
    }
}
