//! Counts of rows that add up: over blocks, threads and shards, in any order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::moves::Moves;
use super::people::People;
use crate::effect::Ways;
use probity_nn::decision::Score;

/// Counts of a group: rows, discriminatory ones, those that could get the favourable class, those
/// that could lose it, those that get it.
pub(super) type GroupCounts = [u64; 5];

/// Two groups by one attribute: the one that a row is in, and the one that it is put into.
pub(super) type Exchange = (u32, u32);

/// The counts of some people.
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
    /// Rows of each group that would gain or lose as some other value, by each protected attribute
    /// alone.
    pub(super) alone: Vec<Vec<Ways>>,
    /// Rows of one group that would gain or lose as some value of another, by each protected attribute
    /// alone.
    pub(super) exchanges: Vec<BTreeMap<Exchange, Ways>>,
    /// Whether any answer differs in any bit, by each protected attribute alone.
    pub(super) is_taken: Vec<bool>,
    /// The largest change of the score of each row.
    pub(super) moves: Moves,
}

/// The effect of changing the protected attributes of one row.
pub(super) struct Outcome<'a> {
    /// The number of the variant that the row is.
    pub variant: u32,
    /// The effect of each attribute alone.
    pub alone: &'a [Alone],
    /// Whether any variant has another class.
    pub flips: bool,
    /// Whether the row has the favourable class itself.
    pub is_favoured: bool,
    /// Whether any variant has the favourable class.
    pub is_favourable_near: bool,
    /// The largest change of the probability of the favourable class, or of the number.
    pub change: f32,
}

/// The effect of changing one protected attribute of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Alone {
    /// Whether the row flips.
    pub flips: bool,
    /// Whether it would gain, and whether it would lose, as some other value.
    pub ways: [bool; 2],
    /// Whether it would gain, and lose, as some value of another group; groups as which it would do
    /// neither are left out.
    pub exchanges: BTreeMap<Exchange, [bool; 2]>,
}

impl Tally {
    /// A tally of `people` without counts yet.
    pub fn new(people: &People<'_>) -> Tally {
        let groups = people.groups.iter();
        Tally {
            flips: vec![0; people.groups.len()],
            groups: groups.map(|by| vec![[0; 5]; by.values.len()]).collect(),
            alone: people.groups[..people.protected.len()]
                .iter()
                .map(|by| vec![[0; 2]; by.values.len()])
                .collect(),
            exchanges: vec![BTreeMap::new(); people.protected.len()],
            is_taken: vec![people.are_all_taken; people.protected.len()],
            moves: Moves::new(people.score == Score::Number),
            ..Tally::default()
        }
    }

    /// Counts one row of `people`.
    pub(super) fn add(&mut self, people: &People<'_>, row: &Outcome<'_>) {
        self.rows += 1;
        for (flips, alone) in self.flips.iter_mut().zip(row.alone) {
            *flips += u64::from(alone.flips);
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
            let is = [true, row.flips, gains, loses, row.is_favoured];
            for (count, is) in counts.iter_mut().zip(is) {
                *count += u64::from(is);
            }
        }
        let add = |ways: &mut Ways, is: [bool; 2]| {
            (ways.iter_mut().zip(is)).for_each(|(count, is)| *count += u64::from(is));
        };
        for (place, alone) in row.alone.iter().enumerate() {
            let own = people.groups[place].of_variant[row.variant as usize];
            add(&mut self.alone[place][own as usize], alone.ways);
            for (&exchange, &ways) in &alone.exchanges {
                add(self.exchanges[place].entry(exchange).or_default(), ways);
            }
        }
        self.moves.add(row.change);
    }

    /// The sum of this tally and `other`; `None` where they are not of the same people, or cannot
    /// be counts.
    pub fn and(mut self, other: &Tally) -> Option<Tally> {
        let is_alike = self.flips.len() == other.flips.len()
            && self.groups.len() == other.groups.len()
            && self.exchanges.len() == other.exchanges.len()
            && self.alone.len() == other.alone.len()
            && self.is_taken.len() == other.is_taken.len()
            && self
                .groups
                .iter()
                .zip(&other.groups)
                .all(|(one, other)| one.len() == other.len())
            && self
                .alone
                .iter()
                .zip(&other.alone)
                .all(|(one, other)| one.len() == other.len());
        if !is_alike {
            return None;
        }
        self.moves = self.moves.and(&other.moves)?;
        let own = [&mut self.individuals, &mut self.rows];
        let more = [other.individuals, other.rows];
        let own = own.into_iter().chain(&mut self.flips);
        let own = own.chain(self.groups.iter_mut().flatten().flatten());
        let own = own.chain(self.alone.iter_mut().flatten().flatten());
        let more = more.iter().chain(&other.flips);
        let more = more.chain(other.groups.iter().flatten().flatten());
        let more = more.chain(other.alone.iter().flatten().flatten());
        for (own, more) in own.zip(more) {
            *own = own.checked_add(*more)?;
        }
        for (own, more) in self.exchanges.iter_mut().zip(&other.exchanges) {
            for (&exchange, more) in more {
                for (own, more) in own.entry(exchange).or_default().iter_mut().zip(more) {
                    *own = own.checked_add(*more)?;
                }
            }
        }
        for (own, other) in self.is_taken.iter_mut().zip(&other.is_taken) {
            *own |= other;
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
                && by.iter().all(|[rows, flips, gain, lose, favoured]| {
                    flips <= rows
                        && gain.saturating_add(*lose) <= *flips
                        && lose <= favoured
                        && gain.saturating_add(*favoured) <= *rows
                })
        };
        // Nobody gains or loses as one group who does not as any.
        let are_ways = |place: usize| {
            let (rows, alone) = (&self.groups[place], &self.alone[place]);
            let is_within = |ways: &Ways, most: &Ways| ways.iter().zip(most).all(|(a, b)| a <= b);
            let mut by_group = alone.iter().zip(rows);
            let flips = self.flips[place];
            by_group.all(|(ways, &[rows, ..])| is_within(ways, &[rows.min(flips); 2]))
                && self.exchanges[place].iter().all(|(&(from, to), ways)| {
                    from != to
                        && (to as usize) < rows.len()
                        && alone
                            .get(from as usize)
                            .is_some_and(|most| is_within(ways, most))
                })
        };
        // What flips by an attribute is another answer by it.
        let flips = self.flips.iter().zip(&self.is_taken);
        let are_answers = flips.into_iter().all(|(&flips, &is)| flips == 0 || is);
        Tally::new(people).and(self).is_some()
            && are_answers
            && (self.individuals, self.rows) == (people.individuals(), people.rows())
            && self.flips.iter().all(|&flips| flips <= joint)
            && self.groups.iter().all(adds_up)
            && (0..self.alone.len()).all(are_ways)
            && self.moves.is_of(self.rows)
    }
}
