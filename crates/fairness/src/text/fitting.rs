//! Which near neighbours of a word may take its place in a sentence.
//!
//! Near in the space of word vectors are synonyms, but also opposites ("good", "bad"), other forms
//! ("friend", "friends") and words of the same subject ("doctor", "hospital"). A neighbour fits
//! where
//!
//! * the word is a noun, verb, adjective or adverb, no name and no part of anything fixed (a
//!   protected term, an address, a number), and the neighbour can have the same part of speech and
//!   inflection;
//! * neither is a function word or one of the verbs and nouns that mean little by themselves and
//!   much with the words around ("make", "way"), and they are no antonyms;
//! * the article before them stays right ("a good idea", "an excellent idea").
//!
//! Which of those that fit also suit the words around, [`super::fluency`] says.

use super::strategy::Candidates;

/// Lemmas whose meaning is in the phrases that they make.
const LIGHT: [&str; 49] = [
    "get", "make", "put", "go", "keep", "take", "let", "come", "give", "need", "want", "know",
    "see", "say", "think", "find", "have", "do", "be", "look", "feel", "seem", "become", "use",
    "try", "ask", "tell", "leave", "call", "mean", "happen", "set", "turn", "hold", "bring",
    "show", "thing", "way", "sort", "kind", "sense", "idea", "hand", "right", "time", "back",
    "lot", "bit", "well",
];
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::english::{
    are_antonyms, begins_with_vowel_sound, can_stand_for, is_function_word, lemmas,
};
use probity_text::substitution::{Analysis, Word};

/// For each token of `text`, as English `analysis` reads it, the word that stands there and at most
/// `count` of its neighbours in `pool` that fit and, at that position, `suits` its own neighbours;
/// nearest first, and nothing where none does.
pub fn fitting(
    reader: &TextReader,
    text: &EncodedText,
    analysis: &Analysis,
    suits: &dyn Fn(usize, i32) -> bool,
    pool: &Candidates,
    count: usize,
) -> Candidates {
    let places = text.ids.iter().zip(&text.bytes).enumerate();
    Candidates::new(places.map(|(position, (&own, bytes))| {
        let word = analysis.words.iter().find(|word| word.bytes == *bytes);
        let Some(word) = word.filter(|word| may_change(word)) else {
            return Vec::new();
        };
        let own_word = reader.word(own);
        if own_word.is_empty() || holds_phrases(own_word) {
            return Vec::new();
        }
        let before = position.checked_sub(1).map(|before| &*text.words[before]);
        let article = before.filter(|before| ["a", "an"].contains(before));
        let fits = |&other: &i32| {
            let other = reader.word(other);
            other.chars().all(char::is_alphabetic)
                && !holds_phrases(other)
                && can_stand_for(word.tag, other)
                && !are_antonyms(own_word, other)
                && article.is_none_or(|article| begins_with_vowel_sound(other) == (article == "an"))
        };
        let fitting = pool.of(own).iter().copied().filter(fits);
        let fitting = fitting.filter(|&other| suits(position, other)).take(count);
        let fitting: Vec<i32> = fitting.collect();
        match fitting.is_empty() {
            true => fitting,
            false => [vec![own], fitting].concat(),
        }
    }))
}

/// Whether `word` says what it says by the words around it.
fn holds_phrases(word: &str) -> bool {
    let is_light = |lemma: &String| LIGHT.contains(&lemma.as_str());
    is_function_word(word) || LIGHT.contains(&word) || lemmas(word).iter().any(is_light)
}

/// Whether another word may stand in the place of `word`.
fn may_change(word: &Word) -> bool {
    let tag = word.tag;
    !word.is_fixed && tag.is_open() && !tag.is_name()
}
