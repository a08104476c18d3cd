//! Tests that edits change nothing outside words of sentences, whatever the text.

use probity_run::stream::{Purpose, stream};
use rand::RngExt;

use super::*;
use crate::lexicon::expanded;

const PIECES: [&str; 60] = [
    "she",
    "He",
    "HER",
    "his",
    "Muslim",
    "a",
    "an",
    "AN",
    "Jewish",
    "Christians",
    "the",
    "blind",
    "black",
    "white people",
    "is",
    "are",
    "gay",
    "African-American",
    "American",
    "U.S.",
    "old",
    "man",
    "women's",
    "ladies'",
    "\u{2019}",
    "'",
    "\"",
    ",",
    ".",
    "\n",
    "-",
    "/",
    "(",
    ")",
    "[[",
    "]]",
    "|",
    "{{",
    "}}",
    "<b>",
    "<",
    ">",
    "&amp;",
    "&",
    "http://muslim.com/a",
    "@black",
    "#he",
    "e\u{301}",
    "\u{200b}",
    "\u{1f469}\u{200d}\u{1f52c}",
    "\u{feff}",
    "日本",
    "ß",
    "İ",
    "Mr.",
    "user-black-2",
    "x_he_y",
    "`",
    "of",
    "and",
];

#[test]
fn random_texts_change_in_their_words_only() {
    let mut exchanges = 0;
    for item in 0..6000 {
        let mut draws = stream(7, Purpose::Synthetic, item, 0);
        let mut text = String::new();
        for _ in 0..draws.random_range(0..30) {
            if draws.random_range(0..12) == 0 {
                let letter = char::from_u32(draws.random_range(0..0x3000));
                text.extend(letter);
            }
            text.push_str(PIECES[draws.random_range(0..PIECES.len())]);
            if draws.random_range(0..8) > 0 {
                text.push(' ');
            }
        }
        if item % 2 == 0 {
            text.push_str(" and that is what he said to the people who were there with her.");
        }
        let analysis = ALL.analyse(&text).unwrap();
        for site in &analysis.sites {
            for exchange in &site.exchanges {
                check(&text, &analysis, exchange);
                exchanges += 1;
            }
        }
    }
    assert!(exchanges > 10_000, "{exchanges}");
}

fn check(text: &str, analysis: &Analysis, exchange: &Exchange) {
    let mut done = 0;
    let mut kept = String::new();
    for edit in &exchange.edits {
        assert!(
            done <= edit.bytes.start && edit.bytes.start < edit.bytes.end,
            "{text:?}"
        );
        kept.push_str(&text[done..edit.bytes.start]);
        kept.push_str(&edit.by);
        assert!(
            text.get(edit.bytes.clone()).is_some() && !edit.by.is_empty(),
            "{text:?}"
        );
        let bound = |at: usize| {
            let mut words = analysis.words.iter();
            words.any(|word| word.bytes.start == at || word.bytes.end == at)
        };
        assert!(bound(edit.bytes.start) && bound(edit.bytes.end), "{text:?}");
        let touched = analysis
            .words
            .iter()
            .filter(|word| word.bytes.start < edit.bytes.end && edit.bytes.start < word.bytes.end);
        for word in touched {
            assert!(word.is_fixed, "{text:?}: {:?}", &text[word.bytes.clone()]);
        }
        done = edit.bytes.end;
    }
    kept.push_str(&text[done..]);
    assert_eq!(apply(text, &exchange.edits), kept);
    assert_ne!(kept, text);
}

#[test]
fn what_is_no_sentence_stays() {
    for text in [
        "See http://muslim.org/black-man and www.gay.com for what the people said about this.",
        "Mail he.she@woman.com if you want to know what the people said about this.",
        "The user @black_man and the tag #Muslims are what people talk about here.",
        "This is the page of User:BlackMan and of user-black-2, who wrote about it.",
        "There is a template {{Muslim|black man}} in the text and that is what it was about.",
        "It is in <span class=\"woman\">the text</span> that is what it was about.",
    ] {
        let analysis = ALL.analyse(text).unwrap();
        assert!(analysis.is_english, "{text}");
        assert_eq!(analysis.sites, [], "{text}");
    }
}

#[test]
fn texts_of_other_languages_stay() {
    for text in [
        "Der Mann hat gesagt, dass die Frau nicht kommt, weil er in Berlin die Bahn verpasst hat.",
        "Il a dit que sa femme ne viendrait pas parce que le train de Paris est en retard.",
    ] {
        let analysis = ALL.analyse(text).unwrap();
        assert!(!analysis.is_english && analysis.sites.is_empty(), "{text}");
    }
}

#[test]
fn edits_that_do_not_fit_are_left_out() {
    let edit = |bytes: Range<usize>| Edit {
        bytes,
        by: "x".to_owned(),
    };
    assert_eq!(apply("aéb", &[edit(0..1), edit(2..3), edit(3..4)]), "xéx");
    assert_eq!(apply("abc", &[edit(1..2), edit(0..1), edit(2..9)]), "axc");
}

/// Words of sentences, terms of several attributes, and words that are bound to values of them.
const SPOKEN: [&str; 44] = [
    "the",
    "a",
    "and",
    "with",
    "of",
    "is",
    "are",
    "was",
    "in",
    "near",
    "old",
    "house",
    "people",
    "children",
    "said",
    "that",
    "Muslims",
    "Muslim",
    "Christians",
    "Sunnis",
    "Baptists",
    "Jews",
    "Hindu",
    "Buddhists",
    "mosque",
    "imam",
    "pastor",
    "church",
    "rabbi",
    "temple",
    "Christmas",
    "#Muslims",
    "#ChristianLove",
    "Muslim Brotherhood",
    "white people",
    "black women",
    "crackers",
    "slavery",
    "gay people",
    "lesbians",
    "dyke",
    "Germans",
    "Deutschland",
    "@muslim",
];

/// Returns whether `phrase` stands in `text`, both in lower case, as words of its own.
fn holds(text: &str, phrase: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    text.match_indices(phrase).any(|(at, _)| {
        !text[..at].ends_with(is_letter) && !text[at + phrase.len()..].starts_with(is_letter)
    })
}

/// Every word that is bound is bound to the values of both sides, and no plain mention of the value
/// that was exchanged is left: against the lexicon itself, whose phrases are looked up one by one.
#[test]
fn no_side_of_a_pair_holds_a_word_that_is_bound_to_another_value() {
    let lexicon = Lexicon::shipped();
    let attributes = ALL.attributes().iter();
    let attributes: Vec<_> = attributes
        .map(|it| lexicon.attribute(it).unwrap())
        .collect();
    let (mut exchanges, mut shared, mut bound) = (0, 0, 0);
    for item in 0..4000 {
        let mut draws = stream(8, Purpose::Synthetic, item, 0);
        let mut words: Vec<&str> = Vec::new();
        for _ in 0..draws.random_range(4..9) {
            words.push(SPOKEN[draws.random_range(0..SPOKEN.len())]);
        }
        let text = format!("He said that {} were there with her.", words.join(" "));
        let analysis = ALL.analyse(&text).unwrap();
        bound += analysis.bound.len();
        for site in &analysis.sites {
            let attribute = attributes[site.attribute];
            let [from, lower] = [&attribute.values[site.value], &text].map(|it| it.to_lowercase());
            for exchange in &site.exchanges {
                exchanges += 1;
                let to = &attribute.values[exchange.value];
                let other = apply(&text, &exchange.edits).to_lowercase();
                for of in &attribute.bound {
                    let holds = |side: &str| {
                        let mut words = of.words.iter().flat_map(|word| expanded(word));
                        words.any(|word| holds(side, &word.to_lowercase()))
                    };
                    let [in_text, in_other] = [holds(&lower), holds(&other)];
                    assert!(!in_other || of.values.contains(to), "{text} | {other}");
                    let value = &attribute.values[site.value];
                    assert!(!in_text || of.values.contains(value), "{text} | {other}");
                    shared += usize::from(in_text);
                }
                if attribute.name == "religion" {
                    let plain = other.replace("@muslim", "");
                    assert!(!plain.contains(&from), "{lower} | {other}");
                }
            }
        }
    }
    assert!(
        exchanges > 5000 && shared > 500 && bound > 500,
        "{exchanges} {shared} {bound}"
    );
}
