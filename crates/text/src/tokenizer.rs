//! Words of a text: how a text becomes tokens, and tokens become numbers.
//!
//! Built from the parts of the `tokenizers` crate and saved in its format (`tokenizer.json`), so
//! that other tools can read it. Three steps:
//!
//! 1. Normalise: control characters are dropped, text is put into Unicode form NFC and lower case,
//!    and the typographic apostrophe becomes the plain one.
//! 2. Split: a token is a run of letters and digits, with inner apostrophes (`o'clock`), a number
//!    (`1,000.5`), or any other single character that is not white space. A hyphen separates words.
//!    English contractions are split as in the Penn Treebank, on which published GloVe vectors are
//!    built: `don't` is `do` `n't`, `she'll` is `she` `'ll`.
//! 3. Number: word i of the vocabulary is i; every other word is the vocabulary's size, the number
//!    of the unknown word.

use std::ops::Range;
use std::path::{Path, PathBuf};

use probity_run::guard::guarded;
use rayon::prelude::*;
use thiserror::Error;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::normalizers::{BertNormalizer, NFC, Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::sequence::Sequence as PreTokenizers;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{
    Model, ModelWrapper, Normalizer, OffsetReferential, OffsetType, PreTokenizedString,
    PreTokenizer, SplitDelimiterBehavior,
};

/// Stands for all unknown words in `tokenizer.json`; lengthened where the vocabulary has it as a
/// word. No text has this token: the brackets are tokens of their own.
const UNKNOWN: &str = "[UNK]";

/// Contractions on their own; words with inner apostrophes; numbers; anything else.
const TOKENS: &str =
    r"'(?:s|m|d|re|ve|ll)\b|\p{N}+(?:[.,]\p{N}+)*\b|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*|\S";

/// The end of a word that is a token of its own.
const CONTRACTIONS: &str = r"(?:n't|'(?:s|m|d|re|ve|ll))$";

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
        "{} holds a tokenizer whose {what}; probity needs a word-level one whose numbers run from 0 without a gap, the unknown word last",
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
    /// Its number; [`Tokenizer::unknown`] if the vocabulary lacks it.
    pub id: u32,
    /// Bytes of the original text that it was made of.
    pub bytes: Range<usize>,
}

/// Splits texts into tokens and numbers them.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    unknown: u32,
}

impl Tokenizer {
    /// A tokenizer over `vocabulary`, whose word i gets the number i.
    ///
    /// # Errors
    /// [`TokenizerError::Size`] for an empty or far too large vocabulary.
    pub fn new<'a>(
        vocabulary: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<Tokenizer, TokenizerError> {
        let words = vocabulary.len();
        let unknown = u32::try_from(words)
            .ok()
            .filter(|&words| 0 < words && words < u32::MAX)
            .ok_or(TokenizerError::Size { words })?;
        Tokenizer::over((0..unknown).zip(vocabulary), unknown)
    }

    /// A tokenizer that only splits texts: every word is unknown.
    ///
    /// # Errors
    /// None in practice: the patterns are fixed.
    pub fn without_vocabulary() -> Result<Tokenizer, TokenizerError> {
        Tokenizer::over(std::iter::empty(), 0)
    }

    fn over<'a>(
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
            .with_normalizer(Some(normalizer()?))
            .map_err(split_error)?;
        inner.with_pre_tokenizer(Some(pre_tokenizer()?));
        Ok(Tokenizer { inner, unknown })
    }

    /// Reads what [`Tokenizer::to_json`] wrote. `file` is named in errors.
    ///
    /// # Errors
    /// When it is not JSON of a tokenizer, or one of another kind.
    pub fn from_json(json: &[u8], file: &Path) -> Result<Tokenizer, TokenizerError> {
        let unreadable = |problem: String| TokenizerError::Read {
            file: file.to_owned(),
            problem,
        };
        let inner = guarded(|| tokenizers::Tokenizer::from_bytes(json))
            .map_err(unreadable)?
            .map_err(|error| unreadable(error.to_string()))?;
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
        if inner.get_normalizer().is_none() || inner.get_pre_tokenizer().is_none() {
            return Err(foreign("texts are not split into words"));
        }
        Ok(Tokenizer { inner, unknown })
    }

    /// The tokenizer in the JSON form of the `tokenizers` crate.
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

    /// The number of every word that the vocabulary lacks: the vocabulary's size.
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The number of `word`, given as a token.
    pub fn id(&self, word: &str) -> u32 {
        self.inner
            .get_model()
            .token_to_id(word)
            .unwrap_or(self.unknown)
    }

    /// The word with the number `id`; a stand-in, `[UNK]` as a rule, for the unknown word; nothing
    /// above it.
    pub fn word(&self, id: u32) -> Option<String> {
        self.inner.get_model().id_to_token(id)
    }

    /// The tokens of `text`; none for a text of white space.
    ///
    /// # Errors
    /// When a foreign tokenizer cannot split it.
    pub fn tokens(&self, text: &str) -> Result<Vec<Token>, TokenizerError> {
        let split = self.split(text)?;
        let splits = split.get_splits(OffsetReferential::Original, OffsetType::Byte);
        let starts: Vec<usize> = splits.iter().map(|(_, (start, _), _)| *start).collect();
        Ok(splits
            .into_iter()
            .enumerate()
            .map(|(i, (token, (start, end), _))| Token {
                id: self.id(token),
                text: token.to_owned(),
                bytes: start..with_marks(text, end, starts.get(i + 1).copied()),
            })
            .collect())
    }

    /// The tokens of many texts, in their order, on all threads.
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

/// Where a token that ends at `end` really ends: a mark that was composed with its last letter
/// belongs to it. `next` is the start of the next token.
fn with_marks(text: &str, end: usize, next: Option<usize>) -> usize {
    let gap = text
        .get(end..next.unwrap_or(text.len()))
        .unwrap_or_default();
    let marks = gap.find(|c: char| c.is_whitespace() || c.is_control());
    end + marks.unwrap_or(gap.len())
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

fn in_case_of(old: &str, word: &str) -> String {
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

fn normalizer() -> Result<Normalizers, TokenizerError> {
    let clean = BertNormalizer::new(true, false, Some(false), true);
    let apostrophe = Replace::new("\u{2019}", "'").map_err(split_error)?;
    Ok(Normalizers::new(vec![
        clean.into(),
        NFC.into(),
        apostrophe.into(),
    ]))
}

fn pre_tokenizer() -> Result<PreTokenizers, TokenizerError> {
    let split = |pattern: &str, behavior, invert| {
        Split::new(SplitPattern::Regex(pattern.to_owned()), behavior, invert).map_err(split_error)
    };
    Ok(PreTokenizers::new(vec![
        split(TOKENS, SplitDelimiterBehavior::Removed, true)?.into(),
        split(CONTRACTIONS, SplitDelimiterBehavior::Isolated, false)?.into(),
    ]))
}

fn split_error(error: impl std::fmt::Display) -> TokenizerError {
    TokenizerError::Split {
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer() -> Tokenizer {
        Tokenizer::new(["the", "do", "n't", "cat", "é"].into_iter()).unwrap()
    }

    fn split(text: &str) -> Vec<String> {
        tokenizer()
            .tokens(text)
            .unwrap()
            .into_iter()
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn words_are_split_as_published_vectors_need_them() {
        for (text, expected) in [
            ("The CAT", "the cat"),
            ("don't, can\u{2019}t WON'T", "do n't , ca n't wo n't"),
            (
                "she'll I'm they've we're he'd it's",
                "she 'll i 'm they 've we 're he 'd it 's",
            ),
            ("o'clock baha'i O'Brien's", "o'clock baha'i o'brien 's"),
            ("'quoted' rock 'n' roll", "' quoted ' rock ' n ' roll"),
            ("guinea-bissau well-known", "guinea - bissau well - known"),
            ("1,000.5 3rd 2nd. v2", "1,000.5 3rd 2nd . v2"),
            ("==Heading==\n\ta.b", "= = heading = = a . b"),
            (
                "caf\u{e9} cafe\u{301} na\u{ef}ve",
                "caf\u{e9} caf\u{e9} na\u{ef}ve",
            ),
            ("!!! :-)", "! ! ! : - )"),
            ("it 's n't", "it 's n't"),
        ] {
            assert_eq!(split(text).join(" "), expected, "{text}");
        }
        assert!(split(" \n\t ").is_empty() && split("").is_empty());
    }

    #[test]
    fn bytes_point_into_the_original_text() {
        let text = "\u{feff}The É, DON\u{2019}T \u{1f642}cats!";
        let tokens = tokenizer().tokens(text).unwrap();
        let parts: Vec<&str> = tokens
            .iter()
            .map(|token| &text[token.bytes.clone()])
            .collect();
        assert_eq!(
            parts,
            [
                "The",
                "É",
                ",",
                "DO",
                "N\u{2019}T",
                "\u{1f642}",
                "cats",
                "!"
            ]
        );
        let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
        assert_eq!(ids, [0, 4, 5, 1, 2, 5, 5, 5]);
    }

    #[test]
    fn random_texts_keep_their_characters_in_order() {
        use rand::RngExt;
        let alphabet: Vec<char> = "aB'é\u{301}\u{2019} -.1,\u{0}\n🙂İß中".chars().collect();
        let tokenizer = tokenizer();
        for item in 0..3000 {
            let mut draws =
                probity_run::stream::stream(1, probity_run::stream::Purpose::Synthetic, item, 0);
            let text: String = (0..draws.random_range(0..12))
                .map(|_| alphabet[draws.random_range(0..alphabet.len())])
                .collect();
            let tokens = tokenizer.tokens(&text).unwrap();
            let mut end = 0;
            for token in &tokens {
                assert!(
                    token.bytes.start >= end && token.bytes.end > token.bytes.start,
                    "{text:?}"
                );
                let skipped = &text[end..token.bytes.start];
                assert!(
                    skipped.chars().all(|c| c.is_whitespace() || c == '\0'),
                    "{text:?}"
                );
                assert!(!token.text.chars().any(char::is_whitespace));
                end = token.bytes.end;
            }
            assert!(
                text[end..].chars().all(|c| c.is_whitespace() || c == '\0'),
                "{text:?}"
            );
            // A token by itself is that token again.
            for token in &tokens {
                let again = tokenizer.tokens(&token.text).unwrap();
                assert!(
                    again.len() == 1 && again[0].text == token.text || token.text.contains('\''),
                    "{text:?} {token:?} {again:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_saved_is_read_back() {
        let json = tokenizer().to_json().unwrap();
        let back = Tokenizer::from_json(json.as_bytes(), Path::new("tokenizer.json")).unwrap();
        let text = "Don't pet the CAT-é [UNK]!";
        assert_eq!(
            back.tokens(text).unwrap(),
            tokenizer().tokens(text).unwrap()
        );
        assert_eq!((back.unknown(), back.id("cat"), back.id("dog")), (5, 3, 5));
        assert_eq!((back.word(3).as_deref(), back.word(6)), (Some("cat"), None));
        assert_eq!(back.to_json().unwrap(), json);
    }

    #[test]
    fn a_vocabulary_may_hold_the_name_of_the_unknown_word() {
        let own = Tokenizer::new(["[UNK]", "cat"].into_iter()).unwrap();
        let json = own.to_json().unwrap();
        let back = Tokenizer::from_json(json.as_bytes(), Path::new("t.json")).unwrap();
        for tokenizer in [own, back] {
            assert_eq!((tokenizer.unknown(), tokenizer.id("[UNK]")), (2, 0));
            assert_eq!(tokenizer.id("dog"), 2);
        }
    }

    #[test]
    fn foreign_files_are_refused() {
        let file = Path::new("x/tokenizer.json");
        let message = |json: &str| {
            Tokenizer::from_json(json.as_bytes(), file)
                .unwrap_err()
                .to_string()
        };
        assert!(message("{").contains("x/tokenizer.json is not a readable tokenizer"));
        let json = tokenizer().to_json().unwrap();
        assert!(message(&json.replace("\"cat\":3", "\"cat\":7")).contains("gaps"));
        assert!(message(&json.replace("\"[UNK]\":5", "\"[UNK]\":9")).contains("not the last"));
        let cut = json.find("\"pre_tokenizer\":").unwrap();
        let end = json.find("\"post_processor\"").unwrap();
        let none = format!("{}\"pre_tokenizer\":null,{}", &json[..cut], &json[end..]);
        assert!(message(&none).contains("not split"));
        assert!(matches!(
            Tokenizer::new([].into_iter()),
            Err(TokenizerError::Size { words: 0 })
        ));
    }

    #[test]
    fn replaced_words_keep_the_case_of_the_old_ones() {
        let text = "French people and GERMANS, I say.";
        let changed = splice(
            text,
            &[(0..6, "new zealand"), (18..25, "turks"), (27..28, "we")],
        );
        assert_eq!(changed, "New zealand people and TURKS, We say.");
        assert_eq!(splice("a b", &[(0..1, ""), (2..3, "c")]), " c");
    }
}
