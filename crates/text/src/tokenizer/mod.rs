//! Words of a text: how a text becomes tokens, and tokens become numbers.
//!
//! Built from the parts of the `tokenizers` crate and saved in its format (`tokenizer.json`), so
//! that other tools can read it. Networks from elsewhere bring their own way to split
//! ([`Splitting`], [`ForeignTokenizer`]); this is the usual one, in three steps:
//!
//! 1. Normalise: control characters are dropped, text is put into Unicode form NFC and lower case,
//!    and the typographic apostrophe becomes the plain one.
//! 2. Split: a token is a run of letters and digits, with inner apostrophes (`o'clock`), a number
//!    (`1,000.5`), or any other single character that is not white space. A hyphen separates words.
//!    English contractions are split as in the Penn Treebank, on which published GloVe vectors are
//!    built: `don't` is `do` `n't`, `she'll` is `she` `'ll`.
//! 3. Number: word i of the vocabulary is i; every other word is the vocabulary's size, the number
//!    of the unknown word.

mod foreign;
mod memo;
mod splitting;
mod token;

use std::ops::Range;
use std::path::Path;

use probity_run::guard::guarded;
use rayon::prelude::*;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::{
    Model, ModelWrapper, NormalizedString, Normalizer, OffsetReferential, OffsetType,
    PreTokenizedString, PreTokenizer,
};

pub use foreign::ForeignTokenizer;
use memo::Memo;
pub use splitting::Splitting;
pub use token::{Token, TokenizerError};

/// The token for all unknown words in `tokenizer.json`; lengthened where the vocabulary has it as a
/// word. No text has this token: the brackets are tokens of their own.
const UNKNOWN: &str = "[UNK]";

/// Splits texts into tokens and numbers them.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    unknown: u32,
    /// The memo of tokens, where the parts of a text between blanks can be split alone.
    memo: Option<Memo>,
}

impl Tokenizer {
    /// Creates a tokenizer over `vocabulary`, whose word i gets the number i, of texts that are
    /// split as usual.
    ///
    /// # Errors
    /// [`TokenizerError::Size`] for an empty or far too large vocabulary.
    pub fn new<'a>(
        vocabulary: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<Tokenizer, TokenizerError> {
        Tokenizer::splitting(&Splitting::usual()?, vocabulary)
    }

    /// Creates a tokenizer as [`Tokenizer::new`] does, of texts that are split by `splitting`.
    ///
    /// # Errors
    /// See [`Tokenizer::new`].
    pub fn splitting<'a>(
        splitting: &Splitting,
        vocabulary: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<Tokenizer, TokenizerError> {
        let words = vocabulary.len();
        let unknown = u32::try_from(words)
            .ok()
            .filter(|&words| 0 < words && words < u32::MAX)
            .ok_or(TokenizerError::Size { words })?;
        Tokenizer::over(splitting, (0..unknown).zip(vocabulary), unknown)
    }

    /// Creates a tokenizer that only splits texts: every word is unknown.
    ///
    /// # Errors
    /// None in practice: the patterns are fixed.
    pub fn without_vocabulary() -> Result<Tokenizer, TokenizerError> {
        Tokenizer::over(&Splitting::usual()?, std::iter::empty(), 0)
    }

    fn over<'a>(
        splitting: &Splitting,
        numbered: impl Iterator<Item = (u32, &'a str)>,
        unknown: u32,
    ) -> Result<Tokenizer, TokenizerError> {
        let mut vocabulary: Vec<(String, u32)> =
            numbered.map(|(id, word)| (word.to_owned(), id)).collect();
        let mut stand_in = UNKNOWN.to_owned();
        while vocabulary.iter().any(|(word, _)| *word == stand_in) {
            stand_in.push('_');
        }
        vocabulary.push((stand_in.clone(), unknown));
        let model = WordLevel::builder()
            .vocab(vocabulary.into_iter().collect())
            .unk_token(stand_in)
            .build()
            .map_err(split_error)?;
        let mut inner = tokenizers::Tokenizer::new(model);
        inner
            .with_normalizer(splitting.normalizer.clone())
            .map_err(split_error)?;
        inner.with_pre_tokenizer(Some(splitting.pre_tokenizer.clone()));
        Tokenizer::with_memo(inner, unknown)
    }

    /// Reads a tokenizer that [`Tokenizer::to_json`] wrote. `file` is named in errors.
    ///
    /// # Errors
    /// When it is not JSON of a tokenizer, or one of another kind.
    pub fn from_json(json: &[u8], file: &Path) -> Result<Tokenizer, TokenizerError> {
        let inner = read(json, file)?;
        let foreign = |what: &str| TokenizerError::Foreign {
            file: file.to_owned(),
            what: what.to_owned(),
        };
        let ModelWrapper::WordLevel(model) = inner.get_model() else {
            return Err(foreign("tokens are parts of words"));
        };
        let size = model.get_vocab_size();
        let unknown = u32::try_from(size)
            .ok()
            .and_then(|size| size.checked_sub(1))
            .ok_or_else(|| foreign("vocabulary is empty"))?;
        if model.token_to_id(&model.unk_token) != Some(unknown) {
            return Err(foreign("unknown word is not the last one"));
        }
        let gap = (0..unknown).find(|&id| model.id_to_token(id).is_none());
        if gap.is_some() {
            return Err(foreign("numbers have gaps"));
        }
        if inner.get_pre_tokenizer().is_none() {
            return Err(foreign("texts are not split into words"));
        }
        Tokenizer::with_memo(inner, unknown)
    }

    fn with_memo(inner: tokenizers::Tokenizer, unknown: u32) -> Result<Tokenizer, TokenizerError> {
        let is_usual = match inner.get_pre_tokenizer() {
            None => false,
            Some(pre_tokenizer) => {
                let splitting = Splitting {
                    normalizer: inner.get_normalizer().cloned(),
                    pre_tokenizer: pre_tokenizer.clone(),
                };
                splitting.is_usual()?
            }
        };
        Ok(Tokenizer {
            inner,
            unknown,
            memo: is_usual.then(Memo::default),
        })
    }

    /// Returns the tokenizer in the JSON form of the `tokenizers` crate.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn to_json(&self) -> Result<String, TokenizerError> {
        self.inner
            .to_string(false)
            .map_err(|error| TokenizerError::Write {
                problem: error.to_string(),
            })
    }

    /// Returns the number of every word that the vocabulary lacks: the vocabulary's size.
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Returns the number of `word`, given as a token.
    pub fn id(&self, word: &str) -> u32 {
        self.inner
            .get_model()
            .token_to_id(word)
            .unwrap_or(self.unknown)
    }

    /// Returns the word with the number `id`; a stand-in, `[UNK]` as a rule, for the unknown word;
    /// nothing for larger numbers.
    pub fn word(&self, id: u32) -> Option<String> {
        self.inner.get_model().id_to_token(id)
    }

    /// Returns the tokens of `text`; none for a text of white space.
    ///
    /// # Errors
    /// When a foreign tokenizer cannot split it.
    pub fn tokens(&self, text: &str) -> Result<Vec<Token>, TokenizerError> {
        let Some(memo) = &self.memo else {
            return self.found(text);
        };
        let parts = memo.parts(text, |part| self.found(part))?;
        let mut tokens = Vec::with_capacity(parts.iter().map(|(_, part)| part.len()).sum());
        for (start, part) in parts {
            tokens.extend(part.iter().map(|token| Token {
                text: token.text.clone(),
                id: token.id,
                bytes: start + token.bytes.start..start + token.bytes.end,
            }));
        }
        Ok(tokens)
    }

    /// Returns the numbers of the tokens of `text`.
    ///
    /// # Errors
    /// Like [`Tokenizer::tokens`].
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let ids_of = |tokens: &[Token]| tokens.iter().map(|token| token.id).collect::<Vec<u32>>();
        match &self.memo {
            None => Ok(ids_of(&self.found(text)?)),
            Some(memo) => {
                let parts = memo.parts(text, |part| self.found(part))?;
                Ok(parts.iter().flat_map(|(_, part)| ids_of(part)).collect())
            }
        }
    }

    /// Returns whether `ids` are the numbers of the tokens of `text`.
    ///
    /// # Errors
    /// Like [`Tokenizer::tokens`].
    pub fn has_ids(
        &self,
        text: &str,
        ids: impl Iterator<Item = u32> + Clone,
    ) -> Result<bool, TokenizerError> {
        let known = self.memo.as_ref();
        match known.and_then(|memo| memo.has_ids(text, ids.clone())) {
            Some(has) => Ok(has),
            None => Ok(self.ids(text)?.into_iter().eq(ids)),
        }
    }

    /// Finds the tokens of `text` without the memo.
    fn found(&self, text: &str) -> Result<Vec<Token>, TokenizerError> {
        let split = self.split(text)?;
        let splits = split.get_splits(OffsetReferential::Original, OffsetType::Byte);
        let starts: Vec<usize> = splits.iter().map(|(_, (start, _), _)| *start).collect();
        Ok(splits
            .into_iter()
            .enumerate()
            .map(|(i, (token, (start, end), _))| Token {
                id: self.id(token),
                text: token.to_owned(),
                bytes: start..self.end_of(token, text, start..end, starts.get(i + 1).copied()),
            })
            .collect())
    }

    /// Returns the tokens of many texts, in their order, on all threads.
    ///
    /// # Errors
    /// Like [`Tokenizer::tokens`].
    pub fn tokens_of_all<S: AsRef<str> + Sync>(
        &self,
        texts: &[S],
    ) -> Result<Vec<Vec<Token>>, TokenizerError> {
        texts
            .par_iter()
            .map(|text| self.tokens(text.as_ref()))
            .collect()
    }

    /// Returns the real end of `token`, found in `bytes`: a character that was composed with its
    /// last letter, as a mark is, belongs to it. `next` is the start of the next token.
    fn end_of(&self, token: &str, text: &str, bytes: Range<usize>, next: Option<usize>) -> usize {
        let gap = text.get(bytes.end..next.unwrap_or(text.len()));
        let gap = gap.unwrap_or_default();
        let marks = gap.find(|c: char| c.is_whitespace() || c.is_control());
        let marks = marks.unwrap_or(gap.len());
        // What splits words, and is no word itself, stands in gaps too.
        if marks == 0 || self.normalized(&text[bytes.clone()]).as_deref() == Some(token) {
            return bytes.end;
        }
        bytes.end + marks
    }

    /// Returns `text` normalised, as it is before it is split.
    fn normalized(&self, text: &str) -> Option<String> {
        let mut normalized = NormalizedString::from(text);
        if let Some(normalizer) = self.inner.get_normalizer() {
            guarded(|| normalizer.normalize(&mut normalized))
                .ok()?
                .ok()?;
        }
        Some(normalized.get().to_owned())
    }

    fn split(&self, text: &str) -> Result<PreTokenizedString, TokenizerError> {
        // What a foreign tokenizer is made of is tried only here.
        guarded(|| self.split_unguarded(text)).unwrap_or_else(|panic| Err(split_error(panic)))
    }

    fn split_unguarded(&self, text: &str) -> Result<PreTokenizedString, TokenizerError> {
        let mut split = PreTokenizedString::from(text);
        if let Some(normalizer) = self.inner.get_normalizer() {
            split
                .normalize(|text| normalizer.normalize(text))
                .map_err(split_error)?;
        }
        if let Some(pre_tokenizer) = self.inner.get_pre_tokenizer() {
            pre_tokenizer
                .pre_tokenize(&mut split)
                .map_err(split_error)?;
        }
        Ok(split)
    }
}

/// Puts replaced tokens into a text: `changes` are (bytes of the original, what to put there), in
/// ascending order without overlap. What is not replaced stays as it is written, in its own case.
///
/// A replacement starts with a capital letter where the replaced words did, and is written in
/// capitals where they all were (and were longer than one letter).
pub fn splice(text: &str, changes: &[(Range<usize>, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (bytes, word) in changes {
        let old = text.get(bytes.clone()).unwrap_or_default();
        out.push_str(text.get(done..bytes.start).unwrap_or_default());
        out.push_str(&in_case_of(old, word));
        done = bytes.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Returns `word` in the case in which `old` is written; see [`splice`].
pub fn in_case_of(old: &str, word: &str) -> String {
    let mut letters = old.chars().filter(|c| c.is_alphabetic());
    let capital = letters.next().is_some_and(char::is_uppercase);
    let mut rest = letters.peekable();
    if capital && rest.peek().is_some() && rest.all(char::is_uppercase) {
        return word.to_uppercase();
    }
    let mut characters = word.chars();
    match characters.next() {
        Some(first) if capital => first.to_uppercase().chain(characters).collect(),
        _ => word.to_owned(),
    }
}

/// Reads the tokenizer in `json`, of any kind.
fn read(json: &[u8], file: &Path) -> Result<tokenizers::Tokenizer, TokenizerError> {
    let unreadable = |problem: String| TokenizerError::Read {
        file: file.to_owned(),
        problem,
    };
    guarded(|| tokenizers::Tokenizer::from_bytes(json))
        .map_err(unreadable)?
        .map_err(|error| unreadable(error.to_string()))
}

fn split_error(error: impl std::fmt::Display) -> TokenizerError {
    TokenizerError::Split {
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
