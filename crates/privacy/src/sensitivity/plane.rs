//! An angular sweep around every record for two dimensions, exact.
//!
//! A closed disc that holds the most records can be moved until a record p that it holds is on its
//! boundary, and turned around p until another one is, losing none. Around p, the discs of the
//! radius through p that hold q form an arc of directions (`discs`); the deepest point of all arcs
//! is the answer for p, and it is the start of an arc.
//!
//! Angles are rounded. So every p is swept with arcs made wider, which bounds its depth from above,
//! and with arcs made narrower, which bounds it from below. Where the first exceeds the best found
//! and the two differ, the starts of the arcs are tried with integer comparisons.
//!
//! Records are sorted into cells of one diameter; a record meets those of 3 × 3 cells only. Full
//! cells come first, so that most others are left out by their count.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::discs::{Arc, deepest, exact_depth};
use super::largest_ball::LargestBall;
use crate::error::PrivacyError;
use crate::records::Records;

/// The angular sweep on records of two columns.
pub struct Plane<'r> {
    records: &'r Records,
    squared_radius: f64,
    side: f64,
}

type Cells = HashMap<(i32, i32), Vec<[f64; 2]>>;

impl<'r> Plane<'r> {
    /// Prepares the sweep; the records have two columns.
    pub fn new(records: &'r Records, squared_radius: f64) -> Self {
        Plane {
            records,
            squared_radius,
            side: (2.0 * squared_radius.sqrt()).ceil() + 1.0,
        }
    }

    fn cells(&self, members: &[u32]) -> Cells {
        let mut cells = Cells::new();
        for &member in members {
            let row = self.records.row(member as usize);
            let cell = ((row[0] / self.side) as i32, (row[1] / self.side) as i32);
            cells.entry(cell).or_default().push([row[0], row[1]]);
        }
        cells
    }

    /// Raises `best` to the depth around each record of a cell.
    fn sweep_cell(&self, own: &[[f64; 2]], near: &[[f64; 2]], best: &AtomicU32, enough: u32) {
        let mut offsets = Vec::with_capacity(near.len());
        let mut arcs = Vec::with_capacity(near.len());
        let mut events = Vec::with_capacity(2 * near.len());
        for p in own {
            let known = best.load(Ordering::Relaxed);
            if known >= enough {
                return;
            }
            offsets.clear();
            let mut same = 0;
            for q in near {
                let offset = [q[0] - p[0], q[1] - p[1]];
                let square = offset[0] * offset[0] + offset[1] * offset[1];
                if square == 0.0 {
                    same += 1;
                } else if square <= 4.0 * self.squared_radius {
                    offsets.push(offset);
                }
            }
            if same + offsets.len() as u32 <= known {
                continue;
            }
            arcs.clear();
            arcs.extend(offsets.iter().map(|&v| Arc::new(v, self.squared_radius)));
            let above = same + deepest(&arcs, Arc::MARGIN, &mut events);
            if above <= known {
                continue;
            }
            let below = same + deepest(&arcs, -Arc::MARGIN, &mut events);
            let known = best.fetch_max(below, Ordering::Relaxed).max(below);
            if above > known {
                let exact = same + exact_depth(&offsets, self.squared_radius);
                best.fetch_max(exact, Ordering::Relaxed);
            }
        }
    }
}

impl LargestBall for Plane<'_> {
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError> {
        let cells = self.cells(members);
        let around = |&(x, y): &(i32, i32)| {
            (-1..=1).flat_map(move |i| (-1..=1).map(move |j| (x + i, y + j)))
        };
        let mut order: Vec<(usize, (i32, i32))> = cells
            .keys()
            .map(|cell| {
                let near = around(cell).filter_map(|other| cells.get(&other));
                (near.map(Vec::len).sum(), *cell)
            })
            .collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let best = AtomicU32::new(0);
        order.par_iter().with_max_len(4).for_each(|(size, cell)| {
            let known = best.load(Ordering::Relaxed);
            if *size as u32 <= known || known >= enough {
                return;
            }
            let near: Vec<[f64; 2]> = around(cell)
                .filter_map(|other| cells.get(&other))
                .flatten()
                .copied()
                .collect();
            self.sweep_cell(&cells[cell], &near, &best, enough);
        });
        Ok(best.into_inner())
    }
}
