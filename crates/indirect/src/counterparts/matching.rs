//! The pairs of members and their counterparts.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::coordinates::Coordinates;
use crate::error::IndirectError;
use crate::people::ProtectedGroup;
use crate::transport::{Costs, Options, transport};

/// The cost of one standard deviation, where distances are small enough: costs are whole numbers.
const FINEST: f64 = 65_536.0;

/// The largest cost.
const LARGEST: f64 = 16_777_215.0;

/// A member and a counterpart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The row of the member.
    pub member: u32,
    /// The row of the counterpart: of the people, or of the counterfactuals that were given.
    pub counterpart: u32,
    /// The distance.
    pub distance: f64,
    /// The share of the member that is matched with this counterpart.
    pub share: f64,
}

/// The pairs of all members, in the order of their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matching {
    /// The pairs; the shares of each member sum to 1.
    pub pairs: Vec<Pair>,
    /// How good it is.
    pub quality: Quality,
}

/// How good a matching is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// The mean distance of members and counterparts.
    pub mean_distance: f64,
    /// A mean distance below which no matching is: proven by prices of the linear program's dual.
    pub at_least: f64,
    /// How much shorter the best matching may be, as a share of this one.
    pub gap: f64,
    /// Whether this matching is proven to be the best, up to the rounding of each distance.
    pub is_exact: bool,
    /// The largest rounding of a distance.
    pub rounding: f64,
}

/// The costs of moving members to the others.
struct Moves<'a> {
    members: &'a Coordinates,
    others: &'a Coordinates,
    scale: f64,
}

impl Costs for Moves<'_> {
    fn rows(&self) -> usize {
        self.members.rows()
    }

    fn columns(&self) -> usize {
        self.others.rows()
    }

    fn fill(&self, row: usize, costs: &mut [u32]) {
        const BLOCK: usize = 1024;
        let member = self.members.person(row);
        let mut distances = [0.0; BLOCK];
        for (block, costs) in costs.chunks_mut(BLOCK).enumerate() {
            let distances = &mut distances[..costs.len()];
            self.others.distances(&member, block * BLOCK, distances);
            for (cost, distance) in costs.iter_mut().zip(&*distances) {
                *cost = (distance * self.scale).round() as u32;
            }
        }
    }
}

/// Matches the members of `group` with those of `people` beside whom they are looked at, at most `gap` from the best
/// matching as a share of it; 0 for the best. `watch` breaks to stop.
///
/// # Errors
/// When it is stopped.
pub fn matched(
    people: &Coordinates,
    group: &ProtectedGroup,
    gap: f64,
    watch: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Matching, IndirectError> {
    let ProtectedGroup {
        members, others, ..
    } = group;
    let moves = Moves {
        members: &people.select(members),
        others: &people.select(others),
        scale: (LARGEST / people.largest_distance().max(f64::MIN_POSITIVE)).min(FINEST),
    };
    let options = Options {
        gap,
        ..Options::default()
    };
    let found = transport(&moves, options, &|_| watch().is_continue())?;
    // Where it was stopped before, this is the best matching up to then.
    if found.gap() > gap {
        return Err(IndirectError::Interrupted);
    }
    let pairs: u64 = found.flows.iter().map(|flow| flow.units).sum();
    let units = pairs as f64 / members.len() as f64;
    let pairs = found.flows.iter().map(|flow| {
        let (member, counterpart) = (members[flow.row], others[flow.column]);
        let person = people.person(member as usize);
        Pair {
            member,
            counterpart,
            distance: people.distance(&person, counterpart as usize),
            share: flow.units as f64 / units,
        }
    });
    let of_costs = |sum: u128| sum as f64 / units / members.len() as f64 / moves.scale;
    let (objective, bound) = (found.objective, found.lower_bound);
    Ok(Matching {
        pairs: pairs.collect(),
        quality: Quality {
            mean_distance: of_costs(objective),
            at_least: of_costs(bound),
            gap: found.gap(),
            is_exact: objective == bound,
            rounding: 0.5 / moves.scale,
        },
    })
}

/// Pairs each member of `group` with what the same row of `counterfactuals` says that they would have
/// been.
pub fn given(
    people: &Coordinates,
    counterfactuals: &Coordinates,
    group: &ProtectedGroup,
) -> Matching {
    let pairs: Vec<Pair> = group
        .members
        .iter()
        .map(|&row| Pair {
            member: row,
            counterpart: row,
            distance: counterfactuals.distance(&people.person(row as usize), row as usize),
            share: 1.0,
        })
        .collect();
    let sum: f64 = pairs.iter().map(|pair| pair.distance).sum();
    let mean_distance = sum / pairs.len().max(1) as f64;
    Matching {
        pairs,
        quality: Quality {
            mean_distance,
            at_least: mean_distance,
            gap: 0.0,
            is_exact: true,
            rounding: 0.0,
        },
    }
}
