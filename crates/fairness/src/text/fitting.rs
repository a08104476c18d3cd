//! The choice of the near neighbours of a word that may take its place in a sentence.
//!
//! Near words in the space of word vectors are synonyms, but also opposites ("good", "bad"), other
//! forms ("friend", "friends") and words of the same subject ("doctor", "hospital"). A neighbour
//! fits where
//!
//! * the word is a noun, adjective or adverb, no name and no part of anything fixed (a protected
//!   term, an address, a number), of a compound with hyphens or of a word that is cut ("sh*t"), and
//!   the neighbour can have the same part of speech and inflection. Verbs stay: each says what may
//!   follow it;
//! * of nouns both name the same kind of thing ([`are_of_one_kind`]): no author for an essay;
//! * neither is a function word or one of the words that mean little by themselves and much with
//!   the words around ("way", "right"), neither has another sense in many comments ("pig", of the
//!   police), and they are no antonyms;
//! * no word comes twice within a few words, whatever else is replaced: no "sexist, sexist";
//! * no phrase of general English falls apart: where three words that hold the word are one
//!   ([`is_phrase`]), those that hold the neighbour in its place are one too;
//! * the article before them stays right ("a good idea", "an excellent idea").
//!
//! The module [`super::fluency`] says which of those that fit also suit the words around, of a
//! whole text at once.

use super::strategy::Candidates;

use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::english::{
    are_antonyms, are_of_one_kind, begins_with_vowel_sound, can_stand_for, is_function_word,
    is_phrase, lemmas,
};
use probity_text::substitution::{Analysis, Word};

/// Nouns, adjectives and adverbs whose meaning is in the phrases that they make.
const LIGHT: [&str; 23] = [
    "thing", "way", "sort", "kind", "sense", "idea", "hand", "right", "time", "back", "lot", "bit",
    "need", "use", "look", "try", "call", "turn", "hold", "show", "well", "name", "word",
];

/// Words that are said of persons, drugs and other things as often as of what they name, so that
/// what is near to them in one sense is none in the other: "pigs" are police, and no birds.
const SLANG: [&str; 24] = [
    "pig",
    "hog",
    "swine",
    "rat",
    "snake",
    "chick",
    "ape",
    "monkey",
    "cougar",
    "snowflake",
    "trash",
    "cracker",
    "fairy",
    "spade",
    "coon",
    "coconut",
    "troll",
    "weed",
    "dope",
    "coke",
    "crack",
    "blunt",
    "fuzz",
    "hood",
];

/// The number of words on each side of a word among which its replacement does not stand.
const NEAR: usize = 3;

/// Marks that stand for letters of a word or join it to another one.
const JOINING: &str = "-\u{2010}\u{2011}*@#$%&_+~^\\|=\u{2026}";

/// For each token of `text`, as English `analysis` reads it, the word that stands there and at most
/// `count` of its neighbours in `pool` that fit and are among those that `suited` leaves of them;
/// nearest first, and nothing where none does.
///
/// # Errors
/// The errors of `suited`.
pub fn fitting<E>(
    reader: &TextReader,
    text: &EncodedText,
    analysis: &Analysis,
    suited: impl FnOnce(Vec<Vec<i32>>) -> Result<Vec<Vec<i32>>, E>,
    pool: &Candidates,
    count: usize,
) -> Result<Candidates, E> {
    let own_forms: Vec<Vec<String>> = text.words.iter().map(|word| forms(word)).collect();
    let places = text.ids.iter().zip(&text.bytes).enumerate();
    let fitting = places.map(|(position, (&own, bytes))| {
        let word = analysis.words.iter().find(|word| word.bytes == *bytes);
        let Some(word) = word.filter(|word| may_change(word)) else {
            return Vec::new();
        };
        let own_word = reader.word(own);
        if !is_plain(own_word) || is_joined(text, position) {
            return Vec::new();
        }
        let before = position.checked_sub(1).map(|before| &*text.words[before]);
        let article = before.filter(|before| ["a", "an"].contains(before));
        let around = |at: usize| at != position && at.abs_diff(position) <= NEAR;
        let first = position.saturating_sub(NEAR);
        let near = own_forms.iter().enumerate().skip(first).take(2 * NEAR + 1);
        let near = near.filter(|(at, _)| around(*at)).map(|(_, forms)| forms);
        let fits = |&other: &i32| {
            let other = reader.word(other);
            other.chars().all(char::is_alphabetic)
                && is_plain(other)
                && can_stand_for(word.tag, other)
                && (!word.tag.is_noun() || are_of_one_kind(own_word, other))
                && !are_antonyms(own_word, other)
                && keeps_phrases(&text.words, position, other)
                && article.is_none_or(|article| begins_with_vowel_sound(other) == (article == "an"))
                && !is_one_of(&forms(other), near.clone())
        };
        pool.list(own).iter().copied().filter(fits).collect()
    });
    let suited = suited(fitting.collect())?;
    let apart = apart(suited, count, &|id| forms(reader.word(id)));
    let with_own = text.ids.iter().zip(apart).map(|(&own, mut words)| {
        if !words.is_empty() {
            words.insert(0, own);
        }
        words
    });
    Ok(Candidates::new(with_own))
}

/// At most the first `count` words of each place that are no forms of a word of a place shortly
/// before it, so that no two replacements beside each other are the same word.
fn apart(places: Vec<Vec<i32>>, count: usize, forms: &dyn Fn(i32) -> Vec<String>) -> Vec<Vec<i32>> {
    let mut kept: Vec<Vec<Vec<String>>> = Vec::with_capacity(places.len());
    let mut apart = Vec::with_capacity(places.len());
    for (position, words) in places.into_iter().enumerate() {
        let before = kept[position.saturating_sub(NEAR)..].iter().flatten();
        let words = words.into_iter().map(|word| (word, forms(word)));
        let words = words.filter(|(_, forms)| !is_one_of(forms, before.clone()));
        let (words, forms): (Vec<i32>, Vec<Vec<String>>) = words.take(count).unzip();
        kept.push(forms);
        apart.push(words);
    }
    apart
}

/// The word and those that it may be a form of.
fn forms(word: &str) -> Vec<String> {
    let mut forms = lemmas(word);
    forms.push(word.to_owned());
    forms
}

/// Whether a word of `forms` may be one of the words of `others`.
fn is_one_of<'f>(forms: &[String], mut others: impl Iterator<Item = &'f Vec<String>>) -> bool {
    others.any(|other| other.iter().any(|form| forms.contains(form)))
}

/// Whether `word` means by itself what it means, in one sense: no letter, no function word, none that
/// has its meaning by the words around it, no slang.
fn is_plain(word: &str) -> bool {
    let is_slang = |lemma: &String| SLANG.contains(&lemma.as_str());
    word.chars().nth(1).is_some() && !holds_phrases(word) && !forms(word).iter().any(is_slang)
}

/// Whether `word` has its meaning by the words around it.
fn holds_phrases(word: &str) -> bool {
    let is_light = |lemma: &String| LIGHT.contains(&lemma.as_str());
    is_function_word(word) || LIGHT.contains(&word) || lemmas(word).iter().any(is_light)
}

/// Whether another word may stand in the place of `word`.
fn may_change(word: &Word) -> bool {
    let tag = word.tag;
    !word.is_fixed && tag.is_open() && !tag.is_name() && !tag.is_verb()
}

/// Whether something is joined to the word at `position`, so that it is a part of a compound or of a
/// word that is cut: "sub-human", "sh*t", "beaut…".
fn is_joined(text: &EncodedText, position: usize) -> bool {
    let is_glued = |first: usize| {
        let both = text.bytes.get(first).zip(text.bytes.get(first + 1));
        both.is_some_and(|(first, second)| first.end == second.start)
    };
    let word = |at: usize| text.words.get(at).map_or("", String::as_str);
    let is_word = |at: usize| word(at).contains(char::is_alphanumeric) && !is_contraction(word(at));
    let is_mark = |at: usize| !word(at).is_empty() && word(at).chars().all(|c| JOINING.contains(c));
    let behind = position + 1;
    let is_before = position.checked_sub(1).is_some_and(|before| {
        let beyond = before.checked_sub(1);
        let is_beyond = beyond.is_some_and(|beyond| is_glued(beyond) && is_word(beyond));
        is_glued(before)
            && (is_mark(before) || is_word(before) || is_beyond && !is_contraction(word(before)))
    });
    let is_beyond = is_glued(behind) && is_word(behind + 1);
    let is_behind = is_glued(position)
        && (is_mark(behind) || is_word(behind) || is_beyond && !is_contraction(word(behind)));
    is_before || is_behind
}

/// Whether `token` is the end of a contraction: "'s", "n't".
fn is_contraction(token: &str) -> bool {
    token.starts_with('\'') && token.len() > 1 || token == "n't"
}

/// Whether every three words that are a phrase of general English with the word at `position` are
/// one with `other` in its place.
fn keeps_phrases(words: &[String], position: usize, other: &str) -> bool {
    let windows = position.saturating_sub(2)..=position;
    let mut threes = windows.filter_map(|first| Some((first, words.get(first..first + 3)?)));
    threes.all(|(first, three)| {
        let before = [0, 1, 2].map(|place| three[place].as_str());
        let mut after = before;
        after[position - first] = other;
        !is_phrase(before) || is_phrase(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_text::english::Tag;

    #[test]
    fn phrases_become_phrases() {
        let text = "she drank a glass of wine there";
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        assert!(keeps_phrases(&words, 3, "bottle"));
        assert!(!keeps_phrases(&words, 3, "trailer"));
        // No three words with "there" are known.
        assert!(keeps_phrases(&words, 6, "yesterday"));
    }

    fn encoded(text: &str, words: &[&str]) -> EncodedText {
        let mut end = 0;
        let bytes = words.iter().map(|word| {
            let start = end + text[end..].find(word).unwrap();
            end = start + word.len();
            start..end
        });
        let bytes: Vec<_> = bytes.collect();
        EncodedText {
            text: text.to_owned(),
            ids: vec![0; bytes.len()],
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            bytes,
            is_truncated: false,
        }
    }

    #[test]
    fn compounds_and_cut_words_stay() {
        for (text, words, joined) in [
            (
                "a sub-human act - odd",
                &["a", "sub", "-", "human", "act", "-", "odd"][..],
                &["sub", "human"][..],
            ),
            (
                "what sh*t, friend!",
                &["what", "sh", "*", "t", ",", "friend", "!"],
                &["sh", "t"],
            ),
            (
                "the n!ce dog's bone (old).",
                &[
                    "the", "n", "!", "ce", "dog", "'s", "bone", "(", "old", ")", ".",
                ],
                &["n", "ce"],
            ),
            (
                "it was a beaut\u{2026}",
                &["it", "was", "a", "beaut", "\u{2026}"],
                &["beaut"],
            ),
            ("3d film", &["3", "d", "film"], &["3", "d"]),
        ] {
            let text = encoded(text, words);
            let found = (0..words.len()).filter(|&at| is_joined(&text, at));
            let found = found.filter(|&at| words[at].contains(char::is_alphanumeric));
            let found: Vec<&str> = found.map(|at| words[at]).collect();
            let found: Vec<&str> = found.into_iter().filter(|word| *word != "'s").collect();
            assert_eq!(found, joined, "{}", text.text);
        }
    }

    #[test]
    fn words_of_several_senses_stay() {
        for word in ["pigs", "pig", "name", "words", "t", "the", "right"] {
            assert!(!is_plain(word), "{word}");
        }
        for word in ["racist", "friends", "village"] {
            assert!(is_plain(word), "{word}");
        }
    }

    /// No word of a place is one of the places around: against all pairs.
    #[test]
    fn replacements_beside_each_other_differ() {
        let words = [
            "friend",
            "friends",
            "neighbour",
            "cook",
            "baker",
            "bakers",
            "clerk",
        ];
        let places: Vec<Vec<i32>> = [
            vec![0, 2, 3],
            vec![1, 3, 4],
            vec![],
            vec![5, 6, 0],
            vec![0, 1, 2, 3, 4],
            vec![2, 6],
        ]
        .to_vec();
        let apart = apart(places.clone(), 2, &|id| forms(words[id as usize]));
        assert_eq!(
            apart,
            [vec![0, 2], vec![3, 4], vec![], vec![6], vec![0, 1], vec![2]]
        );
        for (one, first) in apart.iter().enumerate() {
            for (other, second) in apart.iter().enumerate().skip(one + 1).take(NEAR) {
                let lemma = |id: &i32| words[*id as usize].trim_end_matches('s');
                let mut pairs = first
                    .iter()
                    .flat_map(|a| second.iter().map(move |b| (a, b)));
                assert!(pairs.all(|(a, b)| lemma(a) != lemma(b)), "{one} {other}");
            }
        }
        assert!(is_one_of(&forms("sexists"), [forms("sexist")].iter()));
        assert!(!is_one_of(&forms("racist"), [forms("sexist")].iter()));
    }

    #[test]
    fn verbs_and_names_stay() {
        let may_change = |tag| {
            may_change(&Word {
                bytes: 0..3,
                tag,
                is_fixed: false,
            })
        };
        assert!(may_change(Tag::Nns) && may_change(Tag::Jj) && may_change(Tag::Rb));
        assert!(!may_change(Tag::Vbd) && !may_change(Tag::Nnp) && !may_change(Tag::In));
    }
}
