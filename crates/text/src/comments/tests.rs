//! Tests of the generated comments.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::english::begins_with_vowel_sound;
use crate::substitution::Substitution;

fn comments(count: u64) -> Vec<Comment> {
    let generator = CommentGenerator::new(3);
    (0..count).map(|item| generator.comment(item)).collect()
}

#[test]
fn every_slot_is_filled_and_every_group_is_used() {
    let mut used = HashSet::new();
    let tones = [
        &templates::FRIENDLY[..],
        &templates::NEUTRAL,
        &templates::CROSS,
    ];
    for template in tones.into_iter().flatten() {
        for slot in templates::slots(template) {
            assert!(words::group(slot).is_some(), "{template}");
            used.insert(slot);
        }
    }
    for attribute in lexicon().attributes() {
        for template in templates::about(&attribute.name) {
            for slot in templates::slots(template) {
                let is_form = |form| attribute.forms.contains_key(form);
                let is_known = slot.strip_prefix('@').is_some_and(is_form);
                assert!(is_known || words::group(slot).is_some(), "{template}");
                used.insert(slot);
            }
        }
        for value in 0..attribute.values.len() {
            let count = templates_of(attribute, value).len();
            assert!(count >= 4, "{} {count}", attribute.values[value]);
        }
    }
    for (name, _) in words::GROUPS {
        assert!(used.contains(name), "{name} is not used");
    }
    assert!(group_words().len() >= 350, "{}", group_words().len());
}

#[test]
fn planted_rates_are_those_of_the_labels() {
    let mut counts: HashMap<(Tone, bool), (f64, f64)> = HashMap::new();
    for comment in comments(40_000) {
        let burdened = comment
            .term
            .as_ref()
            .is_some_and(|(name, value)| is_burdened(name, value));
        let (toxic, all) = counts.entry((comment.tone, burdened)).or_default();
        *toxic += f64::from(comment.toxic);
        *all += 1.0;
    }
    assert_eq!(counts.len(), 6);
    for ((tone, burdened), (toxic, all)) in counts {
        let rate = toxic_rate(tone, burdened);
        // Six standard errors, of at least 2,500 comments: an error probability of 2e-9 each.
        assert!(all > 2500.0, "{tone:?} {burdened} {all}");
        let error = 6.0 * (rate * (1.0 - rate) / all).sqrt();
        assert!(
            (toxic / all - rate).abs() < error,
            "{tone:?} {burdened} {}",
            toxic / all
        );
    }
}

#[test]
fn values_are_of_the_lexicon_and_burdened_ones_among_them() {
    let lexicon = lexicon();
    let names: Vec<&str> = VALUES.iter().map(|(name, _)| *name).collect();
    let found: Vec<&str> = lexicon
        .attributes()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(found, names);
    for ((attribute, burdened), (_, values)) in BURDENED.into_iter().zip(VALUES) {
        let known = &lexicon.attribute(attribute).unwrap().values;
        assert_eq!(known.len(), values.len(), "{attribute}");
        assert!(
            values
                .iter()
                .all(|value| known.iter().any(|it| it == value))
        );
        assert!(burdened.iter().all(|value| values.contains(value)));
        assert!(burdened.len() < values.len());
    }
    // What was left out of it does not stand in its rules.
    assert_eq!(
        Lexicon::from_toml(&lexicon.to_toml().unwrap()).unwrap(),
        lexicon
    );
}

#[test]
fn a_comment_names_the_value_that_it_says_and_no_other() {
    let names = VALUES.map(|(name, _)| name.to_owned());
    let substitution = Substitution::new(&Lexicon::shipped(), &names).unwrap();
    let mut seen = HashSet::new();
    let mut missed = Vec::new();
    for comment in comments(4000) {
        assert!(!comment.text.contains(['{', '}', '@']), "{}", comment.text);
        let named = substitution.analyse(&comment.text).unwrap().named;
        for named in &named {
            let said = comment.term.as_ref();
            let is_said = said.is_some_and(|(attribute, value)| {
                names[named.attribute] == *attribute
                    && substitution.values(named.attribute)[named.value] == *value
            });
            assert!(is_said, "{}: {}", comment.text, named.term);
            seen.insert(named.term.clone());
        }
        if named.is_empty() && comment.term.is_some() {
            missed.push(comment.text);
        }
    }
    // Where a word behind the term may be a verb, who reads it by its senses cannot be sure.
    assert!(missed.len() < 30, "{} {missed:#?}", missed.len());
    let all = terms();
    let unseen: Vec<&String> = all.iter().filter(|term| !seen.contains(*term)).collect();
    assert!(unseen.len() * 10 < all.len(), "{unseen:?}");
}

#[test]
fn burdened_values_are_well_populated() {
    let mut counts: HashMap<(String, String), u64> = HashMap::new();
    for comment in comments(20_000) {
        if let Some(term) = comment.term {
            *counts.entry(term).or_default() += 1;
        }
    }
    for (attribute, values) in BURDENED {
        for value in values {
            // Three comments in four have a term of one of five attributes, four in ten of those a
            // burdened one.
            let expected = 20_000.0 * 0.75 / 5.0 * 0.4 / values.len() as f64;
            let count = counts[&(attribute.to_owned(), (*value).to_owned())] as f64;
            // Six standard errors: an error probability of 2e-9.
            assert!(
                (count - expected).abs() < 6.0 * expected.sqrt(),
                "{value}: {count}"
            );
        }
    }
}

#[test]
fn comments_are_keyed_and_read_well() {
    let generator = CommentGenerator::new(3);
    assert_eq!(generator.comment(999), comments(1000)[999]);
    assert_ne!(CommentGenerator::new(4).comment(7), generator.comment(7));
    for comment in comments(4000) {
        let text = &comment.text;
        assert!(!text.contains("  ") && !text.contains(" ."), "{text}");
        let words: Vec<&str> = text.split(' ').collect();
        for pair in words.windows(2) {
            match pair[0] {
                "a" | "A" => assert!(!begins_with_vowel_sound(pair[1]), "{text}"),
                "an" | "An" => assert!(begins_with_vowel_sound(pair[1]), "{text}"),
                _ => {}
            }
            let ends = pair[0].ends_with(['.', '!', '?']);
            assert!(!ends || pair[1].starts_with(char::is_uppercase), "{text}");
        }
        assert!(text.starts_with(char::is_uppercase), "{text}");
        let is_proper =
            |word: &str| word.ends_with("day") && !["today", "yesterday", "every"].contains(&word);
        for word in words.iter().map(|word| word.trim_matches(['.', ',', '!'])) {
            assert!(
                !is_proper(word) || word.starts_with(char::is_uppercase),
                "{text}"
            );
        }
    }
}
