//! The search for other words of a text that bind a value which it names, so that an exchange would
//! contradict them.
//!
//! A lexicon says which words are bound to values of its attributes ([`super::whole`]). Beyond that,
//! of any attribute,
//!
//! * another word for the same country and people, or for a branch of the same religion, also in a
//!   tag: "Poland" stays beside "the Polish nation" (`lexica/peoples.txt`);
//! * a proper name of several words that the term is a part of: "American Idiot", "Bank of China",
//!   "Bosnia-Herzegovina", "Lodz, Poland"; written small, a word before it that is none of English: "chaka zulu";
//! * that the text is about the word ("the term Hispanic means") or the language;
//!
//! and of an attribute whose two values are exchanged throughout, a given name that one gender has
//! ten times as often as the other (`lexica/given-names.txt`): "Samantha" stays she, and what
//! follows "Miss" may be such a name; and a picture of a woman or a man, which stays what it shows.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::analysis::{Binding, Site, Word};
use crate::english::{is_function_word, possible_tags};

const PEOPLES: &str = include_str!("../lexica/peoples.txt");
const NAMES: &str = include_str!("../lexica/given-names.txt");

/// Words that show, near a term, that the term is spoken of as a word or a language.
const MENTIONS: [&str; 50] = [
    "term",
    "terms",
    "word",
    "words",
    "means",
    "meaning",
    "meant",
    "definition",
    "definitions",
    "defined",
    "classified",
    "difference",
    "etymology",
    "dictionary",
    "usage",
    "spelling",
    "spelled",
    "spelt",
    "language",
    "languages",
    "grammar",
    "grammatical",
    "punctuation",
    "dialect",
    "dialects",
    "accent",
    "accents",
    "translation",
    "translations",
    "translate",
    "translated",
    "pronounce",
    "pronounced",
    "pronunciation",
    "alphabet",
    "vocabulary",
    "subtitles",
    "sentence",
    "prose",
    "read",
    "reads",
    "reading",
    "speak",
    "speaks",
    "speaking",
    "spoken",
    "spoke",
    "fluent",
    "dubbed",
    "transliteration",
];

/// Emoji that show a woman or a man, alone or in a sequence, and their signs.
const PICTURES: [char; 21] = [
    '♀', '♂', '👩', '👨', '👧', '👦', '👵', '👴', '👸', '🤴', '💃', '🕺', '🤶', '🎅', '🧔', '👭',
    '👬', '🚺', '🚹', '🤰', '🤱',
];

/// The largest distance in words between a term and one of [`MENTIONS`].
const NEAR: usize = 3;

static LINES: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let lines = PEOPLES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(", ").collect()).collect()
});

/// The entries of the lines of peoples, each with the number of its line, by the first two letters
/// of the entry.
static BEGINNINGS: LazyLock<HashMap<&'static str, Vec<(usize, &'static str)>>> =
    LazyLock::new(|| {
        let mut beginnings: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        for (number, line) in LINES.iter().enumerate() {
            for entry in line {
                if let Some(first) = entry.get(..2) {
                    beginnings.entry(first).or_default().push((number, entry));
                }
            }
        }
        beginnings
    });

static GIVEN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// A text split into its words.
struct Read<'t> {
    text: &'t str,
    words: &'t [Word],
    /// The words in lower case; empty for what is no word of a sentence: parts of links, names of
    /// users.
    lower: Vec<String>,
    /// The words in lower case with those of tags: "#Poland".
    spoken: Vec<String>,
    /// Whether the text has capitals and small letters, so that capitals say something.
    is_mixed: bool,
}

/// The sites of a text, by whether other words bind their values.
#[derive(Default)]
pub(super) struct Divided {
    /// The sites whose values nothing else binds.
    pub(super) free: Vec<Site>,
    /// The sites whose values something does.
    pub(super) bound: Vec<Site>,
    /// The given names that do.
    pub(super) binding: Vec<Binding>,
}

/// Divides the sites of `text`: those whose values are bound by nothing else, and the others. Words
/// that are `untouched` say nothing but in tags, and `is_exchanged` says of each attribute whether
/// its values are exchanged throughout.
pub(super) fn divide(
    text: &str,
    words: &[Word],
    untouched: &[bool],
    sites: Vec<Site>,
    is_exchanged: &[bool],
) -> Divided {
    if sites.is_empty() {
        return Divided::default();
    }
    let spelled = words.iter().zip(untouched);
    let spelled: Vec<&str> = spelled
        .map(|(word, is_untouched)| match is_untouched {
            true => "",
            false => text.get(word.bytes.clone()).unwrap_or_default(),
        })
        .collect();
    let letters = spelled.iter();
    let letters = letters.filter(|word| word.starts_with(char::is_alphabetic));
    let capital = letters.clone();
    let capital = capital.filter(|word| word.starts_with(char::is_uppercase));
    let read = Read {
        text,
        words,
        is_mixed: 2 * capital.count() < letters.count(),
        lower: spelled.iter().map(|word| word.to_lowercase()).collect(),
        spoken: spoken(text, words, &spelled),
    };
    let given: Vec<Range<usize>> = read.given_names().collect();
    let is_throughout = |site: &Site| is_exchanged.get(site.attribute) == Some(&true);
    let is_unbound = |site: &Site| match is_throughout(site) {
        true => {
            let mut occurrences = site.occurrences.iter();
            let is_named = |at: &Range<usize>| {
                read.is_before_given_name(at) || !read.is_title(at) && read.is_part_of_name(at)
            };
            given.is_empty() && !text.contains(PICTURES) && !occurrences.any(is_named)
        }
        false => {
            let mut occurrences = site.occurrences.iter();
            let is_bound = |at: &Range<usize>| {
                read.is_part_of_name(at) || read.is_behind_unknown(at) || read.is_mentioned(at)
            };
            !occurrences.any(is_bound) && !read.speaks_of_it_elsewhere(site)
        }
    };
    let (free, bound): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(is_unbound);
    let kept = bound.iter().filter(|site| is_throughout(site));
    let kept: BTreeSet<usize> = kept.map(|site| site.attribute).collect();
    let by_names = kept.into_iter().flat_map(|attribute| {
        given.iter().map(move |bytes| Binding {
            attribute,
            bytes: bytes.clone(),
        })
    });
    Divided {
        binding: by_names.collect(),
        free,
        bound,
    }
}

/// Returns the `spelled` words of `text` in lower case, with those of tags.
fn spoken(text: &str, words: &[Word], spelled: &[&str]) -> Vec<String> {
    let written = |word: &Word| text.get(word.bytes.clone()).unwrap_or_default();
    let before = std::iter::once(None).chain(words.iter().map(Some));
    let is_tag = |word: &Word, before: Option<&Word>| {
        before.is_some_and(|mark| written(mark) == "#" && mark.bytes.end == word.bytes.start)
    };
    let all = words.iter().zip(before).zip(spelled);
    let spoken = all.map(|((word, before), spelled)| match is_tag(word, before) {
        true => written(word).to_lowercase(),
        false => spelled.to_lowercase(),
    });
    spoken.collect()
}

impl Read<'_> {
    /// Returns the first and the last word of `bytes`.
    fn place(&self, bytes: &Range<usize>) -> Option<(usize, usize)> {
        let first = self
            .words
            .partition_point(|word| word.bytes.end <= bytes.start);
        let behind = self
            .words
            .partition_point(|word| word.bytes.start < bytes.end);
        (first < behind).then(|| (first, behind - 1))
    }

    fn is_capitalised(&self, place: usize) -> bool {
        let word = self.words.get(place);
        let word = word.and_then(|word| self.text.get(word.bytes.clone()));
        word.is_some_and(|word| word.starts_with(char::is_uppercase))
    }

    /// Returns whether a sentence begins at `place`.
    fn begins(&self, place: usize) -> bool {
        let Some(before) = place
            .checked_sub(1)
            .and_then(|before| self.lower.get(before))
        else {
            return true;
        };
        [".", "!", "?", ":", "\"", "“", "(", "*", "-", "="].contains(&before.as_str())
    }

    /// Returns whether the term at `bytes` is joined to a capital word into a name. Other terms
    /// make no name with it: "Muslim Americans".
    fn is_part_of_name(&self, bytes: &Range<usize>) -> bool {
        let Some((first, last)) = self.place(bytes).filter(|_| self.is_mixed) else {
            return false;
        };
        if !self.is_capitalised(first) {
            return false;
        }
        let is_named = |place: usize| {
            let is_word = self.lower.get(place).is_some_and(|word| {
                word.starts_with(char::is_alphabetic) && !is_function_word(word)
            });
            is_word && self.is_capitalised(place) && !self.words[place].is_fixed
        };
        let is = |place: Option<usize>, word: &str| {
            place
                .and_then(|place| self.lower.get(place))
                .is_some_and(|own| own == word)
        };
        let back = |by: usize| first.checked_sub(by);
        let before =
            |by: usize| back(by).is_some_and(|place| is_named(place) && !self.begins(place));
        is_named(last + 1)
            || is(Some(last + 1), "-") && is_named(last + 2)
            || before(1)
            || is(back(1), "-") && before(2)
            || is(back(1), ",") && before(2)
            || is(back(1), "of") && before(2)
            || is(back(1), "the") && is(back(2), "of") && before(3)
    }

    /// Returns whether the term at `bytes` is written small, and right before it stands no word of
    /// English: "chaka zulu", a name.
    fn is_behind_unknown(&self, bytes: &Range<usize>) -> bool {
        let first = self.place(bytes).map(|(first, _)| first);
        let small = first.filter(|&first| !self.is_capitalised(first));
        let Some(before) = small.and_then(|first| first.checked_sub(1)) else {
            return false;
        };
        let word = self.lower[before].as_str();
        self.words[before].bytes.end < bytes.start
            && word.chars().all(char::is_alphabetic)
            && word.len() > 3
            && possible_tags(word).is_empty()
    }

    /// Returns whether the term at `bytes` is a "Miss" with a name behind it, which may be a given
    /// one.
    fn is_before_given_name(&self, bytes: &Range<usize>) -> bool {
        let place = self.place(bytes);
        place.is_some_and(|(first, last)| {
            self.lower[first] == "miss" && self.is_capitalised(last + 1)
        })
    }

    /// Returns whether the term at `bytes` is one that stands before names: "Mr".
    fn is_title(&self, bytes: &Range<usize>) -> bool {
        let first = self
            .place(bytes)
            .map(|(first, _)| self.lower[first].as_str());
        matches!(first, Some("mr" | "mrs" | "ms" | "miss" | "sir" | "madam"))
    }

    /// Returns whether the text speaks of the word at `bytes` as a word, or of a language.
    fn is_mentioned(&self, bytes: &Range<usize>) -> bool {
        let Some((first, last)) = self.place(bytes) else {
            return false;
        };
        let near = first.saturating_sub(NEAR)..(last + 1 + NEAR).min(self.lower.len());
        self.lower[near]
            .iter()
            .any(|word| MENTIONS.contains(&word.as_str()))
    }

    /// Returns whether another word of the same people stands outside the site.
    fn speaks_of_it_elsewhere(&self, site: &Site) -> bool {
        let mut own: HashSet<usize> = HashSet::new();
        for at in &site.occurrences {
            if let Some((first, last)) = self.place(at) {
                own.extend((first..=last).flat_map(|place| self.lines_at(place)));
            }
        }
        if own.is_empty() {
            return false;
        }
        let is_own = |place: usize| {
            let word = &self.words[place].bytes;
            let mut occurrences = site.occurrences.iter();
            occurrences.any(|at| at.start <= word.start && word.end <= at.end)
        };
        (0..self.lower.len())
            .filter(|&place| !is_own(place))
            .any(|place| self.lines_at(place).iter().any(|line| own.contains(line)))
    }

    /// Returns the lines of peoples with an entry that stands at `place`.
    fn lines_at(&self, place: usize) -> Vec<usize> {
        let word = self.spoken[place].as_str();
        let entries = word.get(..2).and_then(|first| BEGINNINGS.get(first));
        let entries = entries.map_or(&[][..], Vec::as_slice).iter();
        let stands = |entry: &str| match entry.strip_suffix('*') {
            Some(stem) if !stem.contains(' ') => word.starts_with(stem),
            _ => {
                let mut words = entry.split(' ').enumerate();
                words.all(|(at, part)| {
                    let there = self.spoken.get(place + at);
                    there.is_some_and(|there| match part.strip_suffix('*') {
                        Some(stem) => there.starts_with(stem),
                        None => there == part,
                    })
                })
            }
        };
        entries
            .filter(|(_, entry)| stands(entry))
            .map(|(line, _)| *line)
            .collect()
    }

    /// Returns where given names that tell a gender stand in the text.
    fn given_names(&self) -> impl Iterator<Item = Range<usize>> {
        let places = (0..self.lower.len()).filter(|&place| {
            let word = self.lower[place].as_str();
            // "Jimbo" is a Jim.
            let mut stems = [
                Some(word),
                word.strip_suffix("bo"),
                word.strip_suffix("ster"),
            ]
            .into_iter()
            .flatten();
            let is_name = stems.any(|stem| GIVEN.contains(stem)) && self.is_capitalised(place);
            is_name && (self.words[place].tag.is_name() || !self.begins(place))
        });
        places.map(|place| self.words[place].bytes.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::lexicon::Lexicon;
    use crate::substitution::Substitution;

    fn has_site(attribute: &str, text: &str) -> bool {
        let lexicon = Lexicon::shipped();
        let substitution = Substitution::new(&lexicon, &[attribute.to_owned()]).unwrap();
        !substitution.analyse(text).unwrap().sites.is_empty()
    }

    #[test]
    fn what_binds_a_value_keeps_it() {
        for (attribute, text) in [
            (
                "country",
                "He was born in Poland and is proud of the Polish nation.",
            ),
            ("country", "They moved from Greece, and us greeks never do."),
            (
                "country",
                "She works for the Bank of China in the old town.",
            ),
            ("country", "She saw them in Lodz, Poland, in the summer."),
            ("nationality", "He sang American Idiot in the shower again."),
            ("nationality", "He reads Portuguese very well these days."),
            (
                "ethnicity",
                "The term Hispanic is younger than most people think.",
            ),
            ("gender", "Samantha said that she was tired of him."),
            (
                "gender",
                "That guy lost his keys again, and she found them.",
            ),
            (
                "gender",
                "We listened to Schoolboy Rowe on the radio again.",
            ),
            ("sexual_orientation", "This game is gay and so is the menu."),
            ("gender", "She is a doctor 👩\u{200d}⚕️ in our town."),
            (
                "gender",
                "My brother never was that fast 🏃\u{200d}♂️ in school.",
            ),
        ] {
            assert!(!has_site(attribute, text), "{text}");
        }
        for (attribute, text) in [
            ("country", "He was born in Poland and never left."),
            (
                "nationality",
                "A Polish nurse helped my father up the stairs.",
            ),
            ("religion", "Many Muslim Americans voted on Tuesday."),
            ("gender", "She said that she was tired of the noise."),
            ("gender", "She said that she was tired 😴 of the noise."),
            ("ethnicity", "A Hispanic family moved in next door."),
        ] {
            assert!(has_site(attribute, text), "{text}");
        }
    }

    #[test]
    fn the_lists_are_as_they_are_read() {
        assert!(super::LINES.len() > 100 && super::GIVEN.len() > 1000);
        let entries = || super::LINES.iter().flatten();
        assert!(entries().all(|entry| entry.get(..2).is_some()));
        assert!(entries().all(|entry| !entry.contains('*') || entry.ends_with('*')));
        assert!(super::GIVEN.contains("samantha"));
    }
}
