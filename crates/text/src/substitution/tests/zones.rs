//! Tests that edits change nothing outside words of sentences, whatever the text.

use probity_run::stream::{Purpose, stream};
use rand::RngExt;

use super::*;

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
