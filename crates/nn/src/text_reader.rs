//! The reading of texts: they are split into words of a vocabulary, each with a vector.
//!
//! A recurrent network has its own vocabulary; a classifier that is given texts as they are written
//! is audited with a vocabulary that is made for the audit. Everything that walks over words needs
//! no more than this.

use std::ops::Range;

use probity_text::embeddings::EmbeddingTable;
use probity_text::tokenizer::{Tokenizer, TokenizerError};
use probity_text::validity::SentenceEmbedder;

/// A vocabulary, and the tokenizer that splits texts into its words.
#[derive(Debug, Clone)]
pub struct TextReader {
    /// The number of tokens of a text that are read; the rest is cut off.
    pub max_length: usize,
    /// The tokenizer that splits texts into words of the vocabulary.
    pub tokenizer: Tokenizer,
    /// The vectors of the words, and one for all others.
    pub table: EmbeddingTable,
    /// The measure of semantic similarity, fitted on the training texts.
    pub sentences: SentenceEmbedder,
}

/// A text as the model reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedText {
    /// The text, up to its last token that is read.
    pub text: String,
    /// The tokens of the text: ids of the vocabulary, the unknown word for others.
    pub ids: Vec<i32>,
    /// The tokens as the model sees them, unknown ones spelled out.
    pub words: Vec<String>,
    /// The place of each token in `text`.
    pub bytes: Vec<Range<usize>>,
    /// Whether something was cut off.
    pub is_truncated: bool,
}

impl TextReader {
    /// The length of a word's vector.
    pub fn dimension(&self) -> usize {
        self.table.width()
    }

    /// The number of words, without the unknown one.
    pub fn words(&self) -> usize {
        self.tokenizer.unknown() as usize
    }

    /// Returns the word with the number `id`; empty for the unknown word and for a number of no
    /// word.
    pub fn word(&self, id: i32) -> &str {
        usize::try_from(id).map_or("", |id| self.table.words().word(id))
    }

    /// Returns the ids of all tokens of `text`, also of those that are cut off.
    ///
    /// # Errors
    /// When the tokenizer cannot split the text.
    pub fn tokens(&self, text: &str) -> Result<Vec<i32>, TokenizerError> {
        let ids = self.tokenizer.ids(text)?;
        Ok(ids.into_iter().map(|id| id as i32).collect())
    }

    /// Whether `ids` are the ids of all tokens of `text`.
    ///
    /// # Errors
    /// When the tokenizer cannot split the text.
    pub fn has_tokens(
        &self,
        text: &str,
        ids: impl Iterator<Item = i32> + Clone,
    ) -> Result<bool, TokenizerError> {
        self.tokenizer.has_ids(text, ids.map(|id| id as u32))
    }

    /// Splits `text` into tokens and cuts it to the length limit.
    ///
    /// # Errors
    /// When the tokenizer cannot split the text.
    pub fn encode(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.encode_to(text, self.max_length)
    }

    /// Splits `text` into tokens, also those that the model does not read.
    ///
    /// # Errors
    /// When the tokenizer cannot split the text.
    pub fn encode_whole(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.encode_to(text, usize::MAX)
    }

    fn encode_to(&self, text: &str, most: usize) -> Result<EncodedText, TokenizerError> {
        let mut tokens = self.tokenizer.tokens(text)?;
        let is_truncated = tokens.len() > most;
        tokens.truncate(most);
        let end = match tokens.last() {
            Some(last) if is_truncated => last.bytes.end,
            _ => text.len(),
        };
        Ok(EncodedText {
            text: text.get(..end).unwrap_or(text).to_owned(),
            ids: tokens.iter().map(|token| token.id as i32).collect(),
            bytes: tokens.iter().map(|token| token.bytes.clone()).collect(),
            words: tokens.into_iter().map(|token| token.text).collect(),
            is_truncated,
        })
    }
}
