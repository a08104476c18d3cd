//! Guesses at the tags of words that are missing from the figures.

use super::dictionary::{Dictionary, OpenClass};
use super::figures::{Figures, probability};
use super::function_words;
use super::inflection;
use super::tag::Tag;

/// The factor for a tag that the dictionary does not give the word.
const OUTSIDE_DICTIONARY: f32 = 0.03;

/// Guesses the shares of tags for a word, in lower case, that was seen seldom or never.
pub(super) fn guess(figures: &Figures, word: &str) -> [f32; Tag::COUNT] {
    let mut shares = [0.0; Tag::COUNT];
    let closed = function_words::tags(word);
    if !closed.is_empty() {
        closed.iter().for_each(|tag| shares[tag as usize] = 1.0);
        return shares;
    }
    if word.starts_with(|c: char| c.is_numeric()) {
        return number(word);
    }
    let mut word = word;
    let calm = calmed(word);
    if let Some(calm) = &calm {
        word = calm;
        if let Some(uses) = figures.uses(word) {
            for &(tag, level) in uses.levels() {
                shares[tag as usize] = probability(level);
            }
            return shares;
        }
    }
    for &(tag, level) in figures.by_ending(word) {
        shares[tag as usize] = probability(level);
    }
    let analyses = inflection::analyses(word);
    if analyses.is_empty() {
        if !word.is_ascii() {
            shares[Tag::Nnp as usize] += 0.5;
            shares[Tag::Other as usize] += 0.3;
        }
        return shares;
    }
    let mut known = [OUTSIDE_DICTIONARY; Tag::COUNT];
    let dictionary = Dictionary::shipped();
    for analysis in &analyses {
        let weight = dictionary.get(&analysis.lemma).map_or(0.5, |lemma| {
            class_of(analysis.tag).map_or(0.5, |class| lemma.weight(class))
        });
        known[analysis.tag as usize] = known[analysis.tag as usize].max(1.0 + weight.min(8.0));
    }
    for (with, also) in [
        (Tag::Vbg, Tag::Nn),
        (Tag::Vbg, Tag::Jj),
        (Tag::Vbn, Tag::Jj),
    ] {
        if known[with as usize] > 0.5 {
            known[also as usize] = known[also as usize].max(0.3);
        }
    }
    // Any word can be part of a name.
    known[Tag::Nnp as usize] = known[Tag::Nnp as usize].max(0.2);
    for (share, known) in shares.iter_mut().zip(known) {
        *share = (*share + 0.01) * known;
    }
    for closed in Tag::ALL.into_iter().filter(|tag| !tag.is_open()) {
        shares[closed as usize] = 0.0;
    }
    shares
}

fn class_of(tag: Tag) -> Option<OpenClass> {
    match tag {
        tag if tag.is_noun() => Some(OpenClass::Noun),
        tag if tag.is_verb() => Some(OpenClass::Verb),
        tag if tag.is_adjective() => Some(OpenClass::Adjective),
        tag if tag.is_adverb() => Some(OpenClass::Adverb),
        _ => None,
    }
}

/// Guesses the shares of tags for a word that begins with a digit: `1,000`, `3rd`, `1980s`,
/// `4chan`.
fn number(word: &str) -> [f32; Tag::COUNT] {
    let mut shares = [0.0; Tag::COUNT];
    let rest = word.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ','));
    let likely: &[(Tag, f32)] = match rest {
        "" => &[(Tag::Cd, 1.0)],
        "st" | "nd" | "rd" | "th" => &[(Tag::Jj, 0.85), (Tag::Nn, 0.1), (Tag::Rb, 0.05)],
        "s" | "'s" => &[(Tag::Nns, 0.8), (Tag::Cd, 0.2)],
        _ => &[
            (Tag::Nn, 0.4),
            (Tag::Cd, 0.3),
            (Tag::Nnp, 0.2),
            (Tag::Jj, 0.1),
        ],
    };
    likely
        .iter()
        .for_each(|&(tag, share)| shares[tag as usize] = share);
    shares
}

/// Shortens stretched spellings, `soooo` to `so`, `goooood` to `good`: three letters or more become
/// two, or one if that is more frequent.
fn calmed(word: &str) -> Option<String> {
    let squeezed = |most: usize| {
        let (mut out, mut run, mut last) = (String::with_capacity(word.len()), 0, ' ');
        for c in word.chars() {
            run = if c == last { run + 1 } else { 1 };
            last = c;
            if run <= most {
                out.push(c);
            }
        }
        out
    };
    let two = squeezed(2);
    if two.len() == word.len() {
        return None;
    }
    let size = |word: &str| Figures::shipped().uses(word).map_or(0, |uses| uses.size());
    let one = squeezed(1);
    Some(if size(&one) > size(&two) { one } else { two })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_guessed_by_lists_shapes_and_endings() {
        for (word, expected) in [
            ("whomever", Tag::Wp),
            ("1,000", Tag::Cd),
            ("21st", Tag::Jj),
            ("1890s", Tag::Nns),
            ("sooooo", Tag::Rb),
            ("blorkingly", Tag::Rb),
            ("flumpation", Tag::Nn),
        ] {
            let shares = guess(Figures::shipped(), word);
            let best = Tag::ALL
                .into_iter()
                .max_by(|a, b| shares[*a as usize].total_cmp(&shares[*b as usize]));
            assert_eq!(best, Some(expected), "{word}");
        }
    }

    #[test]
    fn stretched_words_are_calmed() {
        for (word, calm) in [
            ("sooooo", Some("so")),
            ("goooood", Some("good")),
            ("good", None),
            ("baaaad", Some("bad")),
        ] {
            assert_eq!(calmed(word).as_deref(), calm, "{word}");
        }
    }
}
