//! Protected terms in text: which words name a protected attribute, and what each may be replaced
//! by.
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
//! A *form* is a role in the sentence: a case, a number, a part of speech (`["france", "french"]`
//! for the name of a country and its adjective would be two forms). A term is replaced by the term
//! of another value in the same form: *she* by *he*, never by *him*. A term that stands in several
//! forms of its value (*her*) is replaced by each of their counterparts (*him*, *his*): two
//! variants, one of which the grammar of the sentence may not allow. In a list of spellings all are
//! recognised, and the first is what others are replaced by. Terms may have several words. Matching
//! is on tokens, so that case does not matter and hyphens do not.

mod attribute;
mod coverage;
mod file;
mod matcher;
mod warnings;

use std::path::Path;

pub use attribute::{LexiconError, ProtectedAttribute};
pub use coverage::{Coverage, TermCoverage};
pub use matcher::{Substitute, TermMatch, TermMatcher};
pub use warnings::{CommonWord, common_words};

/// Attributes with their terms, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexicon {
    attributes: Vec<ProtectedAttribute>,
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
    /// The lexicon that ships: country, ethnicity, race and religion with the terms of the ADF
    /// paper (section 5.1), and gender with paired terms.
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
    /// Anything that is not the form above: unknown keys, no attribute or two of one name, fewer
    /// than two values, a value twice, a form without a term for each value, an empty term, a term
    /// of two values or twice in one form.
    pub fn from_toml(text: &str) -> Result<Lexicon, LexiconError> {
        let attributes = file::read(text)?;
        Ok(Lexicon { attributes })
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

#[cfg(test)]
mod tests;
