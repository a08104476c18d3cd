//! How often our tagger agrees with the tags in files that `english/tag.py` wrote, on the texts that
//! `english/train.py` leaves out: every tenth.
//!
//! `cargo run --release -p probity-text --example tag_agreement -- [--lower] TAGGED…` prints, for
//! each source of texts and for all, the words, the share with the same tag, and the share with the
//! same tag where names are nouns, the base form of verbs is their present, and the two pasts are
//! one. With `--lower` words are tagged in lower case.

use std::collections::BTreeMap;
use std::error::Error;

use probity_text::english::{Tag, tag};

/// The tag of `word` that is called `name` in the file, as `english/train.py` counts it.
fn tag_of(word: &str, name: &str) -> Tag {
    if !word.chars().any(char::is_alphanumeric) && word != "&" {
        return match word {
            "." | "!" | "?" => Tag::Stop,
            "," => Tag::Comma,
            _ => Tag::Punctuation,
        };
    }
    let tag = Tag::from_name(name).unwrap_or(Tag::Other);
    if tag.is_mark() { Tag::Other } else { tag }
}

/// The tag's name among those that choose a word for a place.
fn coarse(tag: Tag) -> &'static str {
    match tag.name() {
        "NNP" => "NN",
        "NNPS" => "NNS",
        "VBP" => "VB",
        "VBN" => "VBD",
        name => name,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_lower = arguments.iter().any(|argument| argument == "--lower");
    let mut counts: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for file in arguments.iter().filter(|argument| *argument != "--lower") {
        let tagged = std::fs::read_to_string(file)?;
        for line in tagged.lines().step_by(10) {
            let (source, line) = line.split_once('\t').ok_or("a line without a source")?;
            let pairs = line.split(' ').filter_map(|pair| pair.split_once('\x01'));
            let pairs: Vec<(String, Tag)> = pairs
                .map(|(word, name)| {
                    let spelled = if is_lower {
                        word.to_lowercase()
                    } else {
                        word.to_owned()
                    };
                    (spelled, tag_of(word, name))
                })
                .collect();
            let words: Vec<&str> = pairs.iter().map(|(word, _)| word.as_str()).collect();
            for (given, (_, expected)) in tag(&words).into_iter().zip(&pairs) {
                for of in [source, "all"] {
                    let [words, same, alike] = counts.entry(of.to_owned()).or_default();
                    *words += 1;
                    *same += u64::from(given == *expected);
                    *alike += u64::from(coarse(given) == coarse(*expected));
                }
            }
        }
    }
    for (source, [words, same, alike]) in counts {
        let share = |part: u64| 100.0 * part as f64 / words as f64;
        println!(
            "{source}: {words} words, {:.1} %, {:.1} %",
            share(same),
            share(alike)
        );
    }
    Ok(())
}
