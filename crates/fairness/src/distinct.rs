//! Counting distinct inputs: individuals, and their rows, with four flags each.
//!
//! There is one entry a row, in hash tables by the *individual*: what was found of it is what was
//! found of all its rows, which lie in the same place of the table, so that a mark is looked up once.
//! What a mark costs grows with the rows of the individual that were checked, as its check does.
//!
//! Memory: 9 bytes a slot of a hash table where a row's key is joined of those of the individual and
//! the variant ([`InputKey::Joined`]), 33 for others; at most 8/7 · 2 slots a row. A set is cut into
//! shards by the hash of the individual, so that threads can mark many rows together, without a lock
//! and to what one thread comes to in order: all that is marked of one individual is marked by one
//! thread.

use hashbrown::HashTable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::domain::KEY_BITS;

/// The key of an input: of its individual, and of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKey {
    /// One key for both.
    Joined(JoinedKey),
    /// Keys that have nothing in common.
    Apart(ApartKey),
}

/// The individual's key with the number of the variant behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JoinedKey {
    /// The key of the row, below 2^60.
    pub row: u64,
    /// The number of bits of the variant.
    pub variant_bits: u32,
}

/// The keys of an individual and its row, below 2^[`KEY_BITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApartKey {
    /// The key of the individual.
    pub individual: u128,
    /// The key of the row.
    pub row: u128,
}

impl InputKey {
    /// The number of bits that a joined key may have.
    pub const JOINED_BITS: u32 = 60;

    /// The key of the individual.
    pub fn individual(self) -> u128 {
        match self {
            InputKey::Joined(key) => u128::from(key.row >> key.variant_bits),
            InputKey::Apart(key) => key.individual,
        }
    }

    /// The key of the row.
    pub fn row(self) -> u128 {
        match self {
            InputKey::Joined(key) => u128::from(key.row),
            InputKey::Apart(key) => key.row,
        }
    }
}

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

/// The numbers of distinct keys, of individuals or of rows: of all, of those that carry each mark, and
/// of those that are discriminatory in any phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkCounts {
    keys: u64,
    marks: [u64; 4],
    discriminatory: u64,
}

impl MarkCounts {
    /// Number of distinct keys.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether no key was marked.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
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
        self.mark(marks, 0);
    }

    /// Adds the counts of another set.
    fn add(&mut self, other: &MarkCounts) {
        self.keys += other.keys;
        self.discriminatory += other.discriminatory;
        for (count, more) in self.marks.iter_mut().zip(other.marks) {
            *count += more;
        }
    }

    /// Counts the `marks` that a key gets which has the marks `before`, none where it is new; says
    /// whether they are its first discriminatory ones.
    fn mark(&mut self, marks: u8, before: u8) -> bool {
        // Every key that is there has a mark.
        self.keys += u64::from(before == 0);
        let new = marks & !before;
        for (bit, count) in self.marks.iter_mut().enumerate() {
            *count += u64::from(new >> bit & 1);
        }
        let first = new & DISCRIMINATORY != 0 && before & DISCRIMINATORY == 0;
        self.discriminatory += u64::from(first);
        first
    }
}

/// The number of parts of a set, by the hash of the individual: threads mark the rows of different
/// parts.
const SHARDS: usize = 16;

/// The number of markings below which threads are not worth their while.
const FEW: usize = 1 << 11;

/// Distinct individuals and rows with their marks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Entries", into = "Entries")]
pub struct DistinctInputs {
    shards: [Shard; SHARDS],
    counts: Counts,
    /// The number of bits of the variant in keys that are joined.
    variant_bits: u32,
}

/// The counts of individuals, and of rows.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    individuals: MarkCounts,
    rows: MarkCounts,
}

/// A part of a set.
#[derive(Debug, Clone, Default)]
struct Shard {
    joined: HashTable<Joined>,
    apart: HashTable<Apart>,
}

/// The entries of a set, in no order.
#[derive(Serialize, Deserialize)]
struct Entries {
    variant_bits: u32,
    joined: Vec<u64>,
    apart: Vec<(u128, u128)>,
}

/// The entry of a row.
trait Entry: Copy {
    /// The keys of the row and its individual.
    type Key: Copy + Into<InputKey>;

    fn new(key: Self::Key, marks: u8) -> Self;

    /// The keys, where the variant has so many bits.
    fn key(self, variant_bits: u32) -> Self::Key;

    fn marks(self) -> u8;

    fn add(&mut self, marks: u8);

    /// Whether the row is of the individual with the row `key`.
    fn is_of(self, key: Self::Key) -> bool;

    /// Whether it is that row.
    fn is(self, key: Self::Key) -> bool;

    /// The hash of the individual.
    fn hash(key: Self::Key) -> u64;

    /// The number of bits of the variant in `key`; 0 where it is apart.
    fn variant_bits(key: Self::Key) -> u32;
}

/// The key of a row, joined, with its marks in the lowest four bits.
#[derive(Debug, Clone, Copy)]
struct Joined(u64);

impl From<JoinedKey> for InputKey {
    fn from(key: JoinedKey) -> InputKey {
        InputKey::Joined(key)
    }
}

impl Entry for Joined {
    type Key = JoinedKey;

    fn new(key: JoinedKey, marks: u8) -> Joined {
        Joined(key.row << 4 | u64::from(marks))
    }

    fn key(self, variant_bits: u32) -> JoinedKey {
        JoinedKey {
            row: self.0 >> 4,
            variant_bits,
        }
    }

    fn marks(self) -> u8 {
        self.0 as u8 & 15
    }

    fn add(&mut self, marks: u8) {
        self.0 |= u64::from(marks);
    }

    fn is_of(self, key: JoinedKey) -> bool {
        self.0 >> 4 >> key.variant_bits == key.row >> key.variant_bits
    }

    fn is(self, key: JoinedKey) -> bool {
        self.0 >> 4 == key.row
    }

    fn hash(key: JoinedKey) -> u64 {
        hash(u128::from(key.row >> key.variant_bits))
    }

    fn variant_bits(key: JoinedKey) -> u32 {
        key.variant_bits
    }
}

/// The key of an individual; that of its row, with its marks in the lowest four bits.
#[derive(Debug, Clone, Copy)]
struct Apart {
    individual: u128,
    row: u128,
}

impl From<ApartKey> for InputKey {
    fn from(key: ApartKey) -> InputKey {
        InputKey::Apart(key)
    }
}

impl Entry for Apart {
    type Key = ApartKey;

    fn new(key: ApartKey, marks: u8) -> Apart {
        debug_assert!(key.row >> KEY_BITS == 0);
        Apart {
            individual: key.individual,
            row: key.row << 4 | u128::from(marks),
        }
    }

    fn key(self, _: u32) -> ApartKey {
        ApartKey {
            individual: self.individual,
            row: self.row >> 4,
        }
    }

    fn marks(self) -> u8 {
        self.row as u8 & 15
    }

    fn add(&mut self, marks: u8) {
        self.row |= u128::from(marks);
    }

    fn is_of(self, key: ApartKey) -> bool {
        self.individual == key.individual
    }

    fn is(self, key: ApartKey) -> bool {
        self.row >> 4 == key.row && self.individual == key.individual
    }

    fn hash(key: ApartKey) -> u64 {
        hash(key.individual)
    }

    fn variant_bits(_: ApartKey) -> u32 {
        0
    }
}

/// The rows to be marked by one chunk of walkers in some rounds of the local phase, in their order.
#[derive(Debug, Default)]
pub(super) struct Markings {
    joined: [Vec<Marking<JoinedKey>>; SHARDS],
    apart: [Vec<Marking<ApartKey>>; SHARDS],
}

#[derive(Debug, Clone, Copy)]
struct Marking<K> {
    key: K,
    /// The round in which the row was generated.
    round: u32,
    /// The number of the row among what the chunk found; [`NOTHING`] where it is not
    /// discriminatory.
    found: u32,
}

const NOTHING: u32 = u32::MAX;

/// A row whose key got its first discriminatory mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstFound {
    /// The number of the chunk that found it.
    pub(super) chunk: u32,
    /// The round in which it was found.
    pub(super) round: u32,
    /// The number that the find has among what the chunk found.
    pub(super) found: u32,
    /// Whether nothing was found of its individual before.
    pub(super) is_new_individual: bool,
}

/// What is new about a row that was marked: whether it has its first discriminatory mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct First {
    /// Whether the individual has.
    pub individual: bool,
    /// Whether the row has.
    pub row: bool,
}

impl Markings {
    /// Adds a row that was generated in `round`, with the number of its find in the chunk, if it is
    /// one. Rounds never go back.
    pub(super) fn push(&mut self, key: InputKey, round: u32, found: Option<u32>) {
        let found = found.unwrap_or(NOTHING);
        match key {
            InputKey::Joined(key) => {
                self.joined[shard_of(Joined::hash(key))].push(Marking { key, round, found });
            }
            InputKey::Apart(key) => {
                self.apart[shard_of(Apart::hash(key))].push(Marking { key, round, found });
            }
        }
    }

    /// Forgets all markings but keeps the room.
    pub(super) fn clear(&mut self) {
        self.joined.iter_mut().for_each(Vec::clear);
        self.apart.iter_mut().for_each(Vec::clear);
    }

    fn len(&self) -> usize {
        let joined: usize = self.joined.iter().map(Vec::len).sum();
        joined + self.apart.iter().map(Vec::len).sum::<usize>()
    }
}

impl DistinctInputs {
    /// Sets `marks` on a row and its individual; says whether these are their first discriminatory
    /// ones. The keys of all rows of a set are of the same form.
    pub fn mark(&mut self, key: InputKey, marks: &[Mark]) -> First {
        let bits = marks.iter().fold(0, |bits, &mark| bits | mark as u8);
        self.mark_bits(key, bits)
    }

    fn mark_bits(&mut self, key: InputKey, bits: u8) -> First {
        match key {
            InputKey::Joined(key) => {
                self.variant_bits = key.variant_bits;
                let shard = &mut self.shards[shard_of(Joined::hash(key))];
                mark_in(&mut shard.joined, &mut self.counts, key, bits)
            }
            InputKey::Apart(key) => {
                let shard = &mut self.shards[shard_of(Apart::hash(key))];
                mark_in(&mut shard.apart, &mut self.counts, key, bits)
            }
        }
    }

    /// Marks the rows that `chunks` generated and found in the local phase, as
    /// [`DistinctInputs::mark`] does one by one in the order (round, chunk, place); says which of
    /// them were found first, in any order.
    pub(super) fn mark_all(&mut self, chunks: &[&Markings]) -> Vec<FirstFound> {
        let all: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        let least = if all < FEW { SHARDS } else { 1 };
        let mut joined = chunks
            .iter()
            .flat_map(|chunk| chunk.joined.iter().flatten());
        if let Some(marking) = joined.next() {
            self.variant_bits = marking.key.variant_bits;
        }
        let shards = self.shards.par_iter_mut().enumerate().with_min_len(least);
        let marked: Vec<(Vec<FirstFound>, Counts)> = shards
            .map(|(number, shard)| {
                let (mut first, mut counts) = (Vec::new(), Counts::default());
                let joined = chunks.iter().map(|chunk| &chunk.joined[number][..]);
                mark_lists(&mut shard.joined, joined.collect(), &mut first, &mut counts);
                let apart = chunks.iter().map(|chunk| &chunk.apart[number][..]);
                mark_lists(&mut shard.apart, apart.collect(), &mut first, &mut counts);
                (first, counts)
            })
            .collect();
        let mut first = Vec::new();
        for (of_shard, counts) in marked {
            first.extend(of_shard);
            self.counts.individuals.add(&counts.individuals);
            self.counts.rows.add(&counts.rows);
        }
        first
    }

    /// Whether the individual of `key` was found discriminatory in any phase.
    pub(super) fn is_discriminatory(&self, key: InputKey) -> bool {
        let marks = match key {
            InputKey::Joined(key) => {
                let shard = &self.shards[shard_of(Joined::hash(key))];
                marks_of_individual(&shard.joined, key)
            }
            InputKey::Apart(key) => {
                let shard = &self.shards[shard_of(Apart::hash(key))];
                marks_of_individual(&shard.apart, key)
            }
        };
        marks & DISCRIMINATORY != 0
    }

    /// The counts of individuals.
    pub fn individuals(&self) -> &MarkCounts {
        &self.counts.individuals
    }

    /// The counts of rows.
    pub fn rows(&self) -> &MarkCounts {
        &self.counts.rows
    }

    /// The keys of all rows with their marks, ascending.
    pub(super) fn sorted_rows(&self) -> Vec<(u128, u8)> {
        let entries = self.entries().map(|(key, marks)| (key.row(), marks));
        let mut rows: Vec<(u128, u8)> = entries.collect();
        rows.sort_unstable();
        rows
    }

    /// The keys of all individuals with their marks, ascending.
    pub(super) fn sorted_individuals(&self) -> Vec<(u128, u8)> {
        let entries = self.entries().map(|(key, marks)| (key.individual(), marks));
        let mut individuals: Vec<(u128, u8)> = entries.collect();
        individuals.sort_unstable();
        individuals.dedup_by(|(key, marks), (before, of_all)| {
            let is_same = key == before;
            if is_same {
                *of_all |= *marks;
            }
            is_same
        });
        individuals
    }

    /// All rows with their marks, in no order.
    fn entries(&self) -> impl Iterator<Item = (InputKey, u8)> {
        let variant_bits = self.variant_bits;
        self.shards.iter().flat_map(move |shard| {
            let joined = shard
                .joined
                .iter()
                .map(move |entry| keyed(*entry, variant_bits));
            joined.chain(shard.apart.iter().map(|entry| keyed(*entry, 0)))
        })
    }
}

fn keyed<E: Entry>(entry: E, variant_bits: u32) -> (InputKey, u8) {
    (entry.key(variant_bits).into(), entry.marks())
}

/// Marks in one shard the rows in the `lists` of all chunks, round by round.
fn mark_lists<E: Entry>(
    table: &mut HashTable<E>,
    mut lists: Vec<&[Marking<E::Key>]>,
    first: &mut Vec<FirstFound>,
    counts: &mut Counts,
) {
    const FOUND: u8 = Mark::LocalGenerated as u8 | Mark::LocalDiscriminatory as u8;
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
                let bits = match found {
                    NOTHING => Mark::LocalGenerated as u8,
                    _ => FOUND,
                };
                let new = mark_in(table, counts, key, bits);
                if new.row {
                    first.push(FirstFound {
                        chunk,
                        round,
                        found,
                        is_new_individual: new.individual,
                    });
                }
            }
        }
    }
}

/// Sets the marks `bits` on a row and its individual, and counts them; says whether these are their
/// first discriminatory ones.
fn mark_in<E: Entry>(
    table: &mut HashTable<E>,
    counts: &mut Counts,
    key: E::Key,
    bits: u8,
) -> First {
    let hash = E::hash(key);
    let (mut of_individual, mut of_row) = (0, 0);
    for entry in table.iter_hash_mut(hash).filter(|entry| entry.is_of(key)) {
        of_individual |= entry.marks();
        if entry.is(key) {
            of_row = entry.marks();
            entry.add(bits);
        }
    }
    if of_row == 0 {
        let variant_bits = E::variant_bits(key);
        table.insert_unique(hash, E::new(key, bits), |have| {
            E::hash(have.key(variant_bits))
        });
    }
    First {
        individual: counts.individuals.mark(bits, of_individual),
        row: counts.rows.mark(bits, of_row),
    }
}

/// The marks of the individual that has the row `key`.
fn marks_of_individual<E: Entry>(table: &HashTable<E>, key: E::Key) -> u8 {
    let rows = table.iter_hash(E::hash(key)).filter(|row| row.is_of(key));
    rows.fold(0, |marks, row| marks | row.marks())
}

/// The shard of an individual with this hash: chosen by bits that a table of a shard does not use.
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

impl From<Entries> for DistinctInputs {
    fn from(entries: Entries) -> DistinctInputs {
        let mut set = DistinctInputs::default();
        let variant_bits = entries.variant_bits;
        let joined = entries.joined.into_iter().map(Joined);
        let joined = joined.map(|entry| keyed(entry, variant_bits));
        let apart = entries.apart.into_iter();
        let apart = apart.map(|(individual, row)| keyed(Apart { individual, row }, 0));
        for (key, marks) in joined.chain(apart) {
            set.mark_bits(key, marks);
        }
        set
    }
}

impl From<DistinctInputs> for Entries {
    fn from(set: DistinctInputs) -> Entries {
        let joined = set.shards.iter().flat_map(|shard| shard.joined.iter());
        let apart = set.shards.iter().flat_map(|shard| shard.apart.iter());
        Entries {
            variant_bits: set.variant_bits,
            joined: joined.map(|entry| entry.0).collect(),
            apart: apart.map(|entry| (entry.individual, entry.row)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The key of a row of an individual, in both forms.
    fn key(individual: u64, variant: u64, is_joined: bool) -> InputKey {
        // Keys that use the high bits.
        let row = (individual << 50 | variant) & ((1 << InputKey::JOINED_BITS) - 1);
        match is_joined {
            true => InputKey::Joined(JoinedKey {
                row,
                variant_bits: 2,
            }),
            false => InputKey::Apart(ApartKey {
                individual: u128::from(individual) << 119 & ((1 << KEY_BITS) - 1),
                row: u128::from(row) * 0x9e37_79b9_7f4a_7c15,
            }),
        }
    }

    proptest! {
        #[test]
        fn all_at_once_marks_like_one_by_one(
            trials in prop::collection::vec((0usize..3, 0u64..20, 0u64..3, any::<bool>()), 0..400),
            is_joined in any::<bool>(),
        ) {
            let mut chunks: Vec<Markings> = (0..3).map(|_| Markings::default()).collect();
            let mut found = [0; 3];
            let mut ordered = Vec::new();
            for (place, &(chunk, individual, variant, is_found)) in trials.iter().enumerate() {
                let (round, key) = (place as u32 / 40, key(individual, variant, is_joined));
                let number = is_found.then_some(found[chunk]);
                found[chunk] += u32::from(is_found);
                chunks[chunk].push(key, round, number);
                ordered.push((round, chunk as u32, key, number));
            }
            // Stable: within a round and a chunk, the order of places.
            ordered.sort_by_key(|&(round, chunk, ..)| (round, chunk));
            let (mut set, mut plain) = (DistinctInputs::default(), DistinctInputs::default());
            for set in [&mut set, &mut plain] {
                set.mark(key(1, 1, is_joined), &[Mark::GlobalDiscriminatory]);
            }
            let mut expected = Vec::new();
            for (round, chunk, key, found) in ordered {
                let marks = [Mark::LocalGenerated, Mark::LocalDiscriminatory];
                let marks = &marks[..1 + usize::from(found.is_some())];
                let first = plain.mark(key, marks);
                if first.row {
                    let (found, is_new_individual) = (found.unwrap(), first.individual);
                    expected.push(FirstFound { chunk, round, found, is_new_individual });
                }
            }
            let mut first = set.mark_all(&chunks.iter().collect::<Vec<_>>());
            let order = |of: &FirstFound| (of.round, of.chunk, of.found);
            first.sort_by_key(order);
            expected.sort_by_key(order);
            prop_assert_eq!(first, expected);
            prop_assert_eq!(set.individuals(), plain.individuals());
            prop_assert_eq!(set.rows(), plain.rows());
            prop_assert_eq!(set.sorted_rows(), plain.sorted_rows());
        }

        #[test]
        fn counts_like_plain_maps(
            marks in prop::collection::vec((0u64..20, 0u64..4, 0usize..4), 0..300),
            is_joined in any::<bool>(),
        ) {
            let all = [
                Mark::GlobalGenerated,
                Mark::LocalGenerated,
                Mark::GlobalDiscriminatory,
                Mark::LocalDiscriminatory,
            ];
            let mut set = DistinctInputs::default();
            let mut plain: [HashMap<u128, u8>; 2] = [HashMap::new(), HashMap::new()];
            for (individual, variant, mark) in marks {
                let key = key(individual, variant, is_joined);
                let is_first = [key.individual(), key.row()].map(|key| (key, mark));
                let is_first: Vec<bool> = is_first
                    .into_iter()
                    .zip(&mut plain)
                    .map(|((key, mark), plain)| {
                        let before = plain.insert(key, plain.get(&key).unwrap_or(&0) | 1 << mark);
                        mark >= 2 && before.unwrap_or(0) & 12 == 0
                    })
                    .collect();
                let first = set.mark(key, &[all[mark]]);
                prop_assert_eq!(vec![first.individual, first.row], is_first);
                let is_found = plain[0][&key.individual()] & 12 != 0;
                prop_assert_eq!(set.is_discriminatory(key), is_found);
            }
            let set = DistinctInputs::from(Entries::from(set));
            let sorted = [set.sorted_individuals(), set.sorted_rows()];
            let counts = [set.individuals(), set.rows()];
            for ((plain, sorted), counts) in plain.iter().zip(sorted).zip(counts) {
                let mut expected: Vec<(u128, u8)> = plain.iter().map(|(&k, &m)| (k, m)).collect();
                expected.sort_unstable();
                prop_assert_eq!(sorted, expected);
                prop_assert_eq!(counts.len(), plain.len() as u64);
                for (bit, mark) in all.into_iter().enumerate() {
                    let with = plain.values().filter(|marks| *marks >> bit & 1 == 1).count();
                    prop_assert_eq!(counts.count(mark), with as u64);
                }
                let found = plain.values().filter(|marks| *marks & 12 != 0).count();
                prop_assert_eq!(counts.discriminatory(), found as u64);
            }
        }
    }
}
