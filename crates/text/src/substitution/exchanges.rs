//! The search for the places where a text names values, and for the edits that exchange them.

use std::ops::Range;

use super::senses::Place;
use crate::lexicon::Part;

use super::agreement::Setting;
use super::analysis::{Edit, Exchange, Site};
use super::reading;
use super::sentence::Words;
use super::terms::{Form, Terms};

/// A term that names its value, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// The position of the attribute in the lexicon.
    pub(super) attribute: usize,
    pub(super) value: usize,
    /// The number of the term.
    pub(super) term: usize,
    pub(super) place: Range<usize>,
    /// The forms that the term is read in, the best first.
    forms: Vec<usize>,
}

/// Finds the terms of all attributes that name values of persons, groups or places, from left to
/// right.
pub(super) fn occurrences(
    words: &Words,
    terms: &Terms,
    all: &[(usize, Range<usize>)],
) -> Vec<Occurrence> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut excepted = terms.excepted(words);
    for phrases in &mut excepted {
        phrases.retain(|phrase| !is_missing(words, phrase));
    }
    let mut named = vec![None; words.len()];
    let mut found = Vec::new();
    // A second time with what the first has found: "white and black", of which one says of whom.
    for _ in 0..2 {
        let mut is_doubtful = false;
        found = round(words, terms, all, &excepted, &named, &mut is_doubtful);
        if found.is_empty() || !is_doubtful {
            break;
        }
        for occurrence in &found {
            named[occurrence.place.clone()].fill(Some(occurrence.attribute));
        }
    }
    found
}

/// Returns whether `phrase`, which a lexicon excepts as one of a title ("Miss Universe"), begins with the
/// verb instead: "I miss her".
fn is_missing(words: &Words, phrase: &Range<usize>) -> bool {
    let first = words.get(phrase.start);
    first.is_some_and(|word| word.plain == "miss" && !word.is_capitalised() && word.tag.is_verb())
}

/// Returns whether the words at `place` belong to `phrase`, and not `phrase` to them.
fn is_part(place: &Range<usize>, phrase: &Range<usize>) -> bool {
    let is_inside = place.start <= phrase.start && phrase.end <= place.end;
    phrase.start < place.end
        && place.start < phrase.end
        && !(is_inside && phrase.len() < place.len())
}

fn round(
    words: &Words,
    terms: &Terms,
    all: &[(usize, Range<usize>)],
    excepted: &[Vec<Range<usize>>],
    named: &[Option<usize>],
    is_doubtful: &mut bool,
) -> Vec<Occurrence> {
    let mut done = vec![0; terms.attributes.len()];
    let mut found: Vec<Occurrence> = Vec::new();
    for (number, place) in all {
        let term = &terms.terms[*number];
        let attribute = term.attribute;
        let is_out = place.start < done[attribute]
            || words.all[place.clone()]
                .iter()
                .any(|word| word.is_untouched)
            || excepted[attribute]
                .iter()
                .any(|phrase| is_part(place, phrase))
            || reading::is_fragment(words, place)
            || reading::is_exclamation(words, place);
        if is_out {
            continue;
        }
        let forms = reading::forms(words, place, term, &terms.attributes[attribute]);
        let asked = Place {
            words,
            terms,
            place,
            term,
            forms: &forms,
            named,
        };
        if forms.is_empty() {
            continue;
        }
        if !asked.is_identity() {
            *is_doubtful = true;
            continue;
        }
        done[attribute] = place.end;
        found.push(Occurrence {
            attribute,
            value: term.value,
            term: *number,
            place: place.clone(),
            forms,
        });
    }
    // A term inside a longer one of another attribute is no term of its own: "African American".
    let places: Vec<Range<usize>> = found.iter().map(|o| o.place.clone()).collect();
    found.retain(|occurrence| {
        let inner = &occurrence.place;
        !places.iter().any(|outer| {
            outer.len() > inner.len() && outer.start <= inner.start && inner.end <= outer.end
        })
    });
    found
}

/// Returns the sites of the attribute at position `at` of the lexicon, whose position among the
/// attributes of the substitution is `number`.
pub(super) fn sites(
    words: &Words,
    terms: &Terms,
    at: usize,
    number: usize,
    found: &[&Occurrence],
) -> Vec<Site> {
    let attribute = &terms.attributes[at];
    if found.is_empty() {
        return Vec::new();
    }
    let mut named: Vec<usize> = Vec::new();
    for occurrence in found {
        if !named.contains(&occurrence.value) {
            named.push(occurrence.value);
        }
    }
    let spelling = |occurrence: &Occurrence| terms.terms[occurrence.term].spelling.as_str();
    let settings = found
        .iter()
        .map(|o| Setting::new(words, &o.place, spelling(o)));
    let Some(settings) = settings.collect::<Option<Vec<Setting>>>() else {
        return Vec::new();
    };
    let mut sites = Vec::new();
    for (position, &value) in named.iter().enumerate() {
        let others = (0..attribute.values.len()).filter(|other| *other != value);
        let others = others.filter(|other| {
            // Of two that are exchanged for each other, the first is the site.
            let named_at = named.iter().position(|named| named == other);
            named_at.is_none_or(|named_at| attribute.exchange && named_at > position)
        });
        let exchanges: Vec<Exchange> = others
            .filter_map(|other| exchange(terms, found, &settings, value, other))
            .collect();
        let of_value = found
            .iter()
            .filter(|occurrence| occurrence.value == value || attribute.exchange);
        let Some(first) = found.iter().find(|occurrence| occurrence.value == value) else {
            continue;
        };
        if !exchanges.is_empty() {
            sites.push(Site {
                attribute: number,
                value,
                term: terms.terms[first.term].spelling.clone(),
                occurrences: of_value
                    .map(|occurrence| bytes(words, &occurrence.place))
                    .collect(),
                exchanges,
            });
        }
    }
    sites
}

/// Returns the bytes of the words of `place`.
pub(super) fn bytes(words: &Words, place: &Range<usize>) -> Range<usize> {
    words.all[place.start].bytes.start..words.all[place.end - 1].bytes.end
}

/// Returns the exchange that puts `other` in the place of `value`, and `value` in the place of
/// `other` where the text names that too; nothing where a form lacks a term.
fn exchange(
    terms: &Terms,
    found: &[&Occurrence],
    settings: &[Setting],
    value: usize,
    other: usize,
) -> Option<Exchange> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut first = None;
    for (occurrence, setting) in found.iter().zip(settings) {
        let attribute = &terms.attributes[occurrence.attribute];
        let new = if occurrence.value == value {
            other
        } else if occurrence.value == other {
            value
        } else {
            continue;
        };
        // "New Zealand wine", but no "she is New Zealand".
        let stands = |form: &Form, term: &str| {
            let is_name = form.part == Some(Part::Adjective) && terms.is_name(term);
            !is_name || setting.is_before_noun()
        };
        let term_of = |form: &Form| form.terms[new].clone().filter(|term| stands(form, term));
        let forms = occurrence.forms.iter().map(|&form| &attribute.forms[form]);
        let (form, by) = forms
            .filter_map(|form| Some((form, term_of(form)?)))
            .next()?;
        setting.edits(&by, form.part, &mut edits);
        if occurrence.value == value {
            first.get_or_insert(by);
        }
    }
    edits.sort_by_key(|edit| edit.bytes.start);
    edits.dedup();
    Some(Exchange {
        value: other,
        term: first?,
        edits,
    })
}
