//! Protected terms in text: which words name a protected attribute, and what each may be replaced by.
//!
//! A lexicon is a TOML file:
//!
//! ```toml
//! [[attribute]]
//! name = "religion"
//! values = ["christian", "muslim", "jain"]       # each value is its own term
//!
//! [[attribute]]
//! name = "gender"
//! values = ["female", "male"]                    # names of the values
//! [attribute.forms]                              # form -> one term for each value, in their order
//! subject = ["she", "he"]
//! object = ["her", "him"]
//! possessive = ["her", "his"]
//! person = [["woman", "lady"], ["man", "gentleman"]]
//! ```
//!
//! A *form* is a role in the sentence: a case, a number, a part of speech (`["france", "french"]` for the
//! name of a country and its adjective would be two forms). A term is replaced by the term of another
//! value in the same form: *she* by *he*, never by *him*. A term that stands in several forms of its value
//! (*her*) is replaced by each of their counterparts (*him*, *his*): two variants, one of which the
//! grammar of the sentence may not allow. In a list of spellings all are recognised, and the first is
//! what others are replaced by. Terms may have several words. Matching is on tokens, so that case does
//! not matter and hyphens do not.

mod coverage;
mod file;
mod matcher;
mod warnings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use coverage::{Coverage, TermCoverage};
pub use matcher::{Substitute, TermMatch, TermMatcher};
pub use warnings::{CommonWord, common_words};

/// Why a lexicon cannot be used.
#[derive(Debug, Error)]
pub enum LexiconError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
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
        /// What is wrong.
        problem: Box<LexiconError>,
    },
    /// There is no attribute in it.
    #[error("the lexicon names no attribute; expected at least one [[attribute]]")]
    Empty,
    /// Something about one attribute is wrong.
    #[error("lexicon attribute '{attribute}': {problem}")]
    Attribute {
        /// Its name.
        attribute: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A named attribute does not exist.
    #[error("the lexicon has no attribute '{name}'; its attributes are {known}")]
    UnknownAttribute {
        /// The name asked for.
        name: String,
        /// All names there are.
        known: String,
    },
}

/// Attributes with their terms, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexicon {
    attributes: Vec<ProtectedAttribute>,
}

/// One protected attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtectedAttribute {
    /// Its name.
    pub name: String,
    /// What it is, and where its terms come from; may be empty.
    pub description: String,
    /// The names of its values, at least two.
    pub values: Vec<String>,
    /// Form → for every value its spellings, at least one, the first of which is substituted. Without
    /// forms each value is its own term.
    pub forms: BTreeMap<String, Vec<Vec<String>>>,
}

/// The lexica that ship, by attribute.
const SHIPPED: [&str; 5] = [
    include_str!("../lexica/country.toml"),
    include_str!("../lexica/ethnicity.toml"),
    include_str!("../lexica/race.toml"),
    include_str!("../lexica/religion.toml"),
    include_str!("../lexica/gender.toml"),
];

impl Lexicon {
    /// The lexicon that ships: country, ethnicity, race and religion with the terms of the ADF paper
    /// (section 5.1), and gender with paired terms.
    pub fn shipped() -> Lexicon {
        let parts = SHIPPED
            .iter()
            .filter_map(|text| Lexicon::from_toml(text).ok());
        Lexicon {
            attributes: parts.flat_map(|part| part.attributes).collect(),
        }
    }

    /// A lexicon of one attribute.
    pub fn of(attribute: ProtectedAttribute) -> Lexicon {
        Lexicon {
            attributes: vec![attribute],
        }
    }

    /// Reads and checks a lexicon file.
    ///
    /// # Errors
    /// When it cannot be read, and like [`Lexicon::from_toml`] with the file's name.
    pub fn load(file: &Path) -> Result<Lexicon, LexiconError> {
        let text = std::fs::read_to_string(file).map_err(|source| LexiconError::Read {
            file: file.to_owned(),
            source,
        })?;
        Lexicon::from_toml(&text).map_err(|problem| LexiconError::File {
            file: file.to_owned(),
            problem: Box::new(problem),
        })
    }

    /// Reads and checks a lexicon.
    ///
    /// # Errors
    /// Anything that is not the form above: unknown keys, no attribute or two of one name, fewer than two
    /// values, a value twice, a form without a term for each value, an empty term, a term of two values or
    /// twice in one form.
    pub fn from_toml(text: &str) -> Result<Lexicon, LexiconError> {
        file::read(text)
    }

    /// The lexicon as TOML that [`Lexicon::from_toml`] reads back.
    ///
    /// # Errors
    /// When it has no TOML form.
    pub fn to_toml(&self) -> Result<String, LexiconError> {
        file::write(&self.attributes)
    }

    /// Its attributes, in the file's order.
    pub fn attributes(&self) -> &[ProtectedAttribute] {
        &self.attributes
    }

    /// The attribute called `name`.
    ///
    /// # Errors
    /// [`LexiconError::UnknownAttribute`] with the names there are.
    pub fn attribute(&self, name: &str) -> Result<&ProtectedAttribute, LexiconError> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
            .ok_or_else(|| LexiconError::UnknownAttribute {
                name: name.to_owned(),
                known: self
                    .attributes
                    .iter()
                    .map(|attribute| attribute.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl ProtectedAttribute {
    /// The spellings of each value, form by form; one nameless form where the values are the terms.
    pub fn rows(&self) -> Vec<Vec<Vec<String>>> {
        if self.forms.is_empty() {
            let terms = self.values.iter().map(|value| vec![value.clone()]);
            return vec![terms.collect()];
        }
        self.forms.values().cloned().collect()
    }

    /// Every term with the position of its value, each once, values in order.
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

    fn problem(&self, problem: impl Into<String>) -> LexiconError {
        LexiconError::Attribute {
            attribute: self.name.clone(),
            problem: problem.into(),
        }
    }
}

#[cfg(test)]
mod tests;
