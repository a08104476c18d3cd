//! The rule that a group is exchanged as a whole or not at all: the values that a text leaves free.
//!
//! A value of an attribute is free where
//!
//! * every word of the text that the lexicon binds to values of the attribute is bound to this one:
//!   "the mosque" speaks of Muslims, whoever else is named, "the pastor" of Christians of any kind;
//! * no mention of it would stay: none stands in a tag, an address or markup ("#Muslims"), in a name
//!   ("Muslim Brotherhood"), or in another place where no term is exchanged.
//!
//! A value takes the place of another where both are free. So no side of a pair holds a word that is
//! bound to another value than its own.

use std::ops::Range;

use super::analysis::{Exchange, Site};
use super::exchanges::Occurrence;
use super::sentence::Words;
use super::terms::{Free, Term, Terms};
use crate::english::possible_tags;

/// The least number of letters of a term that is found inside of a tag, whatever is beside it.
const LONG: usize = 5;

/// The least number of letters of a term, and of the word beside it, that make up a tag.
const SHORT: usize = 3;

/// Returns which values of the attribute at position `at` of the lexicon the text leaves free. `all`
/// are the terms in the text, in whatever sense, and `found` those that name values.
pub(super) fn free(
    words: &Words,
    terms: &Terms,
    all: &[(usize, Range<usize>)],
    at: usize,
    found: &[&Occurrence],
) -> Free {
    let attribute = &terms.attributes[at];
    let places: Vec<&Range<usize>> = found.iter().map(|found| &found.place).collect();
    let mut free = attribute.agreeing(words, &places);
    for (number, place) in all {
        let term = &terms.terms[*number];
        let mut places = places.iter();
        let is_exchanged = places.any(|other| other.start < place.end && place.start < other.end);
        if term.attribute != at || is_exchanged {
            continue;
        }
        let stays = match words.all[place.clone()].iter().any(|w| w.is_untouched) {
            true => is_tag(words, place.start) || !term.is_ambiguous() && !is_user(words, place),
            // "He or she" and the like are said of both.
            false => !attribute.exchange && !term.is_ambiguous(),
        };
        if stays {
            free.values[term.value] = false;
            free.by.push(place.clone());
        }
    }
    for tag in (0..words.len()).filter(|&at| is_tag(words, at)) {
        let of = terms.terms.iter().filter(|term| term.attribute == at);
        for term in of.filter(|term| is_in_tag(term, words.plain(tag))) {
            free.values[term.value] = false;
            free.by.push(tag..tag + 1);
        }
    }
    free
}

/// Divides `sites` of one attribute: those in which values that are `free` are exchanged, with these
/// exchanges, and those in which none is.
pub(super) fn divide(sites: Vec<Site>, free: &[bool]) -> (Vec<Site>, Vec<Site>) {
    let is_free = |value: usize| free.get(value).copied().unwrap_or_default();
    let may = move |value: usize| move |other: &Exchange| is_free(value) && is_free(other.value);
    let (mut left, bound): (Vec<Site>, Vec<Site>) = sites
        .into_iter()
        .partition(|site| site.exchanges.iter().any(may(site.value)));
    for site in &mut left {
        site.exchanges.retain(may(site.value));
    }
    (left, bound)
}

/// Returns whether the word at `at` is a tag: "#Muslims".
fn is_tag(words: &Words, at: usize) -> bool {
    let mark = at.checked_sub(1).filter(|&mark| words.plain(mark) == "#");
    mark.is_some_and(|mark| words.is_glued(mark))
        && words.get(at).is_some_and(|word| word.is_untouched)
}

/// Returns whether `tag` is put together of the words of `term` and others: "muslimban".
fn is_in_tag(term: &Term, tag: &str) -> bool {
    let joined = term.words.concat();
    if joined.len() >= LONG {
        return tag.contains(&joined);
    }
    let rest = tag
        .strip_prefix(&*joined)
        .or_else(|| tag.strip_suffix(&*joined));
    joined.len() >= SHORT
        && rest.is_some_and(|rest| rest.len() >= SHORT && !possible_tags(rest).is_empty())
}

/// Returns whether the words at `place` belong to the name of a user or to the address of an e-mail,
/// which says nothing of whom the text is about.
fn is_user(words: &Words, place: &Range<usize>) -> bool {
    let Some(word) = words.get(place.start) else {
        return false;
    };
    let before = words.text.get(..word.bytes.start).unwrap_or_default();
    let from = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let behind = words.text.get(from..).unwrap_or_default();
    behind
        .split_whitespace()
        .next()
        .is_some_and(|chunk| chunk.contains('@'))
}

#[cfg(test)]
mod tests {
    use crate::lexicon::Lexicon;
    use crate::substitution::Substitution;

    const PLANETS: &str = r##"
[[attribute]]
name = "planet"
values = ["martian", "venusian", "jovian", "human"]
unless = ["robot"]
[[attribute.bound]]
values = ["martian", "venusian"]
words = ["{cave,caves}"]
[[attribute.bound]]
values = ["martian"]
words = ["red dust"]
[[attribute.bound]]
values = ["jovian"]
words = ["storm", "jovian moon"]
"##;

    /// Returns the values of the sites of `text`, each with those that may take its place, and the
    /// number of values that other words bind.
    fn exchanged(text: &str) -> (Vec<(String, Vec<String>)>, usize) {
        let lexicon = Lexicon::from_toml(PLANETS).unwrap();
        let substitution = Substitution::new(&lexicon, &[]).unwrap();
        let analysis = substitution.analyse(text).unwrap();
        let name = |value: usize| substitution.values(0)[value].clone();
        let sites = analysis.sites.iter().map(|site| {
            let others = site.exchanges.iter();
            (name(site.value), others.map(|it| name(it.value)).collect())
        });
        (sites.collect(), analysis.bound.len())
    }

    fn only(value: &str, others: &[&str]) -> (Vec<(String, Vec<String>)>, usize) {
        let others = others.iter().map(|&other| other.to_owned());
        (vec![(value.to_owned(), others.collect())], 0)
    }

    #[test]
    fn a_bound_word_is_of_both_sides_or_none_is_exchanged() {
        let all = only("martian", &["venusian", "jovian", "human"]);
        assert_eq!(exchanged("The martian is at home with the children."), all);
        let caves = only("martian", &["venusian"]);
        assert_eq!(exchanged("The martian is in the caves with them."), caves);
        for text in [
            "The martian is in the cave with all the red dust of the world.",
            "The human is in the cave with the children.",
            "The martian is in the storm with the children.",
            "The martian is in the storm and in the cave with them.",
            "The human and the robot are at home with the children.",
        ] {
            assert_eq!(exchanged(text), (Vec::new(), 1), "{text}");
        }
    }

    #[test]
    fn the_words_that_bind_are_told() {
        let lexicon = Lexicon::from_toml(PLANETS).unwrap();
        let substitution = Substitution::new(&lexicon, &[]).unwrap();
        let binding = |text: &str| -> Vec<String> {
            let analysis = substitution.analyse(text).unwrap();
            let words = analysis.binding.iter();
            words.map(|of| text[of.bytes.clone()].to_owned()).collect()
        };
        let text = "The martian is in the Storm with the children.";
        assert_eq!(binding(text), ["Storm"]);
        // Where something can be exchanged, nothing keeps it.
        assert!(binding("The martian is in the caves with them.").is_empty());
    }

    #[test]
    fn what_lies_in_a_term_is_no_word_of_its_own() {
        let lexicon = PLANETS.replace("\"jovian\", \"human\"", "\"jovian storm\", \"human\"");
        let lexicon = lexicon.replace("[\"jovian\"]", "[\"jovian storm\"]");
        let lexicon = Lexicon::from_toml(&lexicon).unwrap();
        let substitution = Substitution::new(&lexicon, &[]).unwrap();
        let exchanges = |text: &str| {
            let sites = substitution.analyse(text).unwrap().sites;
            sites.iter().map(|site| site.exchanges.len()).sum::<usize>()
        };
        assert_eq!(exchanges("The jovian storm is near the old house."), 3);
        assert_eq!(exchanges("The jovian storm is near a storm of snow."), 0);
    }

    #[test]
    fn every_mention_is_exchanged_or_none() {
        let all = only("martian", &["venusian", "jovian", "human"]);
        for text in [
            "The martian met a martian at home with the children.",
            "@martian the martian is at home with the children.",
            "The martian is at home, write to x.martian@home.org about it.",
        ] {
            assert_eq!(exchanged(text), all, "{text}");
        }
        let others = only("martian", &["venusian", "human"]);
        for text in [
            "The martian is at home with the children. #jovian",
            "The martian is at home with the children. #Jovians",
            "The martian is at home with them, see http://jovian.org/home for more.",
        ] {
            assert_eq!(exchanged(text), others, "{text}");
        }
        for text in [
            "The martian is at home with the children. #martian",
            "The martian is at home with the children. #LoveMartians",
            "The martian is at home with them, see http://martian.org/home for more.",
        ] {
            assert_eq!(exchanged(text), (Vec::new(), 1), "{text}");
        }
    }
}
