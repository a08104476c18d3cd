//! A cover for large sets in three and more dimensions: centres from a lattice that does not depend
//! on the records.
//!
//! Space is cut into cubes of one side g. For a cube Q let A(Q) be the points within r of some
//! point of Q; a ball with its centre in Q lies in A(Q). So h′(P) = max over cubes of |P ∩ A(Q)| is
//! at least h(P), and since neither cubes nor g depend on the records it has the two properties
//! that smoothness needs ([`super`]).
//!
//! A(Q) of a larger box contains A of the cubes in it. So the maximum is found by branch and bound
//! over boxes that are halved along their longest side, without visiting all cubes; the side of the
//! cubes decides how loose the bound is, the pruning has no influence on it. Centres outside the
//! grid's range need not be looked at: moving one to the nearest point of the range brings it
//! closer to every record.
//!
//! A record lies in at most (2 + 2r / g)^d sets; g is chosen from N and the dimension alone so that
//! this stays near 2¹⁴, or all records together lie in about 2²⁶ where they are few. Beyond that
//! many dimensions only the first ones are cut, which leaves A(Q) unbounded in the others.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::largest_ball::LargestBall;
use crate::error::PrivacyError;
use crate::records::Records;

/// The approximate number of sets that one of many records may lie in.
const SETS_OF_A_RECORD: f64 = 16_384.0;
/// The approximate number of sets that few records may lie in together.
const SETS_OF_FEW: f64 = 67_108_864.0;
/// The side of the finest cubes for many records, in radii.
const FINEST: f64 = 0.5;
/// The side of the finest cubes for few records, in radii.
const FINEST_OF_FEW: f64 = 0.125;
/// The side of the coarsest cubes, in radii, which is a diameter; beyond, fewer columns are cut.
const COARSEST: f64 = 2.0;
/// The approximate number of boxes that are searched in parallel.
const PARTS: usize = 64;

/// The cover on some records.
pub struct Cover<'r> {
    records: &'r Records,
    squared_radius: f64,
    /// The side of a cube in grid steps.
    side: f64,
    /// The number of columns that are cut.
    cut: usize,
    /// The number of cubes along each cut column: a power of two.
    cubes: u64,
}

/// A box of cubes: in each cut column the first cube, and the number of cubes.
#[derive(Clone)]
struct Cubes {
    first: Vec<u64>,
    count: Vec<u64>,
}

struct Task {
    cubes: Cubes,
    members: Vec<u32>,
}

impl<'r> Cover<'r> {
    /// Prepares the cover.
    pub fn new(records: &'r Records, squared_radius: f64) -> Self {
        let (share, cut) = resolution(records.rows(), records.columns());
        let side = (share * squared_radius.sqrt()).floor().max(1.0);
        let needed = (Records::extent() / side).floor() as u64 + 1;
        Cover {
            records,
            squared_radius,
            side,
            cut,
            cubes: needed.next_power_of_two(),
        }
    }

    /// Returns the records of `members` within the radius of some point of the box.
    fn reached(&self, cubes: &Cubes, members: &[u32]) -> Vec<u32> {
        let low: Vec<f64> = cubes
            .first
            .iter()
            .map(|&at| at as f64 * self.side)
            .collect();
        let high: Vec<f64> = low
            .iter()
            .zip(&cubes.count)
            .map(|(low, &count)| low + count as f64 * self.side)
            .collect();
        let within = |member: &&u32| {
            let row = self.records.row(**member as usize);
            let square: f64 = row
                .iter()
                .zip(&low)
                .zip(&high)
                .map(|((&at, low), high)| {
                    let outside = (low - at).max(at - high).max(0.0);
                    outside * outside
                })
                .sum();
            square <= self.squared_radius
        };
        members.iter().filter(within).copied().collect()
    }

    /// Returns the halves of a task that may beat `best`, the fuller one last.
    fn halves(&self, task: &Task, best: u32) -> Vec<Task> {
        let longest = (0..self.cut)
            .max_by_key(|&column| (task.cubes.count[column], std::cmp::Reverse(column)))
            .unwrap_or(0);
        let half = task.cubes.count[longest] / 2;
        let mut halves: Vec<Task> = [0, half]
            .into_iter()
            .filter_map(|offset| {
                let mut cubes = task.cubes.clone();
                cubes.count[longest] = half;
                cubes.first[longest] += offset;
                let members = self.reached(&cubes, &task.members);
                (members.len() as u32 > best).then_some(Task { cubes, members })
            })
            .collect();
        halves.sort_by_key(|task| task.members.len());
        halves
    }

    fn is_cube(&self, task: &Task) -> bool {
        task.cubes.count.iter().all(|&count| count == 1)
    }

    /// Searches depth first, fuller boxes first.
    fn search(&self, task: Task, best: &AtomicU32, enough: u32) {
        let mut open = vec![task];
        while let Some(task) = open.pop() {
            let known = best.load(Ordering::Relaxed);
            if known >= enough {
                return;
            }
            if task.members.len() as u32 <= known {
                continue;
            }
            if self.is_cube(&task) {
                best.fetch_max(task.members.len() as u32, Ordering::Relaxed);
            } else {
                open.extend(self.halves(&task, known));
            }
        }
    }
}

impl LargestBall for Cover<'_> {
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError> {
        if members.is_empty() {
            return Ok(0);
        }
        let all = Cubes {
            first: vec![0; self.cut],
            count: vec![self.cubes; self.cut],
        };
        let mut parts = vec![Task {
            cubes: all,
            members: members.to_vec(),
        }];
        while parts.len() < PARTS && parts.iter().any(|part| !self.is_cube(part)) {
            parts = parts
                .into_iter()
                .flat_map(|part| match self.is_cube(&part) {
                    true => vec![part],
                    false => self.halves(&part, 0),
                })
                .collect();
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.members.len()));
        let best = AtomicU32::new(0);
        parts
            .into_par_iter()
            .with_max_len(1)
            .for_each(|part| self.search(part, &best, enough));
        Ok(best.into_inner())
    }
}

/// Returns the side of a cube in radii, and how many columns are cut, for so many records and
/// columns.
fn resolution(rows: usize, columns: usize) -> (f64, usize) {
    let of_few = SETS_OF_FEW / rows as f64;
    let (most, finest) = match of_few > SETS_OF_A_RECORD {
        true => (of_few, FINEST_OF_FEW),
        false => (SETS_OF_A_RECORD, FINEST),
    };
    let sets = |share: f64| 1.0 + 2.0 / share;
    let share = 2.0 / (most.powf(1.0 / columns as f64) - 1.0);
    if share <= COARSEST {
        return (share.max(finest), columns);
    }
    let cut = (most.ln() / sets(COARSEST).ln()).floor() as usize;
    (COARSEST, cut.min(columns))
}
