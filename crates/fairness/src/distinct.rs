//! Counting distinct samples: a compact set of keys with four flags each.
//!
//! Memory: 9 bytes a slot of a hash table for keys below 2^60, 17 for others; at most 8/7 · 2 slots
//! a key. A set is cut into shards by the hash of the key, so that threads can mark many keys
//! together, without a lock and to what one thread comes to in order: all that is marked of one key
//! is marked by one thread.

use hashbrown::HashTable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::domain::KEY_BITS;

/// A mark on a key: in which phase it was checked or found discriminatory.
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

/// The numbers of distinct keys: of all, of those that carry each mark, and of those that are
/// discriminatory in any phase.
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

    /// Adds the counts of another set.
    fn add(&mut self, other: &MarkCounts) {
        self.keys += other.keys;
        self.discriminatory += other.discriminatory;
        for (count, more) in self.marks.iter_mut().zip(other.marks) {
            *count += more;
        }
    }

    /// Counts the `marks` that a key gets which has the marks `before`; says whether they are its
    /// first discriminatory ones.
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

/// The number of parts of a set, by the hash of the key: threads mark the keys of different parts.
const SHARDS: usize = 16;

/// The number of markings below which threads are not worth their while.
const FEW: usize = 1 << 11;

/// Distinct keys with their marks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u128>", into = "Vec<u128>")]
pub struct DistinctSet {
    shards: [Shard; SHARDS],
    counts: MarkCounts,
}

/// Keys with their marks in the lowest four bits.
#[derive(Debug, Clone, Default)]
struct Shard {
    /// Keys below 2^60.
    short: HashTable<u64>,
    /// The other keys.
    long: HashTable<u128>,
}

/// A key and its marks.
trait Entry: Copy {
    fn new(key: u128) -> Self;

    fn key(self) -> u128;

    fn marks(self) -> u8;

    fn add(&mut self, marks: u8);
}

impl Entry for u64 {
    fn new(key: u128) -> u64 {
        (key << 4) as u64
    }

    fn key(self) -> u128 {
        u128::from(self >> 4)
    }

    fn marks(self) -> u8 {
        self as u8 & 15
    }

    fn add(&mut self, marks: u8) {
        *self |= u64::from(marks);
    }
}

impl Entry for u128 {
    fn new(key: u128) -> u128 {
        key << 4
    }

    fn key(self) -> u128 {
        self >> 4
    }

    fn marks(self) -> u8 {
        self as u8 & 15
    }

    fn add(&mut self, marks: u8) {
        *self |= u128::from(marks);
    }
}

/// The keys to be marked by one chunk of walkers in some rounds of the local phase, in their order.
#[derive(Debug, Default)]
pub(super) struct Markings {
    shards: [Vec<Marking>; SHARDS],
}

#[derive(Debug, Clone, Copy)]
struct Marking {
    key: u128,
    /// The round in which the key was generated.
    round: u32,
    /// The number of the key among what the chunk found; [`NOTHING`] where it is not
    /// discriminatory.
    found: u32,
}

const NOTHING: u32 = u32::MAX;

/// An individual or row whose key got its first discriminatory mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstFound {
    /// The number of the chunk that found it.
    pub(super) chunk: u32,
    /// The round in which it was found.
    pub(super) round: u32,
    /// The number that the find has among what the chunk found.
    pub(super) found: u32,
}

impl Markings {
    /// Adds a key that was generated in `round`, with the number of its find in the chunk, if it is
    /// one. Rounds never go back.
    pub(super) fn push(&mut self, key: u128, round: u32, found: Option<u32>) {
        self.shards[shard_of(hash(key))].push(Marking {
            key,
            round,
            found: found.unwrap_or(NOTHING),
        });
    }

    /// Forgets all markings but keeps the room.
    pub(super) fn clear(&mut self) {
        self.shards.iter_mut().for_each(Vec::clear);
    }

    fn len(&self) -> usize {
        self.shards.iter().map(Vec::len).sum()
    }
}

impl DistinctSet {
    /// Sets `marks` on `key` (below 2^[`KEY_BITS`]); says whether this gives the key its first
    /// discriminatory mark.
    pub fn mark(&mut self, key: u128, marks: &[Mark]) -> bool {
        let bits = marks.iter().fold(0, |bits, &mark| bits | mark as u8);
        let hash = hash(key);
        let shard = &mut self.shards[shard_of(hash)];
        shard.mark(&mut self.counts, (key, hash), bits)
    }

    /// Marks the keys that `chunks` generated and found in the local phase, as
    /// [`DistinctSet::mark`] does one by one in the order (round, chunk, place); says which of them
    /// were found first, in any order.
    pub(super) fn mark_all(&mut self, chunks: &[&Markings]) -> Vec<FirstFound> {
        let all: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        let least = if all < FEW { SHARDS } else { 1 };
        let shards = self.shards.par_iter_mut().enumerate().with_min_len(least);
        let marked: Vec<(Vec<FirstFound>, MarkCounts)> = shards
            .map(|(number, shard)| {
                let lists: Vec<&[Marking]> = chunks
                    .iter()
                    .map(|chunk| &chunk.shards[number][..])
                    .collect();
                mark_lists(shard, lists)
            })
            .collect();
        let mut first = Vec::new();
        for (of_shard, counts) in marked {
            first.extend(of_shard);
            self.counts.add(&counts);
        }
        first
    }

    /// Whether `key` was found discriminatory in any phase.
    pub(super) fn is_discriminatory(&self, key: u128) -> bool {
        let hash = hash(key);
        let shard = &self.shards[shard_of(hash)];
        let marks = match is_short(key) {
            true => marks_in(&shard.short, (key, hash)),
            false => marks_in(&shard.long, (key, hash)),
        };
        marks & DISCRIMINATORY != 0
    }

    /// Number of distinct keys.
    pub fn len(&self) -> u64 {
        self.counts.keys
    }

    /// Whether no key was marked.
    pub fn is_empty(&self) -> bool {
        self.counts.keys == 0
    }

    /// The counts of all keys.
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
        let mut entries: Vec<u128> = self.shards.iter().flat_map(Shard::entries).collect();
        entries.sort_unstable();
        let marked = entries
            .into_iter()
            .map(|entry| (entry.key(), entry.marks()));
        marked.collect()
    }
}

/// Marks in one shard the keys in the `lists` of all chunks, round by round.
fn mark_lists(shard: &mut Shard, mut lists: Vec<&[Marking]>) -> (Vec<FirstFound>, MarkCounts) {
    const FOUND: u8 = Mark::LocalGenerated as u8 | Mark::LocalDiscriminatory as u8;
    let (mut first, mut counts) = (Vec::new(), MarkCounts::default());
    while let Some(round) = lists
        .iter()
        .filter_map(|list| Some(list.first()?.round))
        .min()
    {
        for (chunk, list) in (0..).zip(&mut lists) {
            while let Some((&Marking { key, found, .. }, rest)) = list
                .split_first()
                .filter(|(marking, _)| marking.round == round)
            {
                *list = rest;
                let is_found = found != NOTHING;
                let bits = if is_found {
                    FOUND
                } else {
                    Mark::LocalGenerated as u8
                };
                if shard.mark(&mut counts, (key, hash(key)), bits) {
                    first.push(FirstFound {
                        chunk,
                        round,
                        found,
                    });
                }
            }
        }
    }
    (first, counts)
}

impl Shard {
    /// Sets the marks `bits` on a key with its hash, and counts them; says whether this gives the
    /// key its first discriminatory mark.
    fn mark(&mut self, counts: &mut MarkCounts, (key, hash): (u128, u64), bits: u8) -> bool {
        debug_assert!(key >> KEY_BITS == 0);
        let before = match is_short(key) {
            true => add_in(&mut self.short, (key, hash), bits),
            false => add_in(&mut self.long, (key, hash), bits),
        };
        // Every key that is there has a mark.
        counts.keys += u64::from(before == 0);
        counts.add_marks(bits, before)
    }

    /// All keys with their marks, in no order.
    fn entries(&self) -> impl Iterator<Item = u128> {
        let short = self.short.iter().map(|&entry| u128::from(entry));
        short.chain(self.long.iter().copied())
    }
}

fn is_short(key: u128) -> bool {
    key < 1 << 60
}

/// Adds the marks `bits` to a key with its hash; returns the marks that it had.
fn add_in<E: Entry>(table: &mut HashTable<E>, (key, hashed): (u128, u64), bits: u8) -> u8 {
    let entry = table.entry(hashed, |have| have.key() == key, |have| hash(have.key()));
    let mut entry = entry.or_insert(E::new(key));
    let before = entry.get().marks();
    entry.get_mut().add(bits);
    before
}

/// The marks of a key with its hash.
fn marks_in<E: Entry>(table: &HashTable<E>, (key, hash): (u128, u64)) -> u8 {
    let entry = table.find(hash, |have| have.key() == key);
    entry.map_or(0, |entry| entry.marks())
}

/// The shard of a key with this hash: chosen by bits that a table of a shard does not use.
fn shard_of(hash: u64) -> usize {
    (hash >> 48) as usize % SHARDS
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
        let mut set = DistinctSet::default();
        for entry in entries {
            let (key, hash) = (entry.key(), hash(entry.key()));
            set.shards[shard_of(hash)].mark(&mut set.counts, (key, hash), entry.marks());
        }
        set
    }
}

impl From<DistinctSet> for Vec<u128> {
    fn from(set: DistinctSet) -> Self {
        set.shards.iter().flat_map(Shard::entries).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn all_at_once_marks_like_one_by_one(
            trials in prop::collection::vec((0usize..3, 0u128..60, any::<bool>()), 0..400),
        ) {
            let mut chunks: Vec<Markings> = (0..3).map(|_| Markings::default()).collect();
            let mut found = [0; 3];
            let mut ordered = Vec::new();
            for (place, &(chunk, key, is_found)) in trials.iter().enumerate() {
                let (round, key) = (place as u32 / 40, key * 0x9e37_79b9_7f4a_7c15);
                let number = is_found.then_some(found[chunk]);
                found[chunk] += u32::from(is_found);
                chunks[chunk].push(key, round, number);
                ordered.push((round, chunk as u32, key, number));
            }
            // Stable: within a round and a chunk, the order of places.
            ordered.sort_by_key(|&(round, chunk, ..)| (round, chunk));
            let (mut set, mut plain) = (DistinctSet::default(), DistinctSet::default());
            for set in [&mut set, &mut plain] {
                set.mark(0x9e37_79b9_7f4a_7c15, &[Mark::GlobalDiscriminatory]);
            }
            let mut expected = Vec::new();
            for (round, chunk, key, found) in ordered {
                let marks = [Mark::LocalGenerated, Mark::LocalDiscriminatory];
                let marks = &marks[..1 + usize::from(found.is_some())];
                if plain.mark(key, marks) {
                    expected.push(FirstFound { chunk, round, found: found.unwrap() });
                }
            }
            let mut first = set.mark_all(&chunks.iter().collect::<Vec<_>>());
            let order = |of: &FirstFound| (of.round, of.chunk, of.found);
            first.sort_by_key(order);
            expected.sort_by_key(order);
            prop_assert_eq!(first, expected);
            prop_assert_eq!(set.counts(), plain.counts());
            prop_assert_eq!(set.sorted(), plain.sorted());
        }

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
