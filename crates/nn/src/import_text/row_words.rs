//! The words of an embedding table from elsewhere, one for each row, as `nn.Embedding` counts them.

use std::collections::HashMap;
use std::path::PathBuf;

use thiserror::Error;

use crate::weights::Weight;
use probity_data::read::ReadError;
use probity_text::embeddings::{EmbeddingError, EmbeddingTable};
use probity_text::tokenizer::{Tokenizer, TokenizerError};
use probity_text::words::WordList;

/// Why a vocabulary cannot be used.
#[derive(Debug, Error)]
pub enum RowWordsError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The file is not text.
    #[error("{}, line {line}: not valid UTF-8", file.display())]
    Encoding {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The file is JSON, but no vocabulary.
    #[error(
        "{}: {problem}; a vocabulary is a word a line, or JSON: a list of words, an object of words and their rows from 0, Keras' word_index with numbers from 1, or what its Tokenizer.to_json() writes",
        file.display()
    )]
    Form {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A row has no word.
    #[error(
        "row {row} (line {} of a list) has a blank word in the vocabulary; expected its word (rows of padding and unknown words are named in text.padding_row and text.unknown_row)",
        row + 1
    )]
    Blank {
        /// The row, from 0.
        row: usize,
    },
    /// Two rows have the same word.
    #[error(
        "rows {first} and {second} (lines {} and {} of a list) both have the word '{word}' in the vocabulary; a word has one row",
        first + 1,
        second + 1
    )]
    Repeated {
        /// The word.
        word: String,
        /// The first row, from 0.
        first: usize,
        /// The second row.
        second: usize,
    },
    /// Two words could stand for a special row.
    #[error(
        "'{first}' and '{second}' of the vocabulary could both stand for {what}; name the row in text.{field}, from 0"
    )]
    Ambiguous {
        /// The purpose of the special row.
        what: &'static str,
        /// The first word.
        first: String,
        /// The second word.
        second: String,
        /// The field that names the row.
        field: &'static str,
    },
    /// Unknown words are left out of texts.
    #[error(
        "the vocabulary is Keras' word_index without a word for unknown ones (oov_token), so Keras leaves them out of texts, which is not done here; name the row that shall stand for them in text.unknown_row, such as 0, that of padding"
    )]
    LeavesOut,
    /// The number of words differs from the number of rows.
    #[error(
        "the vocabulary has {words} words, but the embedding table has {rows} rows; expected one for every row (a line of a list), also for those of padding and unknown words"
    )]
    Rows {
        /// The number of words.
        words: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A special row is not in the table.
    #[error("there is no {what} row {row}: the rows of the embedding table are 0 to {}", rows - 1)]
    Special {
        /// "unknown" or "padding".
        what: &'static str,
        /// The row.
        row: usize,
        /// The number of rows of the table.
        rows: usize,
    },
    /// The vocabulary has no word left.
    #[error("the vocabulary has no words beside those of padding and unknown words")]
    Empty,
    /// The vocabulary has a word that the tokenizer keeps for itself.
    #[error(
        "'{word}' is among the words, but stands for all unknown ones; name its row in the table, counted from 0, in text.unknown_row, or take it out"
    )]
    Reserved {
        /// The word.
        word: String,
    },
    /// No word of the vocabulary can occur in a text.
    #[error(
        "no word of the vocabulary can occur in a text, the first being '{first}'; expected words as texts are split into them (text.tokenizer)"
    )]
    Unreachable {
        /// The first word of the vocabulary.
        first: String,
    },
    /// The words and vectors make no embedding table.
    #[error("{0}")]
    Embeddings(#[from] EmbeddingError),
    /// The words cannot be looked for in texts.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
}

/// The words that stand for all unknown ones where nothing says which does: of torchtext, of
/// Hugging Face, and those that are usual with Keras.
const UNKNOWN: [&str; 5] = ["<unk>", "[UNK]", "<UNK>", "<OOV>", "<oov>"];
/// Words that pad texts.
const PADDING: [&str; 3] = ["<pad>", "[PAD]", "<PAD>"];

/// The words of an embedding table's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowWords {
    /// The words, one for each row; those of the rows named below do not matter.
    pub words: Vec<String>,
    /// The row of unknown words, from 0; without one they get the mean of all words.
    pub unknown_row: Option<usize>,
    /// The row of padding, from 0. No text is padded, so this row is left out.
    pub padding_row: Option<usize>,
    /// Whether the words are Keras' `word_index`, which may have more words than the table has rows
    /// (those are never looked up) and fewer (rows are for words that no text had).
    pub is_word_index: bool,
}

impl RowWords {
    /// Returns the words with the special rows that the caller names, and else with the rows of the
    /// words that usually stand for them.
    ///
    /// # Errors
    /// When two words could stand for the same special row.
    pub fn with_rows(
        mut self,
        unknown_row: Option<usize>,
        padding_row: Option<usize>,
    ) -> Result<RowWords, RowWordsError> {
        self.unknown_row = match unknown_row.or(self.unknown_row) {
            None => self.called(&UNKNOWN, "unknown words", "unknown_row")?,
            row => row,
        };
        self.padding_row = match padding_row.or(self.padding_row) {
            None => self.called(&PADDING, "padding", "padding_row")?,
            row => row,
        };
        Ok(self)
    }

    /// Returns the row of the word that has one of `names`.
    fn called(
        &self,
        names: &[&str],
        what: &'static str,
        field: &'static str,
    ) -> Result<Option<usize>, RowWordsError> {
        let mut found = self.words.iter().enumerate();
        let mut found = found
            .by_ref()
            .filter(|(_, word)| names.contains(&word.as_str()));
        match (found.next(), found.next()) {
            (Some((_, first)), Some((_, second))) => Err(RowWordsError::Ambiguous {
                what,
                first: first.clone(),
                second: second.clone(),
                field,
            }),
            (row, _) => Ok(row.map(|(row, _)| row)),
        }
    }

    /// Returns the table of the words and their rows of `table`, `[rows, width]`, without the
    /// special rows; the unknown word's row is the last.
    pub(super) fn table(&self, table: &Weight) -> Result<EmbeddingTable, RowWordsError> {
        let (rows, width) = (table.shape[0], table.shape[1]);
        self.check(rows)?;
        let mut earlier: HashMap<&str, usize> = HashMap::with_capacity(rows);
        let mut words = Vec::with_capacity(rows);
        let mut vectors = Vec::with_capacity((rows + 1) * width);
        for (row, word) in self.words.iter().enumerate().take(rows) {
            if Some(row) == self.unknown_row || Some(row) == self.padding_row {
                continue;
            }
            if word.trim().is_empty() {
                return Err(RowWordsError::Blank { row });
            }
            if let Some(first) = earlier.insert(word, row) {
                let (word, second) = (word.clone(), row);
                return Err(RowWordsError::Repeated {
                    word,
                    first,
                    second,
                });
            }
            words.push(word.as_str());
            vectors.extend_from_slice(&table.values[row * width..(row + 1) * width]);
        }
        if words.is_empty() {
            return Err(RowWordsError::Empty);
        }
        Ok(match self.unknown_row {
            Some(row) => {
                vectors.extend_from_slice(&table.values[row * width..(row + 1) * width]);
                EmbeddingTable::with_unknown(words, width, vectors)?
            }
            None => EmbeddingTable::new(words, width, vectors)?,
        })
    }

    /// Checks that the words and the special rows fit a table of `rows` rows.
    fn check(&self, rows: usize) -> Result<(), RowWordsError> {
        if self.words.len() != rows && !self.is_word_index {
            return Err(RowWordsError::Rows {
                words: self.words.len(),
                rows,
            });
        }
        if self.is_word_index && self.unknown_row.is_none() {
            return Err(RowWordsError::LeavesOut);
        }
        for (what, row) in [("unknown", self.unknown_row), ("padding", self.padding_row)] {
            if let Some(row) = row.filter(|&row| row >= rows) {
                return Err(RowWordsError::Special { what, row, rows });
            }
        }
        Ok(())
    }
}

/// Returns those of `words` that no text has as a token of `tokenizer`, which numbers them.
pub(super) fn unreachable<'a>(
    words: &'a WordList,
    tokenizer: &Tokenizer,
) -> Result<Vec<&'a str>, RowWordsError> {
    if let Some((_, word)) = (0..)
        .zip(words.iter())
        .find(|&(id, word)| tokenizer.id(word) != id)
    {
        let word = word.to_owned();
        return Err(RowWordsError::Reserved { word });
    }
    let all: Vec<&str> = words.iter().collect();
    let tokens = tokenizer.tokens_of_all(&all)?;
    let unreachable: Vec<&str> = all
        .iter()
        .zip(&tokens)
        .filter(|(word, tokens)| !matches!(&tokens[..], [token] if token.text == **word))
        .map(|(word, _)| *word)
        .collect();
    match unreachable.first() {
        Some(&first) if unreachable.len() == all.len() => {
            let first = first.to_owned();
            Err(RowWordsError::Unreachable { first })
        }
        _ => Ok(unreachable),
    }
}
