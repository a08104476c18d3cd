//! A token of a text, and why there are none.

use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

/// Why a tokenizer cannot be used.
#[derive(Debug, Error)]
pub enum TokenizerError {
    /// The file cannot be read or is no tokenizer.
    #[error("{} is not a readable tokenizer: {problem}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is a tokenizer of another kind.
    #[error(
        "{} holds a tokenizer whose {what}; probity needs a word-level one that only splits texts, and whose numbers run from 0 without a gap",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// How it differs.
        what: String,
    },
    /// The text cannot be split.
    #[error("the text cannot be split into words: {problem}")]
    Split {
        /// What the tokenizer says.
        problem: String,
    },
    /// Nothing is split so.
    #[error("'{pattern}' is no pattern by which texts are split: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// The vocabulary is empty or holds too many words.
    #[error("a vocabulary of {words} words; expected 1 to 4294967294")]
    Size {
        /// How many there are.
        words: usize,
    },
    /// The tokenizer cannot be written as JSON.
    #[error("the tokenizer cannot be written: {problem}")]
    Write {
        /// What is wrong.
        problem: String,
    },
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token as the model sees it: normalised, also when it is unknown.
    pub text: String,
    /// Its number; [`super::Tokenizer::unknown`] if the vocabulary lacks it.
    pub id: u32,
    /// Bytes of the original text that it was made of.
    pub bytes: Range<usize>,
}
