//! Discriminatory pairs, stored compactly: what was found, by which walker, when.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::check::Checked;

/// The phase in which a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Seeds are moved towards the decision boundary.
    Global,
    /// Neighbours of what was found are tried.
    Local,
    /// Nothing is left to do.
    Done,
}

/// A discriminatory pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Number of the seed.
    pub seed: u64,
    /// Phase in which it was found.
    pub phase: Phase,
    /// Iteration (global) or trial (local), from 0.
    pub step: u32,
    /// The input x.
    pub row: &'a [i32],
    /// The number of the variant of x that the other side x' is.
    pub variant: u32,
    /// The decision on x.
    pub label: u32,
    /// The decision on x'.
    pub other_label: u32,
    /// Logits of x.
    pub logits: &'a [f32],
    /// Logits of x'.
    pub other_logits: &'a [f32],
}

impl<'a> Pair<'a> {
    /// The pair of `row` and the first flip of `check`. A check without a flip gives a pair with
    /// itself, which verification would reject; the driver records none.
    pub fn new(seed: u64, phase: Phase, step: u32, row: &'a [i32], check: &'a Checked) -> Pair<'a> {
        let flip = check.flips.first();
        Pair {
            seed,
            phase,
            step,
            row,
            variant: flip.map_or(0, |flip| flip.variant),
            label: flip.map_or(check.label, |flip| flip.decided[0]),
            other_label: flip.map_or(check.label, |flip| flip.decided[1]),
            logits: &check.logits,
            other_logits: flip.map_or(&check.logits, |flip| &flip.logits),
        }
    }
}

/// Pairs that can be gone through, from wherever they are kept.
pub trait PairSource {
    /// Gives all pairs in the order found, `size` at a time.
    ///
    /// # Errors
    /// When they cannot be read; what `each` says.
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()>;
}

impl PairSource for PairStore {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut block = Vec::with_capacity(size.min(self.len()));
        let mut pairs = self.iter();
        loop {
            block.extend(pairs.by_ref().take(size));
            if block.is_empty() {
                return Ok(());
            }
            each(&block)?;
            block.clear();
        }
    }
}

/// Many pairs, column by column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairStore {
    width: usize,
    classes: usize,
    rows: Vec<i32>,
    /// Logits of the row of each pair, then those of the other side.
    logits: Vec<f32>,
    variants: Vec<u32>,
    labels: Vec<(u32, u32)>,
    seeds: Vec<u64>,
    /// Steps; local ones with the highest bit set.
    steps: Vec<u32>,
}

const LOCAL: u32 = 1 << 31;

impl PairStore {
    /// An empty store of rows of `width` codes and models of `classes` classes.
    pub fn new(width: usize, classes: usize) -> PairStore {
        PairStore {
            width,
            classes,
            ..PairStore::default()
        }
    }

    /// Adds a pair.
    pub fn push(&mut self, pair: &Pair<'_>) {
        self.rows.extend_from_slice(pair.row);
        self.logits.extend_from_slice(pair.logits);
        self.logits.extend_from_slice(pair.other_logits);
        self.variants.push(pair.variant);
        self.labels.push((pair.label, pair.other_label));
        self.seeds.push(pair.seed);
        let local = if pair.phase == Phase::Global {
            0
        } else {
            LOCAL
        };
        self.steps.push(pair.step | local);
    }

    /// Checks that every pair has `width` codes and logits for `classes` classes, each with all
    /// that belongs to it.
    pub(super) fn expect_sizes(&self, width: usize, classes: usize) -> Result<(), String> {
        let pairs = self.variants.len();
        let is_whole = self.rows.len() == pairs * width
            && self.logits.len() == 2 * pairs * classes
            && [self.labels.len(), self.seeds.len(), self.steps.len()] == [pairs; 3];
        match is_whole && (pairs == 0 || (self.width, self.classes) == (width, classes)) {
            true => Ok(()),
            false => Err("the pairs are not of the model's size".to_owned()),
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.variants.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.variants.is_empty()
    }

    /// Bytes that the pairs take.
    pub(super) fn bytes(&self) -> usize {
        self.len() * (4 * self.width + 8 * self.classes + 4 + 8 + 8 + 4)
    }

    /// The pairs of these numbers, as far as they exist.
    pub(super) fn part(&self, numbers: Range<usize>) -> PairStore {
        let mut part = PairStore::new(self.width, self.classes);
        for number in numbers.start..numbers.end.min(self.len()) {
            part.push(&self.pair(number));
        }
        part
    }

    /// Forgets all pairs but keeps their room, for pairs of these sizes.
    pub(super) fn clear(&mut self, width: usize, classes: usize) {
        (self.width, self.classes) = (width, classes);
        self.clear_all();
    }

    /// Forgets all pairs but keeps their room.
    pub(super) fn clear_all(&mut self) {
        self.rows.clear();
        self.logits.clear();
        self.variants.clear();
        self.labels.clear();
        self.seeds.clear();
        self.steps.clear();
    }

    /// The pair of this number, in the order added.
    pub(super) fn pair(&self, i: usize) -> Pair<'_> {
        let logits = &self.logits[2 * i * self.classes..2 * (i + 1) * self.classes];
        let (own, other) = logits.split_at(self.classes);
        Pair {
            seed: self.seeds[i],
            phase: if self.steps[i] & LOCAL == 0 {
                Phase::Global
            } else {
                Phase::Local
            },
            step: self.steps[i] & !LOCAL,
            row: &self.rows[i * self.width..(i + 1) * self.width],
            variant: self.variants[i],
            label: self.labels[i].0,
            other_label: self.labels[i].1,
            logits: own,
            other_logits: other,
        }
    }

    /// The pairs in the order added.
    pub fn iter(&self) -> impl Iterator<Item = Pair<'_>> {
        (0..self.len()).map(|i| self.pair(i))
    }
}
