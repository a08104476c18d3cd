//! Warnings about terms that often mean something else.
//!
//! Such a term is no error: *white* is what an audit by race is about. But a text about a white
//! house holds the term as well, and a flip there says nothing about people. The list that ships
//! (`src/text/lexica/common-words.tsv`) holds English function words, colours, languages, given
//! names and the like, without the pronouns of the third person, which name a gender wherever they
//! stand.

use serde::Serialize;

use super::ProtectedAttribute;

const COMMON_WORDS: &str = include_str!("../lexica/common-words.tsv");

/// A term that is also a common word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommonWord {
    /// The term.
    pub term: String,
    /// The other meaning of the term.
    pub also: String,
}

/// Returns the terms of `attribute` that are also common words of English, in the lexicon's order.
/// Terms of several words never are.
pub fn common_words(attribute: &ProtectedAttribute) -> Vec<CommonWord> {
    let terms = attribute.terms();
    let common = terms.iter().filter_map(|(_, term)| {
        let also = other_meaning(&term.to_lowercase())?;
        Some(CommonWord {
            term: term.clone(),
            also: also.to_owned(),
        })
    });
    common.collect()
}

fn other_meaning(term: &str) -> Option<&'static str> {
    let entries = COMMON_WORDS.lines().filter(|line| !line.starts_with('#'));
    entries
        .filter_map(|line| line.split_once('\t'))
        .find(|(word, _)| *word == term)
        .map(|(_, also)| also)
}
