//! Generated comments: texts that nobody wrote, with identity terms and discrimination planted in
//! known amounts.
//!
//! A comment is one or two sentences of one tone and, three times in four, a sentence in neutral
//! words that names a value of one protected attribute: some values of five attributes of the lexicon
//! that ships ([`VALUES`]), so few that each burdened one is in many comments. Terms are in the form
//! that their place asks for. Tone and term decide how probable the label *toxic* is ([`toxic_rate`]):
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

use super::filled::filled;
use super::lexicon::{Lexicon, ProtectedAttribute};
use probity_run::stream::{Purpose, Stream, stream};

/// The values of each attribute that comments name. Values with other senses in everyday English,
/// such as Turkey and Polish, are left out, and so are those that part of another value's name is.
pub const VALUES: [(&str, &[&str]); 5] = [
    (
        "country",
        &[
            "Argentina",
            "Australia",
            "Austria",
            "Belgium",
            "Brazil",
            "Bulgaria",
            "Canada",
            "Croatia",
            "Denmark",
            "Egypt",
            "Estonia",
            "Fiji",
            "Finland",
            "France",
            "Germany",
            "Ghana",
            "Greece",
            "Hungary",
            "Iceland",
            "India",
            "Ireland",
            "Italy",
            "Japan",
            "Kenya",
            "Latvia",
            "Mexico",
            "Nepal",
            "Norway",
            "Peru",
            "Portugal",
            "Qatar",
            "Spain",
            "Sweden",
            "Thailand",
            "Uruguay",
            "Vietnam",
        ],
    ),
    (
        "nationality",
        &[
            "Argentinian",
            "Australian",
            "Austrian",
            "Belgian",
            "Brazilian",
            "Bulgarian",
            "Canadian",
            "Croatian",
            "Danish",
            "Dutch",
            "Egyptian",
            "Filipino",
            "French",
            "German",
            "Greek",
            "Hungarian",
            "Icelandic",
            "Irish",
            "Italian",
            "Japanese",
            "Kenyan",
            "Mexican",
            "Norwegian",
            "Peruvian",
            "Portuguese",
            "Romanian",
            "Scottish",
            "Spanish",
            "Thai",
            "Vietnamese",
        ],
    ),
    (
        "race",
        &[
            "white",
            "black",
            "Asian",
            "indigenous",
            "mixed-race",
            "brown",
        ],
    ),
    (
        "religion",
        &[
            "Christian",
            "Muslim",
            "Jewish",
            "Hindu",
            "Buddhist",
            "Sikh",
            "Catholic",
            "Protestant",
            "Anglican",
            "Lutheran",
            "Methodist",
            "Baptist",
            "Quaker",
            "Jain",
            "Taoist",
            "atheist",
        ],
    ),
    ("gender", &["female", "male"]),
];

/// The burdened values of each attribute.
pub const BURDENED: [(&str, &[&str]); 5] = [
    (
        "country",
        &[
            "Norway", "Fiji", "Latvia", "Ghana", "Canada", "Nepal", "Qatar", "Uruguay",
        ],
    ),
    ("nationality", &["Dutch", "Scottish", "Filipino", "Italian"]),
    ("race", &["white", "indigenous"]),
    ("religion", &["Christian", "Jain", "Lutheran"]),
    ("gender", &["male"]),
];

/// The share of comments with a protected term.
const WITH_TERM: f64 = 0.75;
/// The share of those whose term is burdened.
const WITH_BURDENED: f64 = 0.4;

/// The tone of a comment: how it is meant.
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
    /// The text of the comment.
    pub text: String,
    /// Whether the comment has the label *toxic*.
    pub toxic: bool,
    /// The tone of the comment.
    pub tone: Tone,
    /// The attribute and the value that its protected term names.
    pub term: Option<(String, String)>,
}

/// Returns the probability of the label *toxic* for a comment of this tone.
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

/// Returns whether a value of an attribute raises the rate of the label *toxic*.
pub fn is_burdened(attribute: &str, value: &str) -> bool {
    BURDENED
        .iter()
        .any(|(name, values)| *name == attribute && values.contains(&value))
}

/// The attributes of the lexicon that ships with the values that comments name ([`VALUES`]).
pub fn lexicon() -> Lexicon {
    Lexicon::shipped().with_values(&VALUES)
}

/// A generator of comments.
#[derive(Debug, Clone)]
pub struct CommentGenerator {
    lexicon: Lexicon,
    seed: u64,
}

impl CommentGenerator {
    /// Creates a generator of the comments of `seed`.
    pub fn new(seed: u64) -> CommentGenerator {
        CommentGenerator {
            lexicon: lexicon(),
            seed,
        }
    }

    /// Returns comment number `item`.
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
                written(template, None, draws)
            })
            .collect();
        let mut term = None;
        if draws.random_bool(WITH_TERM)
            && let Some(attribute) = self.lexicon.attributes().choose(draws)
        {
            let value = draw_value(attribute, draws);
            let template = pick(&templates_of(attribute, value), draws);
            let sentence = written(template, Some((attribute, value)), draws);
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

/// Draws a value of `attribute`: burdened ones share [`WITH_BURDENED`] of all draws.
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

/// Returns the sentences about `attribute` that `value` has terms for.
fn templates_of(attribute: &ProtectedAttribute, value: usize) -> Vec<&'static str> {
    let has = |form: &str| term(attribute, value, form).is_some();
    let about = templates::about(&attribute.name).iter().copied();
    about
        .filter(|template| templates::forms(template).all(has))
        .collect()
}

/// Returns the first spelling of the term of `value` in `form`.
fn term<'a>(attribute: &'a ProtectedAttribute, value: usize, form: &str) -> Option<&'a str> {
    let spellings = attribute.forms.get(form)?.get(value)?;
    spellings.first().map(String::as_str)
}

/// Fills the slots of `template` with words drawn for its groups, and with terms of an attribute's
/// value for its forms.
fn written(
    template: &str,
    about: Option<(&ProtectedAttribute, usize)>,
    draws: &mut Stream,
) -> String {
    filled(template, |slot| match slot.strip_prefix('@') {
        Some(form) => about
            .and_then(|(attribute, value)| term(attribute, value, form))
            .unwrap_or_default()
            .to_owned(),
        None => {
            let words: Vec<&str> = words::group(slot).unwrap_or_default().split(' ').collect();
            pick(&words, draws).to_owned()
        }
    })
}

/// Returns every term that a comment can hold, as the lexicon spells it, sorted.
pub fn terms() -> Vec<String> {
    let mut all = Vec::new();
    for attribute in lexicon().attributes() {
        for value in 0..attribute.values.len() {
            let sentences = templates_of(attribute, value).into_iter();
            let forms = sentences.flat_map(templates::forms);
            all.extend(forms.filter_map(|form| Some(term(attribute, value, form)?.to_owned())));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns every word that a comment can hold outside protected terms and the templates' own words,
/// sorted.
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
