//! The tagger: it finds the tag of each word of a text by a hidden Markov model of second order,
//! whose most likely tags are found by dynamic programming.

use super::figures::{Case, Figures, NEVER, level, probability};
use super::forms::lower;
use super::guess::guess;
use super::tag::Tag;

/// The most tags that are tried for a word.
const MOST_CANDIDATES: usize = 12;

/// The share of words in capitals above which capitals say nothing.
const SHOUTING: f32 = 0.4;

/// A tag that a word can have, and its cost in levels.
type Candidate = (Tag, i32);

/// Returns the tag of each word of a text, in its original spelling, where capitals tell names;
/// split as [`crate::tokenizer`] splits (`do` `n't`, `she` `'ll`).
pub fn tag(words: &[&str]) -> Vec<Tag> {
    let figures = Figures::shipped();
    let cased = case_tells(words);
    let mut initial = true;
    let candidates: Vec<Vec<Candidate>> = words
        .iter()
        .enumerate()
        .map(|(i, word)| {
            let mut found = candidates(figures, word, initial, cased);
            if is_denied_verb(words, i) && found.iter().any(|(tag, _)| *tag == Tag::Vb) {
                found.retain(|(tag, _)| matches!(tag, Tag::Vb | Tag::Rb | Tag::Rbr));
            }
            if found.is_empty() {
                found.push((Tag::Other, 0));
            }
            initial = is_mark(word) && *word != ",";
            found
        })
        .collect();
    best_path(figures, &candidates)
}

/// Returns whether a verb is due at word i: after `does n't` and its like. Tags alone do not tell
/// that from `is n't`, after which `like` is no verb.
fn is_denied_verb(words: &[&str], i: usize) -> bool {
    let is = |back: usize, of: &[&str]| {
        let word = i.checked_sub(back).and_then(|at| words.get(at));
        word.is_some_and(|word| of.contains(&&*lower(word)))
    };
    let helpers = ["do", "does", "did", "ca", "wo", "can", "will", "could"];
    is(1, &["n't", "not"]) && is(2, &helpers)
}

/// Returns whether capitals tell anything: there are some, and the text is not all in capitals.
fn case_tells(words: &[&str]) -> bool {
    let (mut long, mut capitals, mut any) = (0, 0, false);
    for word in words {
        let case = Case::from_word(word);
        any |= case != Case::Small;
        if word.len() > 1 && word.chars().all(char::is_alphabetic) {
            long += 1;
            capitals += usize::from(case == Case::Capitals);
        }
    }
    any && capitals as f32 <= SHOUTING * long as f32
}

fn is_mark(word: &str) -> bool {
    word != "&" && !word.chars().any(char::is_alphanumeric)
}

/// Returns the tags that `word` can have, each with its cost.
fn candidates(figures: &Figures, word: &str, initial: bool, cased: bool) -> Vec<Candidate> {
    if is_mark(word) {
        return vec![(mark(word), 0)];
    }
    // A word that often has these capitals has figures of its own.
    let name = cased && !initial && word.starts_with(char::is_uppercase);
    if let Some(uses) = name.then(|| figures.uses(word)).flatten() {
        return from_levels(figures, uses.levels(), |_| 0);
    }
    let case = Case::from_word(word);
    let of_case = |tag| match cased {
        true => i32::from(figures.case(tag, initial, case)),
        false => 0,
    };
    let word = &*lower(word);
    match figures.uses(word) {
        Some(uses) if !uses.are_few() => from_levels(figures, uses.levels(), of_case),
        Some(uses) => {
            // A few uses count as much as four would; the guess as much as one.
            let mut mixed = guess(figures, word).map(|share| 0.2 * share);
            for &(tag, level) in uses.levels() {
                mixed[tag as usize] += 0.8 * probability(level);
            }
            from_levels(figures, &pruned(&mixed), of_case)
        }
        None => from_levels(figures, &pruned(&guess(figures, word)), of_case),
    }
}

fn mark(word: &str) -> Tag {
    match word {
        "." | "!" | "?" => Tag::Stop,
        "," => Tag::Comma,
        _ => Tag::Punctuation,
    }
}

/// Returns the cost of a word given its tag, up to a term that is the same for all tags: by Bayes'
/// rule, the cost of the tag given the word less the cost of the tag.
fn from_levels(
    figures: &Figures,
    levels: &[(Tag, u8)],
    of_case: impl Fn(Tag) -> i32,
) -> Vec<Candidate> {
    levels
        .iter()
        .take(MOST_CANDIDATES)
        .map(|&(tag, level)| {
            (
                tag,
                i32::from(level) - i32::from(figures.prior(tag)) + of_case(tag),
            )
        })
        .collect()
}

/// Returns the likeliest tags, likeliest first.
fn pruned(shares: &[f32; Tag::COUNT]) -> Vec<(Tag, u8)> {
    let sum: f32 = shares.iter().sum();
    let mut levels: Vec<(Tag, u8)> = Tag::ALL
        .into_iter()
        .map(|tag| {
            (
                tag,
                level(shares[tag as usize] / sum.max(f32::MIN_POSITIVE)),
            )
        })
        .filter(|&(_, level)| level < NEVER / 2)
        .collect();
    levels.sort_by_key(|&(_, level)| level);
    levels
}

/// Finds the sequence of tags with the least total cost.
fn best_path(figures: &Figures, candidates: &[Vec<Candidate>]) -> Vec<Tag> {
    // `costs[a * width + b]`: the least cost of all words up to the last one, where a is the number
    // of the last but one's candidate and b that of the last.
    let start = [(Tag::Stop, 0)];
    let (mut before, mut last): (&[Candidate], &[Candidate]) = (&start, &start);
    let mut costs = vec![0];
    let mut back: Vec<Vec<u8>> = Vec::with_capacity(candidates.len());
    for current in candidates {
        let mut next = vec![i32::MAX; last.len() * current.len()];
        let mut from = vec![0; next.len()];
        for (a, &(tag_a, _)) in before.iter().enumerate() {
            for (b, &(tag_b, _)) in last.iter().enumerate() {
                let so_far = costs[a * last.len() + b];
                let after = figures.after(tag_a, tag_b);
                for (c, &(tag_c, cost)) in current.iter().enumerate() {
                    let cost = so_far + i32::from(after[tag_c as usize]) + cost;
                    let place = b * current.len() + c;
                    if cost < next[place] {
                        next[place] = cost;
                        from[place] = a as u8;
                    }
                }
            }
        }
        (before, last) = (last, current);
        costs = next;
        back.push(from);
    }
    let end = costs.iter().enumerate().min_by_key(|&(_, cost)| cost);
    let place = end.map_or(0, |(place, _)| place);
    let (mut b, mut c) = (place / last.len(), place % last.len());
    let mut tags = vec![Tag::Other; candidates.len()];
    for (i, current) in candidates.iter().enumerate().rev() {
        tags[i] = current[c].0;
        let a = usize::from(back[i][b * current.len() + c]);
        (b, c) = (a, b);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words and their expected tags, as `word/TAG`.
    const SENTENCES: &[&str] = &[
        "The/DT black/JJ dog/NN runs/VBZ quickly/RB ./.",
        "She/PRP does/VBZ n't/RB like/VB his/PRP$ dogs/NNS ./.",
        "I/PRP love/VBP this/DT movie/NN !/.",
        "They/PRP have/VBP seen/VBN a/DT better/JJR film/NN ./.",
        "He/PRP is/VBZ running/VBG to/IN the/DT old/JJ house/NN ./.",
        "We/PRP 'll/MD go/VB to/IN Germany/NNP ./.",
        "You/PRP are/VBP a/DT stupid/JJ idiot/NN ./.",
        "The/DT people/NNS who/WP live/VBP there/RB are/VBP happy/JJ ./.",
        "There/EX is/VBZ nothing/NN wrong/JJ with/IN him/PRP ./.",
        "It/PRP was/VBD the/DT worst/JJS film/NN of/IN the/DT year/NN ./.",
        "John/NNP 's/POS mother/NN wants/VBZ to/TO help/VB ./.",
        "It/PRP 's/VBZ very/RB boring/JJ ./.",
        "Women/NNS can/MD drive/VB cars/NNS ./.",
        "My/PRP$ neighbours/NNS were/VBD angry/JJ ,/, but/CC I/PRP slept/VBD well/RB ./.",
        "Three/CD men/NNS and/CC two/CD women/NNS left/VBD ./.",
        "The/DT movie/NN was/VBD made/VBN in/IN 1999/CD ./.",
        "When/WRB will/MD she/PRP come/VB ?/.",
        "What/WP do/VBP you/PRP think/VB ?/.",
        "The/DT acting/NN is/VBZ terrible/JJ ./.",
        "Do/VB n't/RB watch/VB it/PRP ./.",
        "Please/UH stop/VB ./.",
        "The/DT light/NN is/VBZ too/RB bright/JJ ./.",
        "He/PRP works/VBZ harder/RBR than/IN her/PRP$ husband/NN ./.",
        "i/PRP hate/VBP those/DT people/NNS",
        "she/PRP is/VBZ from/IN germany/NNP",
        "THE/DT WOMEN/NNS ARE/VBP HERE/RB !/.",
    ];

    #[test]
    fn words_have_their_tags() {
        let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
        for sentence in SENTENCES {
            let pairs: Vec<(&str, &str)> = sentence
                .split(' ')
                .filter_map(|pair| pair.rsplit_once('/'))
                .collect();
            let words: Vec<&str> = pairs.iter().map(|(word, _)| *word).collect();
            let tags = tag(&words);
            assert_eq!(tags.len(), words.len());
            for (found, (word, expected)) in tags.iter().zip(&pairs) {
                all += 1;
                right += usize::from(found.name() == *expected);
                if found.name() != *expected {
                    wrong.push(format!("{word}: {found}, not {expected} in {sentence}"));
                }
            }
        }
        assert!(
            right * 100 >= all * 95,
            "{right} of {all}\n{}",
            wrong.join("\n")
        );
    }

    #[test]
    fn unknown_words_are_tagged_by_their_place_and_shape() {
        for (sentence, at, expected) in [
            ("The florbly dog barks .", 1, Tag::Jj),
            ("He blorked it .", 1, Tag::Vbd),
            ("He drove quorkingly .", 2, Tag::Rb),
            ("I met Zorbulon yesterday .", 2, Tag::Nnp),
            ("I have 3,141 of them .", 2, Tag::Cd),
            ("That is soooooo bad .", 2, Tag::Rb),
            ("It was baaaaad .", 2, Tag::Jj),
            ("The 3rd man .", 1, Tag::Jj),
        ] {
            let words: Vec<&str> = sentence.split(' ').collect();
            assert_eq!(tag(&words)[at], expected, "{sentence}");
        }
    }

    #[test]
    fn any_tokens_can_be_tagged() {
        assert!(tag(&[]).is_empty());
        let words = [
            "",
            " ",
            "\u{1f642}",
            "&",
            "中文",
            "'",
            "n't",
            "éé",
            "\u{301}",
            "1st",
            "x1",
        ];
        assert_eq!(tag(&words).len(), words.len());
        for (word, expected) in [("?", Tag::Stop), (",", Tag::Comma), ("(", Tag::Punctuation)] {
            assert_eq!(tag(&[word]), [expected]);
        }
    }
}
