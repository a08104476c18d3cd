//! The n-gram counts that a model is made of.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::NgramError;
use crate::words::WordList;

/// The provisional number of the start of a text, while words have no final numbers.
const START: u32 = u32::MAX;
/// The provisional number of the end of a text.
const END: u32 = u32::MAX - 1;
/// The largest number of words, which leaves numbers for the unknown word and both ends.
const MOST_WORDS: usize = END as usize - 2;

/// The n-grams of a corpus, in ascending order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Counts {
    /// The words, by number.
    pub words: Vec<String>,
    /// The number of texts that each word begins.
    pub starts: Vec<(u32, u32)>,
    /// The number of times that two words, or the start and a word, come before a word or the end.
    pub trigrams: Vec<([u32; 3], u32)>,
}

impl Counts {
    /// Counts the n-grams of `texts`.
    pub fn from_texts<'a, T>(
        texts: impl IntoIterator<Item = T>,
        min_count: u64,
    ) -> Result<Counts, NgramError>
    where
        T: IntoIterator<Item = &'a str>,
    {
        let mut ids: HashMap<&'a str, u32> = HashMap::new();
        let mut frequencies: Vec<u64> = Vec::new();
        let mut starts: HashMap<u32, u64> = HashMap::new();
        let mut trigrams: HashMap<[u32; 3], u64> = HashMap::new();
        for text in texts {
            let mut context = [START; 2];
            for word in text {
                if frequencies.len() >= MOST_WORDS {
                    return Err(NgramError::TooLarge { what: "words" });
                }
                let id = *ids.entry(word).or_insert(frequencies.len() as u32);
                match frequencies.get_mut(id as usize) {
                    Some(frequency) => *frequency += 1,
                    None => frequencies.push(1),
                }
                match context {
                    [_, START] => *starts.entry(id).or_default() += 1,
                    [first, second] => *trigrams.entry([first, second, id]).or_default() += 1,
                }
                context = [context[1], id];
            }
            if context[1] != START {
                *trigrams.entry([context[0], context[1], END]).or_default() += 1;
            }
        }
        let (words, numbers) = numbered(&ids, &frequencies, min_count);
        if words.is_empty() {
            return Err(NgramError::NoWords { min_count });
        }
        let unknown = words.len() as u32;
        let number = |id: u32| match id {
            START => unknown + 2,
            END => unknown + 1,
            id => numbers[id as usize],
        };
        let starts = starts.into_iter().map(|(id, count)| (number(id), count));
        let trigrams = trigrams
            .into_iter()
            .map(|(ids, count)| (ids.map(number), count));
        Ok(Counts {
            words,
            starts: summed(starts.collect())?,
            trigrams: summed(trigrams.collect())?,
        })
    }

    /// Returns the problem with counts that were read from outside, if there is one.
    pub fn problem(&self) -> Option<&'static str> {
        let unknown = match u32::try_from(self.words.len()) {
            Ok(unknown) if 0 < unknown && self.words.len() <= MOST_WORDS => unknown,
            _ => return Some("it has no words, or too many"),
        };
        let (end, start) = (unknown + 1, unknown + 2);
        let ascends = self.starts.is_sorted_by(|(a, _), (b, _)| a < b)
            && self.trigrams.is_sorted_by(|(a, _), (b, _)| a < b);
        let starts = self.starts.iter();
        let mut starts = starts.map(|&(word, count)| word <= unknown && count > 0);
        let trigrams = self.trigrams.iter();
        let mut trigrams = trigrams.map(|&([first, second, word], count)| {
            (first <= unknown || first == start) && second <= unknown && word <= end && count > 0
        });
        if self.starts.is_empty() || self.trigrams.is_empty() {
            return Some("it counts nothing");
        }
        if !ascends || !starts.all(|fits| fits) || !trigrams.all(|fits| fits) {
            return Some("its counts are no counts of its words");
        }
        WordList::new(self.words.iter().map(String::as_str))
            .err()
            .map(|_| "a word is there twice")
    }
}

/// Returns the words that are frequent enough, the most frequent first, equally frequent ones in
/// the order of their bytes, and the new number of every word.
fn numbered(
    ids: &HashMap<&str, u32>,
    frequencies: &[u64],
    min_count: u64,
) -> (Vec<String>, Vec<u32>) {
    let frequency = |id: u32| frequencies[id as usize];
    let all = ids.iter().map(|(&word, &id)| (word, id));
    let mut kept: Vec<(&str, u32)> = all.filter(|&(_, id)| frequency(id) >= min_count).collect();
    kept.sort_unstable_by(|(a, x), (b, y)| frequency(*y).cmp(&frequency(*x)).then(a.cmp(b)));
    let mut numbers = vec![kept.len() as u32; frequencies.len()];
    for (number, &(_, id)) in (0..).zip(&kept) {
        numbers[id as usize] = number;
    }
    let words = kept.iter().map(|(word, _)| (*word).to_owned()).collect();
    (words, numbers)
}

/// Returns the sums of the counts of equal n-grams, in ascending order.
fn summed<K: Ord + Copy>(mut counts: Vec<(K, u64)>) -> Result<Vec<(K, u32)>, NgramError> {
    counts.sort_unstable();
    counts
        .chunk_by(|(a, _), (b, _)| a == b)
        .map(|equal| {
            let sum: u64 = equal.iter().map(|(_, count)| count).sum();
            let what = "occurrences of an n-gram";
            let sum = u32::try_from(sum).map_err(|_| NgramError::TooLarge { what });
            Ok((equal[0].0, sum?))
        })
        .collect()
}
