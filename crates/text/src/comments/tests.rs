//! What the generated comments promise.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::lexicon::TermMatcher;
use crate::tokenizer::Tokenizer;

fn comments(count: u64) -> Vec<Comment> {
    let generator = CommentGenerator::new(3);
    (0..count).map(|item| generator.comment(item)).collect()
}

fn all_templates() -> Vec<&'static str> {
    let tones = [
        &templates::FRIENDLY[..],
        &templates::NEUTRAL,
        &templates::CROSS,
    ];
    let attributes = [
        &templates::COUNTRY[..],
        &templates::ETHNICITY,
        &templates::RACE,
        &templates::RELIGION,
    ];
    tones
        .into_iter()
        .chain(attributes)
        .flatten()
        .copied()
        .collect()
}

fn slots(template: &'static str) -> impl Iterator<Item = &'static str> {
    template.split(['{', '}']).skip(1).step_by(2)
}

#[test]
fn every_slot_is_filled_and_every_group_and_form_is_used() {
    let lexicon = Lexicon::shipped();
    let forms = &lexicon.attribute("gender").unwrap().forms;
    let mut used = HashSet::new();
    for template in all_templates() {
        for slot in slots(template) {
            assert!(slot == "#" || words::group(slot).is_some(), "{template}");
            used.insert(slot);
        }
    }
    for slot in templates::GENDER
        .iter()
        .flat_map(|template| slots(template))
    {
        let form = slot.strip_suffix("_form").unwrap_or(slot);
        assert!(
            forms.contains_key(form) || words::group(slot).is_some(),
            "{slot}"
        );
        used.insert(form);
    }
    for name in words::GROUPS
        .iter()
        .map(|(name, _)| *name)
        .chain(forms.keys().map(String::as_str))
    {
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
fn burdened_values_are_of_the_lexicon() {
    let lexicon = Lexicon::shipped();
    assert_eq!(BURDENED.len(), lexicon.attributes().len());
    for (attribute, values) in BURDENED {
        let known = &lexicon.attribute(attribute).unwrap().values;
        assert!(
            values
                .iter()
                .all(|value| known.iter().any(|known| known == value)),
            "{attribute}"
        );
        assert!(values.len() < known.len());
    }
}

#[test]
fn a_comment_holds_the_term_that_it_says_and_no_other() {
    let lexicon = Lexicon::shipped();
    let tokenizer = Tokenizer::without_vocabulary().unwrap();
    let matchers: Vec<(&ProtectedAttribute, TermMatcher)> = lexicon
        .attributes()
        .iter()
        .map(|attribute| (attribute, TermMatcher::new(attribute, &tokenizer).unwrap()))
        .collect();
    let mut terms = HashSet::new();
    for comment in comments(4000) {
        let tokens = tokenizer.tokens(&comment.text).unwrap();
        let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert!(!comment.text.contains(['{', '}', '#']), "{}", comment.text);
        for (attribute, matcher) in &matchers {
            for found in matcher.find(&words) {
                terms.insert((attribute.name.clone(), found.term));
                let said = comment.term.as_ref();
                let same = said.is_some_and(|(name, value)| {
                    *name == attribute.name && *value == attribute.values[found.value]
                });
                assert!(same, "{}: {}", comment.text, matcher.text(found.term));
            }
        }
    }
    let all: usize = matchers.iter().map(|(_, matcher)| matcher.terms()).sum();
    assert!(terms.len() > all * 9 / 10, "{} of {all}", terms.len());
}

#[test]
fn comments_are_keyed_and_read_well() {
    let generator = CommentGenerator::new(3);
    assert_eq!(generator.comment(999), comments(1000)[999]);
    assert_ne!(CommentGenerator::new(4).comment(7), generator.comment(7));
    for comment in comments(2000) {
        let lower = comment.text.to_lowercase();
        for wrong in [" a a", " a e", " a i", " a o", " an b", " an d", "  ", " ."] {
            assert!(!lower.contains(wrong), "{}", comment.text);
        }
    }
}
