//! The words around a term: determiners, the nouns that it describes, and the person of whom a verb
//! says it.

use super::sentence::{Known, Words};
use crate::english::{self, Tag};

/// The number of words that are read on either side.
const REACH: usize = 8;

/// The least share of uses as a verb by which a word counts as a verb where it could be one.
const MOSTLY: f32 = 0.6;

/// The number that a determiner gives to its noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Determiner {
    /// The determiner takes a singular: "a", "this", "every".
    Singular,
    /// The determiner takes a plural: "these", "many", "two".
    Plural,
    /// The determiner takes either: "the", "my", "no", "John's".
    Any,
}

const SINGULAR: [&str; 12] = [
    "a", "an", "this", "that", "another", "every", "each", "one", "either", "neither", "fellow",
    "non",
];
const PLURAL: [&str; 16] = [
    "these", "those", "many", "few", "several", "all", "both", "most", "plenty", "two", "three",
    "four", "other", "fellow", "more", "various",
];
const ANY: [&str; 9] = [
    "the", "no", "any", "which", "what", "whose", "such", "your", "ur",
];

/// Forms of verbs that say what somebody is.
const LINKING: [&str; 44] = [
    "be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s", "im", "ur", "s",
    "become", "becomes", "became", "becoming", "seem", "seems", "seemed", "look", "looks",
    "looked", "feel", "feels", "felt", "turn", "turns", "turned", "get", "gets", "got", "go",
    "goes", "went", "remain", "remained", "act", "acts", "sound", "sounds", "born", "raised",
];
const BE: [&str; 11] = [
    "be", "am", "is", "are", "was", "were", "been", "'m", "'re", "'s", "being",
];
const IDENTIFY: [&str; 10] = [
    "identify",
    "identifies",
    "identified",
    "identifying",
    "described",
    "seen",
    "regarded",
    "considered",
    "classified",
    "perceived",
];
const SUBJECTS: [&str; 22] = [
    "i",
    "you",
    "he",
    "she",
    "we",
    "they",
    "who",
    "someone",
    "somebody",
    "everyone",
    "everybody",
    "anyone",
    "anybody",
    "nobody",
    "u",
    "im",
    "ya",
    "y'all",
    "him",
    "her",
    "them",
    "me",
];

/// Nouns that say when, which follow a clause as no other noun does.
const TIMES: [&str; 9] = [
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "now",
    "lol",
    "btw",
    "though",
    "too",
];

fn is_one_of(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

pub(super) fn is_and(word: &str) -> bool {
    matches!(word, "and" | "or" | "nor" | "," | "/" | "&")
}

impl Words<'_> {
    fn is_adjective(&self, at: usize) -> bool {
        self.tag(at).is_some_and(Tag::is_adjective) && !self.is_time(at)
    }

    fn is_noun(&self, at: usize) -> bool {
        self.get(at).is_some_and(|word| {
            (word.tag.is_noun() || matches!(word.plain.as_str(), "one" | "ones"))
                && word.is_word()
                && !self.is_time(at)
                && !self.is_verb_of_phrase(at)
        })
    }

    /// Returns whether the word at `at`, tagged as a noun, has a noun phrase for its object: "the
    /// blind need our help".
    fn is_verb_of_phrase(&self, at: usize) -> bool {
        if !self.is_joined(at) {
            return false;
        }
        let share = |tag| english::share_of_uses(self.plain(at), tag).unwrap_or_default();
        match self.tag(at + 1) {
            Some(Tag::Dt | Tag::PrpPossessive | Tag::Prp) => {
                let tags = english::possible_tags(self.plain(at));
                tags.contains(Tag::Vbp) || tags.contains(Tag::Vbz)
            }
            Some(tag) if tag.is_noun() => share(Tag::Vbp) + share(Tag::Vb) > MOSTLY,
            _ => false,
        }
    }

    fn is_time(&self, at: usize) -> bool {
        is_one_of(&TIMES, self.plain(at))
    }

    /// Returns the first and the last of the nouns in the phrase that the words ending at `end`
    /// describe. With `coordinated`, the search also goes over "and": it finds *people* for *white*
    /// in "white and black people".
    pub(super) fn described(&self, end: usize, coordinated: bool) -> Option<(usize, usize)> {
        let compound = self.compound_end(end);
        let mut at = self.after(compound)?;
        let mut steps = 0;
        let mut after_and = false;
        loop {
            let last = at.checked_sub(1)?;
            if steps > REACH || !self.is_joined(last) {
                return None;
            }
            steps += 1;
            let word = self.get(at)?;
            let is_more = is_and(&word.plain) && coordinated && !after_and;
            let is_list = word.plain == ","
                && self.is_adjective(at + 1)
                && (self.is_noun(at + 2) || self.is_adjective(at + 2));
            let is_participle = matches!(word.tag, Tag::Vbn | Tag::Vbg)
                && self.is_noun(at + 1)
                && self.plain(at) != "being";
            // "real-life place", "father-in-law"
            let compound = self.compound_end(at + 1);
            if compound > at + 1 {
                let goes_on = self.is_adjective(compound) || self.is_noun(compound);
                if !(goes_on && self.is_joined(compound - 1)) {
                    return self.is_noun(compound - 1).then_some((at, compound - 1));
                }
                at = compound;
                continue;
            }
            if self.is_noun(at) {
                break;
            }
            if !(self.is_adjective(at) || is_more || is_list || is_participle) {
                return None;
            }
            after_and = is_more;
            at += 1;
            // "black and white people", but "Chinese and Westerners"
            let goes_on = self.is_adjective(at) || self.is_noun(at) && self.is_noun(at + 1);
            if is_more && !goes_on {
                return None;
            }
        }
        let first = at;
        while self.is_joined(at) && self.is_noun(at + 1) {
            at += 1;
        }
        Some((first, at))
    }

    /// Returns the determiner of the noun that starts at `start`, over adjectives before it.
    pub(super) fn determiner(&self, start: usize) -> Option<Determiner> {
        let mut at = self.before(self.compound_start(start))?;
        // "Is your cousin gay": no adjective stands behind its noun.
        let is_adjective = self.is_adjective(start);
        for _ in 0..REACH {
            let word = self.get(at)?;
            let plain = word.plain.as_str();
            if is_one_of(&SINGULAR, plain) {
                return Some(Determiner::Singular);
            }
            if is_one_of(&PLURAL, plain) || word.tag == Tag::Cd {
                return Some(Determiner::Plural);
            }
            if is_one_of(&ANY, plain) || matches!(word.tag, Tag::PrpPossessive | Tag::Pos | Tag::Dt)
            {
                return Some(Determiner::Any);
            }
            let is_modifier = word.tag.is_adjective()
                || (word.tag.is_adverb() && !is_one_of(&["not", "n't"], plain))
                || matches!(word.tag, Tag::Vbn | Tag::Vbg)
                || (word.tag.is_noun() && word.is_word() && !is_adjective && !self.is_pronoun(at));
            if !is_modifier {
                return None;
            }
            at = self.before(self.compound_start(at))?;
        }
        None
    }

    fn is_pronoun(&self, at: usize) -> bool {
        is_one_of(&SUBJECTS, self.plain(at))
    }

    /// Returns the verb that says of its subject what stands at `start`: *is* in "he is not white".
    /// The subject stands before it, or between ("are you gay").
    pub(super) fn linking(&self, start: usize) -> Option<usize> {
        let mut at = self.before(self.compound_start(start))?;
        for _ in 0..REACH {
            let word = self.get(at)?;
            let plain = word.plain.as_str();
            if is_one_of(&LINKING, plain) && word.tag != Tag::Pos {
                return Some(at);
            }
            if plain == "as" {
                let before = self.before(at)?;
                let is_named = |at: usize| is_one_of(&IDENTIFY, self.plain(at));
                let found = [Some(before), before.checked_sub(1)];
                return found.into_iter().flatten().find(|&at| is_named(at));
            }
            if self.is_pronoun(at) {
                let before = self.before(at)?;
                return is_one_of(&BE, self.plain(before)).then_some(before);
            }
            if word.tag.is_noun() {
                return self.asking(at);
            }
            let is_passed = word.tag.is_adverb()
                || word.tag.is_adjective()
                || is_one_of(
                    &[
                        "not", "n't", "either", "neither", "both", "half", "part", "all", "just",
                        "so",
                    ],
                    plain,
                )
                || is_and(plain);
            if !is_passed {
                return None;
            }
            at = self.before(self.compound_start(at))?;
        }
        None
    }

    /// Returns the verb of the question whose subject is the phrase that ends at `last`: *is* in
    /// "is your cousin gay".
    fn asking(&self, last: usize) -> Option<usize> {
        let mut at = last;
        for _ in 0..REACH {
            at = self.before(at)?;
            let word = self.get(at)?;
            if is_one_of(&BE, &word.plain) && word.tag != Tag::Pos {
                let before = self.before(at);
                let is_first = word.starts
                    || before.is_none_or(|at| {
                        matches!(
                            self.tag(at),
                            Some(Tag::Wrb | Tag::Comma | Tag::Cc | Tag::Wp)
                        )
                    });
                return is_first.then_some(at);
            }
            let is_inner = word.tag.is_noun()
                || word.tag.is_adjective()
                || matches!(word.tag, Tag::Dt | Tag::PrpPossessive | Tag::Pos);
            if !is_inner {
                return None;
            }
        }
        None
    }

    /// Returns whether the verb at `verb` speaks of persons; `start` is where the term is.
    pub(super) fn is_of_persons(
        &self,
        verb: usize,
        start: usize,
        is_person: &dyn Fn(&Known) -> bool,
    ) -> bool {
        let mut between = (verb + 1..start).filter_map(|at| Some((at, self.get(at)?)));
        let between = between.any(|(at, word)| self.is_pronoun(at) || is_person(word));
        if between
            || matches!(
                self.plain(verb),
                "being" | "born" | "raised" | "'m" | "am" | "im"
            )
        {
            return true;
        }
        let mut at = verb;
        for _ in 0..REACH {
            let Some(before) = self.before(at) else {
                return false;
            };
            let Some(word) = self.get(before) else {
                return false;
            };
            if self.is_pronoun(before) || is_person(word) {
                return true;
            }
            let plain = word.plain.as_str();
            let is_auxiliary = word.tag == Tag::Md
                || word.tag.is_adverb()
                || is_one_of(
                    &[
                        "have", "has", "had", "'ve", "not", "n't", "do", "does", "did", "to", "be",
                        "is", "are", "was", "were", "been", "'d", "also", "both", "all",
                    ],
                    plain,
                );
            if plain == "to" && !word.tag.is_noun() {
                return true;
            }
            if word.tag.is_name() && word.is_capitalised() {
                // A name; of a person, a team or a thing.
                return !word.starts || !english::is_function_word(word.original);
            }
            if !is_auxiliary {
                return false;
            }
            at = before;
        }
        false
    }
}
