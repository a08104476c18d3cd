//! The number of times that each word occurs in a corpus.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Counts of the words of a corpus.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordFrequencies {
    counts: HashMap<String, u64>,
    total: u64,
}

impl WordFrequencies {
    /// Counts the tokens of `texts`.
    pub fn from_texts<'a, T>(texts: impl IntoIterator<Item = T>) -> WordFrequencies
    where
        T: IntoIterator<Item = &'a str>,
    {
        let mut frequencies = WordFrequencies::default();
        for word in texts.into_iter().flatten() {
            *frequencies.counts.entry_ref(word).or_insert(0) += 1;
            frequencies.total += 1;
        }
        frequencies
    }

    /// Returns the number of occurrences of `word`.
    pub fn count(&self, word: &str) -> u64 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Returns the number of occurrences of all words.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the share of all occurrences that are of `word`; 0 in an empty corpus.
    pub fn probability(&self, word: &str) -> f64 {
        self.count(word) as f64 / self.total.max(1) as f64
    }

    /// Returns the words that occur at least `least` times, the most frequent first, equally
    /// frequent ones in the order of their bytes.
    pub fn most_frequent(&self, least: u64) -> Vec<(&str, u64)> {
        let counts = self
            .counts
            .iter()
            .map(|(word, &count)| (word.as_str(), count));
        let mut words: Vec<(&str, u64)> = counts.filter(|&(_, count)| count >= least).collect();
        words.sort_unstable_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
        words
    }
}

// Written as a sorted map, so that equal counts give equal files.
impl Serialize for WordFrequencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sorted: BTreeMap<&str, u64> = self
            .counts
            .iter()
            .map(|(word, &count)| (word.as_str(), count))
            .collect();
        sorted.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WordFrequencies {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sorted = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let total = sorted
            .values()
            .fold(0_u64, |sum, &count| sum.saturating_add(count));
        Ok(WordFrequencies {
            counts: sorted.into_iter().collect(),
            total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_ranked() {
        let frequencies =
            WordFrequencies::from_texts([vec!["b", "a", "b"], vec![], vec!["c", "a"]]);
        assert_eq!(
            (
                frequencies.count("b"),
                frequencies.count("x"),
                frequencies.total()
            ),
            (2, 0, 5)
        );
        assert_eq!(frequencies.probability("c"), 0.2);
        assert_eq!(frequencies.most_frequent(1), [("a", 2), ("b", 2), ("c", 1)]);
        assert_eq!(frequencies.most_frequent(2).len(), 2);
        assert_eq!(WordFrequencies::default().probability("a"), 0.0);
    }

    #[test]
    fn counts_are_saved_sorted() {
        let frequencies = WordFrequencies::from_texts([vec!["b", "a", "b"]]);
        let json = serde_json::to_string(&frequencies).unwrap();
        assert_eq!(json, r#"{"a":1,"b":2}"#);
        assert_eq!(
            serde_json::from_str::<WordFrequencies>(&json).unwrap(),
            frequencies
        );
    }
}
