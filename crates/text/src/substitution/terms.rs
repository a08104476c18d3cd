//! The terms of a lexicon, prepared for the search in texts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::sentence::{Known, Style, Words};
use crate::lexicon::{Lexicon, LexiconError, Part, ProtectedAttribute, Sense, expanded};
use crate::tokenizer::{Tokenizer, TokenizerError};

/// An attribute with its forms.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) values: Vec<String>,
    pub(super) exchange: bool,
    pub(super) forms: Vec<Form>,
    /// The words that are bound to values, each owned by one of `bindings`.
    bound: Phrases,
    /// For each value, whether the words are bound to it.
    bindings: Vec<Vec<bool>>,
}

/// The values of an attribute that a text leaves free.
pub(super) struct Free {
    /// Whether it leaves each value free.
    pub values: Vec<bool>,
    /// The words that bind some value.
    pub by: Vec<Range<usize>>,
}

/// A role in the sentence with the terms of each value.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) part: Option<Part>,
    /// The spelling of each value that is substituted.
    pub(super) terms: Vec<Option<String>>,
}

/// A term of one attribute.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) attribute: usize,
    pub(super) value: usize,
    /// The term as the lexicon spells it.
    pub(super) spelling: String,
    pub(super) words: Vec<String>,
    /// The forms that the term stands in.
    pub(super) forms: Vec<usize>,
    pub(super) is_name: bool,
    pub(super) is_quality: bool,
    pub(super) is_common: bool,
    pub(super) is_bare: bool,
}

impl Term {
    /// Returns whether the term has another sense, so that it need not be a mention of its value.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.is_name || self.is_quality || self.is_common || self.is_bare
    }
}

/// The terms of a lexicon.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) attributes: Vec<Attribute>,
    pub(super) terms: Vec<Term>,
    exceptions: Phrases,
    /// First word → terms, longest first.
    by_first: HashMap<String, Vec<usize>>,
    /// Names among the terms, which as adjectives stand before nouns only: "New Zealand".
    names: HashSet<String>,
    /// Last words of terms that are nouns for persons.
    persons: HashSet<String>,
}

/// Phrases by their first word.
#[derive(Debug, Default)]
struct Phrases(HashMap<String, Vec<Phrase>>);

#[derive(Debug)]
struct Phrase {
    /// The number of what the phrase is a rule of.
    owner: usize,
    words: Vec<String>,
    /// A word that terms have with a capital and this phrase without: "a danish".
    small: Option<usize>,
}

impl Phrases {
    /// Adds the phrases of the owner of that number.
    fn add(
        &mut self,
        (owner, phrases): (usize, &[String]),
        terms: &[(usize, String)],
        split: &dyn Fn(&str) -> Result<Vec<String>, LexiconError>,
    ) -> Result<(), LexiconError> {
        let words = terms.iter().flat_map(|(_, term)| term.split([' ', '-']));
        let proper: HashSet<String> = words
            .filter(|word| word.starts_with(char::is_uppercase))
            .map(str::to_lowercase)
            .collect();
        for phrase in phrases.iter().flat_map(|phrase| expanded(phrase)) {
            let words = split(&phrase)?;
            let is_small = |word: &String| proper.contains(word) && phrase.contains(word.as_str());
            if let Some(first) = words.first().cloned() {
                let small = words.iter().position(is_small);
                self.0.entry(first).or_default().push(Phrase {
                    owner,
                    words,
                    small,
                });
            }
        }
        Ok(())
    }

    /// Returns the owners of the phrases that start at `at`, and where the phrases end.
    fn ends<'a>(
        &'a self,
        words: &'a Words,
        at: usize,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let starting = self.0.get(words.plain(at)).map_or(&[][..], Vec::as_slice);
        starting.iter().filter_map(move |phrase| {
            let is_here = |(place, word): (usize, &String)| words.plain(at + place) == word;
            let small = phrase.small.and_then(|place| words.get(at + place));
            let is_proper = small.is_some_and(|word| {
                words.style == Style::Mixed && word.is_capitalised() && !word.starts
            });
            let all = phrase.words.iter().enumerate().all(is_here);
            (all && !is_proper).then_some((phrase.owner, at + phrase.words.len()))
        })
    }
}

/// Returns the end of the term `phrase` if it starts at `at`. Hyphens count as spaces do.
fn end_of(words: &Words, at: usize, phrase: &[String]) -> Option<usize> {
    let mut end = at;
    for (position, word) in phrase.iter().enumerate() {
        if position > 0 && words.get(end).is_some_and(Known::is_hyphen) {
            end += 1;
        }
        if words.plain(end) != word {
            return None;
        }
        end += 1;
    }
    Some(end)
}

impl Terms {
    pub(super) fn new(lexicon: &Lexicon, tokenizer: &Tokenizer) -> Result<Terms, LexiconError> {
        let mut terms = Terms {
            attributes: Vec::new(),
            terms: Vec::new(),
            exceptions: Phrases::default(),
            by_first: HashMap::new(),
            names: HashSet::new(),
            persons: HashSet::new(),
        };
        for attribute in lexicon.attributes() {
            terms.add(attribute, tokenizer)?;
        }
        for numbers in terms.by_first.values_mut() {
            numbers.sort_by_key(|&number| std::cmp::Reverse(terms.terms[number].words.len()));
        }
        Ok(terms)
    }

    fn add(
        &mut self,
        attribute: &ProtectedAttribute,
        tokenizer: &Tokenizer,
    ) -> Result<(), LexiconError> {
        let problem = |error: TokenizerError| LexiconError::Attribute {
            attribute: attribute.name.clone(),
            problem: error.to_string(),
        };
        let split = |phrase: &str| -> Result<Vec<String>, LexiconError> {
            // Most are plain words, whose tokens are no question.
            if phrase
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b' ')
            {
                let words = phrase.split_ascii_whitespace();
                return Ok(words.map(str::to_ascii_lowercase).collect());
            }
            let tokens = tokenizer.tokens(phrase).map_err(problem)?;
            Ok(tokens.into_iter().map(|token| token.text).collect())
        };
        let has = |sense: Sense, term: &str| {
            let of_sense = attribute.senses.get(&sense);
            of_sense.is_some_and(|terms| {
                terms
                    .iter()
                    .any(|other| other.to_lowercase() == term.to_lowercase())
            })
        };
        let number = self.attributes.len();
        let rows = attribute.rows();
        let parts: Vec<Option<Part>> = if attribute.forms.is_empty() {
            vec![None]
        } else {
            let forms = attribute.forms.keys();
            forms
                .map(|form| attribute.parts.get(form).copied())
                .collect()
        };
        let mut known: HashMap<Vec<String>, usize> = HashMap::new();
        for (value, spelling) in attribute.terms() {
            let mut words = split(&spelling)?;
            words.retain(|word| word != "-");
            let stands = |row: &Vec<Vec<String>>| row[value].contains(&spelling);
            let forms: Vec<usize> = (0..rows.len())
                .filter(|&form| stands(&rows[form]))
                .collect();
            if let Some(&same) = known.get(&words) {
                // "African-American" and "African American" are the same words.
                let term: &mut Term = &mut self.terms[same];
                if term.value == value {
                    term.forms.extend(forms);
                    term.forms.sort_unstable();
                    term.forms.dedup();
                }
                continue;
            }
            let Some(first) = words.first().cloned() else {
                continue;
            };
            let is_name = forms.iter().any(|&form| parts[form] == Some(Part::Name));
            if is_name && !self.names.contains(&spelling) {
                self.names.insert(spelling.clone());
            }
            let is_person = forms
                .iter()
                .any(|&form| matches!(parts[form], Some(Part::Noun | Part::Plural)));
            if let Some(last) = words.last().filter(|_| is_person) {
                self.persons.insert(last.clone());
            }
            known.insert(words.clone(), self.terms.len());
            self.by_first
                .entry(first)
                .or_default()
                .push(self.terms.len());
            self.terms.push(Term {
                attribute: number,
                value,
                is_name: has(Sense::Name, &spelling),
                is_quality: has(Sense::Quality, &spelling),
                is_common: has(Sense::Common, &spelling),
                is_bare: has(Sense::Bare, &spelling),
                spelling,
                words,
                forms,
            });
        }
        let form = |(row, part): (Vec<Vec<String>>, Option<Part>)| Form {
            part,
            terms: row
                .into_iter()
                .map(|terms| terms.into_iter().next())
                .collect(),
        };
        let exceptions = (number, attribute.exceptions.as_slice());
        self.exceptions
            .add(exceptions, &attribute.terms(), &split)?;
        // What leaves no value another is bound to none.
        let mut bound = Phrases::default();
        bound.add((0, attribute.unless.as_slice()), &[], &split)?;
        let mut bindings = vec![vec![false; attribute.values.len()]];
        for of_values in &attribute.bound {
            let owner = (bindings.len(), of_values.words.as_slice());
            bound.add(owner, &[], &split)?;
            let values = attribute.values.iter();
            bindings.push(values.map(|v| of_values.values.contains(v)).collect());
        }
        self.attributes.push(Attribute {
            values: attribute.values.clone(),
            exchange: attribute.exchange,
            bound,
            bindings,
            forms: rows.into_iter().zip(parts).map(form).collect(),
        });
        Ok(())
    }

    /// Returns the terms that start at `at`, longest first, with where they end.
    pub(super) fn at(&self, words: &Words, at: usize) -> Vec<(usize, Range<usize>)> {
        let Some(candidates) = self.by_first.get(words.plain(at)) else {
            return Vec::new();
        };
        let found = candidates.iter().filter_map(|&number| {
            let end = end_of(words, at, &self.terms[number].words)?;
            Some((number, at..end))
        });
        found.collect()
    }

    /// Returns every term in the text, in whatever sense, from left to right and longest first.
    pub(super) fn all(&self, words: &Words) -> Vec<(usize, Range<usize>)> {
        (0..words.len()).flat_map(|at| self.at(words, at)).collect()
    }

    /// Returns for each attribute the words of phrases in which a term names no value.
    pub(super) fn excepted(&self, words: &Words) -> Vec<Vec<Range<usize>>> {
        let mut found = vec![Vec::new(); self.attributes.len()];
        for at in 0..words.len() {
            for (attribute, end) in self.exceptions.ends(words, at) {
                found[attribute].push(at..end);
            }
        }
        found
    }

    /// Returns whether `spelling` is also the name of something.
    pub(super) fn is_name(&self, spelling: &str) -> bool {
        self.names.contains(spelling)
    }

    /// Returns whether `word`, in lower case, is a noun for a person in the lexicon.
    pub(super) fn is_person(&self, word: &str) -> bool {
        self.persons.contains(word)
    }
}

impl Attribute {
    /// Returns, for each value, whether every word of the text that is bound to any is bound to it,
    /// and which words these are. What lies inside one of `places`, which are exchanged, is no word
    /// of its own.
    pub(super) fn agreeing(&self, words: &Words, places: &[&Range<usize>]) -> Free {
        let (mut agreeing, mut by) = (vec![true; self.values.len()], Vec::new());
        for at in 0..words.len() {
            for (owner, end) in self.bound.ends(words, at) {
                let mut places = places.iter();
                if places.any(|place| place.start <= at && end <= place.end) {
                    continue;
                }
                let bindings = agreeing.iter_mut().zip(&self.bindings[owner]);
                bindings.for_each(|(agrees, is_bound)| *agrees &= is_bound);
                by.push(at..end);
            }
        }
        Free {
            values: agreeing,
            by,
        }
    }
}
