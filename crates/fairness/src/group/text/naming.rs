//! The texts that name each protected value, and the terms by which they do.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::audit_error::AuditError;
use crate::domain::DomainError;
use crate::text::preset::Preset;
use probity_text::lexicon::{Lexicon, ProtectedAttribute, TermMatcher};
use probity_text::substitution::Substitution;
use probity_text::tokenizer::Tokenizer;

/// The values and terms that texts can name.
pub struct Naming {
    attributes: Vec<ProtectedAttribute>,
    rule: Rule,
}

enum Rule {
    /// A term names its value according to the lexicon's senses.
    English(Box<Substitution>),
    /// A term names its value wherever its words stand.
    Words(Box<Tokenizer>, Vec<TermMatcher>),
}

/// An attribute, a value of it, and the term that names it.
type Mention = (usize, usize, String);

/// The texts that name one value, or one term of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subgroup {
    /// The value.
    pub value: String,
    /// The term; none where any term of the value will do.
    pub term: Option<String>,
    /// Numbers of the texts, ascending.
    pub texts: Vec<u32>,
}

/// The subgroups of one attribute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subgroups {
    /// The attribute.
    pub attribute: String,
    /// Number of texts that name any of the attribute's values.
    pub naming: u64,
    /// The values that a text names, as the lexicon orders them.
    pub values: Vec<Subgroup>,
    /// The terms by which texts name them, value by value in alphabetical order.
    pub terms: Vec<Subgroup>,
    /// Number of values that no text names.
    pub absent: u64,
}

impl Naming {
    /// The attributes called `names` in `lexicon`, or all that are not protected by name only.
    ///
    /// # Errors
    /// When one is named twice or unknown, or there is none.
    pub fn new(lexicon: &Lexicon, names: &[String], preset: Preset) -> Result<Naming, AuditError> {
        let mut attributes: Vec<ProtectedAttribute> = Vec::new();
        for name in names {
            if attributes.iter().any(|attribute| attribute.name == *name) {
                return Err(DomainError::NamedTwice(name.clone()).into());
            }
            attributes.push(lexicon.attribute(name)?.clone());
        }
        if names.is_empty() {
            let usual = lexicon.attributes().iter().filter(|named| !named.opt_in);
            attributes = usual.cloned().collect();
        }
        if attributes.is_empty() {
            return Err(DomainError::NothingProtected.into());
        }
        let names: Vec<String> = attributes.iter().map(|named| named.name.clone()).collect();
        let rule = match preset {
            Preset::English => Rule::English(Box::new(Substitution::new(lexicon, &names)?)),
            Preset::Paper => {
                let tokenizer = Tokenizer::without_vocabulary()?;
                let matchers = attributes.iter();
                let matchers = matchers.map(|named| TermMatcher::new(named, &tokenizer));
                let matchers = matchers.collect::<Result<_, _>>()?;
                Rule::Words(Box::new(tokenizer), matchers)
            }
        };
        Ok(Naming { attributes, rule })
    }

    /// Names of the attributes.
    pub fn attributes(&self) -> Vec<String> {
        let names = self.attributes.iter().map(|named| named.name.clone());
        names.collect()
    }

    /// The subgroups that `texts` make, attribute by attribute, and how many of the texts were not
    /// looked at because they are not English.
    ///
    /// # Errors
    /// When a text cannot be split into words.
    pub fn subgroups(&self, texts: &[String]) -> Result<(Vec<Subgroups>, u64), AuditError> {
        let read: Vec<Option<Vec<Mention>>> = texts
            .par_iter()
            .map(|text| self.mentions(text))
            .collect::<Result<_, _>>()?;
        let foreign = read.iter().filter(|mentions| mentions.is_none()).count();
        let mentions: Vec<Vec<Mention>> = read.into_iter().map(Option::unwrap_or_default).collect();
        let attributes = self.attributes.iter().enumerate();
        let subgroups =
            attributes.map(|(number, attribute)| of_attribute(number, attribute, &mentions));
        Ok((subgroups.collect(), foreign as u64))
    }

    /// The values that `text` names; nothing is known of a text that is not English.
    fn mentions(&self, text: &str) -> Result<Option<Vec<Mention>>, AuditError> {
        match &self.rule {
            Rule::English(substitution) => {
                let analysis = substitution.analyse(text)?;
                let is_blank = analysis.words.is_empty();
                let named = analysis.named.into_iter();
                let named = named.map(|it| (it.attribute, it.value, it.term)).collect();
                Ok((analysis.is_english || is_blank).then_some(named))
            }
            Rule::Words(tokenizer, matchers) => {
                let tokens = tokenizer.tokens(text)?;
                let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
                let all = matchers
                    .iter()
                    .enumerate()
                    .flat_map(|(attribute, matcher)| {
                        let found = matcher.find(&words).into_iter();
                        found.map(move |found| {
                            let term = matcher.text(found.term).to_owned();
                            (attribute, found.value, term)
                        })
                    });
                Ok(Some(all.collect()))
            }
        }
    }
}

fn of_attribute(
    number: usize,
    attribute: &ProtectedAttribute,
    mentions: &[Vec<Mention>],
) -> Subgroups {
    let mut values: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut terms: BTreeMap<(usize, &str), Vec<u32>> = BTreeMap::new();
    let mut naming = 0;
    for (text, mentions) in (0..).zip(mentions) {
        let own = || mentions.iter().filter(|(of, _, _)| *of == number);
        naming += u64::from(own().next().is_some());
        // A text is in a subgroup once, however often it names it.
        let enter = |texts: &mut Vec<u32>| {
            if texts.last() != Some(&text) {
                texts.push(text);
            }
        };
        for (_, value, term) in own() {
            enter(values.entry(*value).or_default());
            enter(terms.entry((*value, term)).or_default());
        }
    }
    let name = |value: usize| attribute.values[value].clone();
    Subgroups {
        attribute: attribute.name.clone(),
        naming,
        absent: (attribute.values.len() - values.len()) as u64,
        values: values
            .into_iter()
            .map(|(value, texts)| Subgroup {
                value: name(value),
                term: None,
                texts,
            })
            .collect(),
        terms: terms
            .into_iter()
            .map(|((value, term), texts)| Subgroup {
                value: name(value),
                term: Some(term.to_owned()),
                texts,
            })
            .collect(),
    }
}
