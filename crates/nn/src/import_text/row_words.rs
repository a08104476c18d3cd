//! The words of an embedding table from elsewhere: a text file with a word a line, line i (from 0)
//! for row i, as `nn.Embedding` counts them.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::weights::Weight;
use probity_data::compressed;
use probity_data::read::ReadError;
use probity_data::source::{DataFile, Hashed};
use probity_text::embeddings::{EmbeddingError, EmbeddingTable};
use probity_text::tokenizer::{Tokenizer, TokenizerError};
use probity_text::words::WordList;

/// Why a vocabulary cannot be used.
#[derive(Debug, Error)]
pub enum RowWordsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is not text.
    #[error("{}, line {line}: not valid UTF-8", file.display())]
    Encoding {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A row without a word.
    #[error(
        "line {line} of the vocabulary is blank; expected the word of row {} (rows of padding and unknown words are named in text.padding_row and text.unknown_row)",
        line - 1
    )]
    Blank {
        /// The line, from 1.
        line: usize,
    },
    /// A word of two rows.
    #[error("lines {first} and {second} of the vocabulary both say '{word}'; a word has one row")]
    Repeated {
        /// The word.
        word: String,
        /// The first line, from 1.
        first: usize,
        /// The second line.
        second: usize,
    },
    /// Another number of words than rows.
    #[error(
        "the vocabulary has {lines} lines, but the embedding table has {rows} rows; expected a line for every row, also for those of padding and unknown words"
    )]
    Rows {
        /// Lines.
        lines: usize,
        /// Rows.
        rows: usize,
    },
    /// A special row that is not there.
    #[error("there is no {what} row {row}: the rows of the embedding table are 0 to {}", rows - 1)]
    Special {
        /// "unknown" or "padding".
        what: &'static str,
        /// The row.
        row: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// No word is left.
    #[error("the vocabulary has no words beside those of padding and unknown words")]
    Empty,
    /// A word that the tokenizer keeps for itself.
    #[error(
        "'{word}' is among the words, but stands for all unknown ones; name its row in the table, counted from 0, in text.unknown_row, or take it out"
    )]
    Reserved {
        /// The word.
        word: String,
    },
    /// No word can be met.
    #[error(
        "no word of the vocabulary can occur in a text, the first being '{first}'; expected one word a line, in lower case"
    )]
    Unreachable {
        /// The first word.
        first: String,
    },
    /// Words and vectors make no table.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingError),
    /// The words cannot be looked for in texts.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
}

/// The words of an embedding table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowWords {
    /// One for each row; what the rows below say is of no matter.
    pub words: Vec<String>,
    /// The row of unknown words, from 0; without one they get the mean of all words.
    pub unknown_row: Option<usize>,
    /// The row of padding, from 0. No text is padded, so it is left out.
    pub padding_row: Option<usize>,
}

impl RowWords {
    /// Reads the rows' words, a line each, from a text file that may be compressed (gzip, xz), with the
    /// file's hash.
    ///
    /// # Errors
    /// When the file cannot be read or is not UTF-8.
    pub fn read_words(file: &Path) -> Result<Hashed<Vec<String>>, RowWordsError> {
        let opened = DataFile::open(file)?;
        let mut bytes = Vec::new();
        compressed::decompress(BufReader::new(opened.clone()))
            .and_then(|mut input| input.read_to_end(&mut bytes))
            .map_err(|source| ReadError::Io {
                file: file.to_owned(),
                source,
            })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            RowWordsError::Encoding {
                file: file.to_owned(),
                line: 1 + valid.iter().filter(|&&byte| byte == b'\n').count(),
            }
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Ok(opened.hashed(text.lines().map(str::to_owned).collect())?)
    }

    /// The words and their rows of `table`, `[rows, width]`, without the special rows; the unknown
    /// word's row is the last.
    pub(super) fn table(&self, table: &Weight) -> Result<EmbeddingTable, RowWordsError> {
        let (rows, width) = (table.shape[0], table.shape[1]);
        self.check(rows)?;
        let mut lines: HashMap<&str, usize> = HashMap::with_capacity(rows);
        let mut words = Vec::with_capacity(rows);
        let mut vectors = Vec::with_capacity((rows + 1) * width);
        for (row, word) in self.words.iter().enumerate() {
            if Some(row) == self.unknown_row || Some(row) == self.padding_row {
                continue;
            }
            let line = row + 1;
            if word.trim().is_empty() {
                return Err(RowWordsError::Blank { line });
            }
            if let Some(first) = lines.insert(word, line) {
                let (word, second) = (word.clone(), line);
                return Err(RowWordsError::Repeated {
                    word,
                    first,
                    second,
                });
            }
            words.push(word.as_str());
            vectors.extend_from_slice(&table.values[row * width..line * width]);
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

    /// Whether the words and the special rows are those of a table of `rows` rows.
    fn check(&self, rows: usize) -> Result<(), RowWordsError> {
        if self.words.len() != rows {
            return Err(RowWordsError::Rows {
                lines: self.words.len(),
                rows,
            });
        }
        for (what, row) in [("unknown", self.unknown_row), ("padding", self.padding_row)] {
            if let Some(row) = row.filter(|&row| row >= rows) {
                return Err(RowWordsError::Special { what, row, rows });
            }
        }
        Ok(())
    }
}

/// Those of `words` that no text has as a token of `tokenizer`, which numbers them.
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
