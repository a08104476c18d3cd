//! The protected parts of a text, as a model sees it: where values of the audited attributes are
//! named, and what may take their place.
//!
//! There are two rules. By [`Preset::English`] a text is read as English: the terms of one value
//! are exchanged together wherever they name it, and the sentence is kept
//! ([`probity_text::substitution`]). By [`Preset::Paper`] one occurrence of a term at a time is
//! replaced, whatever else the sentence says ([`super::terms`]).
//!
//! A word that the model has no vector for cannot be told from any other unknown word: an exchange
//! that would replace such a word, or put one in, is left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use serde::Serialize;
use smallvec::SmallVec;

use super::edits::Tokens;
use super::preset::Preset;
use super::render::words;
use super::source::{Exchange, Site, Source, merged};
use super::terms::{Term, Terms};
use crate::audit_error::AuditError;
use crate::domain::DomainError;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::lexicon::{Lexicon, TermMatcher};
use probity_text::substitution::{Analysis, Substitution};
use probity_text::tokenizer::in_case_of;

/// The number of protected terms, and the terms that cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TermCounts {
    /// Terms that are searched for.
    pub used: u64,
    /// Terms left out because the model lacks a vector for one of their words.
    pub without_embedding: Vec<String>,
}

/// The protected attributes of an audit.
#[derive(Debug, Clone)]
pub struct Protected {
    rule: Rule,
    attributes: Vec<String>,
    words: HashSet<i32>,
    counts: TermCounts,
    /// Number of values of all attributes before each one: the number of an exchange is that of its
    /// value.
    first_value: Vec<u32>,
    values: Vec<Vec<String>>,
    /// Values that no other one is exchanged for.
    left_out: BTreeSet<u32>,
}

#[derive(Debug, Clone)]
enum Rule {
    English(Box<Substitution>),
    Paper(Terms),
}

/// A text as an audit holds it.
#[derive(Debug, Clone)]
pub struct Read {
    /// The tokens of the text, and what may be exchanged in them.
    pub source: Source,
    /// Whether the text is English; the rule of the paper does not ask.
    pub is_english: bool,
    /// The attributes of which the text names a value, whether another can take its place or not;
    /// the rule of the paper does not ask.
    pub named: Vec<Naming>,
}

/// An attribute of which a text names a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Naming {
    /// The attribute, by number.
    pub attribute: usize,
    /// The words of the lexicon, and the given names, that keep the value in its place, in lower case:
    /// they speak of it, too.
    pub kept_by: BTreeSet<String>,
}

impl Protected {
    /// The attributes called `names` in `lexicon`, or where none is named all of them that are not
    /// protected by name only, for `model`, by the rule of `preset`.
    ///
    /// Where none is named, attributes of which the model knows the words of fewer than two values
    /// are left out: nothing could be compared.
    ///
    /// # Errors
    /// When there is no attribute, one is named twice or unknown, or the model has vectors for
    /// fewer than two values of one that is named, or of all.
    pub fn new(
        lexicon: &Lexicon,
        names: &[String],
        reader: &TextReader,
        preset: Preset,
    ) -> Result<Protected, AuditError> {
        let of_lexicon = lexicon.attributes().iter().filter(|named| !named.opt_in);
        let is_named = !names.is_empty();
        let asked: Vec<String> = match names {
            [] => of_lexicon.map(|attribute| attribute.name.clone()).collect(),
            names => names.to_vec(),
        };
        let mut names: Vec<String> = Vec::with_capacity(asked.len());
        let mut unknown = None;
        let mut all: Vec<Term> = Vec::new();
        let mut words = HashSet::new();
        let mut counts = TermCounts::default();
        let mut first_value = vec![0];
        let mut values: Vec<Vec<String>> = Vec::new();
        for name in asked {
            if names.contains(&name) {
                return Err(DomainError::NamedTwice(name).into());
            }
            let attribute = names.len();
            let entry = lexicon.attribute(&name)?;
            let matcher = TermMatcher::new(entry, &reader.tokenizer)?;
            words.extend(
                matcher
                    .words()
                    .iter()
                    .map(|word| reader.tokenizer.id(word) as i32),
            );
            let used = known_terms(&matcher, reader, &mut counts);
            let known: HashSet<usize> = used.keys().map(|(value, _)| *value).collect();
            if known.len() < 2 {
                let too_few = AuditError::TooFewValues {
                    attribute: name,
                    values: known.len(),
                    known: entry.values.len(),
                };
                match is_named {
                    true => return Err(too_few),
                    false => unknown.get_or_insert(too_few),
                };
                continue;
            }
            counts.used += used.len() as u64;
            let place = (attribute, first_value[attribute]);
            append(&mut all, place, &matcher, &used, reader);
            values.push(entry.values.clone());
            first_value.push(first_value[attribute] + entry.values.len() as u32);
            names.push(name);
        }
        if names.is_empty() {
            return Err(unknown.unwrap_or(DomainError::NothingProtected.into()));
        }
        words.remove(&(reader.tokenizer.unknown() as i32));
        let rule = match preset {
            Preset::Paper => Rule::Paper(Terms::new(all)),
            Preset::English => Rule::English(Box::new(Substitution::new(lexicon, &names)?)),
        };
        Ok(Protected {
            rule,
            attributes: names,
            words,
            counts,
            first_value,
            values,
            left_out: BTreeSet::new(),
        })
    }

    /// Returns these attributes with `values` put in the place of no other ones.
    #[must_use]
    pub(crate) fn without(self, values: BTreeSet<u32>) -> Protected {
        Protected {
            left_out: values,
            ..self
        }
    }

    /// Names of the attributes.
    pub fn attributes(&self) -> &[String] {
        &self.attributes
    }

    /// Names of the values of each attribute.
    pub fn values(&self) -> &[Vec<String>] {
        &self.values
    }

    /// The number of terms, and those that cannot be used.
    pub fn counts(&self) -> &TermCounts {
        &self.counts
    }

    /// Whether `word` is part of a protected term.
    pub fn has_word(&self, word: i32) -> bool {
        self.words.contains(&word)
    }

    /// That nothing can be exchanged in a text, which names the attributes `named`, or is in another
    /// language than terms are looked for in.
    pub(crate) fn no_term(&self, named: &[Naming], is_foreign: bool) -> AuditError {
        let attributes = match named {
            [] => self.attributes.join(", "),
            named => {
                let names = named
                    .iter()
                    .map(|naming| &self.attributes[naming.attribute][..]);
                names.collect::<Vec<_>>().join(" and ")
            }
        };
        let kept_by = named
            .iter()
            .flat_map(|naming| naming.kept_by.iter().cloned());
        AuditError::NoTermInText {
            attributes,
            kept_by: (!named.is_empty()).then(|| kept_by.collect()),
            is_foreign,
        }
    }

    /// The number of terms that can be put in the place of others: the numbers of
    /// [`Exchange::number`] are below it.
    pub fn numbers(&self) -> usize {
        match &self.rule {
            Rule::English(_) => self.first_value.last().map_or(0, |&last| last as usize),
            Rule::Paper(terms) => terms.all().len(),
        }
    }

    /// Reads `text`, as `tokens` splits it.
    ///
    /// # Errors
    /// When the text or a substitute in it cannot be split.
    pub fn read(&self, tokens: &Tokens<'_>, text: &EncodedText) -> Result<Read, AuditError> {
        let read = self.read_all(tokens, text)?;
        Ok(Read {
            source: read.source.without_values(&self.left_out),
            ..read
        })
    }

    /// Reads `text` with all values.
    fn read_all(&self, tokens: &Tokens<'_>, text: &EncodedText) -> Result<Read, AuditError> {
        match &self.rule {
            Rule::Paper(terms) => {
                let mut sites = terms.sites(&text.ids);
                let exchanges = sites.iter_mut().flat_map(|site| &mut site.exchanges);
                for edit in exchanges.flat_map(|exchange| &mut exchange.edits) {
                    let first = text.bytes[edit.tokens.start].start;
                    let old = text.text.get(first..text.bytes[edit.tokens.end - 1].end);
                    edit.spelled = in_case_of(old.unwrap_or_default(), &edit.spelled);
                }
                Ok(Read {
                    source: Source::new(text.ids.clone(), sites, Vec::new()),
                    is_english: true,
                    named: Vec::new(),
                })
            }
            Rule::English(substitution) => self.read_english(substitution, tokens, text),
        }
    }

    /// The analysis of `text` as English; none by the rule of the paper.
    ///
    /// # Errors
    /// When the text cannot be split.
    pub fn analyse(&self, text: &str) -> Result<Option<Analysis>, AuditError> {
        match &self.rule {
            Rule::English(substitution) => Ok(Some(substitution.analyse(text)?)),
            Rule::Paper(_) => Ok(None),
        }
    }

    fn read_english(
        &self,
        substitution: &Substitution,
        tokens: &Tokens<'_>,
        text: &EncodedText,
    ) -> Result<Read, AuditError> {
        let analysis = substitution.analyse(&text.text)?;
        let mut sites = Vec::new();
        for site in &analysis.sites {
            let mut exchanges = Vec::with_capacity(site.exchanges.len());
            let mut spans: Vec<Range<usize>> = Vec::new();
            for exchange in &site.exchanges {
                let Some(edits) = tokens.edits(text, &exchange.edits)? else {
                    continue;
                };
                spans.extend(edits.iter().map(|edit| edit.tokens.clone()));
                exchanges.push(Exchange {
                    to: exchange.term.clone(),
                    number: self.first_value[site.attribute] + exchange.value as u32,
                    value: self.first_value[site.attribute] + exchange.value as u32,
                    edits,
                });
            }
            if !exchanges.is_empty() {
                sites.push(Site {
                    attribute: site.attribute,
                    from: site.term.clone(),
                    value: self.first_value[site.attribute] + site.value as u32,
                    spans: merged(spans).into_iter().collect::<SmallVec<_>>(),
                    class: site.attribute as u32,
                    exchanges,
                });
            }
        }
        let is_fixed = |bytes: &Range<usize>| {
            let words = analysis.words.iter().filter(|word| word.is_fixed);
            let mut words = words.map(|word| &word.bytes);
            words.any(|word| word.start < bytes.end && bytes.start < word.end)
        };
        let fixed = text.bytes.iter().enumerate();
        let fixed = fixed.filter(|(_, bytes)| is_fixed(bytes));
        let fixed = fixed.map(|(position, _)| position..position + 1).collect();
        Ok(Read {
            source: Source::new(text.ids.clone(), sites, fixed),
            is_english: analysis.is_english,
            named: named(&analysis, &text.text),
        })
    }
}

/// The attributes of which `text`, which was analysed, names a value.
fn named(analysis: &Analysis, text: &str) -> Vec<Naming> {
    let attributes: BTreeSet<usize> = analysis.named.iter().map(|named| named.attribute).collect();
    let naming = |attribute: usize| {
        let binding = analysis.binding.iter();
        let binding = binding.filter(|words| words.attribute == attribute);
        Naming {
            attribute,
            kept_by: binding
                .filter_map(|words| text.get(words.bytes.clone()))
                .map(str::to_lowercase)
                .collect(),
        }
    };
    attributes.into_iter().map(naming).collect()
}

/// Number of each usable term of an attribute, by value and tokens.
fn known_terms(
    matcher: &TermMatcher,
    reader: &TextReader,
    counts: &mut TermCounts,
) -> HashMap<(usize, Vec<String>), usize> {
    let mut used = HashMap::new();
    let mut unknown_terms = BTreeSet::new();
    for number in 0..matcher.terms() {
        let tokens = matcher.tokens(number);
        let unknown = reader.tokenizer.unknown();
        if tokens
            .iter()
            .any(|word| reader.tokenizer.id(word) == unknown)
        {
            unknown_terms.insert(number);
        } else if let Some(value) = matcher.value(number) {
            used.insert((value, tokens.to_vec()), number);
        }
    }
    let unknown_terms = unknown_terms.into_iter();
    let unknown_terms = unknown_terms.map(|number| matcher.text(number).to_owned());
    counts.without_embedding.extend(unknown_terms);
    used
}

/// Adds the `used` terms of an attribute to `all`, numbered on from what is there.
fn append(
    all: &mut Vec<Term>,
    (attribute, first_value): (usize, u32),
    matcher: &TermMatcher,
    used: &HashMap<(usize, Vec<String>), usize>,
    reader: &TextReader,
) {
    let mut order: Vec<usize> = used.values().copied().collect();
    order.sort_unstable();
    let first = all.len() as u32;
    let places: HashMap<usize, u32> = order.iter().copied().zip(first..).collect();
    let values: HashMap<usize, usize> = used
        .iter()
        .map(|((value, _), &number)| (number, *value))
        .collect();
    for number in order {
        let others = matcher
            .substitutes(number)
            .iter()
            .filter_map(|other| used.get(&(other.value, other.tokens.clone())))
            .filter_map(|other| places.get(other).copied())
            .collect();
        let ids = matcher.tokens(number).iter();
        let tokens: Vec<i32> = ids.map(|word| reader.tokenizer.id(word) as i32).collect();
        all.push(Term {
            attribute,
            value: first_value + values.get(&number).copied().unwrap_or_default() as u32,
            spelled: words(reader, &tokens),
            tokens,
            others,
        });
    }
}
