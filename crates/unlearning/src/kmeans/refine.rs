//! A pass for centroids that have moved a little: rows whose nearest centroid cannot have changed
//! are skipped.
//!
//! Each iteration keeps, for each row, a lower bound g of the gap between the second smallest and
//! the smallest squared distance, as they were for *reference* centroids r. For the present
//! centroids c:
//!
//! **Lemma 1.** Let V = |c_a − r_a| + max over κ ≠ a of |c_κ − r_κ|, a the nearest reference
//! centroid of x and R at least |x − r_a|. If g > V (2R + V), a is still the nearest. *Proof.*
//! Otherwise some κ has
//! |x − c_κ| ≤ |x − c_a|, so |x − r_κ| ≤ |x − r_a| + V and |x − r_κ|² − |x − r_a|² ≤ V (2R + V) < g. ∎
//!
//! **Lemma 2.** With Δ_κ = |x − c_κ|² − |x − r_κ|², if g + min over κ ≠ a of Δ_κ − Δ_a > 0, a is
//! still the nearest. Δ_κ needs only the coordinates in which c_κ differs from r_κ: few, when
//! centroids lie on a lattice. ∎
//!
//! Rows that neither lemma settles are assigned anew. The result is that of a full pass.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::assign::assign_some;
use super::points::Points;

/// The bounds that allow rows to be skipped.
#[derive(Debug, Clone)]
pub(crate) struct Margins {
    /// A lower bound of the gap of each slot for the reference centroids; negative where the row's
    /// cluster is not the nearest reference centroid.
    pub gaps: Vec<f32>,
    /// The reference centroids.
    pub reference: Vec<i32>,
    /// An upper bound of the distance of any row to its reference centroid.
    pub reach: f64,
    /// The number of doubtful rows so far. As many as a full pass has make one worth while: it
    /// brings the reference to where the centroids have drifted.
    pub spent: usize,
}

/// A row that changes its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub slot: usize,
    pub to: u16,
}

/// The coordinates in which one centroid differs from the reference.
struct Shift {
    cluster: usize,
    coordinates: Vec<Coordinate>,
}

/// A coordinate that differs: (x − to)² − (x − from)² = (from − to)(2x − from − to).
struct Coordinate {
    column: usize,
    step: i64,
    sum: i64,
}

impl Shift {
    /// Returns Δ of the row.
    #[inline]
    fn change(&self, row: &[i32]) -> i64 {
        self.coordinates
            .iter()
            .map(|c| c.step * (2 * i64::from(row[c.column]) - c.sum))
            .sum()
    }
}

/// The moves of rows that follow when centroids move.
#[derive(Debug)]
pub(crate) struct Moves {
    /// The rows whose nearest centroid is another one.
    pub rows: Vec<Move>,
    /// The number of rows that were doubtful.
    pub doubtful: usize,
}

/// Finds the rows whose nearest centroid is another one than in `clusters`; `None` if a full pass
/// is the shorter way. `clusters` and `margins` are of the same iteration.
pub(crate) fn moves(
    points: &Points,
    centroids: &[i32],
    clusters: &[u16],
    margins: &Margins,
) -> Option<Moves> {
    let columns = points.columns();
    let slots = match sparse_shifts(centroids, &margins.reference, columns) {
        Some(shifts) => by_coordinates(
            points,
            centroids.len() / columns,
            clusters,
            margins,
            &shifts,
        ),
        None => by_norms(points, centroids, margins),
    }?;
    let doubtful = slots.len();
    if margins.spent + doubtful > points.slots() {
        return None;
    }
    let nearest = assign_some(points, centroids, &slots);
    let rows = slots
        .into_iter()
        .zip(nearest)
        .filter(|&(slot, to)| to != clusters[slot])
        .map(|(slot, to)| Move { slot, to })
        .collect();
    Some(Moves { rows, doubtful })
}

/// The share of doubtful rows that makes a full pass the shorter way.
const DOUBTFUL: usize = 4;
/// The number of rows of a chunk.
const CHUNK: usize = 4096;
/// The number of rows whose gaps are looked at together.
const BLOCK: usize = 64;
/// The number of rows that is worth the start of a second thread.
const WORTH_THREADS: usize = 1 << 14;

/// Returns the coordinates that differ, by cluster, if they are few.
fn sparse_shifts(centroids: &[i32], reference: &[i32], columns: usize) -> Option<Vec<Shift>> {
    let limit = (centroids.len() / 16).max(1);
    let mut shifts: Vec<Shift> = Vec::new();
    let mut count = 0;
    for (at, (&to, &from)) in centroids.iter().zip(reference).enumerate() {
        if to == from {
            continue;
        }
        count += 1;
        if count > limit {
            return None;
        }
        let (from, to) = (i64::from(from), i64::from(to));
        let coordinate = Coordinate {
            column: at % columns,
            step: from - to,
            sum: from + to,
        };
        match shifts.last_mut() {
            Some(shift) if shift.cluster == at / columns => shift.coordinates.push(coordinate),
            _ => shifts.push(Shift {
                cluster: at / columns,
                coordinates: vec![coordinate],
            }),
        }
    }
    Some(shifts)
}

/// Returns the live slots that `choose` appends for a range of slots, ascending; `None` if they are
/// too many.
fn doubtful(
    points: &Points,
    choose: impl Fn(Range<usize>, &mut Vec<usize>) + Sync,
) -> Option<Vec<usize>> {
    let slots = points.slots();
    let limit = slots / DOUBTFUL;
    let found = AtomicUsize::new(0);
    let in_chunk = |chunk: usize| {
        let mut chosen = Vec::new();
        choose(chunk * CHUNK..slots.min((chunk + 1) * CHUNK), &mut chosen);
        chosen.retain(|&slot| points.is_live(slot));
        let before = found.fetch_add(chosen.len(), Ordering::Relaxed);
        (before + chosen.len() <= limit).then_some(chosen)
    };
    let chunks = slots.div_ceil(CHUNK);
    let chosen: Option<Vec<Vec<usize>>> = if slots < WORTH_THREADS {
        (0..chunks).map(in_chunk).collect()
    } else {
        (0..chunks).into_par_iter().map(in_chunk).collect()
    };
    Some(chosen?.concat())
}

/// Finds doubtful rows by Lemma 1 for the largest V of any two clusters.
fn by_norms(points: &Points, centroids: &[i32], margins: &Margins) -> Option<Vec<usize>> {
    let columns = points.columns();
    let (mut largest, mut next) = (0.0_f64, 0.0_f64);
    for (centroid, reference) in centroids
        .chunks_exact(columns)
        .zip(margins.reference.chunks_exact(columns))
    {
        let shift = (super::exact::squared_distance(centroid, reference) as f64).sqrt();
        if shift > largest {
            (largest, next) = (shift, largest);
        } else if shift > next {
            next = shift;
        }
    }
    let shift = largest + next;
    let threshold = (shift * (2.0 * margins.reach + shift) * 1.000_01) as f32;
    doubtful(points, |slots, chosen| {
        for first in slots.clone().step_by(BLOCK) {
            let gaps = &margins.gaps[first..slots.end.min(first + BLOCK)];
            let least = gaps
                .iter()
                .fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
            if least <= threshold {
                let close = gaps.iter().enumerate();
                let close = close.filter(|(_, gap)| **gap <= threshold);
                chosen.extend(close.map(|(at, _)| first + at));
            }
        }
    })
}

/// Finds doubtful rows by Lemma 2, in integers but for the gap.
fn by_coordinates(
    points: &Points,
    count: usize,
    clusters: &[u16],
    margins: &Margins,
    shifts: &[Shift],
) -> Option<Vec<usize>> {
    // Centroids that are where they were.
    let still = count - shifts.len();
    let is_settled = |slot: usize| {
        let (row, cluster) = (points.row(slot), usize::from(clusters[slot]));
        let (mut own, mut least) = (None, i64::MAX);
        for shift in shifts {
            let change = shift.change(row);
            if shift.cluster == cluster {
                own = Some(change);
            } else {
                least = least.min(change);
            }
        }
        if still > usize::from(own.is_none()) {
            least = least.min(0);
        }
        let change = least.saturating_sub(own.unwrap_or(0)) as f64;
        let gap = f64::from(margins.gaps[slot]);
        gap > 0.0 && gap + change * (1.0 - 1e-9 * change.signum()) > 0.0
    };
    doubtful(points, |slots, chosen| {
        chosen.extend(slots.filter(|&slot| !is_settled(slot)));
    })
}
