//! A table of word vectors in memory.

use std::io::{self, Write};
use std::path::PathBuf;

use thiserror::Error;

use crate::words::{Repeated, WordList};
use probity_data::read::ReadError;

/// The reason why a table of word vectors cannot be used.
#[derive(Debug, Error)]
pub enum EmbeddingError {
    /// The file cannot be opened or read, or its compression is damaged.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The file holds no vector.
    #[error("{} holds no word vectors; expected lines of a word and its numbers", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// A line does not consist of a word and its numbers.
    #[error("{}, line {line}: {problem}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The problem with the line.
        problem: String,
    },
    /// The header and the content disagree.
    #[error("{}: its header says {said} words, but it holds {found}; is it cut short?", file.display())]
    Count {
        /// The file.
        file: PathBuf,
        /// The number of words by the header.
        said: u64,
        /// The number of words found.
        found: u64,
    },
    /// The vectors have another width than is needed.
    #[error("{} holds vectors of {found} numbers, but {expected} are needed; take another file", file.display())]
    Width {
        /// The file.
        file: PathBuf,
        /// The count of numbers in a vector.
        found: usize,
        /// The count of numbers needed.
        expected: usize,
    },
    /// The words and numbers do not make a table.
    #[error("{words} words and {numbers} numbers are no table of vectors of width {width}")]
    Shape {
        /// The count of words.
        words: usize,
        /// The count of numbers.
        numbers: usize,
        /// The count of numbers in a vector.
        width: usize,
    },
    /// A word occurs twice.
    #[error("the word '{word}' is there twice")]
    Repeated {
        /// The word.
        word: String,
    },
}

/// A table of distinct words with a vector for each, and one vector for all other words.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingTable {
    pub(super) words: WordList,
    pub(super) width: usize,
    /// The vectors, row-major `[words + 1, width]`.
    pub(super) vectors: Vec<f32>,
}

impl EmbeddingTable {
    /// Creates a table of `words` with the rows of `vectors`, `[words, width]`.
    ///
    /// # Errors
    /// [`EmbeddingError::Shape`] where the sizes disagree, [`EmbeddingError::Repeated`] for a word
    /// that is there twice.
    pub fn new<'a>(
        words: impl IntoIterator<Item = &'a str>,
        width: usize,
        vectors: Vec<f32>,
    ) -> Result<EmbeddingTable, EmbeddingError> {
        let words: Vec<&str> = words.into_iter().collect();
        let list =
            WordList::new(words.iter().copied()).map_err(|Repeated { second, .. }| {
                EmbeddingError::Repeated {
                    word: words.get(second).copied().unwrap_or_default().to_owned(),
                }
            })?;
        if width == 0 || list.is_empty() || vectors.len() != list.len() * width {
            return Err(EmbeddingError::Shape {
                words: list.len(),
                numbers: vectors.len(),
                width,
            });
        }
        Ok(EmbeddingTable::with_mean(list, width, vectors))
    }

    /// Creates a table of `words` with the rows of `vectors`, `[words + 1, width]`, the last one
    /// for every other word.
    ///
    /// # Errors
    /// Like [`EmbeddingTable::new`].
    pub fn with_unknown<'a>(
        words: impl IntoIterator<Item = &'a str>,
        width: usize,
        mut vectors: Vec<f32>,
    ) -> Result<EmbeddingTable, EmbeddingError> {
        let unknown = vectors.split_off(vectors.len().saturating_sub(width));
        let mut table = EmbeddingTable::new(words, width, vectors)?;
        let last = table.vectors.len() - width;
        table.vectors[last..].copy_from_slice(&unknown);
        Ok(table)
    }

    /// Appends the mean vector to `vectors`, `[words, width]`.
    pub(super) fn with_mean(
        words: WordList,
        width: usize,
        mut vectors: Vec<f32>,
    ) -> EmbeddingTable {
        let mut sums = vec![0_f64; width];
        for vector in vectors.chunks_exact(width) {
            for (sum, &x) in sums.iter_mut().zip(vector) {
                *sum += f64::from(x);
            }
        }
        vectors.extend(sums.iter().map(|sum| (sum / words.len() as f64) as f32));
        EmbeddingTable {
            words,
            width,
            vectors,
        }
    }

    /// Returns the words; word i has row i.
    pub fn words(&self) -> &WordList {
        &self.words
    }

    /// Returns the count of numbers in a vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the row of every word that is not in the table: the number of words.
    pub fn unknown(&self) -> u32 {
        self.words.len() as u32
    }

    /// Returns all vectors, row-major `[words + 1, width]`, the mean last.
    pub fn vectors(&self) -> &[f32] {
        &self.vectors
    }

    /// Returns the vector of row `id`; the mean for numbers beyond the table.
    pub fn vector(&self, id: u32) -> &[f32] {
        let start = id.min(self.unknown()) as usize * self.width;
        &self.vectors[start..start + self.width]
    }

    /// Returns the vector of `word`, if the table has it.
    pub fn vector_of(&self, word: &str) -> Option<&[f32]> {
        self.words.id(word).map(|id| self.vector(id))
    }

    /// Returns the table of those of `words` that are in this table, in their order, each once. Its
    /// last row is the mean of *this* table, so that an unknown word keeps its vector.
    pub fn restricted_to<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> EmbeddingTable {
        let mut taken = vec![false; self.words.len()];
        let mut ids = Vec::new();
        for id in words.into_iter().filter_map(|word| self.words.id(word)) {
            if !std::mem::replace(&mut taken[id as usize], true) {
                ids.push(id);
            }
        }
        let kept = ids.iter().map(|&id| self.words.word(id as usize));
        let words = WordList::new(kept).unwrap_or_default();
        let rows = ids.iter().copied().chain([self.unknown()]);
        EmbeddingTable {
            words,
            width: self.width,
            vectors: rows.flat_map(|id| self.vector(id)).copied().collect(),
        }
    }

    /// Writes the table in GloVe's text format, without the mean vector. Each number has `digits`
    /// decimal places.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, digits: usize) -> io::Result<()> {
        for (word, vector) in self.words.iter().zip(self.vectors.chunks_exact(self.width)) {
            out.write_all(word.as_bytes())?;
            for x in vector {
                write!(out, " {x:.digits$}")?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
