//! Changes of a text as people write it, in the tokens of a model.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use smallvec::SmallVec;

use super::source::TokenEdit;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::substitution::Edit;
use probity_text::tokenizer::TokenizerError;

/// Splits the words that are put into texts, each word once.
pub struct Tokens<'m> {
    reader: &'m TextReader,
    known: RwLock<HashMap<String, Vec<i32>>>,
}

impl<'m> Tokens<'m> {
    /// The tokens of `model`.
    pub fn new(reader: &'m TextReader) -> Tokens<'m> {
        Tokens {
            reader,
            known: RwLock::default(),
        }
    }

    /// Expresses `edits` of `text` as edits of its tokens. `None` where that cannot be said: an
    /// edit is behind what the model reads, or replaces or puts in a word that the model does not
    /// know.
    ///
    /// An edit that changes a part of a token changes the whole of it. Then its neighbours are
    /// looked at too: where they would be split otherwise, the edit is left out.
    ///
    /// # Errors
    /// When the tokenizer cannot split what is put in.
    pub fn edits(
        &self,
        text: &EncodedText,
        edits: &[Edit],
    ) -> Result<Option<SmallVec<[TokenEdit; 1]>>, TokenizerError> {
        let mut changed: SmallVec<[TokenEdit; 1]> = SmallVec::new();
        let mut edits = edits.iter().peekable();
        while let Some(edit) = edits.next() {
            let Some(mut tokens) = overlapping(text, &edit.bytes) else {
                return Ok(None);
            };
            let start = text.bytes[tokens.start].start.min(edit.bytes.start);
            let mut spelled = String::new();
            spelled.push_str(&text.text[start..edit.bytes.start]);
            spelled.push_str(&edit.by);
            let mut end = edit.bytes.end;
            while let Some(next) = edits.peek() {
                let Some(others) = overlapping(text, &next.bytes) else {
                    return Ok(None);
                };
                if others.start >= tokens.end {
                    break;
                }
                spelled.push_str(&text.text[end..next.bytes.start]);
                spelled.push_str(&next.by);
                end = next.bytes.end;
                tokens.end = tokens.end.max(others.end);
                edits.next();
            }
            let last = text.bytes[tokens.end - 1].end;
            if let Some(rest) = text.text.get(end..last) {
                spelled.push_str(rest);
            }
            let by = self.ids(&spelled)?;
            let unknown = self.reader.tokenizer.unknown() as i32;
            let replaced = &text.ids[tokens.clone()];
            if by.is_empty() || by.contains(&unknown) || replaced.contains(&unknown) {
                return Ok(None);
            }
            if !self.stays_apart(text, &tokens, &spelled, &by)? {
                return Ok(None);
            }
            changed.push(TokenEdit {
                tokens,
                by,
                spelled,
            });
        }
        Ok(Some(changed).filter(|changed| !changed.is_empty()))
    }

    fn ids(&self, words: &str) -> Result<Vec<i32>, TokenizerError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(ids) = known.get(words) {
            return Ok(ids.clone());
        }
        drop(known);
        let ids = self.reader.tokens(words)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(words.to_owned(), ids.clone());
        Ok(ids)
    }

    /// Whether `spelled` in the place of `tokens` is split as it is alone, and what is beside it as
    /// before.
    fn stays_apart(
        &self,
        text: &EncodedText,
        tokens: &Range<usize>,
        spelled: &str,
        by: &[i32],
    ) -> Result<bool, TokenizerError> {
        let (start, end) = (
            text.bytes[tokens.start].start,
            text.bytes[tokens.end - 1].end,
        );
        let joins = |c: char| !c.is_whitespace() && c != '.' && c != ',' && c != '!' && c != '?';
        let before = text.text[..start].chars().next_back().is_some_and(joins);
        let after = text.text[end..].chars().next().is_some_and(joins);
        if !before && !after {
            return Ok(true);
        }
        let first = tokens.start.saturating_sub(1);
        let last = (tokens.end + 1).min(text.ids.len());
        let piece = [
            &text.text[text.bytes[first].start.min(start)..start],
            spelled,
            &text.text[end..text.bytes[last - 1].end.max(end)],
        ]
        .concat();
        let expected = [
            &text.ids[first..tokens.start],
            by,
            &text.ids[tokens.end..last],
        ]
        .concat();
        Ok(self.reader.tokens(&piece)? == expected)
    }
}

/// The tokens of `text` that hold any of `bytes`; `None` if not all of these are in tokens that are
/// read.
fn overlapping(text: &EncodedText, bytes: &Range<usize>) -> Option<Range<usize>> {
    let first = text.bytes.partition_point(|token| token.end <= bytes.start);
    let last = text.bytes.partition_point(|token| token.start < bytes.end);
    let is_within = first < last && bytes.end <= text.text.len();
    is_within.then_some(first..last)
}
