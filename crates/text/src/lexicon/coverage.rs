//! How much of a corpus a lexicon reaches.

use rayon::prelude::*;
use serde::Serialize;

use super::{LexiconError, ProtectedAttribute, TermMatcher};
use crate::tokenizer::Tokenizer;

/// How often the terms of one attribute occur in some texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// Name of the attribute.
    pub attribute: String,
    /// Texts looked at.
    pub texts: usize,
    /// Texts that hold no term: an audit skips them.
    pub texts_without_term: usize,
    /// Every term, in the lexicon's order.
    pub terms: Vec<TermCoverage>,
}

/// How often one term occurs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermCoverage {
    /// The term.
    pub term: String,
    /// The value that it names.
    pub value: String,
    /// Texts that hold it.
    pub texts: usize,
    /// Its words that the vocabulary lacks: a model cannot tell them from any other unknown word.
    /// `None` if there is no vocabulary.
    pub without_embedding: Option<Vec<String>>,
}

impl Coverage {
    /// Counts the terms of `attribute` in `texts`, split by `tokenizer`; a word has an embedding if
    /// the tokenizer's vocabulary holds it.
    ///
    /// # Errors
    /// Like [`TermMatcher::new`], and when a text cannot be split.
    pub fn of<S: AsRef<str> + Sync>(
        attribute: &ProtectedAttribute,
        texts: &[S],
        tokenizer: &Tokenizer,
    ) -> Result<Coverage, LexiconError> {
        let matcher = TermMatcher::new(attribute, tokenizer)?;
        let held: Vec<Vec<usize>> = texts
            .par_iter()
            .map(|text| {
                let tokens = tokenizer
                    .tokens(text.as_ref())
                    .map_err(|error| attribute.problem(error.to_string()))?;
                let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
                let mut terms: Vec<usize> = matcher
                    .find(&words)
                    .into_iter()
                    .map(|found| found.term)
                    .collect();
                terms.sort_unstable();
                terms.dedup();
                Ok(terms)
            })
            .collect::<Result<_, LexiconError>>()?;
        let mut counts = vec![0; matcher.terms()];
        for &term in held.iter().flatten() {
            counts[term] += 1;
        }
        let lacks = |word: &&String| tokenizer.id(word) == tokenizer.unknown();
        let terms = counts
            .into_iter()
            .enumerate()
            .map(|(term, texts)| TermCoverage {
                term: matcher.text(term).to_owned(),
                value: matcher
                    .value(term)
                    .map_or(String::new(), |value| attribute.values[value].clone()),
                texts,
                without_embedding: Some(
                    matcher.tokens(term).iter().filter(lacks).cloned().collect(),
                ),
            });
        Ok(Coverage {
            attribute: attribute.name.clone(),
            texts: texts.len(),
            texts_without_term: held.iter().filter(|terms| terms.is_empty()).count(),
            terms: terms.collect(),
        })
    }

    /// Takes back what the vocabulary said, for a tokenizer without one.
    pub fn forget_embeddings(&mut self) {
        for term in &mut self.terms {
            term.without_embedding = None;
        }
    }

    /// Terms with a word that has no embedding.
    pub fn terms_without_embedding(&self) -> impl Iterator<Item = &TermCoverage> {
        let lacks = |words: &Vec<String>| !words.is_empty();
        self.terms
            .iter()
            .filter(move |term| term.without_embedding.as_ref().is_some_and(lacks))
    }
}
