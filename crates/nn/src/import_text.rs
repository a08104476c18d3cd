//! The import of a text classifier from PyTorch: a weight file, the words of its embeddings, and
//! the options that neither of them states.
//!
//! The file holds the tensors of one `nn.LSTM` or `nn.GRU` (any layers and units, one or both
//! directions, with or without biases), of one linear layer, and perhaps of one `nn.Embedding`; the
//! module `tensors` finds them. The linear layer must read the last layer's last hidden states,
//! PyTorch's `h_n`: forwards after the last token, backwards after the first. That, and that
//! nothing without weights stands between the parts, cannot be seen in a weight file.
//!
//! An embedding table in the file is named by a [`RowWords`]: its padding row is left out (texts
//! are never padded) and its unknown row becomes the last one. Without a table in the file, and
//! without an unknown row in the table, the unknown word is the mean vector.
//!
//! A linear layer with one output z, as trained with a sigmoid, becomes the logits (0, z) of two
//! classes: class 1 is the one whose probability was sigmoid(z).

mod error;
mod row_words;
mod tensors;
mod vocabulary;

use serde::Serialize;

use self::error::NAMED;
pub use self::error::TextImportError;
pub use self::row_words::{RowWords, RowWordsError};
pub use self::vocabulary::Vocabulary;
use super::text_model::TextModel;
use super::text_reader::TextReader;
use super::train::options::RecurrentOptions;
use super::weights::WeightFile;
use probity_text::embeddings::EmbeddingTable;
use probity_text::frequencies::WordFrequencies;
use probity_text::tokenizer::{Splitting, Tokenizer, TokenizerError};
use probity_text::validity::SentenceEmbedder;

/// The source of the words of an imported network and of their vectors.
#[derive(Debug, Clone)]
pub enum Words {
    /// The table is in the weight file; these are the words of its rows.
    Rows(RowWords),
    /// The file has no table; the network was trained on these fixed vectors.
    Embeddings(EmbeddingTable),
}

/// The options of an import that neither weights nor words state.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TextImportOptions {
    /// The way in which texts are split into words.
    pub splitting: Splitting,
    /// Names of the classes, by number; the numbers themselves if there are none.
    pub classes: Vec<String>,
    /// Tokens of a text that are read, at least 1; the rest is cut off.
    pub max_length: usize,
    /// Tensors of the file that are no part of the network.
    pub ignored: Vec<String>,
    /// Texts like those of the training, for the word frequencies that semantic similarity weights
    /// words by. Without any, all words weigh the same.
    pub texts: Vec<String>,
}

impl TextImportOptions {
    /// Returns the usual options, for texts that are split as `splitting` says.
    pub fn new(splitting: Splitting) -> TextImportOptions {
        TextImportOptions {
            splitting,
            classes: Vec::new(),
            max_length: RecurrentOptions::default().max_length,
            ignored: Vec::new(),
            texts: Vec::new(),
        }
    }
}

/// The tensors and words that an import found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextImportReport {
    /// Tensors used: name and shape in the file.
    pub matched: Vec<(String, Vec<usize>)>,
    /// Tensors left out as asked.
    pub unused: Vec<String>,
    /// Whether a single output became two classes.
    pub single_output: bool,
    /// The number of words, without the unknown one.
    pub words: usize,
    /// The row of the file's own table that stands for unknown words, from 0; the mean of all where
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_row: Option<usize>,
    /// The row that pads texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding_row: Option<usize>,
    /// Words that no text can contain as a token, because of how texts are split.
    pub unreachable_words: usize,
    /// The first few unreachable words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreachable_examples: Vec<String>,
}

/// Builds a text classifier from the tensors of `weights`.
///
/// # Errors
/// Tensors that are missing, ambiguous, unfitting or of parts that the model would lack; words that
/// do not fit the embeddings; other class names than classes.
pub fn import_text(
    weights: &WeightFile,
    words: &Words,
    options: &TextImportOptions,
) -> Result<(TextModel, TextImportReport), TextImportError> {
    let parts = tensors::find_parts(weights, &options.ignored)?;
    let shape = parts.recurrent.shape;
    let classes = class_names(&options.classes, shape.classes)?;
    let table = match (words, parts.table) {
        (Words::Rows(words), Some((_, rows))) => words.table(rows)?,
        (Words::Embeddings(table), None) if table.width() == shape.inputs => table.clone(),
        (Words::Embeddings(table), None) => {
            return Err(TextImportError::Width {
                found: table.width(),
                expected: shape.inputs,
            });
        }
        (Words::Embeddings(_), Some((tensor, rows))) => {
            return Err(TextImportError::OwnTable {
                tensor: tensor.to_owned(),
                rows: rows.shape[0],
            });
        }
        (Words::Rows(_), None) => {
            return Err(TextImportError::NoTable {
                found: tensors::described(weights),
            });
        }
    };
    let (unknown_row, padding_row) = match words {
        Words::Rows(words) => (words.unknown_row, words.padding_row),
        Words::Embeddings(_) => (None, None),
    };
    let tokenizer = Tokenizer::splitting(&options.splitting, table.words().iter())?;
    let unreachable = row_words::unreachable(table.words(), &tokenizer)?;
    let report = TextImportReport {
        matched: parts.matched,
        unused: options.ignored.clone(),
        single_output: parts.single_output,
        words: table.words().len(),
        unknown_row,
        padding_row,
        unreachable_words: unreachable.len(),
        unreachable_examples: unreachable
            .iter()
            .take(NAMED)
            .map(|&word| word.to_owned())
            .collect(),
    };
    let model = TextModel {
        classes,
        reader: TextReader {
            max_length: options.max_length,
            sentences: sentence_embedder(&options.texts, &tokenizer, &table)?,
            tokenizer,
            table,
        },
        recurrent: parts.recurrent,
    };
    Ok((model, report))
}

fn sentence_embedder(
    texts: &[String],
    tokenizer: &Tokenizer,
    table: &EmbeddingTable,
) -> Result<SentenceEmbedder, TokenizerError> {
    let tokens = tokenizer.tokens_of_all(texts)?;
    let words: Vec<Vec<&str>> = tokens
        .iter()
        .map(|tokens| tokens.iter().map(|token| token.text.as_str()).collect())
        .collect();
    let frequencies = WordFrequencies::from_texts(words.iter().map(|words| words.iter().copied()));
    Ok(SentenceEmbedder::fit(&words, table, frequencies))
}

fn class_names(names: &[String], classes: usize) -> Result<Vec<String>, TextImportError> {
    if names.is_empty() {
        return Ok((0..classes).map(|class| class.to_string()).collect());
    }
    let repeated = (1..names.len()).find(|&i| names[..i].contains(&names[i]));
    let problem = if names.len() != classes {
        format!(
            "class names are given for {} classes ({})",
            names.len(),
            names.join(", ")
        )
    } else if names.iter().any(|name| name.trim().is_empty()) {
        "a class name is empty".to_owned()
    } else if let Some(i) = repeated {
        format!("the class name '{}' is given twice", names[i])
    } else {
        return Ok(names.to_vec());
    };
    Err(TextImportError::Classes { classes, problem })
}

#[cfg(test)]
mod tests;
