//! A token of a text, and the errors of a tokenizer.

use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why a tokenizer cannot be used.
#[derive(Debug, Error)]
pub enum TokenizerError {
    /// The file cannot be read or is no tokenizer.
    #[error("{} is not a readable tokenizer: {problem}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The problem with the file.
        problem: String,
    },
    /// The file holds a tokenizer of another kind.
    #[error(
        "{} holds a tokenizer whose {what}; probity needs a word-level one that only splits texts, and whose numbers run from 0 without a gap",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The difference from a tokenizer that can be used.
        what: String,
    },
    /// The text cannot be split.
    #[error("the text cannot be split into words: {problem}")]
    Split {
        /// The error message of the tokenizer.
        problem: String,
    },
    /// The pattern by which texts are to be split cannot be used.
    #[error("'{pattern}' is no pattern by which texts are split: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The problem with the pattern.
        problem: String,
    },
    /// The vocabulary is empty or holds too many words.
    #[error("a vocabulary of {words} words; expected 1 to 4294967294")]
    Size {
        /// The number of words in the vocabulary.
        words: usize,
    },
    /// The tokenizer cannot be written as JSON.
    #[error("the tokenizer cannot be written: {problem}")]
    Write {
        /// The problem with the writing.
        problem: String,
    },
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token as the model sees it: normalised, also when it is unknown.
    pub text: String,
    /// The number of the token; [`super::Tokenizer::unknown`] if the vocabulary lacks it.
    pub id: u32,
    /// The bytes of the original text that the token was made of.
    pub bytes: Range<usize>,
}
