//! One protected attribute with its terms, and what can be wrong with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use thiserror::Error;

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

/// One protected attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtectedAttribute {
    /// Its name.
    pub name: String,
    /// What it is, and where its terms come from; may be empty.
    pub description: String,
    /// The names of its values, at least two.
    pub values: Vec<String>,
    /// Form → for every value its spellings, at least one, the first of which is substituted.
    /// Without forms each value is its own term.
    pub forms: BTreeMap<String, Vec<Vec<String>>>,
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

    pub(super) fn problem(&self, problem: impl Into<String>) -> LexiconError {
        LexiconError::Attribute {
            attribute: self.name.clone(),
            problem: problem.into(),
        }
    }
}
