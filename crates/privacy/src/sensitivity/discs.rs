//! Discs of one radius through a common point: which directions of their centres hold another
//! point.
//!
//! With the common point at the origin, the disc with centre c (|c| = r) holds v iff |v|² ≤ 2 c·v:
//! an arc of directions around that of v, of half-width acos(|v| / 2r).

use std::cmp::Ordering;
use std::f64::consts::TAU;

use num_bigint::BigInt;

/// The directions of the centres of discs that hold a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    direction: f64,
    half_width: f64,
}

impl Arc {
    /// The bound on the error of angles: near a half-width of 0 the arc cosine turns an error of
    /// 2⁻⁵² into 2⁻²⁵.
    pub(super) const MARGIN: f64 = 1e-6;

    /// Returns the arc of `v`, which is neither the origin nor farther than a diameter.
    pub(super) fn new(v: [f64; 2], squared_radius: f64) -> Arc {
        let square = v[0] * v[0] + v[1] * v[1];
        Arc {
            direction: v[1].atan2(v[0]),
            half_width: (square / (4.0 * squared_radius)).sqrt().min(1.0).acos(),
        }
    }
}

/// Returns the largest number of arcs, each widened by `margin` on both sides, that share a
/// direction.
pub(super) fn deepest(arcs: &[Arc], margin: f64, events: &mut Vec<(f64, i32)>) -> u32 {
    events.clear();
    let mut depth = 0;
    for arc in arcs {
        let half_width = arc.half_width + margin;
        if half_width < 0.0 {
            continue;
        }
        let start = (arc.direction - half_width).rem_euclid(TAU);
        let end = start + 2.0 * half_width;
        events.push((start, 1));
        if end >= TAU {
            depth += 1;
            events.push((end - TAU, -1));
        } else {
            events.push((end, -1));
        }
    }
    // At equal angles arcs begin before others end.
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut most = depth;
    for &(_, change) in events.iter() {
        depth += change;
        most = most.max(depth);
    }
    most.max(0) as u32
}

/// Returns the largest number of arcs that share a direction, by integer comparisons: the depth at
/// the start of each arc.
pub(super) fn exact_depth(offsets: &[[f64; 2]], squared_radius: f64) -> u32 {
    offsets
        .iter()
        .map(|&v| {
            let held = offsets.iter().filter(|&&w| holds(v, w, squared_radius));
            held.count() as u32
        })
        .max()
        .unwrap_or(0)
}

/// Returns whether the disc at the start of the arc of `v` holds `w`.
///
/// Twice its centre is v − v⊥ √(E / D) with D = |v|², E = 4 r² − D and v⊥ the vector v turned to
/// the left. So the condition |w|² ≤ 2 c·w reads A ≤ −B √(E / D) with A = |w|² − v·w and B = v⊥·w.
fn holds(v: [f64; 2], w: [f64; 2], squared_radius: f64) -> bool {
    let d = v[0] * v[0] + v[1] * v[1];
    let e = 4.0 * squared_radius - d;
    let a = w[0] * w[0] + w[1] * w[1] - (v[0] * w[0] + v[1] * w[1]);
    let right = v[1] * w[0] - v[0] * w[1];
    match (a <= 0.0, right >= 0.0) {
        (true, true) => true,
        (true, false) => compare(a, d, right, e) != Ordering::Less,
        (false, true) => compare(a, d, right, e) != Ordering::Greater,
        (false, false) => false,
    }
}

/// Compares a² d with b² e; all are whole numbers.
fn compare(a: f64, d: f64, b: f64, e: f64) -> Ordering {
    let (left, right) = (a * a * d, b * b * e);
    if (left - right).abs() > 1e-12 * (left + right) {
        return left.total_cmp(&right);
    }
    let whole = |value: f64| BigInt::from(value as i128);
    let square = |value: f64| whole(value) * whole(value);
    (square(a) * whole(d)).cmp(&(square(b) * whole(e)))
}
