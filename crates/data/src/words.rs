//! Words that a description may write as what they stand for, such as `levels = [1, 2]` or
//! `classes = [false, true]`: a number is the word that it is shortest written as; and how messages list
//! words.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// A word of a description.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        struct Written;

        impl Visitor<'_> for Written {
            type Value = Word;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word, a number, true or false")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Word, E> {
                Ok(Word(word.to_owned()))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<Word, E> {
                Ok(Word(truth.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Word, E> {
                Ok(Word(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Word, E> {
                Ok(Word(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Word, E> {
                match number.is_finite() {
                    true => Ok(Word(number.to_string())),
                    false => Err(E::custom(
                        "a word, or a number that has an end, is expected",
                    )),
                }
            }
        }

        deserializer.deserialize_any(Written)
    }
}

/// Deserializes a list of words.
///
/// # Errors
/// When it is no list, or something in it is neither a word, a number nor a truth value.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<Word>::deserialize(deserializer)?;
    Ok(words.into_iter().map(|Word(word)| word).collect())
}

/// Deserializes a list of words that may be missing; see [`deserialize`].
pub(crate) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    deserialize(deserializer).map(Some)
}

/// Deserializes one word.
pub(crate) fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Word::deserialize(deserializer).map(|Word(word)| word)
}

/// Lists words in quotes: `'NA', 'null'`.
pub(crate) fn quoted<T: AsRef<str>>(words: &[T]) -> String {
    let words = words.iter().map(|word| format!("'{}'", word.as_ref()));
    words.collect::<Vec<_>>().join(", ")
}
