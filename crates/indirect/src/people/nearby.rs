//! Real people beside counterparts who were drawn.
//!
//! A density smooths, and no interval says by how much. What it draws given u, what a person has of what is
//! kept, stands for the others who have u. So the others who are nearest to the person in that are
//! decided, on average over the members, as those who were drawn are, but for what the density smooths
//! and for how far these others are from u. The first falls on whom it should not; the second is small
//! where many others have u or nearly u, which the mean distance tells.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::{DrawnPeople, People, ProtectedGroup};
use crate::coordinates::Cell;
use crate::neighbours::{Group, Ties};

/// The number of others who are looked at for each member, with those as near as the last of them.
const NEAREST: usize = 25;

/// The others who are nearest to the members in what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Nearby {
    /// The number of them for each member, with those as near as the last of them.
    pub people: u64,
    /// The mean distance of them in what is kept, over members.
    pub distance: f64,
    /// What they get on average, over members: the share of them who are decided unfavourably, or their
    /// mean score or number.
    pub mean: f64,
}

/// Counterparts who were drawn for the members of a group, beside real people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DrawnForGroup {
    /// Members of whom something that is kept, each attribute by itself, nobody on the other side has: their
    /// counterparts are drawn by what the density smooths alone.
    pub unmet: u64,
    /// What the counterparts get on average: the share of them who are decided unfavourably, or their mean
    /// score or number. Where others around them are looked at, that of these.
    pub mean: f64,
    /// The number of attributes that the counterparts have from the members.
    pub kept: u64,
    /// The number of attributes that were drawn: all others but those of the group.
    pub drawn: u64,
    /// The others who are nearest in what is kept.
    pub nearest: Nearby,
}

/// Members who are alike in what is kept, one cell an attribute.
struct Kind {
    person: Vec<Cell>,
    members: usize,
}

impl DrawnPeople {
    /// Returns what the others of `group` nearest to its members in what is kept get on average, of
    /// `outcomes`, one for each of `people`.
    pub fn nearby(&self, people: &People, group: &ProtectedGroup, outcomes: &[f64]) -> Nearby {
        let kept: Vec<(usize, f64)> = self.kept.iter().map(|&place| (place, 1.0)).collect();
        let coordinates = people.coordinates_of(&kept, people);
        // Members who are alike in what is kept have the same others.
        let mut kinds: BTreeMap<Vec<(bool, u64)>, Kind> = BTreeMap::new();
        for &row in &group.members {
            let person = coordinates.person(row as usize);
            let key = person.iter().map(|&cell| bits(cell)).collect();
            let kind = kinds.entry(key).or_insert(Kind { person, members: 0 });
            kind.members += 1;
        }
        let others = Group::new(&coordinates, group.others.clone());
        let kinds: Vec<Kind> = kinds.into_values().collect();
        let sums: Vec<[f64; 2]> = kinds
            .par_iter()
            .map(|Kind { person, members }| {
                let nearest = others.nearest(person, NEAREST, Ties::All, None);
                let part = *members as f64 / nearest.len().max(1) as f64;
                let outcomes = nearest.iter().map(|it| outcomes[it.row as usize]);
                let distances = nearest.iter().map(|it| it.distance);
                [outcomes.sum::<f64>() * part, distances.sum::<f64>() * part]
            })
            .collect();
        let mean = |which: usize| {
            sums.iter().map(|sums| sums[which]).sum::<f64>() / group.members.len().max(1) as f64
        };
        Nearby {
            people: NEAREST.min(others.len()) as u64,
            distance: mean(1),
            mean: mean(0),
        }
    }
}

/// Returns what tells a cell from all others.
fn bits(cell: Cell) -> (bool, u64) {
    match cell {
        Cell::Number(number) => (true, number.to_bits()),
        Cell::Level(level) => (false, u64::from(level.cast_unsigned())),
    }
}
