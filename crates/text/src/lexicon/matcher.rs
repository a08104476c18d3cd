//! The search for the terms of one attribute in a text.

use std::collections::HashMap;
use std::ops::Range;

use super::{LexiconError, ProtectedAttribute};
use crate::tokenizer::Tokenizer;

/// Finds the terms of one attribute among tokens, the longest first, from left to right.
///
/// At each token the longest term that starts there is taken, and the search goes on behind it:
/// matches never overlap.
#[derive(Debug, Clone)]
pub struct TermMatcher {
    terms: Vec<Term>,
    /// First token → terms that start with it, longest first.
    by_first: HashMap<String, Vec<usize>>,
    words: Vec<String>,
}

#[derive(Debug, Clone)]
struct Term {
    text: String,
    value: usize,
    tokens: Vec<String>,
    substitutes: Vec<Substitute>,
}

/// A term found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermMatch {
    /// The positions of the term's tokens.
    pub tokens: Range<usize>,
    /// The position of the term's value in the attribute.
    pub value: usize,
    /// The number of the term, for [`TermMatcher::substitutes`].
    pub term: usize,
}

/// A term that may replace another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitute {
    /// The position of the term's value in the attribute.
    pub value: usize,
    /// The number of the term.
    pub term: usize,
    /// The term as the lexicon spells it.
    pub text: String,
    /// The tokens of the term.
    pub tokens: Vec<String>,
}

impl TermMatcher {
    /// Prepares the search for the terms of `attribute`, split by `tokenizer` as texts are.
    ///
    /// # Errors
    /// When a term has no token, or two values have terms of the same tokens.
    pub fn new(
        attribute: &ProtectedAttribute,
        tokenizer: &Tokenizer,
    ) -> Result<TermMatcher, LexiconError> {
        let rows = attribute.rows();
        let split = Split::new(attribute, tokenizer)?;
        let mut numbers: HashMap<&[String], usize> = HashMap::new();
        let mut terms: Vec<Term> = Vec::new();
        for (value, text) in attribute.terms() {
            let tokens = split.tokens(&text);
            if let Some(&other) = numbers.get(tokens) {
                if terms[other].value == value {
                    continue;
                }
                return Err(attribute.problem(format!(
                    "the terms '{}' and '{text}' of two values are the same words",
                    terms[other].text
                )));
            }
            numbers.insert(tokens, terms.len());
            let substitute = |(value, text): (usize, String)| Substitute {
                value,
                term: 0,
                tokens: split.tokens(&text).to_vec(),
                text,
            };
            let substitutes = substitutes(&rows, value, &text).into_iter().map(substitute);
            terms.push(Term {
                substitutes: substitutes.collect(),
                tokens: tokens.to_vec(),
                value,
                text,
            });
        }
        // Two spellings of one value may be the same words; the first one counts.
        let numbers: HashMap<Vec<String>, usize> = numbers
            .into_iter()
            .map(|(tokens, number)| (tokens.to_vec(), number))
            .collect();
        for substitute in terms.iter_mut().flat_map(|term| &mut term.substitutes) {
            substitute.term = numbers.get(&substitute.tokens).copied().unwrap_or_default();
        }
        Ok(TermMatcher::from_terms(terms))
    }

    fn from_terms(terms: Vec<Term>) -> TermMatcher {
        let mut by_first: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, term) in terms.iter().enumerate() {
            by_first
                .entry(term.tokens[0].clone())
                .or_default()
                .push(number);
        }
        for numbers in by_first.values_mut() {
            numbers.sort_by_key(|&number| std::cmp::Reverse(terms[number].tokens.len()));
        }
        let mut words: Vec<String> = terms
            .iter()
            .flat_map(|term| term.tokens.iter())
            .filter(|word| word.contains(char::is_alphanumeric))
            .cloned()
            .collect();
        words.sort_unstable();
        words.dedup();
        TermMatcher {
            terms,
            by_first,
            words,
        }
    }

    /// Finds the terms among `tokens`, as [`Tokenizer::tokens`] spells them.
    pub fn find<S: AsRef<str>>(&self, tokens: &[S]) -> Vec<TermMatch> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match self.at(&tokens[at..]) {
                Some(term) => {
                    let end = at + self.terms[term].tokens.len();
                    found.push(TermMatch {
                        tokens: at..end,
                        value: self.terms[term].value,
                        term,
                    });
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Finds the longest term that `tokens` start with.
    fn at<S: AsRef<str>>(&self, tokens: &[S]) -> Option<usize> {
        let candidates = self.by_first.get(tokens.first()?.as_ref())?;
        candidates.iter().copied().find(|&number| {
            let term = &self.terms[number].tokens;
            term.len() <= tokens.len()
                && term
                    .iter()
                    .zip(tokens)
                    .all(|(word, token)| word == token.as_ref())
        })
    }

    /// Returns the terms that may replace the term of that number: the terms of every other value
    /// in the forms where it stands, values in order, each once. Empty for a number that no term
    /// has.
    pub fn substitutes(&self, term: usize) -> &[Substitute] {
        self.terms.get(term).map_or(&[], |term| &term.substitutes)
    }

    /// Returns the lexicon's spelling of the term of that number; empty for a number that no term
    /// has.
    pub fn text(&self, term: usize) -> &str {
        self.terms.get(term).map_or("", |term| &term.text)
    }

    /// Returns the value of the term of that number, as its position in the attribute.
    pub fn value(&self, term: usize) -> Option<usize> {
        self.terms.get(term).map(|term| term.value)
    }

    /// Returns the tokens of the term of that number.
    pub fn tokens(&self, term: usize) -> &[String] {
        self.terms.get(term).map_or(&[], |term| &term.tokens)
    }

    /// Returns the number of terms; they are numbered from 0.
    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Returns every word of a term, sorted, each once. A search must not offer these as synonyms.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// The tokens of every term.
struct Split(HashMap<String, Vec<String>>);

impl Split {
    fn new(attribute: &ProtectedAttribute, tokenizer: &Tokenizer) -> Result<Split, LexiconError> {
        let mut split = HashMap::new();
        for (_, term) in attribute.terms() {
            let tokens = tokenizer.tokens(&term);
            let tokens = tokens.map_err(|error| attribute.problem(error.to_string()))?;
            if tokens.is_empty() {
                return Err(attribute.problem(format!("the term '{term}' has no word")));
            }
            split.insert(term, tokens.into_iter().map(|token| token.text).collect());
        }
        Ok(Split(split))
    }

    fn tokens(&self, term: &str) -> &[String] {
        self.0.get(term).map_or(&[], Vec::as_slice)
    }
}

/// Returns the counterparts of a term of `value` in `rows`.
fn substitutes(rows: &[Vec<Vec<String>>], value: usize, text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| row[value].iter().any(|term| term == text))
    {
        for (other, spellings) in row.iter().enumerate().filter(|(other, _)| *other != value) {
            let Some(first) = spellings.first() else {
                continue;
            };
            let counterpart = (other, first.clone());
            if !found.contains(&counterpart) {
                found.push(counterpart);
            }
        }
    }
    found.sort_by_key(|(value, _)| *value);
    found
}
