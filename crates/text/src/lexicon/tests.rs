//! What a lexicon promises.

use std::collections::BTreeMap;

use super::*;
use crate::tokenizer::Tokenizer;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

fn tokenizer() -> Tokenizer {
    Tokenizer::new(["the", "she", "united", "states"].into_iter()).unwrap()
}

fn matcher(toml: &str) -> TermMatcher {
    TermMatcher::new(
        &Lexicon::from_toml(toml).unwrap().attributes()[0],
        &tokenizer(),
    )
    .unwrap()
}

fn words(text: &str) -> Vec<String> {
    tokenizer()
        .tokens(text)
        .unwrap()
        .into_iter()
        .map(|token| token.text)
        .collect()
}

#[test]
fn all_five_lexica_ship() {
    let lexicon = Lexicon::shipped();
    let sizes: Vec<(&str, usize)> = lexicon
        .attributes()
        .iter()
        .map(|attribute| (attribute.name.as_str(), attribute.values.len()))
        .collect();
    let expected = [
        ("country", 160),
        ("ethnicity", 17),
        ("race", 7),
        ("religion", 14),
        ("gender", 2),
    ];
    assert_eq!(sizes, expected);
    assert_eq!(lexicon.attribute("religion").unwrap().values[13], "baha'i");
    let error = lexicon.attribute("age").unwrap_err().to_string();
    assert!(error.contains("'age'; its attributes are country, ethnicity, race, religion, gender"));
    assert_eq!(
        Lexicon::from_toml(&lexicon.to_toml().unwrap()).unwrap(),
        lexicon
    );
    for attribute in lexicon.attributes() {
        let matcher = TermMatcher::new(attribute, &tokenizer()).unwrap();
        assert_eq!(matcher.terms(), attribute.terms().len());
        for term in 0..matcher.terms() {
            let found = matcher.find(matcher.tokens(term));
            assert_eq!(found.len(), 1);
            assert_eq!(
                (found[0].term, Some(found[0].value)),
                (term, matcher.value(term))
            );
        }
    }
}

#[test]
fn the_shipped_values_are_the_papers() {
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("adf/sensitive_feature.csv")).unwrap();
    let lexicon = Lexicon::shipped();
    for (line, name) in text
        .lines()
        .skip(1)
        .zip(["country", "ethnicity", "race", "religion"])
    {
        let cells: Vec<&str> = line.split(',').skip(1).map(str::trim).collect();
        assert_eq!(lexicon.attribute(name).unwrap().values, cells);
    }
}

#[test]
fn a_pronoun_is_replaced_by_its_counterpart_in_the_same_form() {
    let lexicon = Lexicon::shipped();
    let matcher = TermMatcher::new(lexicon.attribute("gender").unwrap(), &tokenizer()).unwrap();
    let counterparts = |word: &str| {
        let found = matcher.find(&[word]);
        assert_eq!(found.len(), 1, "{word}");
        let substitutes = matcher.substitutes(found[0].term);
        assert!(
            substitutes
                .iter()
                .all(|other| other.value != found[0].value)
        );
        assert!(
            substitutes
                .iter()
                .all(|other| matcher.text(other.term) == other.text)
        );
        substitutes
            .iter()
            .map(|other| other.text.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (word, expected) in [
        ("she", "he"),
        ("he", "she"),
        ("her", "him his"),
        ("his", "her hers"),
        ("him", "her"),
        ("hers", "his"),
        ("himself", "herself"),
        ("woman", "man"),
        ("mum", "dad"),
        ("dad", "mom"),
        ("ma'am", "sir"),
        ("sir", "madam"),
    ] {
        assert_eq!(counterparts(word), expected, "{word}");
    }
}

#[test]
fn the_longest_term_is_taken_from_left_to_right() {
    let matcher = matcher(
        r#"
        [[attribute]]
        name = "country"
        values = ["guinea", "guinea-bissau", "papua new guinea", "new zealand", "Zealand"]
        "#,
    );
    let found = |text: &str| {
        let found = matcher.find(&words(text));
        let shown = found
            .iter()
            .map(|m| format!("{}@{}..{}", m.value, m.tokens.start, m.tokens.end));
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        found("Guinea, Guinea-Bissau and Papua New Guinea"),
        "0@0..1 1@2..5 2@6..9"
    );
    assert_eq!(found("papua new zealand"), "3@1..3");
    assert_eq!(found("zealand new ZEALAND new"), "4@0..1 3@1..3");
    assert_eq!(found("papua new"), "");
    assert_eq!(matcher.substitutes(0)[0].tokens, ["guinea", "-", "bissau"]);
    assert_eq!(
        matcher.words(),
        ["bissau", "guinea", "new", "papua", "zealand"]
    );
    assert!(matcher.find(&[] as &[&str]).is_empty() && matcher.substitutes(99).is_empty());
}

/// Longest match first, by its definition: every term at every place.
fn find_slowly(terms: &[Vec<String>], tokens: &[String]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let best = (0..terms.len())
            .filter(|&term| tokens[at..].starts_with(&terms[term]))
            .max_by_key(|&term| terms[term].len());
        if let Some(term) = best {
            found.push((at, term));
        }
        at += best.map_or(1, |term| terms[term].len());
    }
    found
}

#[test]
fn matches_agree_with_brute_force() {
    let tokenizer = tokenizer();
    let mut several = 0;
    for item in 0..4000 {
        let mut draws = stream(5, Purpose::Synthetic, item, 0);
        let mut phrase = |longest| {
            let length = draws.random_range(1..=longest);
            (0..length)
                .map(|_| ["a", "b", "c"][draws.random_range(0..3)].to_owned())
                .collect::<Vec<_>>()
        };
        let mut terms: Vec<Vec<String>> = (0..6).map(|_| phrase(3)).collect();
        terms.sort();
        terms.dedup();
        let tokens = phrase(12);
        if terms.len() < 2 {
            continue;
        }
        let attribute = ProtectedAttribute {
            name: "x".into(),
            description: String::new(),
            values: terms.iter().map(|term| term.join(" ")).collect(),
            forms: BTreeMap::new(),
        };
        let matcher = TermMatcher::new(&attribute, &tokenizer).unwrap();
        let found: Vec<(usize, usize)> = matcher
            .find(&tokens)
            .iter()
            .map(|found| (found.tokens.start, found.value))
            .collect();
        several += usize::from(found.len() > 1);
        assert_eq!(found, find_slowly(&terms, &tokens), "{terms:?} {tokens:?}");
    }
    assert!(several > 1000);
}

#[test]
fn bad_lexica_are_refused_by_what_is_wrong() {
    let attribute = |rest: &str| format!("[[attribute]]\nname = \"x\"\n{rest}");
    for (toml, expected) in [
        (String::new(), "names no attribute"),
        ("[[attributes]]".into(), "unknown field `attributes`"),
        (
            attribute("values = [\"a\", \"b\"]\nvalue = 1"),
            "unknown field `value`",
        ),
        (
            attribute("values = []"),
            "'x': it has 0 value; at least two",
        ),
        (
            attribute("values = [\"a\"]"),
            "'x': it has 1 value; at least two",
        ),
        (
            attribute("values = [\"a\", \"A\"]"),
            "the value 'A' is listed twice",
        ),
        (attribute("values = [\"a\", \" \"]"), "' ' is an empty term"),
        (attribute("values = [\"a\", \"-\"]"), "'-' is an empty term"),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [\"c\"]"),
            "the form 'n' has 1 terms for 2 values",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [\"c\", []]"),
            "the form 'n' has no term for the value 'b'",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [\"c\", \"\"]"),
            "'' is an empty term of the value 'b'",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [\"c\", \"C\"]"),
            "the term 'C' is listed twice",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [[\"c\", \"c\"], \"d\"]"),
            "the term 'c' is listed twice",
        ),
        (
            attribute(
                "values = [\"a\", \"b\"]\nforms.m = [\"c\", \"d\"]\nforms.n = [\"e\", \"c\"]",
            ),
            "'c' is listed twice, for 'a' and for 'b'",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nforms.n = [1, 2]"),
            "expected a term or a list of spellings",
        ),
        (
            attribute("values = [\"a\", \"b\"]\n") + &attribute("values = [\"c\", \"d\"]"),
            "two attributes have this name",
        ),
        (
            "[[attribute]]\nname = \"\"\nvalues = [\"a\", \"b\"]".into(),
            "its name is empty",
        ),
    ] {
        let found = Lexicon::from_toml(&toml).unwrap_err().to_string();
        assert!(found.contains(expected), "{toml}: {found}");
    }
    let same = "[[attribute]]\nname = \"x\"\nvalues = [\"a-b\", \"a - b\"]";
    let lexicon = Lexicon::from_toml(same).unwrap();
    let error = TermMatcher::new(&lexicon.attributes()[0], &tokenizer()).unwrap_err();
    assert!(error.to_string().contains("are the same words"), "{error}");
}

#[test]
fn coverage_counts_texts_not_occurrences() {
    let toml =
        "[[attribute]]\nname = \"x\"\nvalues = [\"united states\", \"peru\", \"the states\"]";
    let lexicon = Lexicon::from_toml(toml).unwrap();
    let texts = [
        "The United States, united states",
        "Peru: the states of Peru",
        "nothing",
        "",
    ];
    let coverage = Coverage::of(&lexicon.attributes()[0], &texts, &tokenizer()).unwrap();
    let counts: Vec<usize> = coverage.terms.iter().map(|term| term.texts).collect();
    assert_eq!(
        (
            counts.as_slice(),
            coverage.texts_without_term,
            coverage.texts
        ),
        (&[1, 1, 1][..], 2, 4)
    );
    let lacking: Vec<&str> = coverage
        .terms_without_embedding()
        .map(|term| term.term.as_str())
        .collect();
    assert_eq!(lacking, ["peru"]);
}

#[test]
fn common_words_are_told() {
    let lexicon = Lexicon::shipped();
    let told = |name: &str| {
        let common = common_words(lexicon.attribute(name).unwrap());
        common
            .into_iter()
            .map(|word| word.term)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(told("race"), "white black");
    assert_eq!(
        told("country"),
        "chad chile china georgia guinea israel jordan turkey panama america"
    );
    assert_eq!(told("religion"), "christian");
}
