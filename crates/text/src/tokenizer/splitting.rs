//! Ways to split texts into words: the usual one, the ways of other libraries, and patterns of the
//! user.

use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::normalizers::{BertNormalizer, Lowercase, NFC, Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::sequence::Sequence as PreTokenizers;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

use super::{TokenizerError, split_error};

/// The pattern of tokens: contractions on their own; words with inner apostrophes; numbers;
/// anything else.
const TOKENS: &str =
    r"'(?:s|m|d|re|ve|ll)\b|\p{N}+(?:[.,]\p{N}+)*\b|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*|\S";

/// The pattern of the end of a word that is a token of its own.
const CONTRACTIONS: &str = r"(?:n't|'(?:s|m|d|re|ve|ll))$";

/// The pattern of the words that Python's `str.split()` finds: four control characters are white
/// space to it.
const NOT_SPACE: &str = r"[^\s\x1c-\x1f]+";

/// The pattern of torchtext's `basic_english`, after lower case, quotation marks and line breaks:
/// some marks are words, and `;` and `:` are blanks.
const BASIC_ENGLISH: &str = r"['.,()!?]|[^\s\x1c-\x1f'.,()!?;:]+";

/// The characters that Keras' `Tokenizer` takes for blanks unless it is told otherwise.
pub const KERAS_FILTERS: &str = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n";

/// A way to split texts into words, independent of the numbers of the words.
#[derive(Debug, Clone)]
pub struct Splitting {
    /// The changes to a text before it is split; none where this is absent.
    pub(super) normalizer: Option<NormalizerWrapper>,
    pub(super) pre_tokenizer: PreTokenizerWrapper,
}

impl Splitting {
    /// The names that [`Splitting::named`] takes.
    pub const NAMES: &str =
        "whitespace, whitespace-lower, basic-english, keras, regex:PATTERN, regex-lower:PATTERN";

    /// Returns the usual splitting; see [`super`].
    ///
    /// # Errors
    /// None in practice: the patterns are fixed.
    pub fn usual() -> Result<Splitting, TokenizerError> {
        let clean = BertNormalizer::new(true, false, Some(false), true);
        let apostrophe = Replace::new("\u{2019}", "'").map_err(split_error)?;
        let contractions = Split::new(
            SplitPattern::Regex(CONTRACTIONS.to_owned()),
            SplitDelimiterBehavior::Isolated,
            false,
        );
        let steps = vec![clean.into(), NFC.into(), apostrophe.into()];
        Ok(Splitting {
            normalizer: Some(Normalizers::new(steps).into()),
            pre_tokenizer: PreTokenizers::new(vec![
                matches_of(TOKENS)?.into(),
                contractions.map_err(split_error)?.into(),
            ])
            .into(),
        })
    }

    /// Returns whether texts are split as usual.
    pub(super) fn is_usual(&self) -> Result<bool, TokenizerError> {
        let written = |splitting: &Splitting| {
            let parts = (&splitting.normalizer, &splitting.pre_tokenizer);
            serde_json::to_string(&parts).map_err(split_error)
        };
        Ok(written(self)? == written(&Splitting::usual()?)?)
    }

    /// Returns the splitting called `name`; nothing for a name that no splitting has.
    ///
    /// | name | words |
    /// |------|-------|
    /// | `whitespace` | what stands between white space, as Python's `str.split()` has it |
    /// | `basic-english` | those of torchtext's `get_tokenizer("basic_english")` |
    /// | `keras` | those of Keras' `Tokenizer` with its own filters |
    /// | `regex:PATTERN` | the matches of the pattern |
    ///
    /// `whitespace-lower` and `regex-lower:PATTERN` put texts into lower case before.
    ///
    /// # Errors
    /// [`TokenizerError::Pattern`].
    pub fn named(name: &str) -> Result<Option<Splitting>, TokenizerError> {
        if let Some(pattern) = name.strip_prefix("regex:") {
            return Ok(Some(Splitting::matching(pattern, Vec::new())?));
        }
        if let Some(pattern) = name.strip_prefix("regex-lower:") {
            return Ok(Some(Splitting::matching(pattern, vec![Lowercase.into()])?));
        }
        Ok(Some(match name {
            "whitespace" => Splitting::matching(NOT_SPACE, Vec::new())?,
            "whitespace-lower" => Splitting::matching(NOT_SPACE, vec![Lowercase.into()])?,
            "basic-english" => {
                let quotes = Replace::new("\"", "").map_err(split_error)?;
                let breaks = ReplacePattern::String("<br />".to_owned());
                let breaks = Replace::new(breaks, " ").map_err(split_error)?;
                let steps = vec![Lowercase.into(), quotes.into(), breaks.into()];
                Splitting::matching(BASIC_ENGLISH, steps)?
            }
            "keras" => Splitting::keras(KERAS_FILTERS, true, ' ')?,
            _ => return Ok(None),
        }))
    }

    /// Returns the splitting of a Keras `Tokenizer`: `filters` are blanks, and `split` separates
    /// words.
    ///
    /// # Errors
    /// None in practice: every set of characters makes a pattern.
    pub fn keras(filters: &str, lower: bool, split: char) -> Result<Splitting, TokenizerError> {
        let blanks = filters.chars().chain([split]);
        let blanks: String = blanks.map(|c| format!("\\x{{{:x}}}", c as u32)).collect();
        let steps = if lower {
            vec![Lowercase.into()]
        } else {
            Vec::new()
        };
        Splitting::matching(&format!("[^{blanks}]+"), steps)
    }

    /// Returns the splitting into the matches of `pattern` after `steps`.
    fn matching(pattern: &str, steps: Vec<NormalizerWrapper>) -> Result<Splitting, TokenizerError> {
        let is_changed = !steps.is_empty();
        Ok(Splitting {
            normalizer: is_changed.then(|| Normalizers::new(steps).into()),
            pre_tokenizer: matches_of(pattern)?.into(),
        })
    }
}

fn matches_of(pattern: &str) -> Result<Split, TokenizerError> {
    let problem = |problem: String| TokenizerError::Pattern {
        pattern: pattern.to_owned(),
        problem,
    };
    if pattern.is_empty() {
        return Err(problem("it is empty".to_owned()));
    }
    let matches = SplitPattern::Regex(pattern.to_owned());
    Split::new(matches, SplitDelimiterBehavior::Removed, true)
        .map_err(|error| problem(error.to_string()))
}
