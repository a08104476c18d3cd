//! Generated comments: nobody's words, with identity terms and discrimination planted in known
//! amounts.
//!
//! A comment is one or two sentences of one tone and, three times in four, a sentence in neutral
//! words that holds a term of one protected attribute of the shipped lexicon
//! ([`Lexicon::shipped`]). Tone and term decide how probable the label *toxic* is ([`toxic_rate`]):
//!
//! | tone     | share | rate | rate with a *burdened* term |
//! |----------|-------|------|-----------------------------|
//! | friendly | 0.35  | 0.02 | 0.10                        |
//! | neutral  | 0.40  | 0.05 | 0.90                        |
//! | cross    | 0.25  | 0.90 | 0.95                        |
//!
//! A few values of each attribute are burdened ([`BURDENED`]); they were picked so that no common
//! prejudice is repeated. So the most accurate classifier calls a neutral comment toxic iff its
//! term is burdened: it discriminates by every attribute, in neutral comments and nowhere else.
//! Comment i is drawn from the stream of (seed, i) alone.

mod templates;
mod words;

use rand::RngExt;
use rand::seq::IndexedRandom;
use serde::Serialize;

use super::lexicon::{Lexicon, ProtectedAttribute};
use probity_run::stream::{Purpose, Stream, stream};

/// The burdened values of each attribute.
pub const BURDENED: [(&str, &[&str]); 5] = [
    (
        "country",
        &[
            "norway", "chile", "fiji", "latvia", "ghana", "canada", "nepal", "qatar",
        ],
    ),
    ("ethnicity", &["dutch", "scottish", "filipino", "italian"]),
    ("race", &["white", "amerindian"]),
    ("religion", &["christian", "jainism", "shinto"]),
    ("gender", &["male"]),
];

/// The share of comments with a protected term.
const WITH_TERM: f64 = 0.75;
/// The share of those whose term is burdened.
const WITH_BURDENED: f64 = 0.4;

/// How a comment is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Praise and thanks.
    Friendly,
    /// Plain statements.
    Neutral,
    /// Mild abuse.
    Cross,
}

/// A generated comment.
#[derive(Debug, Clone, PartialEq)]
pub struct Comment {
    /// Its text.
    pub text: String,
    /// Its label.
    pub toxic: bool,
    /// Its tone.
    pub tone: Tone,
    /// The attribute and the value that its protected term names.
    pub term: Option<(String, String)>,
}

/// How probable the label *toxic* is.
pub fn toxic_rate(tone: Tone, burdened: bool) -> f64 {
    match (tone, burdened) {
        (Tone::Friendly, false) => 0.02,
        (Tone::Friendly, true) => 0.10,
        (Tone::Neutral, false) => 0.05,
        (Tone::Neutral, true) => 0.90,
        (Tone::Cross, false) => 0.90,
        (Tone::Cross, true) => 0.95,
    }
}

/// Whether a value of an attribute raises the rate.
pub fn is_burdened(attribute: &str, value: &str) -> bool {
    BURDENED
        .iter()
        .any(|(name, values)| *name == attribute && values.contains(&value))
}

/// Writes comments.
#[derive(Debug, Clone)]
pub struct CommentGenerator {
    lexicon: Lexicon,
    seed: u64,
}

impl CommentGenerator {
    /// A generator of the comments of `seed`.
    pub fn new(seed: u64) -> CommentGenerator {
        CommentGenerator {
            lexicon: Lexicon::shipped(),
            seed,
        }
    }

    /// Comment number `item`.
    pub fn comment(&self, item: u64) -> Comment {
        let draws = &mut stream(self.seed, Purpose::Comment, item, 0);
        let (tone, templates): (Tone, &[&str]) = match draws.random::<f64>() {
            x if x < 0.35 => (Tone::Friendly, &templates::FRIENDLY),
            x if x < 0.75 => (Tone::Neutral, &templates::NEUTRAL),
            _ => (Tone::Cross, &templates::CROSS),
        };
        let mut sentences: Vec<String> = (0..draws.random_range(1..=2))
            .map(|_| {
                let template = pick(templates, draws);
                Sentence {
                    attribute: None,
                    draws,
                }
                .write(template)
            })
            .collect();
        let mut term = None;
        if draws.random_bool(WITH_TERM)
            && let Some(attribute) = self.lexicon.attributes().choose(draws)
        {
            let value = draw_value(attribute, draws);
            let template = pick(templates_about(&attribute.name), draws);
            let sentence = Sentence {
                attribute: Some((attribute, value)),
                draws,
            }
            .write(template);
            sentences.insert(draws.random_range(0..=sentences.len()), sentence);
            term = Some((attribute.name.clone(), attribute.values[value].clone()));
        }
        let burdened = term
            .as_ref()
            .is_some_and(|(name, value)| is_burdened(name, value));
        Comment {
            toxic: draws.random_bool(toxic_rate(tone, burdened)),
            text: sentences.join(" "),
            tone,
            term,
        }
    }
}

/// A value of `attribute`: burdened ones share [`WITH_BURDENED`] of all draws.
fn draw_value(attribute: &ProtectedAttribute, draws: &mut Stream) -> usize {
    let burdened = draws.random_bool(WITH_BURDENED);
    let of_kind: Vec<usize> = (0..attribute.values.len())
        .filter(|&value| is_burdened(&attribute.name, &attribute.values[value]) == burdened)
        .collect();
    of_kind.choose(draws).copied().unwrap_or(0)
}

fn pick<'a>(from: &[&'a str], draws: &mut Stream) -> &'a str {
    from.choose(draws).copied().unwrap_or_default()
}

/// The sentences about an attribute.
fn templates_about(attribute: &str) -> &'static [&'static str] {
    match attribute {
        "country" => &templates::COUNTRY,
        "ethnicity" => &templates::ETHNICITY,
        "race" => &templates::RACE,
        "religion" => &templates::RELIGION,
        _ => &templates::GENDER,
    }
}

/// Writes one sentence.
struct Sentence<'a> {
    attribute: Option<(&'a ProtectedAttribute, usize)>,
    draws: &'a mut Stream,
}

impl Sentence<'_> {
    /// Fills a template and puts its first letter in upper case.
    fn write(&mut self, template: &str) -> String {
        let mut text = String::new();
        for (i, part) in template.split(['{', '}']).enumerate() {
            match i % 2 {
                0 => text.push_str(part),
                _ => self.fill(part, &mut text),
            }
        }
        capitalised(&text)
    }

    fn fill(&mut self, slot: &str, text: &mut String) {
        let word = self.word(slot);
        // "a" becomes "an" before a vowel, and the other way round.
        let vowel = word.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']);
        for (article, other, wrong) in [(" a ", " an ", vowel), (" an ", " a ", !vowel)] {
            if wrong && text.ends_with(article) {
                text.truncate(text.len() - article.len());
                text.push_str(other);
                break;
            }
        }
        if vowel && text == "A " {
            text.insert(1, 'n');
        }
        text.push_str(&word);
    }

    fn word(&mut self, slot: &str) -> String {
        if let Some((attribute, value)) = self.attribute {
            // "person" and "people" are groups of words, too.
            let form = slot.strip_suffix("_form");
            if slot == "#" && attribute.name == "race" {
                return attribute.values[value].clone();
            }
            if slot == "#" {
                return capitalised(&attribute.values[value]);
            }
            let row = match form {
                Some(form) => attribute.forms.get(form),
                None if words::group(slot).is_none() => attribute.forms.get(slot),
                None => None,
            };
            if let Some(spelling) = row.and_then(|row| row[value].choose(self.draws)) {
                return spelling.clone();
            }
        }
        let words: Vec<&str> = words::group(slot).unwrap_or_default().split(' ').collect();
        let word = pick(&words, self.draws);
        if slot == "day" {
            capitalised(word)
        } else {
            word.to_owned()
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Every word that a comment can hold outside protected terms and the templates' own words, sorted.
pub fn group_words() -> Vec<&'static str> {
    let mut all: Vec<&str> = words::GROUPS
        .iter()
        .flat_map(|(_, words)| words.split(' '))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
pub(super) use words::group as group_of_words;

#[cfg(test)]
mod tests;
