//! Counts of rows that add up: over blocks, threads and shards, in any order.

use serde::{Deserialize, Serialize};

use super::moves::Moves;
use super::people::People;
use probity_nn::decision::Score;

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
    /// The largest change of the score of each row.
    pub(super) moves: Moves,
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
    /// The largest change of the probability of the favourable class, or of the number.
    pub change: f32,
}

impl Tally {
    /// No counts of `people` yet.
    pub fn new(people: &People<'_>) -> Tally {
        let groups = people.groups.iter();
        Tally {
            flips: vec![0; people.groups.len()],
            groups: groups.map(|by| vec![[0; 4]; by.values.len()]).collect(),
            moves: Moves::new(people.score == Score::Number),
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
        self.moves.add(row.change);
    }

    /// Both together; nothing where they are not of the same people, or cannot be counts.
    pub fn and(mut self, other: &Tally) -> Option<Tally> {
        let is_alike = self.flips.len() == other.flips.len()
            && self.groups.len() == other.groups.len()
            && self
                .groups
                .iter()
                .zip(&other.groups)
                .all(|(one, other)| one.len() == other.len());
        if !is_alike {
            return None;
        }
        self.moves = self.moves.and(&other.moves)?;
        let own = [&mut self.individuals, &mut self.rows];
        let more = [other.individuals, other.rows];
        let own = own.into_iter().chain(&mut self.flips);
        let own = own.chain(self.groups.iter_mut().flatten().flatten());
        let more = more.iter().chain(&other.flips);
        let more = more.chain(other.groups.iter().flatten().flatten());
        for (own, more) in own.zip(more) {
            *own = own.checked_add(*more)?;
        }
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
            && self.groups.iter().all(adds_up)
            && self.moves.is_of(self.rows)
    }
}
