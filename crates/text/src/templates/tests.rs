//! Tests of templated test sets.

use std::collections::{BTreeSet, HashMap};

use super::*;
use crate::english::begins_with_vowel_sound;

/// Every attribute has texts of each value, of which a sample is read.
#[test]
fn every_attribute_has_texts_that_name_exactly_their_value() {
    let lexicon = Lexicon::shipped();
    for attribute in lexicon.attributes() {
        let name = &attribute.name;
        let candidates = candidates(attribute);
        let values: BTreeSet<&str> = candidates.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values.len(), attribute.values.len(), "{name}");
        let substitution = Substitution::new(&lexicon, std::slice::from_ref(name)).unwrap();
        // Prime to the number of texts of a term, so that all sentences are read.
        let step = if candidates.len() > 3000 { 127 } else { 29 };
        let sample: Vec<&TemplateText> = candidates.iter().step_by(step).collect();
        let is_left_out = |text: &&&TemplateText| !names_exactly(&substitution, text).unwrap();
        let left_out: Vec<&&TemplateText> = sample.iter().filter(is_left_out).collect();
        let texts: Vec<&str> = left_out.iter().map(|it| it.text.as_str()).collect();
        assert!(
            texts.len() * 5 < sample.len(),
            "{name}: {} {texts:#?}",
            sample.len()
        );
    }
}

#[test]
fn what_is_kept_names_its_value_and_what_is_left_out_is_counted() {
    let lexicon = Lexicon::shipped();
    let names = ["race".to_owned(), "continent".to_owned()];
    let set = template_texts(&lexicon, &names).unwrap();
    for (number, name) in names.iter().enumerate() {
        let attribute = lexicon.attribute(name).unwrap();
        let of = |text: &&TemplateText| text.attribute == *name;
        let values: BTreeSet<&str> = set
            .texts
            .iter()
            .filter(of)
            .map(|it| it.value.as_str())
            .collect();
        assert_eq!(values.len(), attribute.values.len(), "{name}");
        let rude = set
            .texts
            .iter()
            .filter(of)
            .filter(|text| text.is_toxic)
            .count();
        assert!(rude * 3 > set.texts.iter().filter(of).count(), "{name}");
        let substitution = Substitution::new(&lexicon, &names).unwrap();
        for text in set.texts.iter().filter(of).step_by(97) {
            let named = substitution.analyse(&text.text).unwrap().named;
            let own: Vec<_> = named.iter().filter(|it| it.attribute == number).collect();
            assert_eq!(own.len(), 1, "{}", text.text);
            assert_eq!(substitution.values(number)[own[0].value], text.value);
        }
    }
    let all: usize = names
        .iter()
        .map(|name| candidates(lexicon.attribute(name).unwrap()).len())
        .sum();
    assert_eq!(set.texts.len() as u64 + set.left_out, all as u64);
}

#[test]
fn all_terms_of_a_form_stand_in_the_same_texts() {
    let set = template_texts(&Lexicon::shipped(), &["religion".to_owned()]).unwrap();
    let mut of_term: HashMap<&str, Vec<&str>> = HashMap::new();
    for text in &set.texts {
        of_term.entry(&text.term).or_default().push(&text.template);
        assert_eq!(filled(&text.template, |_| text.term.clone()), text.text);
    }
    assert_eq!(of_term["Islam"], of_term["Judaism"]);
    assert_eq!(of_term["Muslims"], of_term["Jews"]);
    assert!(of_term["Islam"].len() >= 40);
}

#[test]
fn articles_and_capitals_are_right() {
    let lexicon = Lexicon::shipped();
    let names: Vec<String> = lexicon
        .attributes()
        .iter()
        .map(|it| it.name.clone())
        .collect();
    for text in template_texts(&lexicon, &names).unwrap().texts {
        assert!(!text.text.contains(['{', '}']), "{}", text.text);
        assert!(text.text.starts_with(char::is_uppercase), "{}", text.text);
        let words: Vec<&str> = text.text.split(' ').collect();
        for pair in words.windows(2) {
            match pair[0] {
                "a" | "A" => assert!(!begins_with_vowel_sound(pair[1]), "{}", text.text),
                "an" | "An" => assert!(begins_with_vowel_sound(pair[1]), "{}", text.text),
                _ => {}
            }
        }
    }
}

#[test]
fn a_lexicon_that_does_not_say_what_its_terms_are_is_refused() {
    let refused = template_texts(&Lexicon::paper(), &["religion".to_owned()]).unwrap_err();
    assert!(
        refused.to_string().contains("'religion': no form says"),
        "{refused}"
    );
    let unknown = template_texts(&Lexicon::shipped(), &["planet".to_owned()]).unwrap_err();
    assert!(unknown.to_string().contains("planet"), "{unknown}");
}
