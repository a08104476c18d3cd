//! Sentences and what they become.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Corpus {
    case: Vec<Case>,
}

/// An expected result for a text, as the head of the file describes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    kind: String,
    attribute: String,
    text: String,
    from: Option<String>,
    to: Option<String>,
    expect: Option<String>,
    #[serde(default)]
    none: bool,
}

fn corpus() -> Vec<Case> {
    let corpus: Corpus = toml::from_str(include_str!("../corpus.toml")).unwrap();
    corpus.case
}

impl Case {
    /// Returns the problem with what the text becomes, if there is one.
    fn problem(&self) -> Option<String> {
        let number = ALL
            .attributes()
            .iter()
            .position(|name| *name == self.attribute);
        let Some(number) = number else {
            return Some(format!("there is no attribute '{}'", self.attribute));
        };
        let analysis = ALL.analyse(&self.text).unwrap();
        let mut found: Vec<(&str, &str, String)> = Vec::new();
        let values = ALL.values(number);
        for site in analysis
            .sites
            .iter()
            .filter(|site| site.attribute == number)
        {
            for exchange in &site.exchanges {
                let text = apply(&self.text, &exchange.edits);
                found.push((&values[site.value], &values[exchange.value], text));
            }
        }
        let Some(to) = &self.to else {
            assert!(self.none, "{}", self.text);
            let first = found.first();
            return first.map(|(_, _, text)| format!("expected nothing, found: {text}"));
        };
        found.retain(|(from, value, _)| {
            value == to && self.from.as_ref().is_none_or(|expected| expected == from)
        });
        match (&self.expect, found.as_slice()) {
            (None, []) => None,
            (Some(expected), [(_, _, text)]) if text == expected => None,
            (None, [(_, _, text), ..]) => Some(format!("expected none, found: {text}")),
            (Some(expected), []) => Some(format!(
                "expected: {expected}\n  found nothing{}",
                tags(&self.text)
            )),
            (Some(expected), [(_, _, text), ..]) => Some(format!(
                "expected: {expected}\n  found:    {text}{}",
                tags(&self.text)
            )),
        }
    }
}

fn tags(text: &str) -> String {
    let analysis = ALL.analyse(text).unwrap();
    let words = analysis.words.iter();
    let words = words.map(|word| format!(" {}/{}", &text[word.bytes.clone()], word.tag));
    format!("\n  {}", words.collect::<String>())
}

#[test]
fn sentences_become_what_a_person_would_write() {
    let corpus = corpus();
    assert!(corpus.len() > 400);
    let mut problems = Vec::new();
    for case in &corpus {
        if let Some(problem) = case.problem() {
            problems.push(format!(
                "{} [{}] {}\n  {problem}",
                case.kind, case.attribute, case.text
            ));
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {}:\n{}",
        problems.len(),
        corpus.len(),
        problems.join("\n")
    );
}

#[test]
fn exchanges_can_be_undone() {
    let mut done = 0;
    let mut back = 0;
    for case in corpus() {
        for (text, is_back) in reversed(&ALL, &case.text) {
            done += 1;
            back += usize::from(is_back);
            // Countries are many; the rest is worth a look.
            if !is_back && case.attribute != "country" {
                println!("{}\n  {text}", case.text);
            }
        }
    }
    println!("{back} of {done} undone");
    assert!(back * 100 >= done * 95, "{back} of {done}");
}
