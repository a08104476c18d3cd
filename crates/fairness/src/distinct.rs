//! Counting distinct samples: a compact set of keys with four flags each.
//!
//! Memory: 17 bytes a slot of a hash table, at most 8/7 · 2 slots a key.

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use super::domain::KEY_BITS;

/// What is known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// Checked in the global phase.
    GlobalGenerated = 1,
    /// Checked in the local phase.
    LocalGenerated = 2,
    /// Found discriminatory in the global phase.
    GlobalDiscriminatory = 4,
    /// Found discriminatory in the local phase.
    LocalDiscriminatory = 8,
}

const DISCRIMINATORY: u8 = Mark::GlobalDiscriminatory as u8 | Mark::LocalDiscriminatory as u8;

/// How many distinct keys there are, how many carry each mark, and how many are discriminatory in
/// any phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkCounts {
    keys: u64,
    marks: [u64; 4],
    discriminatory: u64,
}

impl MarkCounts {
    /// Number of distinct keys.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Number of keys that carry `mark`.
    pub fn count(&self, mark: Mark) -> u64 {
        self.marks[(mark as u8).trailing_zeros() as usize]
    }

    /// Number of keys found discriminatory in any phase.
    pub fn discriminatory(&self) -> u64 {
        self.discriminatory
    }

    /// Counts a key that was not counted before, with all of its `marks`.
    pub(super) fn add_key(&mut self, marks: u8) {
        self.keys += 1;
        self.add_marks(marks, 0);
    }

    /// Counts `marks` that a key gets which has those of `before`; says whether they are its first
    /// discriminatory ones.
    fn add_marks(&mut self, marks: u8, before: u8) -> bool {
        let new = marks & !before;
        for (bit, count) in self.marks.iter_mut().enumerate() {
            *count += u64::from(new >> bit & 1);
        }
        let first = new & DISCRIMINATORY != 0 && before & DISCRIMINATORY == 0;
        self.discriminatory += u64::from(first);
        first
    }
}

/// Distinct keys with their marks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u128>", into = "Vec<u128>")]
pub struct DistinctSet {
    entries: HashTable<u128>,
    counts: MarkCounts,
}

impl DistinctSet {
    /// Sets `marks` on `key` (below 2^[`KEY_BITS`]); says whether this gives the key its first
    /// discriminatory mark.
    pub fn mark(&mut self, key: u128, marks: &[Mark]) -> bool {
        debug_assert!(key >> KEY_BITS == 0);
        let bits = marks.iter().fold(0, |bits, &mark| bits | mark as u8);
        let entry =
            self.entries
                .entry(hash(key), |&have| have >> 4 == key, |&have| hash(have >> 4));
        let mut entry = entry.or_insert(key << 4);
        let slot = entry.get_mut();
        let before = (*slot & 15) as u8;
        *slot |= u128::from(bits);
        // Every key that is there has a mark.
        self.counts.keys += u64::from(before == 0);
        self.counts.add_marks(bits, before)
    }

    /// Number of distinct keys.
    pub fn len(&self) -> u64 {
        self.counts.keys
    }

    /// Whether no key was marked.
    pub fn is_empty(&self) -> bool {
        self.counts.keys == 0
    }

    /// All that is counted.
    pub fn counts(&self) -> &MarkCounts {
        &self.counts
    }

    /// Number of keys that carry `mark`.
    pub fn count(&self, mark: Mark) -> u64 {
        self.counts.count(mark)
    }

    /// Number of keys found discriminatory in any phase.
    pub fn discriminatory(&self) -> u64 {
        self.counts.discriminatory
    }

    /// All keys with their marks, ascending.
    pub(super) fn sorted(&self) -> Vec<(u128, u8)> {
        let mut keys: Vec<u128> = self.entries.iter().copied().collect();
        keys.sort_unstable();
        let marked = keys.into_iter().map(|entry| (entry >> 4, entry as u8 & 15));
        marked.collect()
    }
}

/// Folded multiplication: every bit of the key reaches the bits that the table uses.
fn hash(key: u128) -> u64 {
    let low = (key as u64) ^ 0x9e37_79b9_7f4a_7c15;
    let high = ((key >> 64) as u64) ^ 0xbf58_476d_1ce4_e5b9;
    let first = u128::from(low) * 0x94d0_49bb_1331_11eb_u128;
    let mixed = (first as u64) ^ ((first >> 64) as u64) ^ high;
    let second = u128::from(mixed) * 0xff51_afd7_ed55_8ccd_u128;
    (second as u64) ^ ((second >> 64) as u64)
}

impl From<Vec<u128>> for DistinctSet {
    fn from(entries: Vec<u128>) -> Self {
        let mut set = DistinctSet {
            entries: HashTable::with_capacity(entries.len()),
            ..DistinctSet::default()
        };
        for entry in entries {
            set.counts.add_key((entry & 15) as u8);
            set.entries
                .insert_unique(hash(entry >> 4), entry, |&have| hash(have >> 4));
        }
        set
    }
}

impl From<DistinctSet> for Vec<u128> {
    fn from(set: DistinctSet) -> Self {
        set.entries.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn counts_like_a_plain_map(marks in prop::collection::vec((0u128..40, 0usize..4), 0..300)) {
            let all = [
                Mark::GlobalGenerated,
                Mark::LocalGenerated,
                Mark::GlobalDiscriminatory,
                Mark::LocalDiscriminatory,
            ];
            let mut set = DistinctSet::default();
            let mut plain: HashMap<u128, u8> = HashMap::new();
            for (key, mark) in marks {
                let key = key << 119; // keys that use the high bits
                let key = key & ((1 << KEY_BITS) - 1);
                let before = plain.get(&key).copied().unwrap_or(0);
                let first = set.mark(key, &[all[mark]]);
                prop_assert_eq!(first, mark >= 2 && before & 12 == 0);
                *plain.entry(key).or_default() |= 1 << mark;
            }
            let set = DistinctSet::from(Vec::from(set));
            prop_assert_eq!(set.len(), plain.len() as u64);
            for (bit, mark) in all.into_iter().enumerate() {
                let expected = plain.values().filter(|marks| *marks >> bit & 1 == 1).count();
                prop_assert_eq!(set.count(mark), expected as u64);
            }
            let expected = plain.values().filter(|marks| *marks & 12 != 0).count();
            prop_assert_eq!(set.discriminatory(), expected as u64);
        }
    }
}
