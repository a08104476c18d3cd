//! Counts of rows that add up: over blocks, threads and shards, in any order.

use serde::{Deserialize, Serialize};

use super::people::People;

/// Steps that a change of a score is counted in.
pub(super) const STEPS: usize = 1000;

/// A unit of the sum of changes.
const UNIT: f64 = (1_u64 << 32) as f64;

/// Counts of a group: rows, discriminatory ones, those that could get the favourable class, those
/// that could lose it.
pub(super) type GroupCounts = [u64; 4];

/// What some people came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Individuals asked about.
    pub(super) individuals: u64,
    /// Rows that these are.
    pub(super) rows: u64,
    /// Discriminatory rows by each protected attribute alone and, if there are several, jointly.
    pub(super) flips: Vec<u64>,
    /// Counts of each group of each grouping.
    pub(super) groups: Vec<Vec<GroupCounts>>,
    /// Rows by the largest change of their score: no change, and up to each thousandth.
    pub(super) changes: Vec<u64>,
    /// Sum of these changes, in units of 2⁻³².
    pub(super) sum: u64,
    /// The largest one.
    pub(super) largest: f32,
}

/// What changing the protected attributes of one row does.
pub(super) struct Outcome<'a> {
    /// Which variant it is.
    pub variant: u32,
    /// Whether it flips by each attribute alone.
    pub alone: &'a [bool],
    /// Whether any variant has another class.
    pub flips: bool,
    /// Whether it has the favourable class itself.
    pub is_favoured: bool,
    /// Whether any variant has the favourable class.
    pub is_favourable_near: bool,
    /// The largest change of the probability of the favourable class.
    pub change: f32,
}

impl Tally {
    /// No counts of `people` yet.
    pub fn new(people: &People<'_>) -> Tally {
        let groups = people.groups.iter();
        Tally {
            flips: vec![0; people.groups.len()],
            groups: groups.map(|by| vec![[0; 4]; by.values.len()]).collect(),
            changes: vec![0; STEPS + 1],
            ..Tally::default()
        }
    }

    /// Counts one row of `people`.
    pub(super) fn add(&mut self, people: &People<'_>, row: &Outcome<'_>) {
        self.rows += 1;
        for (flips, &alone) in self.flips.iter_mut().zip(row.alone) {
            *flips += u64::from(alone);
        }
        if row.alone.len() > 1
            && let Some(joint) = self.flips.last_mut()
        {
            *joint += u64::from(row.flips);
        }
        let gains = row.flips && !row.is_favoured && row.is_favourable_near;
        let loses = row.flips && row.is_favoured;
        for (counts, by) in self.groups.iter_mut().zip(&people.groups) {
            let counts = &mut counts[by.of_variant[row.variant as usize] as usize];
            for (count, is) in counts.iter_mut().zip([true, row.flips, gains, loses]) {
                *count += u64::from(is);
            }
        }
        let change = f64::from(row.change).clamp(0.0, 1.0);
        self.changes[(change * STEPS as f64).ceil() as usize] += 1;
        self.sum = self.sum.saturating_add((change * UNIT) as u64);
        self.largest = self.largest.max(row.change);
    }

    /// Both together; nothing where they are not of the same people, or cannot be counts.
    pub fn and(mut self, other: &Tally) -> Option<Tally> {
        let is_alike = self.flips.len() == other.flips.len()
            && self.changes.len() == other.changes.len()
            && self.groups.len() == other.groups.len()
            && self
                .groups
                .iter()
                .zip(&other.groups)
                .all(|(one, other)| one.len() == other.len());
        if !is_alike {
            return None;
        }
        let own = [&mut self.individuals, &mut self.rows, &mut self.sum];
        let more = [other.individuals, other.rows, other.sum];
        let own = own
            .into_iter()
            .chain(&mut self.flips)
            .chain(&mut self.changes);
        let own = own.chain(self.groups.iter_mut().flatten().flatten());
        let more = more.iter().chain(&other.flips).chain(&other.changes);
        let more = more.chain(other.groups.iter().flatten().flatten());
        for (own, more) in own.zip(more) {
            *own = own.checked_add(*more)?;
        }
        self.largest = self.largest.max(other.largest);
        Some(self)
    }

    /// Whether these can be the counts of all of `people`.
    pub fn is_of(&self, people: &People<'_>) -> bool {
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
        let joint = self.flips.last().copied().unwrap_or_default();
        let adds_up = |by: &Vec<GroupCounts>| {
            let of = |at: usize| sum(&mut by.iter().map(|counts| counts[at]));
            of(0) == self.rows
                && of(1) == joint
                && by.iter().all(|[rows, flips, gain, lose]| {
                    flips <= rows && gain.saturating_add(*lose) <= *flips
                })
        };
        Tally::new(people).and(self).is_some()
            && (self.individuals, self.rows) == (people.individuals(), people.rows())
            && self.flips.iter().all(|&flips| flips <= joint)
            && sum(&mut self.changes.iter().copied()) == self.rows
            && self.groups.iter().all(adds_up)
            && (0.0..=1.0).contains(&self.largest)
    }

    /// The mean change.
    pub(super) fn mean(&self) -> f64 {
        self.sum as f64 / UNIT / self.rows.max(1) as f64
    }
}
