//! The kinds of things that nouns name.

use std::num::NonZeroU8;

use super::dictionary::lemma;
use super::inflection::lemmas;

/// Returns whether both nouns, in any form, name the same kind of thing in their first sense: a
/// person, an artifact, an animal, a time, one of the 26 kinds that WordNet's lexicographers keep
/// in files of their own. False where the dictionary does not have one of them as a noun.
pub fn are_of_one_kind(one: &str, other: &str) -> bool {
    kind(one).is_some_and(|one| kind(other) == Some(one))
}

/// The number of the first kind, from which the dictionary counts the kinds in letters.
const FIRST: u8 = 3;

/// The kinds of animals and plants.
const NATURE: [u8; 2] = [5, 20];

/// Returns whether the noun, in any form, names an animal or a plant in its first sense. Letters
/// name none.
pub fn is_of_nature(noun: &str) -> bool {
    noun.len() > 1 && kind(noun).is_some_and(|kind| NATURE.contains(&(kind.get() - b'a' + FIRST)))
}

fn kind(noun: &str) -> Option<NonZeroU8> {
    let mut bases = lemmas(noun).into_iter();
    bases.find_map(|base| lemma(&base)?.kind())
}

#[cfg(test)]
mod tests {
    use super::{are_of_one_kind, is_of_nature};

    #[test]
    fn what_grows_is_told_from_what_is_made() {
        for word in ["cats", "spaniel", "oaks", "horse"] {
            assert!(is_of_nature(word), "{word}");
        }
        for word in ["carpet", "editor", "b", "qwertz"] {
            assert!(!is_of_nature(word), "{word}");
        }
    }

    #[test]
    fn kinds_are_those_of_the_first_senses() {
        for (one, other) in [
            ("pages", "articles"),
            ("toddler", "child"),
            ("bus", "tram"),
            ("goat", "hen"),
            ("years", "months"),
            ("idiot", "fool"),
        ] {
            assert!(are_of_one_kind(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("children", "years"),
            ("author", "essay"),
            ("victim", "case"),
            ("specialist", "study"),
            ("pages", "years"),
            ("page", "qwertz"),
            ("", ""),
        ] {
            assert!(!are_of_one_kind(one, other), "{one} {other}");
        }
    }
}
