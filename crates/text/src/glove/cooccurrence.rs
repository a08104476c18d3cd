//! Counts of how often words stand near each other.

use hashbrown::HashMap;
use rayon::prelude::*;

/// The number of texts that are counted together: fixed, so that sums do not depend on the threads.
const CHUNK: usize = 1024;

/// The count of how often two words stand near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    /// The word.
    pub row: u32,
    /// The other word.
    pub column: u32,
    /// The sum of 1 / distance.
    pub weight: f64,
}

/// Counts the ordered pairs of `words` (numbered in this order) that stand at most `window` apart,
/// sorted by row and column. Words that are not listed are taken out of the texts first.
pub(super) fn count<S: AsRef<str> + Sync>(
    texts: &[Vec<S>],
    words: &[&str],
    window: usize,
) -> Vec<Pair> {
    let ids: HashMap<&str, u32> = words.iter().copied().zip(0..).collect();
    let parts: Vec<Vec<(u64, f64)>> = texts
        .par_chunks(CHUNK)
        .map(|texts| {
            let mut counts: HashMap<u64, f64> = HashMap::new();
            for text in texts {
                count_text(
                    text.iter()
                        .filter_map(|word| ids.get(word.as_ref()).copied()),
                    window,
                    &mut counts,
                );
            }
            let mut counts: Vec<(u64, f64)> = counts.into_iter().collect();
            counts.sort_unstable_by_key(|&(key, _)| key);
            counts
        })
        .collect();
    let mut all: Vec<(u64, f64)> = parts.into_iter().flatten().collect();
    // Stable: the parts of a sum stay in the order of the texts.
    all.par_sort_by_key(|&(key, _)| key);
    let sums = all.chunk_by(|(a, _), (b, _)| a == b);
    sums.map(|parts| Pair {
        row: (parts[0].0 >> 32) as u32,
        column: parts[0].0 as u32,
        weight: parts.iter().map(|(_, weight)| weight).sum(),
    })
    .collect()
}

fn count_text(text: impl Iterator<Item = u32>, window: usize, counts: &mut HashMap<u64, f64>) {
    let text: Vec<u32> = text.collect();
    for (at, &word) in text.iter().enumerate() {
        let before = &text[at.saturating_sub(window)..at];
        for (distance, &other) in before.iter().rev().enumerate() {
            let weight = 1.0 / (distance + 1) as f64;
            *counts.entry(key(word, other)).or_default() += weight;
            *counts.entry(key(other, word)).or_default() += weight;
        }
    }
}

fn key(row: u32, column: u32) -> u64 {
    u64::from(row) << 32 | u64::from(column)
}
