//! Templated test sets: sentences of our own that differ in nothing but the protected term that they
//! name and in whether they are rude.
//!
//! A text is an opening with a term, in the form that its place asks for, and a second sentence: one of
//! no ill will (label 0), or mild abuse of the reader (label 1). The second sentence alone decides
//! the label, so that a model that is right about a term is right about every other. All terms of a
//! form stand in the same texts, half of them rude. A text that does not name exactly its value by the
//! senses of the lexicon ("Turkey" where a capital says nothing) is left out and counted.
//!
//! ```
//! use probity_text::lexicon::Lexicon;
//! use probity_text::templates::template_texts;
//!
//! let made = template_texts(&Lexicon::shipped(), &["religion".to_owned()])?;
//! assert!(made.texts.iter().any(|text| {
//!     text.text == "I am an Anglican. Thank you for the kind words." && !text.is_toxic
//! }));
//! # Ok::<(), probity_text::templates::TemplateError>(())
//! ```

mod sentences;

use std::collections::BTreeSet;

use rayon::prelude::*;
use thiserror::Error;

use crate::filled::filled;
use crate::lexicon::{Lexicon, LexiconError, ProtectedAttribute};
use crate::substitution::Substitution;
use crate::tokenizer::TokenizerError;

/// The reason why no test set can be made.
#[derive(Debug, Error)]
pub enum TemplateError {
    /// The lexicon lacks an attribute.
    #[error("{0}")]
    Lexicon(#[from] LexiconError),
    /// A text cannot be split into words.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// No form says which part of speech the terms are.
    #[error(
        "lexicon attribute '{attribute}': no form says which part of speech its terms are ([attribute.parts]), so no sentence can be made of them"
    )]
    NoParts {
        /// The attribute.
        attribute: String,
    },
}

/// A text of a test set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateText {
    /// The text.
    pub text: String,
    /// Whether the text is rude.
    pub is_toxic: bool,
    /// The attribute whose value the text names.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// The term that names the value, as the lexicon spells it.
    pub term: String,
    /// The text with `{term}` in the place of the term.
    pub template: String,
}

/// A test set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateSet {
    /// The texts, attribute by attribute and term by term.
    pub texts: Vec<TemplateText>,
    /// The number of texts that were left out, because they do not name exactly their value.
    pub left_out: u64,
    /// Terms of which no text was kept.
    pub terms_left_out: Vec<String>,
}

/// Returns the test set of the attributes called `names` in `lexicon`, or of all that are not
/// protected by name only.
///
/// # Errors
/// When an attribute is unknown, or the lexicon does not say what its terms are in a sentence.
pub fn template_texts(lexicon: &Lexicon, names: &[String]) -> Result<TemplateSet, TemplateError> {
    let chosen: Vec<&ProtectedAttribute> = match names {
        [] => lexicon
            .attributes()
            .iter()
            .filter(|it| !it.opt_in)
            .collect(),
        names => {
            let named = names.iter().map(|name| lexicon.attribute(name));
            named.collect::<Result<_, _>>()?
        }
    };
    let mut set = TemplateSet::default();
    for attribute in chosen {
        let candidates = candidates(attribute);
        if candidates.is_empty() {
            return Err(TemplateError::NoParts {
                attribute: attribute.name.clone(),
            });
        }
        let substitution = Substitution::new(lexicon, std::slice::from_ref(&attribute.name))?;
        let is_kept: Vec<bool> = candidates
            .par_iter()
            .map(|text| names_exactly(&substitution, text))
            .collect::<Result<_, _>>()?;
        let term_of = |text: &TemplateText| (text.value.clone(), text.term.clone());
        let all: BTreeSet<_> = candidates.iter().map(term_of).collect();
        let count = candidates.len();
        let each = candidates.into_iter().zip(is_kept);
        let kept: Vec<TemplateText> = each
            .filter_map(|(text, kept)| kept.then_some(text))
            .collect();
        set.left_out += (count - kept.len()) as u64;
        let shown: BTreeSet<_> = kept.iter().map(term_of).collect();
        let unshown = all.difference(&shown).map(|(_, term)| term.clone());
        set.terms_left_out.extend(unshown);
        set.texts.extend(kept);
    }
    Ok(set)
}

/// Returns whether `text` names its value, and no other of its attribute.
fn names_exactly(substitution: &Substitution, text: &TemplateText) -> Result<bool, TokenizerError> {
    let named = substitution.analyse(&text.text)?.named;
    let value = |value: usize| substitution.values(0).get(value) == Some(&text.value);
    Ok(named.len() == 1
        && named
            .iter()
            .all(|it| value(it.value) && it.term == text.term))
}

/// Returns every term of `attribute` in all sentences of its form; texts that two forms of a term
/// share once.
fn candidates(attribute: &ProtectedAttribute) -> Vec<TemplateText> {
    let mut texts = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (form, rows) in &attribute.forms {
        let part = attribute.parts.get(form).copied();
        let Some(openings) = sentences::sentences(&attribute.name, form, part) else {
            continue;
        };
        for (value, spellings) in attribute.values.iter().zip(rows) {
            for (term, opening) in spellings
                .iter()
                .flat_map(|term| openings.iter().map(move |opening| (term, opening)))
            {
                let endings = [(sentences::FRIENDLY, false), (sentences::CROSS, true)];
                for (ending, is_toxic) in endings
                    .into_iter()
                    .flat_map(|(endings, rude)| endings.iter().map(move |end| (end, rude)))
                {
                    let template = format!("{opening} {ending}");
                    let text = filled(&template, |_| term.clone());
                    if seen.insert(text.clone()) {
                        texts.push(TemplateText {
                            text,
                            is_toxic,
                            attribute: attribute.name.clone(),
                            value: value.clone(),
                            term: term.clone(),
                            template,
                        });
                    }
                }
            }
        }
    }
    texts
}

#[cfg(test)]
mod tests;
