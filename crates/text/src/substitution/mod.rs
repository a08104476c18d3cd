//! Exchanging protected terms in whole sentences: which words of a text name a protected value, and
//! what the text becomes when it is another one.
//!
//! A text and its exchange are two sentences that a person could have written and that differ in
//! the protected attribute only:
//!
//! * A term counts only where it names a value of persons, groups or places: not in other senses of
//!   the word, in phrases that the lexicon excepts, in names, addresses, markup and code, nor in a
//!   text that is not English.
//! * A term that stands in several forms is read in the one that its place asks for, and replaced
//!   by the term of that form, at all its places in the text at once.
//! * A group is exchanged as a whole or not at all: where another word of the text speaks of it, or
//!   a mention of it would stay, it keeps its place.
//! * What agrees with a term follows it: the article, the genitive, capitals.
//!
//! ```
//! use probity_text::lexicon::Lexicon;
//! use probity_text::substitution::{Substitution, apply};
//!
//! let substitution = Substitution::new(&Lexicon::shipped(), &["gender".to_owned()])?;
//! let text = "She told him that her brother was there.";
//! let analysis = substitution.analyse(text)?;
//! let exchange = &analysis.sites[0].exchanges[0];
//! assert_eq!(apply(text, &exchange.edits), "He told her that his sister was there.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod analysis;
mod exchanges;
mod phrase;
mod reading;
mod remains;
mod segments;
mod senses;
mod sentence;
mod terms;
mod whole;

use std::ops::Range;
use std::sync::Arc;

use crate::english;
use crate::lexicon::{Lexicon, LexiconError};
use crate::tokenizer::{Tokenizer, TokenizerError};

pub use analysis::{Analysis, Binding, Edit, Exchange, Named, Site, Word, apply};
use exchanges::{Occurrence, occurrences};
use sentence::{Known, Words};
use terms::Terms;

/// Finds protected terms in texts and says what a text becomes when their value is another one.
#[derive(Debug, Clone)]
pub struct Substitution {
    tokenizer: Tokenizer,
    terms: Arc<Terms>,
    /// The position of each chosen attribute in the lexicon.
    chosen: Vec<usize>,
    names: Vec<String>,
}

impl Substitution {
    /// Creates a substitution for the attributes called `names` in `lexicon`; without names, for
    /// all that are not opt-in.
    ///
    /// # Errors
    /// [`LexiconError::UnknownAttribute`] for a name that is none, and when one is named twice or a
    /// term has no words.
    pub fn new(lexicon: &Lexicon, names: &[String]) -> Result<Substitution, LexiconError> {
        let all = lexicon.attributes();
        let mut chosen = Vec::new();
        for name in names {
            let attribute = lexicon.attribute(name)?;
            let at = all.iter().position(|other| other.name == attribute.name);
            if at.is_some_and(|at| chosen.contains(&at)) {
                return Err(attribute.problem("it is named twice; name each attribute once"));
            }
            chosen.extend(at);
        }
        if names.is_empty() {
            chosen = (0..all.len()).filter(|&at| !all[at].opt_in).collect();
        }
        let tokenizer = Tokenizer::without_vocabulary()?;
        Ok(Substitution {
            terms: Arc::new(Terms::new(lexicon, &tokenizer)?),
            names: chosen.iter().map(|&at| all[at].name.clone()).collect(),
            tokenizer,
            chosen,
        })
    }

    /// Returns the names of the attributes.
    pub fn attributes(&self) -> &[String] {
        &self.names
    }

    /// Returns the values of the attribute at that position; none for a position without an
    /// attribute.
    pub fn values(&self, attribute: usize) -> &[String] {
        let at = self.chosen.get(attribute);
        at.map_or(&[], |&at| &self.terms.attributes[at].values)
    }

    /// Analyses `text`: which values of the protected attributes it names, and what it becomes with
    /// other values.
    ///
    /// # Errors
    /// None in practice: see [`Tokenizer::tokens`].
    pub fn analyse(&self, text: &str) -> Result<Analysis, TokenizerError> {
        let words = Words::new(text, self.tokenizer.tokens(text)?);
        let originals: Vec<&str> = words.all.iter().map(|word| word.original).collect();
        let is_english = english::is_english(&originals);
        let all = self.terms.all(&words);
        let found = if is_english {
            occurrences(&words, &self.terms, &all)
        } else {
            Vec::new()
        };
        let (mut sites, mut bound): (Vec<Site>, Vec<Site>) = (Vec::new(), Vec::new());
        let mut binding = Vec::new();
        for (attribute, &at) in self.chosen.iter().enumerate() {
            let of: Vec<&Occurrence> = found.iter().filter(|o| o.attribute == at).collect();
            let of_attribute = exchanges::sites(&words, &self.terms, at, attribute, &of);
            if of_attribute.is_empty() {
                continue;
            }
            let free = whole::free(&words, &self.terms, &all, at, &of);
            let (left, kept) = whole::divide(of_attribute, &free.values);
            if !kept.is_empty() {
                binding.extend(free.by.iter().map(|place| Binding {
                    attribute,
                    bytes: exchanges::bytes(&words, place),
                }));
            }
            sites.extend(left);
            bound.extend(kept);
        }
        let all = to_words(&words, &all, &found);
        let is_exchanged = self
            .chosen
            .iter()
            .map(|&at| self.terms.attributes[at].exchange);
        let is_exchanged: Vec<bool> = is_exchanged.collect();
        let untouched: Vec<bool> = words.all.iter().map(|word| word.is_untouched).collect();
        let divided = remains::divide(text, &all, &untouched, sites, &is_exchanged);
        let mut sites = divided.free;
        bound.extend(divided.bound);
        binding.extend(divided.binding);
        let first = |site: &Site| site.occurrences.first().map(|bytes| bytes.start);
        for sites in [&mut sites, &mut bound] {
            sites.sort_by_key(|site| (first(site), site.attribute));
        }
        Ok(Analysis {
            is_english,
            sites,
            bound,
            binding,
            named: self.named(&words, &found),
            words: all,
        })
    }
    fn named(&self, words: &Words, found: &[Occurrence]) -> Vec<Named> {
        let of_chosen = |occurrence: &Occurrence| {
            let attribute = self
                .chosen
                .iter()
                .position(|&at| at == occurrence.attribute)?;
            Some(Named {
                attribute,
                value: occurrence.value,
                term: self.terms.terms[occurrence.term].spelling.clone(),
                bytes: exchanges::bytes(words, &occurrence.place),
            })
        };
        found.iter().filter_map(of_chosen).collect()
    }
}

/// Returns the tokens of a text. Words of `all` terms, in whatever sense, are fixed, and so are the
/// words that agree with the terms `found`.
fn to_words(words: &Words, all: &[(usize, Range<usize>)], found: &[Occurrence]) -> Vec<Word> {
    let mut fixed: Vec<bool> = words
        .all
        .iter()
        .map(|word| word.is_untouched || !word.original.contains(char::is_alphabetic))
        .collect();
    for (_, place) in all {
        fixed[place.clone()].fill(true);
    }
    for occurrence in found {
        let before = words.before(occurrence.place.start);
        let article = |at: &usize| matches!(words.plain(*at), "a" | "an" | "the");
        if let Some(at) = before.filter(article) {
            fixed[at] = true;
        }
        // The genitive goes with its term.
        let end = occurrence.place.end;
        if words.plain(end) == "'s" && words.is_glued(end - 1) {
            fixed[end] = true;
        }
    }
    let word = |(word, is_fixed): (&Known, bool)| Word {
        bytes: word.bytes.clone(),
        tag: word.tag,
        is_fixed,
    };
    words.all.iter().zip(fixed).map(word).collect()
}

#[cfg(test)]
mod tests;
