//! The protected terms of an audit as a model sees them: lexicon entries turned into token ids.
//!
//! A term with a word that the model has no vector for cannot be told from any other unknown word:
//! it is neither found nor used as a replacement, and counted.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::domain::{Term, Terms, text_of};
use crate::audit_error::AuditError;
use crate::domain::DomainError;
use probity_nn::text_model::TextModel;
use probity_text::lexicon::{Lexicon, TermMatcher};

/// How many protected terms there are, and which cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TermCounts {
    /// Terms that are searched for.
    pub used: u64,
    /// Terms left out because the model lacks a vector for one of their words.
    pub without_embedding: Vec<String>,
}

/// The protected terms of an audit.
#[derive(Debug, Clone)]
pub struct ProtectedTerms {
    terms: Terms,
    attributes: Vec<String>,
    words: HashSet<i32>,
    counts: TermCounts,
}

impl ProtectedTerms {
    /// The terms of the attributes called `names` in `lexicon`, or of all of them where none is
    /// named, for `model`.
    ///
    /// # Errors
    /// When there is no attribute, one is named twice or unknown, or the model has vectors for
    /// fewer than two values of one.
    pub fn new(
        lexicon: &Lexicon,
        names: &[String],
        model: &TextModel,
    ) -> Result<ProtectedTerms, AuditError> {
        let of_lexicon = lexicon.attributes().iter();
        let names: Vec<String> = match names {
            [] => of_lexicon.map(|attribute| attribute.name.clone()).collect(),
            names => names.to_vec(),
        };
        if names.is_empty() {
            return Err(DomainError::NothingProtected.into());
        }
        let mut all: Vec<Term> = Vec::new();
        let mut words = HashSet::new();
        let mut counts = TermCounts::default();
        for (attribute, name) in names.iter().enumerate() {
            if names[..attribute].contains(name) {
                return Err(DomainError::NamedTwice(name.clone()).into());
            }
            let entry = lexicon.attribute(name)?;
            let matcher = TermMatcher::new(entry, &model.tokenizer)?;
            words.extend(
                matcher
                    .words()
                    .iter()
                    .map(|word| model.tokenizer.id(word) as i32),
            );
            let used = known_terms(&matcher, model, &mut counts);
            let values: HashSet<usize> = used.keys().map(|(value, _)| *value).collect();
            if values.len() < 2 {
                return Err(AuditError::TooFewValues {
                    attribute: name.clone(),
                    values: values.len(),
                    known: entry.values.len(),
                });
            }
            append(&mut all, attribute, &matcher, &used, &entry.values, model);
        }
        words.remove(&(model.tokenizer.unknown() as i32));
        counts.used = all.len() as u64;
        Ok(ProtectedTerms {
            terms: Terms::new(all),
            attributes: names,
            words,
            counts,
        })
    }

    /// Names of the attributes.
    pub fn attributes(&self) -> &[String] {
        &self.attributes
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// How many there are, and which cannot be used.
    pub fn counts(&self) -> &TermCounts {
        &self.counts
    }

    /// See [`Terms::rank`].
    pub fn rank(&mut self, influence: &[f32]) {
        self.terms.rank(influence);
    }

    /// Whether `text` holds a term that has a replacement.
    pub fn is_in(&self, text: &[i32]) -> bool {
        self.terms.can_vary(text_of(text))
    }

    /// The terms of some of the attributes.
    pub fn only(&self, names: &[String]) -> Terms {
        let is_kept = |term: &Term| names.contains(&self.attributes[term.attribute]);
        let mut numbers = Vec::with_capacity(self.terms.all().len());
        let mut next = 0;
        for term in self.terms.all() {
            numbers.push(next);
            next += u32::from(is_kept(term));
        }
        let kept = self.terms.all().iter().filter(|term| is_kept(term));
        Terms::new(
            kept.map(|term| Term {
                others: term
                    .others
                    .iter()
                    .map(|&other| numbers[other as usize])
                    .collect(),
                ..term.clone()
            })
            .collect(),
        )
    }

    /// Whether `word` is part of a protected term.
    pub fn has_word(&self, word: i32) -> bool {
        self.words.contains(&word)
    }
}

/// Number of each usable term of an attribute, by value and tokens.
fn known_terms(
    matcher: &TermMatcher,
    model: &TextModel,
    counts: &mut TermCounts,
) -> HashMap<(usize, Vec<String>), usize> {
    let mut used = HashMap::new();
    for number in 0..matcher.terms() {
        let tokens = matcher.tokens(number);
        let unknown = model.tokenizer.unknown();
        if tokens
            .iter()
            .any(|word| model.tokenizer.id(word) == unknown)
        {
            counts
                .without_embedding
                .push(matcher.text(number).to_owned());
        } else if let Some(value) = matcher.value(number) {
            used.insert((value, tokens.to_vec()), number);
        }
    }
    used
}

/// Adds the `used` terms of an attribute to `all`, numbered on from what is there.
fn append(
    all: &mut Vec<Term>,
    attribute: usize,
    matcher: &TermMatcher,
    used: &HashMap<(usize, Vec<String>), usize>,
    values: &[String],
    model: &TextModel,
) {
    let mut order: Vec<usize> = used.values().copied().collect();
    order.sort_unstable();
    let first = all.len() as u32;
    let places: HashMap<usize, u32> = order.iter().copied().zip(first..).collect();
    for number in order {
        let others = matcher
            .substitutes(number)
            .iter()
            .filter_map(|other| used.get(&(other.value, other.tokens.clone())))
            .filter_map(|other| places.get(other).copied())
            .collect();
        let value = matcher.value(number).unwrap_or_default();
        all.push(Term {
            attribute,
            value: values[value].clone(),
            tokens: matcher
                .tokens(number)
                .iter()
                .map(|word| model.tokenizer.id(word) as i32)
                .collect(),
            others,
        });
    }
}
