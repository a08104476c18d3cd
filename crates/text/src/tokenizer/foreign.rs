//! Reading of a `tokenizer.json` that somebody else made: how it splits texts, and the words of its
//! numbers.

use std::path::Path;

use tokenizers::{ModelWrapper, TruncationDirection};

use super::{Splitting, TokenizerError, read};

/// A word-level tokenizer from elsewhere. A network that was trained with it has the vector of
/// word i in row i of its table.
#[derive(Debug, Clone)]
pub struct ForeignTokenizer {
    /// The way in which the tokenizer splits texts.
    pub splitting: Splitting,
    /// The words, by number.
    pub words: Vec<String>,
    /// The number of unknown words, if the tokenizer has one.
    pub unknown: Option<usize>,
    /// The number that pads texts, if the tokenizer gives one.
    pub padding: Option<usize>,
    /// The number of tokens of a text that the tokenizer keeps, if it cuts any off.
    pub max_length: Option<usize>,
}

impl ForeignTokenizer {
    /// Reads a `tokenizer.json`. `file` is named in errors.
    ///
    /// # Errors
    /// When it is not JSON of a tokenizer, one of parts of words, or one that does more with a text
    /// than to split it.
    pub fn from_json(json: &[u8], file: &Path) -> Result<ForeignTokenizer, TokenizerError> {
        let inner = read(json, file)?;
        let foreign = |what: &str| TokenizerError::Foreign {
            file: file.to_owned(),
            what: what.to_owned(),
        };
        let ModelWrapper::WordLevel(model) = inner.get_model() else {
            return Err(foreign("tokens are parts of words"));
        };
        let Some(pre_tokenizer) = inner.get_pre_tokenizer() else {
            return Err(foreign("texts are not split into words"));
        };
        if inner.get_post_processor().is_some() {
            return Err(foreign("texts get more tokens than their words"));
        }
        if inner
            .get_added_tokens_decoder()
            .values()
            .any(|added| !added.special)
        {
            return Err(foreign("added words are found before texts are split"));
        }
        let truncation = inner.get_truncation();
        if truncation.is_some_and(|cut| matches!(cut.direction, TruncationDirection::Left)) {
            return Err(foreign("texts are cut at their beginning"));
        }
        let numbers = inner.get_vocab(true);
        let mut words = vec![None; numbers.len()];
        for (word, &number) in &numbers {
            match words.get_mut(number as usize) {
                Some(free @ None) => *free = Some(word.clone()),
                Some(Some(_)) => return Err(foreign("numbers are those of two words")),
                None => return Err(foreign("numbers have gaps")),
            }
        }
        let number = |word: &str| numbers.get(word).map(|&number| number as usize);
        Ok(ForeignTokenizer {
            splitting: Splitting {
                normalizer: inner.get_normalizer().cloned(),
                pre_tokenizer: pre_tokenizer.clone(),
            },
            unknown: number(&model.unk_token),
            padding: inner
                .get_padding()
                .and_then(|padding| number(&padding.pad_token)),
            max_length: truncation.map(|cut| cut.max_length),
            words: words.into_iter().flatten().collect(),
        })
    }
}
