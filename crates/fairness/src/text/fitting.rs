//! The choice of the near neighbours of a word that may take its place in a sentence.
//!
//! Near words in the space of word vectors are synonyms, but also opposites ("good", "bad"), other
//! forms ("friend", "friends") and words of the same subject ("doctor", "hospital"). A neighbour
//! fits where
//!
//! * the word is a noun, adjective or adverb, no name and no part of anything fixed (a protected
//!   term, an address, a number) or of a compound with hyphens, and the neighbour can have the same
//!   part of speech and inflection. Verbs stay: each says what may follow it;
//! * of nouns both name the same kind of thing ([`are_of_one_kind`]): no author for an essay;
//! * neither is a function word or one of the words that mean little by themselves and much with
//!   the words around ("way", "right"), and they are no antonyms;
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
const LIGHT: [&str; 21] = [
    "thing", "way", "sort", "kind", "sense", "idea", "hand", "right", "time", "back", "lot", "bit",
    "need", "use", "look", "try", "call", "turn", "hold", "show", "well",
];

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
    let places = text.ids.iter().zip(&text.bytes).enumerate();
    let fitting = places.map(|(position, (&own, bytes))| {
        let word = analysis.words.iter().find(|word| word.bytes == *bytes);
        let Some(word) = word.filter(|word| may_change(word)) else {
            return Vec::new();
        };
        let own_word = reader.word(own);
        if own_word.is_empty() || holds_phrases(own_word) || is_compound(text, position) {
            return Vec::new();
        }
        let before = position.checked_sub(1).map(|before| &*text.words[before]);
        let article = before.filter(|before| ["a", "an"].contains(before));
        let fits = |&other: &i32| {
            let other = reader.word(other);
            other.chars().all(char::is_alphabetic)
                && !holds_phrases(other)
                && can_stand_for(word.tag, other)
                && (!word.tag.is_noun() || are_of_one_kind(own_word, other))
                && !are_antonyms(own_word, other)
                && keeps_phrases(&text.words, position, other)
                && article.is_none_or(|article| begins_with_vowel_sound(other) == (article == "an"))
        };
        pool.list(own).iter().copied().filter(fits).collect()
    });
    let suited = suited(fitting.collect())?;
    let with_own = text.ids.iter().zip(suited).map(|(&own, mut words)| {
        words.truncate(count);
        if !words.is_empty() {
            words.insert(0, own);
        }
        words
    });
    Ok(Candidates::new(with_own))
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

/// Whether the word at `position` and its neighbour are joined by a hyphen: "sub-human".
fn is_compound(text: &EncodedText, position: usize) -> bool {
    let bytes = &text.bytes[position];
    let is_hyphen = |at: usize| text.words.get(at).is_some_and(|word| word == "-");
    let before = position.checked_sub(1).filter(|&before| is_hyphen(before));
    before.is_some_and(|before| text.bytes[before].end == bytes.start)
        || is_hyphen(position + 1) && text.bytes[position + 1].start == bytes.end
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

    #[test]
    fn compounds_and_verbs_stay() {
        let text = "a sub-human act - odd";
        let bytes = [0..1, 2..5, 5..6, 6..11, 12..15, 16..17, 18..21];
        let text = EncodedText {
            text: text.to_owned(),
            ids: vec![0; bytes.len()],
            words: bytes.iter().map(|at| text[at.clone()].to_owned()).collect(),
            bytes: bytes.to_vec(),
            is_truncated: false,
        };
        let compounds: Vec<usize> = (0..7).filter(|&at| is_compound(&text, at)).collect();
        assert_eq!(compounds, [1, 3]);
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
