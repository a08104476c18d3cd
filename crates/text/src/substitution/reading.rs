//! The forms in which a term can be read at its place.

use std::ops::Range;

use super::phrase::Determiner;
use super::sentence::{Known, Words};
use super::terms::{Attribute, Term};
use crate::english::{self, Tag};
use crate::lexicon::Part;

/// Returns the forms that fit the term at `place`, those with a part first; none where no form
/// fits.
pub(super) fn forms(
    words: &Words,
    place: &Range<usize>,
    term: &Term,
    of: &Attribute,
) -> Vec<usize> {
    let parts: Vec<Option<Part>> = term.forms.iter().map(|&form| of.forms[form].part).collect();
    let around = Around::new(words, place, &parts);
    let is_short = place.len() == 1 && SHORT.contains(&words.plain(place.start));
    if is_short && !around.is_modifier {
        return Vec::new();
    }
    let fitting = |with_part: bool| {
        let forms = term.forms.iter().zip(&parts);
        let around = &around;
        forms.filter_map(move |(&form, part)| match part {
            Some(part) if with_part => around.fits(*part).then_some(form),
            None if !with_part => Some(form),
            _ => None,
        })
    };
    fitting(true).chain(fitting(false)).collect()
}

/// Names of countries that describe what follows, "UK citizens", and are the countries themselves
/// elsewhere.
const SHORT: [&str; 4] = ["us", "u.s.", "uk", "u.k."];

/// Verbs with two objects: "gave her money".
const GIVING: [&str; 44] = [
    "give", "gives", "gave", "given", "giving", "tell", "tells", "told", "telling", "call",
    "calls", "called", "calling", "show", "shows", "showed", "shown", "offer", "offers", "offered",
    "offering", "wish", "wishes", "wished", "wishing", "send", "sends", "sent", "sending", "buy",
    "buys", "bought", "buying", "bring", "brings", "brought", "cost", "costs", "owe", "owes",
    "owed", "pay", "pays", "paid",
];

/// Nouns that are mostly given, rather than had, where no article stands before them.
const GIFTS: [&str; 62] = [
    "advice",
    "attention",
    "cash",
    "chills",
    "chocolate",
    "chocolates",
    "compliments",
    "congrats",
    "congratulations",
    "credit",
    "crap",
    "directions",
    "dollars",
    "drugs",
    "flowers",
    "food",
    "gifts",
    "goosebumps",
    "grief",
    "happiness",
    "hell",
    "hints",
    "hope",
    "hugs",
    "instructions",
    "jewelry",
    "joy",
    "kisses",
    "lessons",
    "luck",
    "medicine",
    "millions",
    "money",
    "names",
    "news",
    "nightmares",
    "orders",
    "peace",
    "permission",
    "pills",
    "pointers",
    "praise",
    "presents",
    "privacy",
    "props",
    "respect",
    "roses",
    "shit",
    "space",
    "strength",
    "success",
    "support",
    "thanks",
    "thousands",
    "time",
    "tips",
    "treats",
    "trouble",
    "water",
    "wine",
    "work",
    "access",
];

/// Verbs of what somebody is perceived or left doing: "caught her stealing".
const SEEING: [&str; 28] = [
    "see", "sees", "saw", "seen", "seeing", "hear", "hears", "heard", "hearing", "watch",
    "watches", "watched", "watching", "catch", "catches", "caught", "find", "finds", "found",
    "leave", "leaves", "left", "keep", "keeps", "kept", "spotted", "noticed", "filmed",
];

/// Verbs of time that one has: "spent her last week there".
const SPENDING: [&str; 8] = [
    "spend", "spends", "spent", "spending", "enjoy", "enjoyed", "is", "was",
];

/// Words for when something is.
const DAYS: [&str; 4] = ["yesterday", "today", "tomorrow", "tonight"];

/// Nouns of times.
const TIMES: [&str; 18] = [
    "night",
    "week",
    "weekend",
    "month",
    "year",
    "time",
    "morning",
    "afternoon",
    "evening",
    "summer",
    "winter",
    "spring",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

/// What is thrown in behind a sentence, and is no noun there: "I hate her lol".
const ASIDES: [&str; 34] = [
    "lol", "lmao", "lmfao", "rofl", "haha", "hahaha", "hahahaha", "hehe", "tbh", "tbf", "smh",
    "omg", "omfg", "wtf", "ffs", "imo", "imho", "btw", "ngl", "ikr", "idk", "idc", "idgaf", "fr",
    "rn", "af", "asap", "xoxo", "ugh", "pls", "plz", "tho", "though", "anymore",
];

/// The words around a term.
struct Around<'a> {
    words: &'a Words<'a>,
    place: &'a Range<usize>,
    parts: &'a [Option<Part>],
    /// Whether a noun follows that the term may describe.
    is_modifier: bool,
    determiner: Option<Determiner>,
    is_predicate: bool,
    /// The word behind the term in its line.
    next: Option<usize>,
    /// The tag of the term's last word.
    tag: Tag,
}

impl<'a> Around<'a> {
    fn new(words: &'a Words, place: &'a Range<usize>, parts: &'a [Option<Part>]) -> Around<'a> {
        let determiner = words.determiner(place.start);
        let last = place.end.saturating_sub(1);
        Around {
            words,
            place,
            parts,
            is_modifier: describes(words, place, false)
                || words.compound_end(place.end) > place.end,
            determiner,
            is_predicate: words.linking(place.start).is_some(),
            next: words.after(place.end),
            tag: words.tag(last).unwrap_or(Tag::Other),
        }
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&Some(part))
    }

    fn is_verb(&self) -> bool {
        matches!(self.tag, Tag::Vb | Tag::Vbp | Tag::Vbz | Tag::Vbd)
            && self.determiner.is_none()
            && !self.is_predicate
            && self
                .words
                .get(self.place.start)
                .is_some_and(|word| !word.is_capitalised())
    }

    fn fits(&self, part: Part) -> bool {
        match part {
            Part::Noun => self.is_noun(),
            Part::Plural => self.is_plural(),
            Part::Adjective => self.is_adjective(),
            Part::Collective => self.is_collective(),
            Part::Name => self.is_name(),
            Part::Object => !self.is_possessive(),
            Part::Possessive => self.is_possessive(),
            Part::Standing => !self.is_possessive(),
        }
    }

    fn is_noun(&self) -> bool {
        if self.is_verb() {
            return false;
        }
        let is_also_adjective = self.has(Part::Adjective);
        if self.is_modifier {
            return !is_also_adjective;
        }
        match self.determiner {
            Some(Determiner::Singular | Determiner::Any) => true,
            Some(Determiner::Plural) => !self.has(Part::Plural) && !is_also_adjective,
            None => !is_also_adjective,
        }
    }

    fn is_plural(&self) -> bool {
        if self.is_verb() {
            return false;
        }
        if !self.has(Part::Adjective) && !self.has(Part::Noun) {
            // Spelled as nothing but a plural.
            return true;
        }
        if self.is_modifier || self.is_predicate {
            return false;
        }
        let is_verb_of_several = self.next.is_some_and(|next| {
            matches!(self.words.tag(next), Some(Tag::Vbp | Tag::Md))
                || matches!(
                    self.words.plain(next),
                    "are" | "were" | "have" | "do" | "who"
                )
        });
        match self.determiner {
            Some(Determiner::Plural) => true,
            Some(Determiner::Any) | None => is_verb_of_several,
            Some(Determiner::Singular) => false,
        }
    }

    fn is_adjective(&self) -> bool {
        if self.is_modifier {
            return true;
        }
        if self.is_verb() {
            return false;
        }
        match self.determiner {
            None => self.is_predicate || self.tag.is_adjective() || !self.has(Part::Plural),
            Some(_) => describes(self.words, self.place, true),
        }
    }

    fn is_collective(&self) -> bool {
        if self.is_modifier {
            return false;
        }
        // "the blind and old man" is one.
        let Some(next) = self.next else {
            return true;
        };
        let is_more = super::phrase::is_and(self.words.plain(next));
        !(is_more && self.words.described(self.place.end, true).is_some())
    }

    fn is_name(&self) -> bool {
        let before = self.words.before(self.place.start);
        let article = before.is_some_and(|at| matches!(self.words.plain(at), "a" | "an"));
        !article || self.is_modifier
    }

    /// Returns whether the words after the term name something possessed, so that it is a
    /// possessive.
    fn is_possessive(&self) -> bool {
        let mut at = self.place.end;
        // "her 'friend'"
        while self
            .words
            .get(at)
            .is_some_and(|word| matches!(word.plain.as_str(), "\"" | "'" | "(" | "["))
            && !self.words.is_glued(at - 1)
        {
            at += 1;
        }
        let Some(next) = self.words.get(at).filter(|_| self.words.is_joined(at - 1)) else {
            return false;
        };
        let tagged = self.tag == Tag::PrpPossessive;
        if !next.is_word() {
            return next.plain == "*" && tagged;
        }
        if self.is_no_possession(next, at) {
            return false;
        }
        let follows = |tag: fn(Tag) -> bool| self.words.tag(at + 1).is_some_and(tag);
        match next.tag {
            Tag::Nn | Tag::Nns | Tag::Nnp | Tag::Nnps => tagged || !self.is_after(&GIVING),
            Tag::Jj | Tag::Jjs | Tag::Jjr => {
                next.plain == "own"
                    || self.words.described(self.place.end, true).is_some()
                    || tagged
                        && (follows(|tag| tag == Tag::Cd)
                            || follows(Tag::is_adjective)
                                && !english::possible_tags(&next.plain).contains(Tag::Vbd))
            }
            Tag::Cd => tagged || follows(Tag::is_noun) || follows(Tag::is_adjective),
            // "her very young son", but "hit her so hard"
            Tag::Rb | Tag::Rbr | Tag::Rbs => tagged && self.words.described(at + 1, true).is_some(),
            Tag::Vbn | Tag::Vbg | Tag::Vbd | Tag::Vb | Tag::Uh | Tag::Other => tagged,
            _ => false,
        }
    }

    /// Returns whether the word `next` at `at`, behind the term, shows that nothing possessed follows,
    /// whatever it can be elsewhere.
    fn is_no_possession(&self, next: &Known, at: usize) -> bool {
        let word = next.plain.as_str();
        let behind = self.words.get(at + 1);
        let before = self.words.before(self.place.start);
        let is_behind_verb = before
            .and_then(|at| self.words.tag(at))
            .is_some_and(Tag::is_verb);
        let can_be = |tag: Tag| english::possible_tags(word).contains(tag);
        // "called her yesterday", "saw her last night", but "spent her last week there"
        let is_time = DAYS.contains(&word)
            || is_behind_verb
                && !self.is_after(&SPENDING)
                && ["last", "this", "next", "every", "each"].contains(&word)
                && behind.is_some_and(|noun| TIMES.contains(&noun.plain.as_str()));
        // "let her play", "caught her stealing"
        let is_let = self.is_after(&["let", "lets", "letting"])
            && !english::is_person(word)
            && can_be(Tag::Vb);
        let is_noun = |word: &Known| word.is_word() && word.tag.is_noun();
        let is_seen = self.is_after(&SEEING)
            && word.ends_with("ing")
            && can_be(Tag::Vbg)
            && !behind.is_some_and(is_noun);
        // "gave her money", but "gave her money to the poor"
        let to = behind.filter(|word| word.plain == "to");
        let is_given = self.is_after(&GIVING)
            && GIFTS.contains(&word)
            && (to.is_none() || self.words.tag(at + 2) == Some(Tag::Vb));
        // "his was the best"
        let is_subject = ["is", "was", "are", "were", "has", "had"].contains(&word);
        is_time
            || is_let
            || is_seen
            || is_given
            || is_subject
            || ASIDES.contains(&word)
            || ["http", "https", "www"].contains(&word)
    }

    /// Returns whether the term stands right behind one of `words`.
    fn is_after(&self, words: &[&str]) -> bool {
        let before = self.words.before(self.place.start);
        before.is_some_and(|at| words.contains(&self.words.plain(at)))
    }
}

/// Returns whether a noun follows that the term may describe.
fn describes(words: &Words, place: &Range<usize>, coordinated: bool) -> bool {
    let described = words.described(place.end, coordinated);
    described.is_some_and(|(first, _)| !is_verb_of_one(words, place, first))
}

/// Returns whether the word at `at` behind the term at `place` can only be its verb: it is no noun
/// ("UK deports children"), or a plural one, which does not go with the article ("a Christian lives
/// here").
fn is_verb_of_one(words: &Words, place: &Range<usize>, at: usize) -> bool {
    let before = words.before(place.start);
    let possible = english::possible_tags(words.plain(at));
    let is_no_noun = !possible.iter().any(Tag::is_noun);
    let is_of_many = before.is_some_and(|at| matches!(words.plain(at), "a" | "an"))
        && !words.tag(at + 1).is_some_and(Tag::is_noun);
    at == place.end
        && words.tag(at) == Some(Tag::Nns)
        && possible.contains(Tag::Vbz)
        && (is_no_noun || is_of_many)
}

/// Nouns that are exclamations where nothing goes with them: "what is your problem man".
const EXCLAMATIONS: [&str; 3] = ["man", "boy", "brother"];

/// Subjects of the sentence that an exclamation stands before: "Man I wish", "Boy this is good".
const SUBJECTS: [&str; 11] = [
    "i", "we", "you", "he", "she", "it", "they", "this", "that", "these", "those",
];

/// Signs that a sentence ends with.
const ENDS: [&str; 4] = [".", "!", "?", "…"];

/// Returns whether the term at `place` is an exclamation rather than a name for somebody.
pub(super) fn is_exclamation(words: &Words, place: &Range<usize>) -> bool {
    if place.len() > 1 || !EXCLAMATIONS.contains(&words.plain(place.start)) {
        return false;
    }
    let behind = words.after(place.end);
    let next = behind.and_then(|at| words.get(at));
    // "Boy, 16, fights for his life"
    let is_aged = |word: &Known| {
        word.plain == "," && behind.is_some_and(|at| words.tag(at + 1) == Some(Tag::Cd))
    };
    let ends = next.is_none_or(|word| {
        word.tag == Tag::Cc
            || !word.is_word() && !word.is_hyphen() && word.plain != "'s" && !is_aged(word)
    });
    let is_alone = words.determiner(place.start).is_none();
    let before = words.before(place.start);
    let begins = before.is_none_or(|at| ENDS.contains(&words.plain(at)));
    if begins && next.is_some_and(|word| SUBJECTS.contains(&word.plain.as_str())) {
        return true;
    }
    let Some(tag) = before.and_then(|at| words.tag(at)) else {
        return ends;
    };
    let is_behind = match tag {
        _ if tag.is_noun() => true,
        _ if tag.is_adjective() => is_alone && words.linking(place.start).is_some(),
        Tag::Uh | Tag::Prp => is_alone,
        _ => is_alone && (tag.is_mark() || tag.is_verb() || tag.is_adverb()),
    };
    ends && is_behind
}

/// Returns whether the word before or behind `place`, joined without a space, makes it a part of
/// something that is no word: "(s)he", "s/he".
pub(super) fn is_fragment(words: &Words, place: &Range<usize>) -> bool {
    let is_letter = |word: &Known| word.is_word() && word.original.chars().count() == 1;
    let Some(before) = place.start.checked_sub(1).filter(|&at| words.is_glued(at)) else {
        return false;
    };
    match words.plain(before) {
        ")" => true,
        // ".uk"
        "." => before.checked_sub(1).is_none_or(|at| !words.is_glued(at)),
        "/" => before
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .is_some_and(is_letter),
        // "f**king", but "*king*"
        "*" => {
            let stars = (0..=before).rev();
            let first = stars.take_while(|&at| words.plain(at) == "*" && words.is_glued(at));
            let letters = first.last().and_then(|first| first.checked_sub(1));
            letters
                .is_some_and(|at| words.is_glued(at) && words.get(at).is_some_and(Known::is_word))
        }
        _ => false,
    }
}
