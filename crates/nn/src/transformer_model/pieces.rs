//! The tokenizer of a transformer: the `tokenizer.json` of Hugging Face that it was trained with.
//!
//! A text becomes pieces of words, between marks of its beginning and end. Each piece knows the
//! bytes of the text that it was made of, so that it can be said to which word it belongs.

use std::ops::Range;
use std::path::Path;

use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection};

use super::settings::{Parts, TokenizerSettings, TruncationSide};
use crate::model::StoreError;
use crate::transformer::masked::Masked;
use probity_run::guard::guarded;
use probity_text::tokenizer::TokenizerError;

/// A tokenizer that splits texts into pieces.
#[derive(Clone)]
pub struct PieceTokenizer {
    /// The text of the file, which is written as it was read.
    json: String,
    tokenizer: Tokenizer,
    /// The number of pieces that mark beginning and end.
    marks: usize,
    truncation_side: TruncationSide,
    last: i32,
    padding: i32,
    /// The piece that stands for what is no piece, where there is one.
    unknown: Option<i32>,
    /// The number of pieces of the network.
    vocabulary: usize,
}

/// A text in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// The numbers of the pieces, marks of beginning and end among them.
    pub ids: Vec<i32>,
    /// The segment that each piece is in, as the tokenizer says.
    pub segments: Vec<i32>,
    /// The bytes of the text that each piece was made of; `None` for a mark.
    pub bytes: Vec<Option<Range<usize>>>,
    /// Whether something was cut off.
    pub is_truncated: bool,
}

/// A text in which a word is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MaskedPieces {
    /// The text's pieces, with masks in place of the word's.
    pub masked: Masked,
    /// The word's pieces.
    pub own: Vec<i32>,
}

impl Pieces {
    /// Returns the pieces of each of some words, which are given by their bytes in ascending order:
    /// the pieces that share a byte with the word, and with no word before it.
    pub fn of_words(&self, words: &[Range<usize>]) -> Vec<Vec<usize>> {
        let mut pieces = vec![Vec::new(); words.len()];
        for (piece, bytes) in self.bytes.iter().enumerate() {
            let Some(bytes) = bytes else {
                continue;
            };
            let first = words.partition_point(|word| word.end <= bytes.start);
            if words.get(first).is_some_and(|word| word.start < bytes.end) {
                pieces[first].push(piece);
            }
        }
        pieces
    }
}

impl std::fmt::Debug for PieceTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let vocabulary = self.tokenizer.get_vocab_size(true);
        write!(f, "PieceTokenizer of {vocabulary} pieces")
    }
}

impl PieceTokenizer {
    /// Reads the tokenizer in `json`, which was read from `file`, and returns with it how many
    /// pieces of a text its own truncation keeps.
    ///
    /// # Errors
    /// When the text is no tokenizer, it has pieces that a table of `vocabulary` rows does not,
    /// `settings` or the text itself make `transformers` read texts otherwise, or it draws pieces
    /// at random.
    pub fn from_json(
        json: &[u8],
        file: &Path,
        vocabulary: usize,
        settings: &TokenizerSettings,
    ) -> Result<(PieceTokenizer, Option<usize>), StoreError> {
        let refused = |problem: String| StoreError::Description {
            file: file.to_owned(),
            problem,
        };
        let unusable = |error: &dyn std::fmt::Display| {
            refused(format!("not a usable tokenizer.json: {error}"))
        };
        let text = std::str::from_utf8(json).map_err(|error| unusable(&error))?;
        let read = guarded(|| Tokenizer::from_bytes(text.as_bytes()));
        let read = read.unwrap_or_else(|panic| Err(panic.into()));
        let mut tokenizer = read.map_err(|error| unusable(&error))?;
        let last = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        let known = i32::try_from(last)
            .ok()
            .filter(|&last| (last as usize) < vocabulary);
        let Some(last) = known else {
            return Err(refused(format!(
                "it has a piece number {last}, the network only {vocabulary} pieces from 0 on: it \
                 is the tokenizer of another model"
            )));
        };
        let parts: Parts = serde_json::from_str(text).map_err(|error| unusable(&error))?;
        parts.expect_same_each_time().map_err(refused)?;
        settings.expect_same(&parts).map_err(refused)?;
        let truncation = tokenizer.get_truncation();
        let kept = truncation.map(|truncation| truncation.max_length);
        let own_side = truncation.map(|truncation| truncation.direction.into());
        let processor = tokenizer.get_post_processor();
        let marks = processor.map_or(0, |processor| processor.added_tokens(false));
        let padding = tokenizer.get_padding().map_or(0, |padding| padding.pad_id);
        let (unknown, written) = parts.unknown();
        let unknown = unknown.or_else(|| tokenizer.token_to_id(written?));
        let cut = tokenizer.with_truncation(None);
        cut.map_err(|error| unusable(&error))?.with_padding(None);
        let tokenizer = PieceTokenizer {
            vocabulary,
            json: text.to_owned(),
            tokenizer,
            marks,
            truncation_side: settings.truncation_side().or(own_side).unwrap_or_default(),
            last,
            padding: i32::try_from(padding).unwrap_or(0),
            unknown: unknown.and_then(|unknown| i32::try_from(unknown).ok()),
        };
        // Marks have numbers of their own, in no vocabulary.
        let marked = tokenizer.read("", usize::MAX);
        marked.map_err(|error| refused(error.to_string()))?;
        Ok((tokenizer, kept))
    }

    /// Checks that a text is in the first segment, which is all that our networks have; `file` is
    /// where the tokenizer comes from.
    pub(super) fn expect_first_segment(&self, file: &Path) -> Result<(), StoreError> {
        let refused = |problem: String| StoreError::Description {
            file: file.to_owned(),
            problem,
        };
        let marked = self.read("a", usize::MAX);
        let marked = marked.map_err(|error| refused(error.to_string()))?;
        match marked.segments.iter().find(|&&segment| segment != 0) {
            Some(segment) => Err(refused(format!(
                "it puts a text into segment {segment}; only the first is supported"
            ))),
            None => Ok(()),
        }
    }

    /// The side that a long text is cut on.
    pub fn truncation_side(&self) -> TruncationSide {
        self.truncation_side
    }

    /// Returns the number of the piece that is written as `piece`.
    pub(super) fn number(&self, piece: &str) -> Option<i32> {
        i32::try_from(self.tokenizer.token_to_id(piece)?).ok()
    }

    /// Returns the piece with a number, as it is written.
    pub(super) fn piece(&self, number: usize) -> Option<String> {
        self.tokenizer.id_to_token(u32::try_from(number).ok()?)
    }

    /// Returns the text of the file.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The number of pieces that mark beginning and end of a text.
    pub fn marks(&self) -> usize {
        self.marks
    }

    /// The largest number of a piece.
    pub fn last(&self) -> i32 {
        self.last
    }

    /// Returns the number of the piece that fills a text up; 0 where the file names none.
    pub fn padding(&self) -> i32 {
        self.padding
    }

    /// Splits `text` into pieces, `most` with those that mark beginning and end.
    ///
    /// # Errors
    /// When the text cannot be split.
    pub fn read(&self, text: &str, most: usize) -> Result<Pieces, TokenizerError> {
        let pieces = split(|| {
            // What the tokenizer's own truncation leaves does not say whether there was more.
            let mut pieces = self.tokenizer.encode(text, false)?;
            let room = most.saturating_sub(self.marks);
            let is_truncated = pieces.len() > room;
            pieces.truncate(room, 0, self.truncation_side.into());
            // Marking trims spaces off a piece's bytes, which splitting has done before.
            let offsets = pieces.get_offsets().to_vec();
            let marked = self.tokenizer.post_process(pieces, None, true)?;
            Ok(Pieces {
                ids: marked.get_ids().iter().map(|&id| id as i32).collect(),
                segments: marked.get_type_ids().iter().map(|&id| id as i32).collect(),
                bytes: bytes_of(&marked, offsets),
                is_truncated,
            })
        })?;
        let is_known = |id: &i32| usize::try_from(*id).is_ok_and(|id| id < self.vocabulary);
        match pieces.ids.iter().find(|id| !is_known(id)) {
            None => Ok(pieces),
            Some(id) => Err(TokenizerError::Split {
                problem: format!(
                    "it gives a piece number {id}, the network has {} pieces from 0 on",
                    self.vocabulary
                ),
            }),
        }
    }

    /// Splits `text` into pieces, `most` with those that mark beginning and end, with `mask` in
    /// place of those that share a byte with `word`: where there are more, those around the word.
    /// `None` where the word has no piece, or too many, or one that stands for any unknown.
    ///
    /// # Errors
    /// When the text cannot be split.
    pub(super) fn masked(
        &self,
        text: &str,
        word: &Range<usize>,
        mask: i32,
        most: usize,
    ) -> Result<Option<MaskedPieces>, TokenizerError> {
        split(|| {
            let mut pieces = self.tokenizer.encode(text, false)?;
            let offsets = pieces.get_offsets();
            let is_own = |&(start, end): &(usize, usize)| start < word.end && word.start < end;
            let first = offsets.iter().position(is_own);
            let last = offsets.iter().rposition(is_own);
            let Some((first, last)) = first.zip(last) else {
                return Ok(None);
            };
            let (count, total) = (last + 1 - first, pieces.len());
            let room = most.saturating_sub(self.marks);
            if count > room {
                return Ok(None);
            }
            let spare = total.saturating_sub(room);
            let left_out = first.saturating_sub((room - count) / 2).min(spare);
            pieces.truncate(total - left_out, 0, TruncationDirection::Left);
            pieces.truncate(room, 0, TruncationDirection::Right);
            let marked = self.tokenizer.post_process(pieces, None, true)?;
            let mut ids: Vec<i32> = marked.get_ids().iter().map(|&id| id as i32).collect();
            let marks = marked.get_special_tokens_mask().iter().enumerate();
            let mut unmarked = marks.filter(|(_, is_mark)| **is_mark == 0);
            let Some((start, _)) = unmarked.nth(first - left_out) else {
                return Ok(None);
            };
            let at = start..start + count;
            let own = ids[at.clone()].to_vec();
            if self.unknown.is_some_and(|unknown| own.contains(&unknown)) {
                return Ok(None);
            }
            ids[at.clone()].fill(mask);
            Ok(Some(MaskedPieces {
                masked: Masked { ids, at },
                own,
            }))
        })
    }
}

/// Returns what `work` gives, or that a text cannot be split.
fn split<T>(work: impl FnOnce() -> Result<T, tokenizers::Error>) -> Result<T, TokenizerError> {
    let worked = guarded(work).unwrap_or_else(|panic| Err(panic.into()));
    worked.map_err(|error| TokenizerError::Split {
        problem: error.to_string(),
    })
}

/// Returns the bytes of each of the `marked` pieces, of which those that are no marks have
/// `offsets`.
fn bytes_of(marked: &Encoding, offsets: Vec<(usize, usize)>) -> Vec<Option<Range<usize>>> {
    let mut offsets = offsets.into_iter();
    let marks = marked.get_special_tokens_mask().iter();
    marks
        .map(|&is_mark| match is_mark {
            0 => offsets.next().map(|(start, end)| start..end),
            _ => None,
        })
        .collect()
}
