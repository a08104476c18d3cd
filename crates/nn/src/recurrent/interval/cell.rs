//! Bounds on what one unit of an LSTM or GRU does at one step, and gradients through them.
//!
//! Each step is made of operations that are monotone in each operand on the box of the others, so
//! that their least and largest value lie at corners: a gate in [0, 1] times a number is least at one
//! of the gate's ends, chosen by the sign of the number's lower end. The operations, and their order,
//! are those of [`super::super::cell`]; see [`super`] for why that makes the bounds hold for the
//! rounded numbers as well, and for the two places that need a slack.

use pulp::Simd;

use super::super::activation::{sigmoid, tanh};
use super::super::cell::{Cell, GATE_ROWS, Gru, Lstm, through_sigmoid, through_tanh};

/// A lower and an upper bound on one number of each text.
pub struct Bounds<S: Simd> {
    /// Lower bound.
    pub low: S::f32s,
    /// Upper bound.
    pub high: S::f32s,
}

impl<S: Simd> Clone for Bounds<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Simd> Copy for Bounds<S> {}

/// How far bounds are widened where an operation is not monotone to the last bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slack {
    /// Around σ and tanh.
    pub activation: f32,
    /// Around a GRU's new state.
    pub blend: f32,
}

impl Slack {
    /// What makes the bounds hold for the kernels' own numbers; see [`super`].
    pub const SOUND: Slack = Slack {
        activation: 1.0 / (1 << 22) as f32,
        blend: 1.0 / (1 << 21) as f32,
    };
    /// For training, which needs no proof.
    pub const NONE: Slack = Slack {
        activation: 0.0,
        blend: 0.0,
    };
}

/// Bounds after a step, and what the backward pass needs of it.
pub struct BoundStep<S: Simd> {
    /// Gates after their activation (LSTM i, f, g, o; GRU n, r, z, nₕ).
    pub gates: [Bounds<S>; GATE_ROWS],
    /// New hidden state.
    pub hidden: Bounds<S>,
    /// New cell state (LSTM).
    pub cell: Bounds<S>,
    /// tanh of the new cell state (LSTM).
    pub squashed: Bounds<S>,
}

/// The step that a gradient goes back through.
pub struct BoundPast<S: Simd> {
    /// [`BoundStep::gates`].
    pub gates: [Bounds<S>; GATE_ROWS],
    /// [`BoundStep::squashed`].
    pub squashed: Bounds<S>,
    /// Hidden state before the step.
    pub hidden: Bounds<S>,
    /// Cell state before the step.
    pub cell: Bounds<S>,
}

/// Gradients with respect to the bounds before a step.
pub struct BoundBack<S: Simd> {
    /// Of the gate rows before their activation.
    pub gates: [Bounds<S>; GATE_ROWS],
    /// Of the hidden state, less what comes through the gates.
    pub hidden: Bounds<S>,
    /// Of the cell state.
    pub cell: Bounds<S>,
}

/// A kind of cell whose step can be bounded.
pub trait IntervalCell: Cell {
    /// Bounds on one step of one unit, from bounds on its gates before their activation and on its
    /// states.
    fn bound<S: Simd>(
        simd: S,
        gates: [Bounds<S>; GATE_ROWS],
        hidden: Bounds<S>,
        cell: Bounds<S>,
        slack: Slack,
    ) -> BoundStep<S>;

    /// The gradients before a step, from those with respect to the bounds on its new states. Holds
    /// without slack; at a kink one side's slope is taken.
    fn pull<S: Simd>(
        simd: S,
        past: &BoundPast<S>,
        hidden: Bounds<S>,
        cell: Bounds<S>,
    ) -> BoundBack<S>;
}

#[inline(always)]
fn zero<S: Simd>(simd: S) -> Bounds<S> {
    let zero = simd.splat_f32s(0.0);
    Bounds {
        low: zero,
        high: zero,
    }
}

/// Lanes in which x ≥ 0.
#[inline(always)]
fn not_negative<S: Simd>(simd: S, x: S::f32s) -> S::m32s {
    simd.less_than_or_equal_f32s(simd.splat_f32s(0.0), x)
}

/// Lanes in which both bounds are the same number.
#[inline(always)]
fn is_point<S: Simd>(simd: S, x: Bounds<S>) -> S::m32s {
    simd.equal_f32s(x.low, x.high)
}

/// `x` with its ends moved apart by `slack`, except where `keep`; never beyond [`least`, 1].
#[inline(always)]
fn widen<S: Simd>(simd: S, x: Bounds<S>, keep: S::m32s, slack: f32, least: f32) -> Bounds<S> {
    let slack = simd.select_f32s(keep, simd.splat_f32s(0.0), simd.splat_f32s(slack));
    Bounds {
        low: simd.max_f32s(simd.sub_f32s(x.low, slack), simd.splat_f32s(least)),
        high: simd.min_f32s(simd.add_f32s(x.high, slack), simd.splat_f32s(1.0)),
    }
}

#[inline(always)]
fn bound_sigmoid<S: Simd>(simd: S, x: Bounds<S>, slack: Slack) -> Bounds<S> {
    let ends = Bounds {
        low: sigmoid(simd, x.low),
        high: sigmoid(simd, x.high),
    };
    widen(simd, ends, is_point(simd, x), slack.activation, 0.0)
}

#[inline(always)]
fn bound_tanh<S: Simd>(simd: S, x: Bounds<S>, slack: Slack) -> Bounds<S> {
    let ends = Bounds {
        low: tanh(simd, x.low),
        high: tanh(simd, x.high),
    };
    widen(simd, ends, is_point(simd, x), slack.activation, -1.0)
}

/// The factor in [0, 1] at which factor · x is least (in `low`, with the lower x) and largest.
#[inline(always)]
fn corners<S: Simd>(simd: S, factor: Bounds<S>, x: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.select_f32s(not_negative(simd, x.low), factor.low, factor.high),
        high: simd.select_f32s(not_negative(simd, x.high), factor.high, factor.low),
    }
}

/// Gradients with respect to [`corners`], handed to the ends of the factor that they were.
#[inline(always)]
fn from_corners<S: Simd>(simd: S, x: Bounds<S>, d: Bounds<S>) -> Bounds<S> {
    let zero = simd.splat_f32s(0.0);
    let (low, high) = (not_negative(simd, x.low), not_negative(simd, x.high));
    Bounds {
        low: simd.add_f32s(
            simd.select_f32s(low, d.low, zero),
            simd.select_f32s(high, zero, d.high),
        ),
        high: simd.add_f32s(
            simd.select_f32s(low, zero, d.low),
            simd.select_f32s(high, d.high, zero),
        ),
    }
}

#[inline(always)]
fn times<S: Simd>(simd: S, a: Bounds<S>, b: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.mul_f32s(a.low, b.low),
        high: simd.mul_f32s(a.high, b.high),
    }
}

/// a·b + c, end by end.
#[inline(always)]
fn times_plus<S: Simd>(simd: S, a: Bounds<S>, b: Bounds<S>, c: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.mul_add_f32s(a.low, b.low, c.low),
        high: simd.mul_add_f32s(a.high, b.high, c.high),
    }
}

#[inline(always)]
fn plus<S: Simd>(simd: S, a: Bounds<S>, b: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.add_f32s(a.low, b.low),
        high: simd.add_f32s(a.high, b.high),
    }
}

#[inline(always)]
fn minus<S: Simd>(simd: S, a: Bounds<S>, b: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.sub_f32s(a.low, b.low),
        high: simd.sub_f32s(a.high, b.high),
    }
}

#[inline(always)]
fn back_sigmoid<S: Simd>(simd: S, y: Bounds<S>, d: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: through_sigmoid(simd, y.low, d.low),
        high: through_sigmoid(simd, y.high, d.high),
    }
}

#[inline(always)]
fn back_tanh<S: Simd>(simd: S, y: Bounds<S>, d: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: through_tanh(simd, y.low, d.low),
        high: through_tanh(simd, y.high, d.high),
    }
}

impl IntervalCell for Lstm {
    #[inline(always)]
    fn bound<S: Simd>(
        simd: S,
        [i, f, g, o]: [Bounds<S>; GATE_ROWS],
        _hidden: Bounds<S>,
        cell: Bounds<S>,
        slack: Slack,
    ) -> BoundStep<S> {
        let i = bound_sigmoid(simd, i, slack);
        let f = bound_sigmoid(simd, f, slack);
        let g = bound_tanh(simd, g, slack);
        let o = bound_sigmoid(simd, o, slack);
        let new = times(simd, corners(simd, i, g), g);
        let cell = times_plus(simd, corners(simd, f, cell), cell, new);
        let squashed = bound_tanh(simd, cell, slack);
        BoundStep {
            gates: [i, f, g, o],
            hidden: times(simd, corners(simd, o, squashed), squashed),
            cell,
            squashed,
        }
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        past: &BoundPast<S>,
        hidden: Bounds<S>,
        cell: Bounds<S>,
    ) -> BoundBack<S> {
        let [i, f, g, o] = past.gates;
        let through_output = times(simd, hidden, corners(simd, o, past.squashed));
        let cell = plus(simd, cell, back_tanh(simd, past.squashed, through_output));
        let d_i = from_corners(simd, g, times(simd, cell, g));
        let d_f = from_corners(simd, past.cell, times(simd, cell, past.cell));
        let d_g = times(simd, cell, corners(simd, i, g));
        let d_o = from_corners(simd, past.squashed, times(simd, hidden, past.squashed));
        BoundBack {
            gates: [
                back_sigmoid(simd, i, d_i),
                back_sigmoid(simd, f, d_f),
                back_tanh(simd, g, d_g),
                back_sigmoid(simd, o, d_o),
            ],
            hidden: zero(simd),
            cell: times(simd, cell, corners(simd, f, past.cell)),
        }
    }
}

impl IntervalCell for Gru {
    #[inline(always)]
    fn bound<S: Simd>(
        simd: S,
        [input, r, z, recurrent]: [Bounds<S>; GATE_ROWS],
        hidden: Bounds<S>,
        cell: Bounds<S>,
        slack: Slack,
    ) -> BoundStep<S> {
        let r = bound_sigmoid(simd, r, slack);
        let z = bound_sigmoid(simd, z, slack);
        let before = times_plus(simd, corners(simd, r, recurrent), recurrent, input);
        let n = bound_tanh(simd, before, slack);
        // n + z·(h − n) rises with n and with h, and is linear in z.
        let difference = minus(simd, hidden, n);
        let blend = times_plus(simd, corners(simd, z, difference), difference, n);
        let points = simd.and_m32s(
            is_point(simd, z),
            simd.and_m32s(is_point(simd, n), is_point(simd, hidden)),
        );
        let zero = simd.splat_f32s(0.0);
        let slack = simd.select_f32s(points, zero, simd.splat_f32s(slack.blend));
        BoundStep {
            gates: [n, r, z, recurrent],
            hidden: Bounds {
                low: simd.sub_f32s(blend.low, slack),
                high: simd.add_f32s(blend.high, slack),
            },
            cell,
            squashed: cell,
        }
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        past: &BoundPast<S>,
        hidden: Bounds<S>,
        cell: Bounds<S>,
    ) -> BoundBack<S> {
        let [n, r, z, recurrent] = past.gates;
        let difference = minus(simd, past.hidden, n);
        let factor = corners(simd, z, difference);
        let d_hidden = times(simd, hidden, factor);
        let d_n = minus(simd, hidden, d_hidden);
        let d_input = back_tanh(simd, n, d_n);
        let d_z = from_corners(simd, difference, times(simd, hidden, difference));
        let d_r = from_corners(simd, recurrent, times(simd, d_input, recurrent));
        BoundBack {
            gates: [
                d_input,
                back_sigmoid(simd, r, d_r),
                back_sigmoid(simd, z, d_z),
                times(simd, d_input, corners(simd, r, recurrent)),
            ],
            hidden: d_hidden,
            cell,
        }
    }
}
