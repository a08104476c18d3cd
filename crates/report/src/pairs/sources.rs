//! Pairs of texts by the texts of the file that they were made from: one of each is shown.
//!
//! A search makes many texts of one, and two walks may come to the same text: of equal texts the
//! first counts, with the source that it was found from.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::findings::{FoundTexts, ShownInputs, ShownPair};

/// How near a text is to its source. The nearest one stands for all that were made from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearness {
    /// Words that were replaced.
    pub replaced: u64,
    /// How similar the sentences are.
    pub similarity: f64,
}

impl Nearness {
    fn is_nearer(self, other: Nearness) -> bool {
        let similar = || other.similarity.total_cmp(&self.similarity);
        self.replaced.cmp(&other.replaced).then_with(similar) == Ordering::Less
    }
}

/// The pairs seen so far.
#[derive(Default)]
pub(super) struct Sources {
    /// Texts that were found, by their hash: there may be millions.
    texts: HashSet<u64>,
    of: HashMap<u64, Source>,
}

/// The pairs of one source.
struct Source {
    nearness: Nearness,
    nearest: ShownPair,
    texts: u64,
}

impl Sources {
    pub fn see(&mut self, pair: ShownPair, nearness: Nearness) {
        let ShownInputs::Texts { x, source, .. } = &pair.inputs else {
            return;
        };
        if !self.texts.insert(hash(x)) {
            return;
        }
        let key = hash(source);
        let Some(source) = self.of.get_mut(&key) else {
            let source = Source {
                nearness,
                nearest: pair,
                texts: 1,
            };
            self.of.insert(key, source);
            return;
        };
        source.texts += 1;
        if nearness.is_nearer(source.nearness) {
            (source.nearness, source.nearest) = (nearness, pair);
        }
    }

    /// The counts, and the nearest pair of each source, in the order of the file.
    pub fn finish(self) -> (FoundTexts, Vec<ShownPair>) {
        let nearest = self.of.into_values().map(|source| {
            let mut pair = source.nearest;
            if let ShownInputs::Texts { more, .. } = &mut pair.inputs {
                *more = source.texts - 1;
            }
            pair
        });
        let mut nearest: Vec<ShownPair> = nearest.collect();
        nearest.sort_by_key(|pair| pair.number);
        let found = FoundTexts {
            texts: self.texts.len() as u64,
            sources: nearest.len() as u64,
            unmodified: nearest.iter().filter(|pair| pair.is_unmodified()).count() as u64,
        };
        (found, nearest)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of (x, source, replaced words, similarity), numbered in this order.
    fn seen(pairs: &[(&str, &str, u64, f64)]) -> (FoundTexts, Vec<ShownPair>) {
        let mut sources = Sources::default();
        for (number, &(x, source, replaced, similarity)) in (1..).zip(pairs) {
            let changed = if replaced == 0 { "" } else { "0: a -> b" };
            let pair = ShownPair {
                number,
                gap: 0.5,
                plausibility: None,
                labels: ["a", "b"].map(str::to_owned),
                scores: [0.75, 0.25],
                differences: Vec::new(),
                inputs: ShownInputs::Texts {
                    x: x.to_owned(),
                    other: String::new(),
                    changed: changed.to_owned(),
                    source: source.to_owned(),
                    source_row: 1,
                    more: 0,
                },
            };
            let nearness = Nearness {
                replaced,
                similarity,
            };
            sources.see(pair, nearness);
        }
        sources.finish()
    }

    #[test]
    fn the_nearest_text_stands_for_its_source() {
        let (found, shown) = seen(&[
            ("he was great", "he is good", 2, 0.9),
            ("he is great", "he is good", 1, 0.7),
            ("he is fine", "he is good", 1, 0.8),
            ("she is bad", "she is bad", 0, 1.0),
            ("she is poor", "she is bad", 1, 0.9),
        ]);
        let of = |shown: &[ShownPair]| -> Vec<(u64, bool, u64)> {
            let pairs = shown.iter().map(|pair| match &pair.inputs {
                ShownInputs::Texts { more, .. } => (pair.number, pair.is_unmodified(), *more),
                ShownInputs::Values(_) => unreachable!(),
            });
            pairs.collect()
        };
        assert_eq!(of(&shown), [(3, false, 2), (4, true, 1)]);
        let counts = (found.texts, found.sources, found.unmodified);
        assert_eq!(counts, (5, 2, 1));
    }

    /// Whether two sources come to one text or one text stands twice in the file.
    #[test]
    fn equal_texts_count_once() {
        let (found, shown) = seen(&[
            ("he is good", "he is good", 0, 1.0),
            ("he is good", "he is good", 0, 1.0),
            ("he is fine", "he is good", 1, 0.9),
            ("he is fine", "he is nice", 1, 0.9),
        ]);
        assert_eq!((found.texts, found.sources, shown.len()), (2, 1, 1));
    }
}
