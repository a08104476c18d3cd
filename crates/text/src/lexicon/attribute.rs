//! A protected attribute with its terms, and the errors that it can have.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::tokenizer::TokenizerError;

/// The reason why a lexicon cannot be used.
#[derive(Debug, Error)]
pub enum LexiconError {
    /// The tokenizer that splits terms into words failed.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text is not TOML of the expected form.
    #[error("the lexicon is not valid: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// The lexicon cannot be written as TOML.
    #[error("the lexicon cannot be written: {0}")]
    Write(#[from] toml::ser::Error),
    /// Something is wrong with one file's content.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The problem with the file.
        problem: Box<LexiconError>,
    },
    /// The lexicon holds no attribute.
    #[error("the lexicon names no attribute; expected at least one [[attribute]]")]
    Empty,
    /// Something about one attribute is wrong.
    #[error("lexicon attribute '{attribute}': {problem}")]
    Attribute {
        /// The name of the attribute.
        attribute: String,
        /// The problem with the attribute.
        problem: String,
    },
    /// A named attribute does not exist.
    #[error("the lexicon has no attribute '{name}'; its attributes are {known}")]
    UnknownAttribute {
        /// The name asked for.
        name: String,
        /// The names of all attributes.
        known: String,
    },
}

/// The part of speech of the terms of a form, where the same terms would be other words in another
/// place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A singular noun: "a *Jew*".
    Noun,
    /// A plural noun: "two *Jews*".
    Plural,
    /// An adjective, before what it describes or after a verb: "a *Jewish* man", "she is *Jewish*".
    Adjective,
    /// An adjective that stands for all whom it describes: "*the blind*". The article is part of
    /// the term.
    Collective,
    /// The name of a country, a faith, a person: "*Judaism*".
    Name,
    /// A pronoun in the place of an object: "saw *her*".
    Object,
    /// A possessive pronoun before a noun: "*her* house".
    Possessive,
    /// A possessive pronoun that stands alone: "it is *hers*", "it is *his*".
    Standing,
}

/// Another meaning that a term may have, which decides where the term names a protected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// A given, family or company name ("Christian", "Jordan"): not beside another name.
    Name,
    /// A colour or another quality of things ("black", "old"): only of persons.
    Quality,
    /// A word of every day in lower case ("turkey", "polish"): only as the lexicon spells it, and
    /// not as the first word of a sentence.
    Common,
    /// Another word where it stands bare ("nun" for none): only behind an article or another
    /// determiner.
    Bare,
}

/// Words that are bound to values of an attribute: a text that holds one speaks of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The names of the values, at least one.
    pub values: Vec<String>,
    /// The words and phrases; alternatives stand in braces.
    pub words: Vec<String>,
}

/// A protected attribute with its values and their terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProtectedAttribute {
    /// The name of the attribute.
    pub name: String,
    /// The description of the attribute; may be empty.
    pub description: String,
    /// The source of the terms; may be empty.
    pub source: String,
    /// The names of the values, at least two.
    pub values: Vec<String>,
    /// Whether the attribute is protected only where it is named.
    pub opt_in: bool,
    /// Whether the two values are exchanged in a text that holds both: "he told her" and "she told
    /// him". Otherwise no value is put where another text part names it already.
    pub exchange: bool,
    /// Form → for every value its spellings, the first of which is substituted; no spellings where
    /// the value has no term in the form. Without forms each value is its own term.
    pub forms: BTreeMap<String, Vec<Vec<String>>>,
    /// Form → the part of speech of its terms. Terms of forms without an entry are read wherever
    /// they stand.
    pub parts: BTreeMap<String, Part>,
    /// The other meanings of terms.
    pub senses: BTreeMap<Sense, Vec<String>>,
    /// Phrases in which a term names no protected value: "White House".
    pub exceptions: Vec<String>,
    /// Words that are bound to values: "mosque", "rabbi". In a text with such words a value takes
    /// the place of another only if each of them is bound to both.
    pub bound: Vec<Bound>,
    /// Words of texts in which no value takes the place of another: "transgender".
    pub unless: Vec<String>,
}

impl ProtectedAttribute {
    /// Returns the spellings of each value, form by form; one nameless form where the values are
    /// the terms.
    pub fn rows(&self) -> Vec<Vec<Vec<String>>> {
        if self.forms.is_empty() {
            let terms = self.values.iter().map(|value| vec![value.clone()]);
            return vec![terms.collect()];
        }
        self.forms.values().cloned().collect()
    }

    /// Returns every term with the position of its value, each once, values in order.
    pub fn terms(&self) -> Vec<(usize, String)> {
        let rows = self.rows();
        let mut terms: Vec<(usize, String)> = Vec::new();
        for value in 0..self.values.len() {
            for spelling in rows.iter().flat_map(|row| &row[value]) {
                if !terms
                    .iter()
                    .rev()
                    .any(|(at, term)| *at == value && term == spelling)
                {
                    terms.push((value, spelling.clone()));
                }
            }
        }
        terms
    }

    /// Returns the attribute with those of `values` only. Forms in which fewer than two of them
    /// have a term, and senses of terms that are gone, go too.
    pub(super) fn with_values(&self, values: &[&str]) -> ProtectedAttribute {
        let is_kept = |value: &String| values.contains(&value.as_str());
        let kept: Vec<usize> = (0..self.values.len())
            .filter(|&value| is_kept(&self.values[value]))
            .collect();
        let mut only = self.clone();
        only.values.retain(is_kept);
        for row in only.forms.values_mut() {
            *row = kept.iter().map(|&value| row[value].clone()).collect();
        }
        let named = |row: &[Vec<String>]| row.iter().filter(|terms| !terms.is_empty()).count();
        only.forms.retain(|_, row| named(row) >= 2);
        only.parts.retain(|form, _| only.forms.contains_key(form));
        let terms = only.terms();
        for senses in only.senses.values_mut() {
            senses.retain(|sense| terms.iter().any(|(_, term)| term == sense));
        }
        only.senses.retain(|_, senses| !senses.is_empty());
        for bound in &mut only.bound {
            bound.values.retain(is_kept);
            // What speaks of a value that is gone speaks of none that is left.
            if bound.values.is_empty() {
                only.unless.append(&mut bound.words);
            }
        }
        only.bound.retain(|bound| !bound.values.is_empty());
        only
    }

    pub(crate) fn problem(&self, problem: impl Into<String>) -> LexiconError {
        LexiconError::Attribute {
            attribute: self.name.clone(),
            problem: problem.into(),
        }
    }
}
