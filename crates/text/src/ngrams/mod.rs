//! The likelihood of a text under a trigram model with interpolated modified Kneser-Ney smoothing
//! (Chen, Goodman: "An empirical study of smoothing techniques for language modeling", Computer
//! Speech & Language 13, 1999, pages 359 to 394, section 3, "Modified Kneser-Ney smoothing").
//!
//! With c the count of an n-gram, and of the n-grams of its order n1 to n4 those that are counted
//! once to four times:
//!
//! ```text
//! p(w | context) = (c(context w) - D(c(context w))) / c(context) + rest(context) p(w | shorter)
//! rest(context)  = (D1 N1 + D2 N2 + D3 N3+) / c(context)      N: words after it, by their counts
//! D1 = 1 - 2 Y n2 / n1    D2 = 2 - 3 Y n3 / n2    D3+ = 3 - 4 Y n4 / n3    Y = n1 / (n1 + 2 n2)
//! ```
//!
//! The count of a bigram or a word is the number of distinct words before it, as Kneser and Ney
//! have it, but the true one where the start of a text comes before. Below the words stands the
//! uniform distribution over all words, the unknown one and the end, so that nothing is impossible
//! and the probabilities after any two words sum to 1. Where a corpus is too small for discounts
//! between 0 and their count, they are 0.5, 1 and 1.5 for that order.
//!
//! **Unknown words.** Words that occur less often than `min_count` are one word, the unknown one,
//! and it is counted like any other. With a `min_count` of 1 it has only its part of the uniform
//! distribution.
//!
//! **Ends.** A text has two marks before its first word, which only stand before others, and one
//! after its last, which is predicted like a word.
//!
//! Words are numbered by falling frequency, as in the vectors that [`super::glove::fit`] makes of
//! the same texts: word i is i, then come the unknown word and the end. Counts are whole numbers
//! and everything else follows from them in a fixed order: the same texts give the same model.
//!
//! ```
//! use probity_text::ngrams::NgramModel;
//!
//! let texts = ["she is here", "he is here", "she is there"];
//! let model = NgramModel::fit(texts.iter().map(|text| text.split(' ')), 1)?;
//! assert!(model.score(&["she", "is", "here"]) > model.score(&["here", "is", "here"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod count;
mod file;
mod smooth;

use hashbrown::HashMap;
use thiserror::Error;

use crate::words::WordList;
use probity_run::run_directory::RunError;

/// The reason why there is no model.
#[derive(Debug, Error)]
pub enum NgramError {
    /// The corpus holds no word that is frequent enough.
    #[error(
        "no word occurs {min_count} times or more; take a larger corpus or a smaller min_count"
    )]
    NoWords {
        /// The least number of occurrences asked for.
        min_count: u64,
    },
    /// The numbers of words or counts do not fit.
    #[error("the corpus is too large: {what} are 2^32 or more")]
    TooLarge {
        /// The name of the items that there are too many of.
        what: &'static str,
    },
    /// The file is no model, or was changed.
    #[error("{0}")]
    File(#[from] RunError),
}

/// A pair of words that occurs.
#[derive(Debug, Clone, PartialEq)]
struct Bigram {
    /// Natural logarithm of the probability of the second after the first.
    log: f64,
    /// The logarithm of the weight of the shorter context after both; 0 where nothing comes after
    /// them.
    log_rest: f64,
    /// The place of the first trigram that begins with this pair; the trigrams end where the next
    /// pair's begin.
    trigrams: u32,
}

/// Three words that occur in a row; the first two are the pair of words of its [`Bigram`].
#[derive(Debug, Clone, PartialEq)]
struct Trigram {
    word: u32,
    count: u32,
    log: f64,
}

/// A trigram model of texts. Logarithms are natural ones.
#[derive(Debug, Clone)]
pub struct NgramModel {
    words: WordList,
    /// The number of texts that each word begins, by word.
    starts: Vec<(u32, u32)>,
    /// The logarithms of the probabilities, without context, of each word, the unknown word, the
    /// end and the start.
    log_words: Vec<f64>,
    /// The logarithms of the weights of the probability without context after each word, the
    /// unknown word, the end and the start.
    log_rests: Vec<f64>,
    /// The place of each pair of words in `bigrams`.
    places: HashMap<u64, u32>,
    /// The pairs of words that occur, in the order of their words.
    bigrams: Vec<Bigram>,
    /// The triples of words that occur, in the order of their words.
    trigrams: Vec<Trigram>,
}

impl NgramModel {
    /// Returns the words, by number.
    pub fn words(&self) -> &WordList {
        &self.words
    }

    /// Returns the number of every word that is not among [`NgramModel::words`].
    pub fn unknown(&self) -> u32 {
        self.words.len() as u32
    }

    /// Returns the number of the end of a text, which comes after its last word.
    pub fn end(&self) -> u32 {
        self.unknown() + 1
    }

    /// Returns the number of the start of a text, which stands twice before its first word, and is
    /// never predicted.
    pub fn start(&self) -> u32 {
        self.unknown() + 2
    }

    /// Returns the number of `word`.
    pub fn id(&self, word: &str) -> u32 {
        self.words.id(word).unwrap_or(self.unknown())
    }

    /// Returns the numbers of `words`.
    pub fn ids<S: AsRef<str>>(&self, words: &[S]) -> Vec<u32> {
        words.iter().map(|word| self.id(word.as_ref())).collect()
    }

    /// Returns the logarithm of the probability of `word` after the two words of `context`, all by
    /// number; a number that no word has is an unknown word's, and the start is impossible.
    pub fn log_probability(&self, context: [u32; 2], word: u32) -> f64 {
        let [first, second] = context.map(|word| self.known(word));
        let word = self.known(word);
        let mut rest = 0.0;
        if let Some(&place) = self.places.get(&pair(first, second)) {
            let trigrams = self.trigrams_of(place as usize);
            if let Ok(found) = trigrams.binary_search_by_key(&word, |trigram| trigram.word) {
                return trigrams[found].log;
            }
            rest = self.bigrams[place as usize].log_rest;
        }
        match self.places.get(&pair(second, word)) {
            Some(&place) => rest + self.bigrams[place as usize].log,
            None => rest + self.log_rests[second as usize] + self.log_words[word as usize],
        }
    }

    /// Returns whether `second` comes after `first` somewhere in the corpus, both by number.
    pub fn has_pair(&self, first: u32, second: u32) -> bool {
        self.places.contains_key(&pair(first, second))
    }

    /// Returns whether the three words come after each other somewhere in the corpus, by number.
    pub fn has_triple(&self, words: [u32; 3]) -> bool {
        let [first, second, third] = words;
        self.places.get(&pair(first, second)).is_some_and(|&place| {
            let trigrams = self.trigrams_of(place as usize);
            let found = trigrams.binary_search_by_key(&third, |trigram| trigram.word);
            found.is_ok()
        })
    }

    /// Returns the logarithm of the probability of a text, its end included.
    pub fn score<S: AsRef<str>>(&self, words: &[S]) -> f64 {
        self.score_ids(&self.ids(words))
    }

    /// Returns [`NgramModel::score`] of words given by their numbers.
    pub fn score_ids(&self, ids: &[u32]) -> f64 {
        let mut context = [self.start(); 2];
        let mut sum = 0.0;
        for &word in ids.iter().chain(&[self.end()]) {
            sum += self.log_probability(context, word);
            context = [context[1], word];
        }
        sum
    }

    fn known(&self, word: u32) -> u32 {
        match word <= self.start() {
            true => word,
            false => self.unknown(),
        }
    }

    /// Returns the trigrams that continue the pair at `place` of `bigrams`.
    fn trigrams_of(&self, place: usize) -> &[Trigram] {
        let next = self.bigrams.get(place + 1);
        let end = next.map_or(self.trigrams.len(), |next| next.trigrams as usize);
        &self.trigrams[self.bigrams[place].trigrams as usize..end]
    }
}

/// Packs two words into a key.
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

#[cfg(test)]
mod tests;
