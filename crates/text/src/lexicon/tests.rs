//! Tests of lexicons.

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

fn sizes(lexicon: &Lexicon) -> Vec<(&str, usize, bool)> {
    let attributes = lexicon.attributes().iter();
    attributes
        .map(|attribute| {
            (
                attribute.name.as_str(),
                attribute.values.len(),
                attribute.opt_in,
            )
        })
        .collect()
}

#[test]
fn all_lexica_ship() {
    // A file that cannot be read would be left out without a word.
    for text in SHIPPED.iter().chain(&OF_PAPER) {
        if let Err(problem) = Lexicon::from_toml(text) {
            panic!("{problem}: {}", text.lines().take(3).collect::<String>());
        }
    }
    let lexicon = Lexicon::shipped();
    let expected = [
        ("country", 201, false),
        ("nationality", 140, false),
        ("continent", 9, false),
        ("ethnicity", 37, false),
        ("race", 6, false),
        ("religion", 33, false),
        ("gender", 2, false),
        ("sexual_orientation", 7, false),
        ("disability", 16, false),
        ("age", 4, false),
        ("first_name_female", 6, true),
        ("first_name_male", 6, true),
        ("race_archaic", 8, true),
        ("religion_archaic", 7, true),
        ("nationality_archaic", 6, true),
        ("disability_archaic", 7, true),
        ("sexual_orientation_archaic", 2, true),
        ("age_archaic", 2, true),
    ];
    assert_eq!(sizes(&lexicon), expected);
    let error = lexicon.attribute("hair").unwrap_err().to_string();
    assert!(error.contains("'hair'; its attributes are country, nationality, continent"));
    assert_eq!(
        Lexicon::from_toml(&lexicon.to_toml().unwrap()).unwrap(),
        lexicon
    );
    for attribute in lexicon.attributes() {
        assert!(!attribute.description.is_empty() && !attribute.source.is_empty());
        assert_eq!(attribute.exchange, attribute.name == "gender");
        let matcher = TermMatcher::new(attribute, &tokenizer()).unwrap();
        for term in 0..matcher.terms() {
            let found = matcher.find(matcher.tokens(term));
            assert_eq!(found.len(), 1, "{}", matcher.text(term));
            assert_eq!(
                (found[0].term, Some(found[0].value)),
                (term, matcher.value(term))
            );
        }
        let terms = attribute.terms();
        for (value, name) in attribute.values.iter().enumerate() {
            assert!(
                terms.iter().any(|(of, _)| *of == value),
                "{}: no term of {name}",
                attribute.name
            );
        }
    }
}

#[test]
fn every_exception_holds_a_term() {
    for attribute in Lexicon::shipped().attributes() {
        let matcher = TermMatcher::new(attribute, &tokenizer()).unwrap();
        for exception in &attribute.exceptions {
            let phrases = expanded(exception);
            let holds = |phrase: &String| !matcher.find(&words(phrase)).is_empty();
            assert!(phrases.iter().any(holds), "{}: {exception}", attribute.name);
        }
    }
}

#[test]
fn words_for_people_are_found() {
    let lexicon = Lexicon::shipped();
    for (attribute, word, value, others) in [
        ("religion", "Muslims", "Muslim", "Christians Jews Hindus"),
        ("religion", "Jews", "Jewish", "Christians Muslims Hindus"),
        ("religion", "Christians", "Christian", "Muslims Jews Hindus"),
        ("religion", "Catholic", "Catholic", "Muslim Jewish Hindu"),
        ("religion", "Jewish", "Jewish", "Christian Muslim Hindu"),
        ("religion", "Hindu", "Hindu", "Christian Muslim Jewish"),
        ("religion", "Sikh", "Sikh", "Christian Muslim Jewish"),
        ("continent", "European", "European", "African Asian"),
        ("nationality", "Israeli", "Israeli", "Afghan French Dutch"),
        ("ethnicity", "Arab", "Arab", "Kurdish Hispanic Slavic"),
        (
            "sexual_orientation",
            "gay",
            "gay",
            "lesbian heterosexual queer",
        ),
    ] {
        let attribute = lexicon.attribute(attribute).unwrap();
        let matcher = TermMatcher::new(attribute, &tokenizer()).unwrap();
        let found = matcher.find(&[word.to_lowercase()]);
        assert_eq!(found.len(), 1, "{word}");
        assert_eq!(attribute.values[found[0].value], value);
        let substitutes = matcher.substitutes(found[0].term);
        for other in others.split(' ') {
            assert!(
                substitutes
                    .iter()
                    .any(|substitute| substitute.text == other),
                "{word}: {other}"
            );
        }
    }
}

#[test]
fn a_person_is_never_replaced_by_a_faith() {
    let lexicon = Lexicon::shipped();
    let religion = lexicon.attribute("religion").unwrap();
    let faiths: Vec<&String> = religion.forms["faith"].iter().flatten().collect();
    for form in ["person", "people", "adjective"] {
        let mut terms = religion.forms[form].iter().flatten();
        assert!(terms.all(|term| !faiths.contains(&term)), "{form}");
    }
}

#[test]
fn alternatives_are_expanded() {
    let several = |phrase: &str| expanded(phrase).join("|");
    assert_eq!(several("White House"), "White House");
    assert_eq!(
        several("{black,white} {hole,market}"),
        "black hole|black market|white hole|white market"
    );
    assert_eq!(
        several("danish past{ry,ries}!"),
        "danish pastry!|danish pastries!"
    );
    assert_eq!(several("the { a b , c} of"), "the a b of|the c of");
    assert_eq!(expanded("{a,b}{c,d}{e,f}").len(), 8);
    for (phrase, expected) in [
        ("a {b", "a brace is not closed"),
        ("a} b", "a brace closes that did not open"),
        ("{a,{b,c}}", "one brace opens inside another"),
        ("{a} b", "braces hold one alternative"),
        ("{a,,b} c", "an alternative is empty"),
        ("{a, } c", "an alternative is empty"),
        (
            &"{a,b,c,d,e,f,g,h,i,j}".repeat(5),
            "it stands for 100000 phrases; at most 10000",
        ),
    ] {
        assert_eq!(expanded(phrase), [phrase]);
        for key in ["exceptions", "unless"] {
            let toml = format!(
                "[[attribute]]\nname = \"x\"\nvalues = [\"a\", \"b\"]\n{key} = [\"{phrase}\"]"
            );
            let found = Lexicon::from_toml(&toml).unwrap_err().to_string();
            assert!(found.contains(expected), "{phrase}: {found}");
        }
    }
}

#[test]
fn the_corpus_is_about_values_that_are_there() {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        kind: String,
        attribute: String,
        from: Option<String>,
        to: Option<String>,
        text: String,
        expect: Option<String>,
        #[serde(default)]
        none: bool,
    }
    #[derive(serde::Deserialize)]
    struct Corpus {
        case: Vec<Case>,
    }
    let corpus: Corpus = toml::from_str(include_str!("../substitution/corpus.toml")).unwrap();
    assert!(corpus.case.len() >= 420);
    let lexicon = Lexicon::shipped();
    let mut kinds = std::collections::BTreeMap::<&str, usize>::new();
    for case in &corpus.case {
        let values = &lexicon.attribute(&case.attribute).unwrap().values;
        for value in case.from.iter().chain(&case.to) {
            assert!(values.contains(value), "{value}: {}", case.text);
        }
        assert_eq!(case.expect.is_none(), case.none, "{}", case.text);
        assert!(case.none || case.to.is_some(), "{}", case.text);
        assert_ne!(case.expect.as_ref(), Some(&case.text));
        *kinds.entry(&case.kind).or_default() += 1;
    }
    assert!(kinds.values().all(|&cases| cases >= 20), "{kinds:?}");
    assert!(kinds["senses"] >= 100);
}

#[test]
fn the_papers_lexicon_is_the_papers() {
    let lexicon = Lexicon::paper();
    let expected = [
        ("country", 160, false),
        ("ethnicity", 17, false),
        ("race", 7, false),
        ("religion", 14, false),
    ];
    assert_eq!(sizes(&lexicon), expected);
    assert_eq!(lexicon.attribute("religion").unwrap().values[13], "baha'i");
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("adf/sensitive_feature.csv")).unwrap();
    for (line, name) in text
        .lines()
        .skip(1)
        .zip(["country", "ethnicity", "race", "religion"])
    {
        let cells: Vec<&str> = line.split(',').skip(1).map(str::trim).collect();
        assert_eq!(lexicon.attribute(name).unwrap().values, cells);
    }
}

/// "Actor" is said of both: it changes with the person whom it is said of, and alone it is no term.
#[test]
fn an_actor_is_an_actress_where_the_sentence_says_so() {
    let lexicon = Lexicon::shipped();
    let matcher = TermMatcher::new(lexicon.attribute("gender").unwrap(), &tokenizer()).unwrap();
    for (one, other) in [
        ("son is an actor", "daughter is an actress"),
        ("she was an actress", "he was an actor"),
    ] {
        let words: Vec<&str> = one.split(' ').collect();
        let found = matcher.find(&words);
        assert_eq!((found.len(), found[0].tokens.len()), (1, words.len()));
        let substitutes = matcher.substitutes(found[0].term).iter();
        let texts: Vec<&str> = substitutes.map(|other| other.text.as_str()).collect();
        assert_eq!(texts, [other]);
    }
    for alone in [["the", "actor"], ["an", "actress"]] {
        assert!(matcher.find(&alone).is_empty());
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

/// Finds terms by the definition of the longest match first: it tries every term at every place.
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
            values: terms.iter().map(|term| term.join(" ")).collect(),
            ..ProtectedAttribute::default()
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
            "the form 'n' has terms for 1 values; at least two",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nparts.n = \"noun\""),
            "parts names the form 'n', which is not among its forms",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nsenses.name = [\"c\"]"),
            "senses names 'c', which is not among its terms",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nsenses.sound = [\"a\"]"),
            "unknown variant `sound`",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nexceptions = [\"-\"]"),
            "'-' is an empty exception",
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
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [\"c\"], words = [\"d\"]}]"),
            "bound names the value 'c', which is not among its values",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [], words = [\"d\"]}]"),
            "bound has no values or no words",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [\"a\"], words = []}]"),
            "bound has no values or no words",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [\"a\"], words = [\"{d,B}\"]}]"),
            "'b' is bound and one of the terms",
        ),
        (
            attribute(
                "values = [\"a\", \"b\"]\nbound = [{values = [\"a\"], words = [\"{d,e}\", \"E\"]}]",
            ),
            "'e' is bound twice",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [\"a\"], words = [\"-\"]}]"),
            "'-' is an empty exception",
        ),
        (
            attribute("values = [\"a\", \"b\"]\nbound = [{values = [\"a\"], word = [\"d\"]}]"),
            "unknown field `word`",
        ),
    ] {
        let found = Lexicon::from_toml(&toml).unwrap_err().to_string();
        assert!(found.contains(expected), "{toml}: {found}");
    }
    let hyphens = "[[attribute]]\nname = \"x\"\nvalues = [\"ex-wife\", \"ex wife\"]";
    let found = Lexicon::from_toml(hyphens).unwrap_err().to_string();
    assert!(found.contains("'ex wife' is listed twice"), "{found}");
    let same = "[[attribute]]\nname = \"x\"\nvalues = [\"a+b\", \"a + b\"]";
    let lexicon = Lexicon::from_toml(same).unwrap();
    let error = TermMatcher::new(&lexicon.attributes()[0], &tokenizer()).unwrap_err();
    assert!(error.to_string().contains("are the same words"), "{error}");
}

#[test]
fn words_stay_bound_where_values_are_left_out() {
    let toml = "[[attribute]]\nname = \"x\"\nvalues = [\"a\", \"b\", \"c\"]\nunless = [\"u\"]\n\
                bound = [{values = [\"a\"], words = [\"d\"]}, {values = [\"a\", \"b\"], words = [\"e\"]}]";
    let lexicon = Lexicon::from_toml(toml).unwrap();
    let written = lexicon.to_toml().unwrap();
    assert_eq!(Lexicon::from_toml(&written).unwrap(), lexicon);
    let only = lexicon.with_values(&[("x", &["b", "c"])]);
    let attribute = only.attribute("x").unwrap();
    assert_eq!(attribute.unless, ["u", "d"]);
    let bound = Bound {
        values: vec!["b".to_owned()],
        words: vec!["e".to_owned()],
    };
    assert_eq!(attribute.bound, [bound]);
}

#[test]
fn common_words_are_told() {
    let lexicon = Lexicon::paper();
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
