//! A memo of the tokens of the parts of texts between blanks, each found once.
//!
//! The same words come again and again in the texts of an audit. The usual splitting
//! ([`super::Splitting::usual`]) treats what stands between two blanks alone: its normalisation
//! changes characters one by one, but for marks, which join no blank, and no pattern matches across
//! white space. So the tokens of a text are those of its parts, one behind the other, and those of
//! a part are remembered.

use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashMap;

use super::token::{Token, TokenizerError};

/// The number of parts that are remembered; when there are more, all are forgotten. Some 30 MB.
const REMEMBERED: usize = 1 << 17;
/// The largest number of bytes of a part that is remembered: longer ones hardly come again.
const LONGEST: usize = 64;

/// The tokens of a part of a text.
pub(super) type Tokens = Arc<[Token]>;

/// A memo of the tokens of parts of texts; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Memo {
    known: Arc<RwLock<HashMap<Box<str>, Tokens>>>,
}

impl Memo {
    /// Returns whether `ids` are the numbers of the tokens of `text`; nothing where one of its
    /// parts is not known. The check copies no tokens, for texts that are compared again and again.
    pub(super) fn has_ids(&self, text: &str, mut ids: impl Iterator<Item = u32>) -> Option<bool> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        for (_, part) in parts(text) {
            let mut tokens = known.get(part)?.iter();
            if !tokens.all(|token| ids.next() == Some(token.id)) {
                return Some(false);
            }
        }
        Some(ids.next().is_none())
    }

    /// Returns the parts of `text` between blanks, with the byte at which each begins, and their
    /// tokens, which `split` finds where they are not known.
    pub(super) fn parts(
        &self,
        text: &str,
        split: impl Fn(&str) -> Result<Vec<Token>, TokenizerError>,
    ) -> Result<Vec<(usize, Tokens)>, TokenizerError> {
        let parts: Vec<(usize, &str)> = parts(text).collect();
        let mut found: Vec<(usize, Option<Tokens>)> = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            let look = |&(start, part)| (start, known.get(part).map(Arc::clone));
            parts.iter().map(look).collect()
        };
        let mut new = Vec::new();
        for ((_, part), (_, tokens)) in parts.iter().zip(&mut found) {
            if tokens.is_none() {
                let split: Tokens = split(part)?.into();
                if part.len() <= LONGEST {
                    new.push((Box::from(*part), Arc::clone(&split)));
                }
                *tokens = Some(split);
            }
        }
        if !new.is_empty() {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() + new.len() > REMEMBERED {
                known.clear();
            }
            known.extend(new);
        }
        let found = found.into_iter();
        Ok(found
            .filter_map(|(start, tokens)| Some((start, tokens?)))
            .collect())
    }
}

/// Returns the parts between the blanks of `text`, and where each begins.
fn parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split(' ').filter_map(move |part| {
        let start = next;
        next += part.len() + 1;
        (!part.is_empty()).then_some((start, part))
    })
}
