//! The vocabulary of a text model: the rows of an embedding table that it keeps.
//!
//! The vocabulary keeps the words of the training texts, the words of every shipped protected term,
//! and the first rows of the table (published tables begin with the most frequent words), so that
//! texts other than the training texts can be read and words have near neighbours to be replaced
//! by. Words keep the order of the table; an unknown word has the mean vector of the *whole* table.

use std::path::PathBuf;

use thiserror::Error;

use probity_text::embeddings::EmbeddingTable;
use probity_text::lexicon::{Lexicon, LexiconError, TermMatcher};
use probity_text::tokenizer::{Token, Tokenizer, TokenizerError};

/// The reason why there is no vocabulary.
#[derive(Debug, Error)]
pub enum VocabularyError {
    /// A text cannot be split.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// A shipped lexicon cannot be used.
    #[error("{0}")]
    Lexicon(#[from] LexiconError),
    /// The texts and the table share no word.
    #[error(
        "none of the {words} different words of the texts is in the embedding table {}: is it of another language, or not in lower case?", table.display()
    )]
    NoOverlap {
        /// The number of different words of the texts.
        words: usize,
        /// The file of the table.
        table: PathBuf,
    },
}

/// A vocabulary and the texts that it was made for.
pub struct Vocabulary {
    /// The kept rows.
    pub table: EmbeddingTable,
    /// The tokenizer that splits texts into these words.
    pub tokenizer: Tokenizer,
    /// The texts as tokens, numbered by this vocabulary.
    pub texts: Vec<Vec<Token>>,
    /// The number of tokens of the texts that have a vector of their own.
    pub known_tokens: u64,
    /// The number of tokens of the texts.
    pub tokens: u64,
}

impl Vocabulary {
    /// Makes the vocabulary for `texts` from `table` (read from `file`), with the first `common`
    /// rows.
    ///
    /// # Errors
    /// See [`VocabularyError`].
    pub fn new(
        texts: &[String],
        table: &EmbeddingTable,
        file: &std::path::Path,
        common: usize,
    ) -> Result<Vocabulary, VocabularyError> {
        let splitter = Tokenizer::new(table.words().iter())?;
        let mut tokens = splitter.tokens_of_all(texts)?;
        let mut is_kept = vec![false; table.words().len()];
        let mut known_tokens = 0;
        for token in tokens.iter().flatten() {
            if let Some(kept) = is_kept.get_mut(token.id as usize) {
                *kept = true;
                known_tokens += 1;
            }
        }
        let all_tokens = tokens.iter().map(Vec::len).sum::<usize>() as u64;
        if known_tokens == 0 {
            let words: std::collections::HashSet<&str> = tokens
                .iter()
                .flatten()
                .map(|token| token.text.as_str())
                .collect();
            return Err(VocabularyError::NoOverlap {
                words: words.len(),
                table: file.to_owned(),
            });
        }
        let (shipped, paper) = (Lexicon::shipped(), Lexicon::paper());
        for attribute in shipped.attributes().iter().chain(paper.attributes()) {
            let matcher = TermMatcher::new(attribute, &splitter)?;
            for term in 0..matcher.terms() {
                for word in matcher.tokens(term) {
                    if let Some(kept) = is_kept.get_mut(splitter.id(word) as usize) {
                        *kept = true;
                    }
                }
            }
        }
        is_kept
            .iter_mut()
            .take(common)
            .for_each(|kept| *kept = true);
        let words = table.words().iter().zip(&is_kept);
        let words: Vec<&str> = words
            .filter(|(_, kept)| **kept)
            .map(|(word, _)| word)
            .collect();
        let restricted = table.restricted_to(words);
        let tokenizer = Tokenizer::new(restricted.words().iter())?;
        let mut numbers = Vec::with_capacity(is_kept.len() + 1);
        let mut next = 0;
        for kept in is_kept {
            numbers.push(if kept { next } else { tokenizer.unknown() });
            next += u32::from(kept);
        }
        numbers.push(tokenizer.unknown());
        for token in tokens.iter_mut().flatten() {
            token.id = numbers[token.id as usize];
        }
        Ok(Vocabulary {
            table: restricted,
            tokenizer,
            texts: tokens,
            known_tokens,
            tokens: all_tokens,
        })
    }
}
