//! A pass for centroids that have moved a little: rows whose nearest centroid cannot have changed are passed over.
//!
//! Each round keeps, for each row, a lower bound g of the gap between the second smallest and the smallest
//! squared distance, as they were for *reference* centroids r. For the present centroids c:
//!
//! **Lemma 1.** Let V = |c_a − r_a| + max over κ ≠ a of |c_κ − r_κ|, a the nearest reference centroid of x and R
//! at least |x − r_a|. If g > V (2R + V), a is still the nearest. *Proof.* Otherwise some κ has
//! |x − c_κ| ≤ |x − c_a|, so |x − r_κ| ≤ |x − r_a| + V and |x − r_κ|² − |x − r_a|² ≤ V (2R + V) < g. ∎
//!
//! **Lemma 2.** With Δ_κ = |x − c_κ|² − |x − r_κ|², if g + min over κ ≠ a of Δ_κ − Δ_a > 0, a is still the nearest.
//! Δ_κ needs only the coordinates in which c_κ differs from r_κ: few, when centroids lie on a lattice. ∎
//!
//! Rows that neither lemma settles are assigned anew. The result is that of a full pass.

use super::assign::assign_some;
use super::points::Points;

/// What allows rows to be passed over.
#[derive(Debug, Clone)]
pub(crate) struct Margins {
    /// Lower bound of the gap of each slot for the reference centroids; negative where the row's cluster
    /// is not the nearest reference centroid.
    pub gaps: Vec<f32>,
    /// The reference centroids.
    pub reference: Vec<i32>,
    /// An upper bound of the distance of any row to its reference centroid.
    pub reach: f64,
    /// Doubtful rows so far. As many as a full pass has make one worth while: it brings the reference to where
    /// the centroids have drifted.
    pub spent: usize,
}

/// A row that changes its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub slot: usize,
    pub to: u16,
}

/// A coordinate of a centroid that differs from the reference.
struct Shift {
    cluster: usize,
    column: usize,
    from: i64,
    to: i64,
}

/// The rows whose nearest centroid is another one than in `clusters`; `None` if a full pass is the shorter
/// way. `clusters` and `margins` are of the same round.
pub(crate) fn moves(
    points: &Points,
    centroids: &[i32],
    clusters: &[u16],
    margins: &mut Margins,
) -> Option<Vec<Move>> {
    let columns = points.columns();
    let doubtful = match sparse_shifts(centroids, &margins.reference, columns) {
        Some(shifts) => by_coordinates(
            points,
            centroids.len() / columns,
            clusters,
            margins,
            &shifts,
        ),
        None => by_norms(points, centroids, margins),
    }?;
    margins.spent += doubtful.len();
    if margins.spent > points.slots() {
        return None;
    }
    let mut moves = Vec::new();
    let nearest = assign_some(points, centroids, &doubtful);
    for (slot, to) in doubtful.into_iter().zip(nearest) {
        if to != clusters[slot] {
            margins.gaps[slot] = -1.0;
            moves.push(Move { slot, to });
        }
    }
    Some(moves)
}

/// The share of doubtful rows that makes a full pass the shorter way.
const DOUBTFUL: usize = 4;

/// The coordinates that differ, if they are few.
fn sparse_shifts(centroids: &[i32], reference: &[i32], columns: usize) -> Option<Vec<Shift>> {
    let limit = (centroids.len() / 16).max(1);
    let mut shifts = Vec::new();
    for (at, (&to, &from)) in centroids.iter().zip(reference).enumerate() {
        if to != from {
            if shifts.len() == limit {
                return None;
            }
            shifts.push(Shift {
                cluster: at / columns,
                column: at % columns,
                from: i64::from(from),
                to: i64::from(to),
            });
        }
    }
    Some(shifts)
}

/// Lemma 1 for the largest V of any two clusters.
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
    let limit = points.slots() / DOUBTFUL;
    let mut doubtful = Vec::new();
    for (chunk, gaps) in margins.gaps.chunks(64).enumerate() {
        let least = gaps
            .iter()
            .fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
        if least > threshold {
            continue;
        }
        for (at, &gap) in gaps.iter().enumerate() {
            let slot = chunk * 64 + at;
            if gap <= threshold && points.is_live(slot) {
                doubtful.push(slot);
            }
        }
        if doubtful.len() > limit {
            return None;
        }
    }
    Some(doubtful)
}

/// Lemma 2, in integers but for the gap.
fn by_coordinates(
    points: &Points,
    count: usize,
    clusters: &[u16],
    margins: &Margins,
    shifts: &[Shift],
) -> Option<Vec<usize>> {
    let limit = points.slots() / DOUBTFUL;
    let mut doubtful = Vec::new();
    let mut changes = vec![0_i64; count];
    let mut shifted: Vec<usize> = shifts.iter().map(|shift| shift.cluster).collect();
    shifted.dedup();
    for (slot, &cluster) in clusters.iter().enumerate().take(points.slots()) {
        if !points.is_live(slot) {
            continue;
        }
        let row = points.row(slot);
        let own = usize::from(cluster);
        for &cluster in &shifted {
            changes[cluster] = 0;
        }
        for shift in shifts {
            // (x − to)² − (x − from)² = (from − to)(2x − from − to)
            let x = i64::from(row[shift.column]);
            changes[shift.cluster] += (shift.from - shift.to) * (2 * x - shift.from - shift.to);
        }
        let others = || shifted.iter().filter(|&&cluster| cluster != own);
        let mut least = others().map(|&cluster| changes[cluster]).min().unwrap_or(0);
        if others().count() < count - 1 {
            // A centroid that is where it was.
            least = least.min(0);
        }
        let change = (least - changes[own]) as f64;
        let gap = margins.gaps[slot];
        if gap <= 0.0 || f64::from(gap) + change * (1.0 - 1e-9 * change.signum()) <= 0.0 {
            doubtful.push(slot);
            if doubtful.len() > limit {
                return None;
            }
        }
    }
    Some(doubtful)
}
