//! The sequences of three words that are common in general English (see `english/README.md`).
//!
//! Idiom is seldom told by a corpus of some thousand texts, least of all where the text in question
//! is one of them. The trigrams of a large corpus are known by numbers of 26 bits that their words
//! hash to, so that three words that never stood together are taken for a phrase once in a hundred
//! times.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

/// The contents of `english/phrases.bin`: the steps between the numbers, ascending; 255 goes on in
/// the next byte.
const PHRASES: &[u8] = include_bytes!("../../english/phrases.bin");

/// The number of bits of a number.
const BITS: u32 = 26;

static NUMBERS: LazyLock<Vec<u32>> = LazyLock::new(|| numbers(PHRASES));

/// Decodes the numbers that `steps` lead to.
fn numbers(steps: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(steps.len());
    let mut number = 0_u32;
    for &step in steps {
        number += u32::from(step);
        if step < u8::MAX {
            numbers.push(number);
        }
    }
    numbers
}

/// Returns whether the three words, in lower case as the tokenizer splits them, follow each other
/// often enough in general English to be known. Sequences of three of the most frequent words are
/// not known.
pub fn is_phrase(words: [&str; 3]) -> bool {
    let number = (xxh3_64(words.join(" ").as_bytes()) >> (u64::BITS - BITS)) as u32;
    NUMBERS.binary_search(&number).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_to_numbers() {
        assert_eq!(numbers(&[3, 255, 0, 1, 255, 255, 2]), [3, 258, 259, 771]);
        assert!(NUMBERS.len() > 600_000 && NUMBERS.is_sorted());
        assert!(NUMBERS.iter().all(|number| number >> BITS == 0));
    }

    #[test]
    fn what_stands_together_is_known() {
        for phrase in [
            "member of parliament",
            "glass of wine",
            "off the hook",
            "ca n't wait",
            "n't wait to",
        ] {
            let words: Vec<&str> = phrase.split(' ').collect();
            assert!(is_phrase([words[0], words[1], words[2]]), "{phrase}");
        }
        let odd = [
            "hook parliament wait",
            "ca n't member",
            "off laughingstock the",
        ];
        let known = odd.iter().filter(|odd| {
            let words: Vec<&str> = odd.split(' ').collect();
            is_phrase([words[0], words[1], words[2]])
        });
        assert_eq!(known.count(), 0);
    }
}
