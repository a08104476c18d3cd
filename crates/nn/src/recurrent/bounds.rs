//! Numbers that the kernels compute with: one number of each text, or a lower and an upper bound on
//! it.
//!
//! [`Bounds`] have N ends: with one end they are the number itself, with two its bounds, the lower
//! one first. Each step of a cell is made of operations that are monotone in each operand on the
//! box of the others, so that their least and largest value lie at corners: a gate in [0, 1] times
//! a number is least at one of the gate's ends, chosen by the sign of the number's lower end
//! ([`corners`]). With one end all of this is plain arithmetic, so that numbers and their bounds
//! are computed by the same operations in the same order; see [`super::interval`] for why that
//! makes the bounds hold for the rounded numbers as well, and for the two places that need a slack.

use pulp::Simd;

use crate::lanes::activation;
use crate::lanes::{self, Row};

/// The ends of the bounds on one number of each text.
pub type Bounds<S, const N: usize> = [<S as Simd>::f32s; N];

/// The slack by which bounds are widened where an operation is not monotone to the last bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slack {
    /// The slack around σ and tanh.
    pub activation: f32,
    /// The slack around a GRU's new state.
    pub blend: f32,
}

impl Slack {
    /// The slack with which the bounds hold for the kernels' own numbers; see [`super::interval`].
    pub const SOUND: Slack = Slack {
        activation: 1.0 / (1 << 22) as f32,
        blend: 1.0 / (1 << 21) as f32,
    };
    /// No slack: for training, which needs no proof, and for numbers.
    pub const NONE: Slack = Slack {
        activation: 0.0,
        blend: 0.0,
    };
}

/// Loads register `part` of a row, one row for each end.
#[inline(always)]
pub fn load<S: Simd, const N: usize>(rows: &[Row; N], part: usize) -> Bounds<S, N> {
    let mut bounds = [lanes::load::<S>(&rows[0], part); N];
    for (end, row) in bounds.iter_mut().zip(rows) {
        *end = lanes::load::<S>(row, part);
    }
    bounds
}

/// Sets register `part` of a row, one row for each end.
#[inline(always)]
pub fn store<S: Simd, const N: usize>(rows: &mut [Row; N], part: usize, bounds: Bounds<S, N>) {
    for (row, &end) in rows.iter_mut().zip(&bounds) {
        lanes::store::<S>(row, part, end);
    }
}

/// Returns zero.
#[inline(always)]
pub fn zero<S: Simd, const N: usize>(simd: S) -> Bounds<S, N> {
    [simd.splat_f32s(0.0); N]
}

/// Returns `a` in the lanes of `mask`, `b` in the others.
#[inline(always)]
pub fn select<S: Simd, const N: usize>(
    simd: S,
    mask: S::m32s,
    mut a: Bounds<S, N>,
    b: Bounds<S, N>,
) -> Bounds<S, N> {
    for (a, &b) in a.iter_mut().zip(&b) {
        *a = simd.select_f32s(mask, *a, b);
    }
    a
}

/// Computes a + b, end by end.
#[inline(always)]
pub fn plus<S: Simd, const N: usize>(
    simd: S,
    mut a: Bounds<S, N>,
    b: Bounds<S, N>,
) -> Bounds<S, N> {
    for (a, &b) in a.iter_mut().zip(&b) {
        *a = simd.add_f32s(*a, b);
    }
    a
}

/// Computes a − b, end by end.
#[inline(always)]
pub fn minus<S: Simd, const N: usize>(
    simd: S,
    mut a: Bounds<S, N>,
    b: Bounds<S, N>,
) -> Bounds<S, N> {
    for (a, &b) in a.iter_mut().zip(&b) {
        *a = simd.sub_f32s(*a, b);
    }
    a
}

/// Computes a·b, end by end.
#[inline(always)]
pub fn times<S: Simd, const N: usize>(
    simd: S,
    mut a: Bounds<S, N>,
    b: Bounds<S, N>,
) -> Bounds<S, N> {
    for (a, &b) in a.iter_mut().zip(&b) {
        *a = simd.mul_f32s(*a, b);
    }
    a
}

/// Computes a·b + c, end by end.
#[inline(always)]
pub fn times_plus<S: Simd, const N: usize>(
    simd: S,
    mut a: Bounds<S, N>,
    b: Bounds<S, N>,
    c: Bounds<S, N>,
) -> Bounds<S, N> {
    for ((a, &b), &c) in a.iter_mut().zip(&b).zip(&c) {
        *a = simd.mul_add_f32s(*a, b, c);
    }
    a
}

/// Returns the lanes in which all ends are the same number.
#[inline(always)]
fn is_point<S: Simd, const N: usize>(simd: S, x: Bounds<S, N>) -> S::m32s {
    simd.equal_f32s(x[0], x[N - 1])
}

/// Returns `x` with its ends moved apart by `slack`, except where `keep`; never beyond [`least`,
/// 1].
#[inline(always)]
fn widen<S: Simd, const N: usize>(
    simd: S,
    mut x: Bounds<S, N>,
    keep: S::m32s,
    slack: f32,
    least: f32,
) -> Bounds<S, N> {
    if N > 1 {
        let slack = simd.select_f32s(keep, simd.splat_f32s(0.0), simd.splat_f32s(slack));
        x[0] = simd.max_f32s(simd.sub_f32s(x[0], slack), simd.splat_f32s(least));
        x[N - 1] = simd.min_f32s(simd.add_f32s(x[N - 1], slack), simd.splat_f32s(1.0));
    }
    x
}

/// Computes σ(x), end by end.
#[inline(always)]
pub fn sigmoid<S: Simd, const N: usize>(simd: S, x: Bounds<S, N>, slack: Slack) -> Bounds<S, N> {
    let mut y = x;
    for end in &mut y {
        *end = activation::sigmoid(simd, *end);
    }
    widen(simd, y, is_point(simd, x), slack.activation, 0.0)
}

/// Computes tanh(x), end by end.
#[inline(always)]
pub fn tanh<S: Simd, const N: usize>(simd: S, x: Bounds<S, N>, slack: Slack) -> Bounds<S, N> {
    let mut y = x;
    for end in &mut y {
        *end = activation::tanh(simd, *end);
    }
    widen(simd, y, is_point(simd, x), slack.activation, -1.0)
}

/// Computes n + z·(h − n), which rises with n and with h, and is linear in z.
#[inline(always)]
pub fn blend<S: Simd, const N: usize>(
    simd: S,
    z: Bounds<S, N>,
    h: Bounds<S, N>,
    n: Bounds<S, N>,
    slack: Slack,
) -> Bounds<S, N> {
    let difference = minus(simd, h, n);
    let mut blend = times_plus(simd, corners(simd, z, difference), difference, n);
    if N > 1 {
        let points = simd.and_m32s(
            is_point(simd, z),
            simd.and_m32s(is_point(simd, n), is_point(simd, h)),
        );
        let zero = simd.splat_f32s(0.0);
        let slack = simd.select_f32s(points, zero, simd.splat_f32s(slack.blend));
        blend[0] = simd.sub_f32s(blend[0], slack);
        blend[N - 1] = simd.add_f32s(blend[N - 1], slack);
    }
    blend
}

/// Returns the lanes in which x ≥ 0.
#[inline(always)]
fn not_negative<S: Simd>(simd: S, x: S::f32s) -> S::m32s {
    simd.less_than_or_equal_f32s(simd.splat_f32s(0.0), x)
}

/// Returns the ends of a factor in [0, 1] at which factor · x is least (with the lower x) and
/// largest.
#[inline(always)]
pub fn corners<S: Simd, const N: usize>(
    simd: S,
    factor: Bounds<S, N>,
    x: Bounds<S, N>,
) -> Bounds<S, N> {
    let mut ends = factor;
    if N > 1 {
        let (low, high) = (not_negative(simd, x[0]), not_negative(simd, x[N - 1]));
        ends[0] = simd.select_f32s(low, factor[0], factor[N - 1]);
        ends[N - 1] = simd.select_f32s(high, factor[N - 1], factor[0]);
    }
    ends
}

/// Hands gradients with respect to [`corners`] to the ends of the factor that the corners were.
#[inline(always)]
pub fn from_corners<S: Simd, const N: usize>(
    simd: S,
    x: Bounds<S, N>,
    d: Bounds<S, N>,
) -> Bounds<S, N> {
    let mut ends = d;
    if N > 1 {
        let zero = simd.splat_f32s(0.0);
        let (low, high) = (not_negative(simd, x[0]), not_negative(simd, x[N - 1]));
        ends[0] = simd.add_f32s(
            simd.select_f32s(low, d[0], zero),
            simd.select_f32s(high, zero, d[N - 1]),
        );
        ends[N - 1] = simd.add_f32s(
            simd.select_f32s(low, zero, d[0]),
            simd.select_f32s(high, d[N - 1], zero),
        );
    }
    ends
}

/// Computes y·(1 − y)·d, the gradient d passed back through y = σ(x).
#[inline(always)]
pub fn through_sigmoid<S: Simd, const N: usize>(
    simd: S,
    y: Bounds<S, N>,
    mut d: Bounds<S, N>,
) -> Bounds<S, N> {
    for (d, &y) in d.iter_mut().zip(&y) {
        let slope = simd.negate_mul_add_f32s(y, y, y);
        *d = simd.mul_f32s(slope, *d);
    }
    d
}

/// Computes (1 − y²)·d, the gradient d passed back through y = tanh(x).
#[inline(always)]
pub fn through_tanh<S: Simd, const N: usize>(
    simd: S,
    y: Bounds<S, N>,
    mut d: Bounds<S, N>,
) -> Bounds<S, N> {
    for (d, &y) in d.iter_mut().zip(&y) {
        let slope = simd.negate_mul_add_f32s(y, y, simd.splat_f32s(1.0));
        *d = simd.mul_f32s(slope, *d);
    }
    d
}
