//! The choice between the senses of a term: whether it names its value at its place.

use std::ops::Range;

use super::agreement;
use super::phrase::{Determiner, is_and};
use super::sentence::{Known, Style, Words};
use super::terms::{Attribute, Term, Terms};
use crate::english::{self, Tag};
use crate::lexicon::Part;

/// A term at its place, with the knowledge that decides its sense.
pub(super) struct Place<'a> {
    pub(super) words: &'a Words<'a>,
    pub(super) terms: &'a Terms,
    pub(super) place: &'a Range<usize>,
    pub(super) term: &'a Term,
    /// The forms that the term is read in.
    pub(super) forms: &'a [usize],
    /// For each word, the attribute whose value the word is known to name.
    pub(super) named: &'a [Option<usize>],
}

impl Place<'_> {
    /// Returns whether the term names its value.
    pub(super) fn is_identity(&self) -> bool {
        !self.is_doubled()
            && !self.is_of_nature()
            && !self.is_in_name_of_place()
            && !self.is_shouted()
            && self.is_said()
            && (!self.term.is_common || self.is_spelled())
            && (!self.term.is_bare || self.is_determined())
            && (!self.term.is_name || self.is_no_name())
            && (!self.term.is_quality || self.is_of_persons())
    }

    /// Returns whether a term of the same attribute stands right beside this one: in "Canadian
    /// French" and "Irish American" one is of the other, and both are of one kind.
    fn is_doubled(&self) -> bool {
        let is_same = |at: usize| {
            let found = self.terms.at(self.words, at);
            found.iter().any(|(number, other)| {
                let is_apart = other.end <= self.place.start || self.place.end <= other.start;
                is_apart && self.terms.terms[*number].attribute == self.term.attribute
            })
        };
        let are_adjectives = self.has(Part::Adjective) || self.has(Part::Noun);
        let before = self.place.start.checked_sub(1);
        let before = before.filter(|&at| self.words.gap(at) == " ");
        let is_behind = self.words.gap(self.place.end - 1) == " ";
        are_adjectives
            && !self.attribute().exchange
            && (before.is_some_and(is_same) || is_behind && is_same(self.place.end))
    }

    /// Returns whether the term describes an animal or a plant, whose kinds are called after
    /// peoples: "Persian cat", "Norwegian spruce".
    fn is_of_nature(&self) -> bool {
        let described = || self.words.described(self.place.end, false);
        self.has(Part::Adjective)
            && described().is_some_and(|(_, last)| english::is_of_nature(self.words.plain(last)))
    }

    /// Returns whether the term begins the name of a place: "British India".
    fn is_in_name_of_place(&self) -> bool {
        let next = self.place.end;
        let is_place = |word: &Known| {
            word.is_capitalised()
                && !self.terms.at(self.words, next).is_empty()
                && !self.is_noun_or_adjective(next)
        };
        self.has(Part::Adjective)
            && self.words.gap(next - 1) == " "
            && self.words.style == Style::Mixed
            && self.words.get(next).is_some_and(is_place)
    }

    /// Returns whether the term is a function word in a run of capitals, as "US" in "TELL US".
    fn is_shouted(&self) -> bool {
        let words = self.words;
        let is_loud = |at: Option<usize>| {
            let word = at.and_then(|at| words.get(at));
            word.is_some_and(|word| {
                word.original.len() > 1 && word.original.chars().all(char::is_uppercase)
            })
        };
        let before = words.before(self.place.start);
        let is_behind_the = before.is_some_and(|at| words.plain(at) == "the");
        !self.attribute().exchange
            && self.place.len() == 1
            && is_loud(Some(self.place.start))
            && english::is_function_word(words.plain(self.place.start))
            && !is_behind_the
            && (is_loud(before) || is_loud(words.after(self.place.end)))
    }

    /// Returns whether an article or another determiner stands before the term: "the nun". "Its nun
    /// wrong" is "it's none wrong".
    fn is_determined(&self) -> bool {
        let before = self.words.before(self.place.start);
        let is_it = before.is_some_and(|at| matches!(self.words.plain(at), "its" | "'s"));
        !is_it && self.words.determiner(self.place.start).is_some()
    }

    fn attribute(&self) -> &Attribute {
        &self.terms.attributes[self.term.attribute]
    }

    fn has(&self, part: Part) -> bool {
        let forms = self.forms.iter();
        forms
            .map(|&form| self.attribute().forms[form].part)
            .any(|other| other == Some(part))
    }

    fn is_spelled(&self) -> bool {
        let (Some(first), Some(last)) = (
            self.words.get(self.place.start),
            self.words.get(self.place.end - 1),
        ) else {
            return false;
        };
        let written = self.words.text.get(first.bytes.start..last.bytes.end);
        self.words.style == Style::Mixed
            && (!first.starts || self.is_clear())
            && written.is_some_and(|written| {
                written.replace('-', " ") == self.term.spelling.replace('-', " ")
            })
    }

    /// Returns whether the first word of a sentence, whose capital says nothing, is what the
    /// lexicon means: said of persons, or in a text that names other values.
    fn is_clear(&self) -> bool {
        let words = self.words;
        let is_person = |at: usize| words.get(at).is_some_and(|word| self.is_person(word));
        let described = words.described(self.place.end, true);
        described.is_some_and(|(_, last)| is_person(last))
            || self.has(Part::Plural)
                && matches!(words.tag(self.place.end), Some(Tag::Vbp | Tag::Md))
            || (0..words.len())
                .any(|at| !self.place.contains(&at) && self.named[at] == Some(self.term.attribute))
    }

    fn is_no_name(&self) -> bool {
        if self.words.style != Style::Mixed {
            return true;
        }
        let is_small = |text: &str| !text.starts_with(char::is_uppercase);
        let first = self.words.get(self.place.start);
        let is_written_small = first.is_some_and(|word| is_small(word.original));
        if is_written_small && !is_small(&self.term.spelling) {
            return true;
        }
        let is_title = |at: usize| {
            let other = self.words.get(at);
            other.is_some_and(|other| {
                other.is_capitalised()
                    && !english::is_function_word(other.original)
                    && !self.is_noun_or_adjective(at)
            })
        };
        let is_part_of_title = is_small(&self.term.spelling)
            && !is_written_small
            && first.is_some_and(|word| !word.starts)
            && !agreement::is_heading(self.words, self.place)
            && (is_title(self.place.start - 1) || is_title(self.place.end));
        if is_part_of_title {
            return false;
        }
        let before = self.place.start.checked_sub(1);
        let before = before.filter(|&at| !is_written_small && self.words.gap(at) == " ");
        let after = Some(self.place.end).filter(|&at| self.words.gap(at - 1) == " ");
        !before.is_some_and(|at| self.is_name(at)) && !after.is_some_and(|at| self.is_name(at))
    }

    /// Returns whether the word at `at` is a name that is no term.
    fn is_name(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else {
            return false;
        };
        let terms = self.terms.at(self.words, at);
        if !terms.is_empty() && word.is_capitalised() && !self.is_noun_or_adjective(at) {
            return true;
        }
        word.is_capitalised()
            && self.named.get(at).is_none_or(Option::is_none)
            && !self.is_noun_or_adjective(at)
            && !english::is_function_word(word.original)
            && !self.terms.is_person(&word.plain)
            && !is_known(word)
    }

    /// Returns whether a term stands at `at` that is no name.
    fn is_noun_or_adjective(&self, at: usize) -> bool {
        let found = self.terms.at(self.words, at);
        found.iter().any(|&(number, _)| {
            let term = &self.terms.terms[number];
            let forms = &self.terms.attributes[term.attribute].forms;
            let mut parts = term.forms.iter().map(|&form| forms[form].part);
            parts.any(|part| part != Some(Part::Name))
        })
    }

    fn is_person(&self, word: &Known) -> bool {
        english::is_person(&word.plain) || self.terms.is_person(&word.plain)
    }

    fn is_of_persons(&self) -> bool {
        let words = self.words;
        if self.has(Part::Collective) || self.is_listed() {
            return true;
        }
        let compound = words.compound_end(self.place.end);
        if let Some((first, last)) = words.described(self.place.end, true) {
            let is_person = |at: usize| words.get(at).is_some_and(|word| self.is_person(word));
            // "white people queue", but "old Viking language"
            let is_plain = words.get(first).is_some_and(|word| !word.is_capitalised());
            let is_shouted = words.style == Style::Upper;
            return is_person(last) || is_person(first) && (is_plain || is_shouted);
        }
        if compound > self.place.end {
            return words
                .get(compound - 1)
                .is_some_and(|word| self.is_person(word));
        }
        if self.has(Part::Plural) {
            let before = words.before(self.place.start);
            let is_thing = before
                .and_then(|at| words.get(at))
                .is_some_and(|word| word.tag.is_noun() && word.is_word() && !self.is_person(word));
            return !is_thing && !self.is_before_things();
        }
        if self.has(Part::Noun) && words.determiner(self.place.start) == Some(Determiner::Singular)
        {
            return true;
        }
        let is_person = |word: &Known| self.is_person(word);
        words
            .linking(self.place.start)
            .is_some_and(|verb| words.is_of_persons(verb, self.place.start, &is_person))
    }

    /// Returns whether a noun of several stands right behind the term: "whites pies" are those of a
    /// family White.
    fn is_before_things(&self) -> bool {
        let next = self.words.get(self.place.end);
        self.words.gap(self.place.end - 1) == " " && next.is_some_and(|word| word.tag == Tag::Nns)
    }

    /// Returns whether an adjective with a capital, which in many places is the name of a language,
    /// is none: not "by English", nor "it is French for".
    fn is_said(&self) -> bool {
        let words = self.words;
        let is_adjective = self.has(Part::Adjective)
            && !self.has(Part::Noun)
            && self.term.spelling.starts_with(char::is_uppercase);
        if !is_adjective || words.described(self.place.end, true).is_some() {
            return true;
        }
        let before = words.before(words.compound_start(self.place.start));
        let is_of_language = before.and_then(|at| words.get(at)).is_some_and(|word| {
            matches!(word.tag, Tag::In | Tag::To)
                && !["than", "like", "as", "because"].contains(&word.plain.as_str())
        });
        let is_person = |word: &Known| self.is_person(word);
        let is_called = before
            .and_then(|at| words.get(at))
            .is_none_or(|word| word.tag == Tag::Prp || word.tag.is_adverb() || is_person(word));
        let is_listed = self.is_listed();
        // "French in Algeria": of a people as well as of its language, and in none of its forms.
        let forms = &self.attribute().forms;
        let is_of_people = forms.iter().any(|form| form.part == Some(Part::Collective));
        let starts = words.get(self.place.start).is_some_and(|word| word.starts);
        match words.linking(self.place.start) {
            Some(verb) => {
                !is_of_language && words.is_of_persons(verb, self.place.start, &is_person)
                    || is_listed
            }
            None => !is_of_language && (!is_of_people || is_called || is_listed || starts),
        }
    }

    /// Returns whether the term is joined by "and" to a word that names a value of the attribute.
    fn is_listed(&self) -> bool {
        let names = |at: Option<usize>| {
            let named = at.and_then(|at| self.named.get(at).copied().flatten());
            named == Some(self.term.attribute)
        };
        let words = self.words;
        let before = words.before(self.place.start);
        let behind = words.after(self.place.end);
        let is_joined = |at: Option<usize>| at.is_some_and(|at| is_and(words.plain(at)));
        (is_joined(before) && names(before.and_then(|at| words.before(at))))
            || (is_joined(behind) && names(behind.map(|at| at + 1)))
    }
}

/// Returns whether the word is an everyday word that is written with a capital here.
fn is_known(word: &Known) -> bool {
    let is_person = english::is_person(&word.plain);
    english::lemmas(&word.plain).iter().any(|lemma| {
        let known = english::lemma(lemma);
        known.is_some_and(|known| !known.is_proper() && (is_person || !known.can_be_name()))
    })
}
