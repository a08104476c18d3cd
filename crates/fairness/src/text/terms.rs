//! Protected terms by the definition of the paper: one occurrence of a term at a time is replaced
//! by another value of its attribute, whatever else the sentence says (ADF, Algorithm 2 and section
//! 2: each protected token in turn, over its own domain).
//!
//! A term may have several tokens and its replacement another number of them. Two texts are the
//! same individual when they are equal once every protected term is replaced by the mark of its
//! interchange class: the terms that can become each other by replacements. So "she" and "he" are
//! one, and "she" and "his" are not.

use smallvec::{SmallVec, smallvec};

use super::source::{Exchange, Site, TokenEdit};

/// A protected term and the terms that may stand in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Attribute: position among the audited ones.
    pub attribute: usize,
    /// The value that it names: its number among the values of all attributes, in
    /// the order of [`super::protected::Protected::values`].
    pub value: u32,
    /// The term as it is written.
    pub spelled: String,
    /// The tokens of the term; at least one.
    pub tokens: Vec<i32>,
    /// The terms that may replace it, best first.
    pub others: Vec<u32>,
}

/// All protected terms of an audit, indexed for the search in texts.
#[derive(Debug, Clone)]
pub struct Terms {
    terms: Vec<Term>,
    /// Terms that begin with a token, longest first; by token id.
    beginning: Vec<SmallVec<[u32; 2]>>,
    /// Interchange class of each term.
    classes: Vec<u32>,
}

/// An occurrence of a protected term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Position of the first token of the term.
    pub start: usize,
    /// Number of tokens of the term.
    pub length: usize,
    /// The number of the term.
    pub term: u32,
}

/// All occurrences in a text, from left to right.
pub type Occurrences = SmallVec<[Occurrence; 8]>;

impl Terms {
    /// An index over `terms`. If two terms have the same tokens, the first one counts.
    pub fn new(terms: Vec<Term>) -> Terms {
        let largest = terms
            .iter()
            .filter_map(|term| term.tokens.first())
            .max()
            .map_or(0, |&id| id as usize + 1);
        let mut beginning: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); largest];
        for (number, term) in terms.iter().enumerate() {
            if let Some(&first) = term.tokens.first() {
                beginning[first as usize].push(number as u32);
            }
        }
        for candidates in &mut beginning {
            candidates.sort_by_key(|&term| std::cmp::Reverse(terms[term as usize].tokens.len()));
        }
        Terms {
            classes: interchange_classes(&terms),
            terms,
            beginning,
        }
    }

    /// The terms, by number.
    pub fn all(&self) -> &[Term] {
        &self.terms
    }

    /// The protected terms in `text`: the longest match at the leftmost place, then on after it.
    pub fn find(&self, text: &[i32]) -> Occurrences {
        let mut found = Occurrences::new();
        let mut position = 0;
        while position < text.len() {
            match self.term_at(&text[position..]) {
                Some(term) => {
                    let length = self.terms[term as usize].tokens.len();
                    found.push(Occurrence {
                        start: position,
                        length,
                        term,
                    });
                    position += length;
                }
                None => position += 1,
            }
        }
        found
    }

    fn term_at(&self, text: &[i32]) -> Option<u32> {
        let first = usize::try_from(*text.first()?).ok()?;
        let candidates = self.beginning.get(first)?;
        let fits = |&&term: &&u32| text.starts_with(&self.terms[term as usize].tokens);
        candidates.iter().find(fits).copied()
    }

    /// The sites of terms in `text`, with all of their replacements.
    pub fn sites(&self, text: &[i32]) -> Vec<Site> {
        let named = |term: u32| self.terms[term as usize].spelled.clone();
        let site = |found: Occurrence| {
            let term = &self.terms[found.term as usize];
            let tokens = found.start..found.start + found.length;
            let exchange = |&other: &u32| Exchange {
                to: named(other),
                number: other,
                value: self.terms[other as usize].value,
                edits: smallvec![TokenEdit {
                    tokens: tokens.clone(),
                    by: self.terms[other as usize].tokens.clone(),
                    spelled: named(other),
                }],
            };
            Site {
                attribute: term.attribute,
                from: named(found.term),
                value: term.value,
                spans: smallvec![tokens.clone()],
                class: self.classes[found.term as usize],
                exchanges: term.others.iter().map(exchange).collect(),
            }
        };
        self.find(text).into_iter().map(site).collect()
    }
}

/// The interchange classes: connected components of "may replace".
fn interchange_classes(terms: &[Term]) -> Vec<u32> {
    let mut classes: Vec<u32> = (0..terms.len() as u32).collect();
    // Terms are few; the smallest number of a component spreads in as many passes as its diameter.
    loop {
        let before = classes.clone();
        for (number, term) in terms.iter().enumerate() {
            for &other in &term.others {
                let least = classes[number].min(classes[other as usize]);
                classes[number] = least;
                classes[other as usize] = least;
            }
        }
        if classes == before {
            return classes;
        }
    }
}
