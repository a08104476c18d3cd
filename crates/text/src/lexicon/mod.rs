//! Protected terms in text: which words name a protected attribute, and what each may be replaced
//! by.
//!
//! A lexicon is a TOML file:
//!
//! ```toml
//! [[attribute]]
//! name = "planet"
//! values = ["earth", "mars"]                     # each value is its own term
//!
//! [[attribute]]
//! name = "religion"
//! source = "where its terms come from"
//! values = ["Christian", "Jewish", "Jain"]       # names of the values
//! exceptions = ["Christian Bale"]                # phrases in which a term is none
//! unless = ["gentile"]                           # words of texts that are left as they are
//! [[attribute.bound]]                            # words that speak of certain values only
//! values = ["Jewish"]
//! words = ["{rabbi,rabbis}", "synagogue"]
//! [attribute.senses]
//! name = ["Christian"]                           # also a given name
//! [attribute.parts]
//! person = "noun"
//! adjective = "adjective"
//! [attribute.forms]                              # form -> terms of each value, in their order
//! person = ["Christian", "Jew", ["Jain", "Jaina"]]
//! adjective = ["Christian", "Jewish", []]
//! ```
//!
//! A *form* is a role in the sentence: a case, a number, a part of speech. A term is replaced by
//! the term of another value in the same form: *she* by *he*, never by *him*; a value without a
//! term in a form (`[]`) takes no part in it. A term that stands in several forms of its value is
//! read by its place in the sentence, where the forms' `parts` say how ("a Christian" and "a
//! Christian school"). In a list of spellings all are recognised, and the first is what others are
//! replaced by; terms are spelled as they are inside a sentence (*Jewish*, *gay*). Terms may have
//! several words. Matching is on words, so that case does not matter and hyphens do not, but where
//! `senses` says so. `exceptions` and `senses` say where a term is none, `bound` and `unless` which
//! texts keep their values (`crate::substitution`); a phrase may have alternatives in braces
//! ([`expanded`]).

mod attribute;
mod file;
mod matcher;
mod phrases;
mod warnings;

use std::path::Path;

pub use attribute::{Bound, LexiconError, Part, ProtectedAttribute, Sense};
pub use matcher::{Substitute, TermMatch, TermMatcher};
pub use phrases::expanded;
pub use warnings::{CommonWord, common_words};

/// A checked set of protected attributes with their terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexicon {
    attributes: Vec<ProtectedAttribute>,
}

/// The name of the lexicon of the ADF paper, where a file is expected.
pub const PAPER: &str = "paper";

/// The lexicon of today, by attribute; names and archaic terms last.
const SHIPPED: [&str; 12] = [
    include_str!("../lexica/country.toml"),
    include_str!("../lexica/nationality.toml"),
    include_str!("../lexica/continent.toml"),
    include_str!("../lexica/ethnicity.toml"),
    include_str!("../lexica/race.toml"),
    include_str!("../lexica/religion.toml"),
    include_str!("../lexica/gender.toml"),
    include_str!("../lexica/sexual_orientation.toml"),
    include_str!("../lexica/disability.toml"),
    include_str!("../lexica/age.toml"),
    include_str!("../lexica/first_name.toml"),
    include_str!("../lexica/archaic.toml"),
];

/// The lexicon of the paper, by attribute.
const OF_PAPER: [&str; 4] = [
    include_str!("../lexica/paper/country.toml"),
    include_str!("../lexica/paper/ethnicity.toml"),
    include_str!("../lexica/paper/race.toml"),
    include_str!("../lexica/paper/religion.toml"),
];

impl Lexicon {
    /// Returns the lexicon that ships.
    pub fn shipped() -> Lexicon {
        Lexicon::of_files(&SHIPPED)
    }

    /// Returns the lexicon of the ADF paper (section 5.1): country, ethnicity, race and religion.
    pub fn paper() -> Lexicon {
        Lexicon::of_files(&OF_PAPER)
    }

    /// Returns the attributes with the `chosen` names, each with its chosen values only, in the
    /// order of the lexicon; names that no attribute has are left out.
    pub fn with_values(&self, chosen: &[(&str, &[&str])]) -> Lexicon {
        let named = chosen.iter().filter_map(|(name, values)| {
            let attribute = self.attribute(name).ok()?;
            Some(attribute.with_values(values))
        });
        Lexicon {
            attributes: named.collect(),
        }
    }

    fn of_files(files: &[&str]) -> Lexicon {
        let parts = files.iter();
        let parts = parts.filter_map(|text| Lexicon::from_toml(text).ok());
        Lexicon {
            attributes: parts.flat_map(|part| part.attributes).collect(),
        }
    }

    /// Creates a lexicon of one attribute.
    pub fn from_attribute(attribute: ProtectedAttribute) -> Lexicon {
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
    /// than two values, a value twice, a form without an entry for each value or with terms of less
    /// than two, an empty term, a term of two values or twice in one form, rules about terms, forms
    /// and values that are not there, a word that is bound twice or is a term.
    pub fn from_toml(text: &str) -> Result<Lexicon, LexiconError> {
        let attributes = file::read(text)?;
        Ok(Lexicon { attributes })
    }

    /// Returns the lexicon as TOML that [`Lexicon::from_toml`] reads back.
    ///
    /// # Errors
    /// When it has no TOML form.
    pub fn to_toml(&self) -> Result<String, LexiconError> {
        file::write(&self.attributes)
    }

    /// Returns the attributes, in the file's order.
    pub fn attributes(&self) -> &[ProtectedAttribute] {
        &self.attributes
    }

    /// Returns the attribute called `name`.
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
