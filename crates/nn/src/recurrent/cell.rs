//! The step of one unit of an LSTM or GRU, forwards and backwards, with numbers or with bounds on
//! them ([`super::bounds`]).
//!
//! Both cells have four gate rows a unit, so that one driver serves both:
//!
//! | row | LSTM           | GRU                                        |
//! |-----|----------------|--------------------------------------------|
//! | 0   | i, input gate  | nₓ, the input's part of the new state      |
//! | 1   | f, forget gate | r, reset gate                              |
//! | 2   | g, new state   | z, update gate                             |
//! | 3   | o, output gate | nₕ, the recurrent part of the new state    |
//!
//! LSTM (Hochreiter, Schmidhuber 1997; Gers et al. 2000): c' = σ(f)·c + σ(i)·tanh(g), h' =
//! σ(o)·tanh(c'). GRU (Cho et al. 2014, first version, as PyTorch has it): n = tanh(nₓ + σ(r)·nₕ),
//! h' = (1 − σ(z))·n + σ(z)·h, where nₕ includes its own bias.

use std::ops::Range;

use pulp::Simd;

use super::bounds::{
    Bounds, Slack, blend, corners, from_corners, minus, plus, sigmoid, tanh, through_sigmoid,
    through_tanh, times, times_plus, zero,
};

/// The number of gate rows of a unit.
pub const GATE_ROWS: usize = 4;

/// A unit's state and what the backward pass needs of the step that made it.
pub struct Stepped<S: Simd, const N: usize> {
    /// The gates after their activation (LSTM i, f, g, o; GRU n, r, z, nₕ).
    pub gates: [Bounds<S, N>; GATE_ROWS],
    /// The new hidden state.
    pub hidden: Bounds<S, N>,
    /// The new cell state (LSTM).
    pub cell: Bounds<S, N>,
    /// The tanh of the new cell state (LSTM).
    pub squashed: Bounds<S, N>,
}

/// The step that a gradient goes back through.
pub struct Past<S: Simd, const N: usize> {
    /// The gates of the step, see [`Stepped::gates`].
    pub gates: [Bounds<S, N>; GATE_ROWS],
    /// The tanh of the step's new cell state, see [`Stepped::squashed`].
    pub squashed: Bounds<S, N>,
    /// The hidden state before the step.
    pub hidden: Bounds<S, N>,
    /// The cell state before the step.
    pub cell: Bounds<S, N>,
}

/// The gradients with respect to what was there before a step.
pub struct Back<S: Simd, const N: usize> {
    /// The gradients with respect to the gate rows before their activation.
    pub gates: [Bounds<S, N>; GATE_ROWS],
    /// The gradient with respect to the hidden state before the step, less what comes through the
    /// gates.
    pub hidden: Bounds<S, N>,
    /// The gradient with respect to the cell state before the step.
    pub cell: Bounds<S, N>,
}

/// A kind of recurrent cell.
pub trait Cell {
    /// The number of gates of the stored weights.
    const GATES: usize;
    /// The stored gate behind each gate row.
    const STORED: [usize; GATE_ROWS];
    /// The gate rows that the input's product adds to.
    const INPUT: Range<usize>;
    /// The gate rows that the recurrent product adds to.
    const RECURRENT: Range<usize>;
    /// Whether there is a cell state beside the hidden one.
    const HAS_CELL: bool;

    /// Computes one step of one unit; `gates` are the gates before their activation.
    fn forward<S: Simd, const N: usize>(
        simd: S,
        gates: [Bounds<S, N>; GATE_ROWS],
        hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
        slack: Slack,
    ) -> Stepped<S, N>;

    /// Computes the gradients before a step, from those with respect to its new states. Through
    /// bounds the gradients hold without slack; at a kink one side's slope is taken.
    fn backward<S: Simd, const N: usize>(
        simd: S,
        past: &Past<S, N>,
        hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
    ) -> Back<S, N>;
}

/// Long short-term memory; the stored gates are in the order i, f, g, o.
#[derive(Debug, Clone, Copy)]
pub struct Lstm;

/// Gated recurrent unit; the stored gates are in the order r, z, n.
#[derive(Debug, Clone, Copy)]
pub struct Gru;

impl Cell for Lstm {
    const GATES: usize = 4;
    const STORED: [usize; GATE_ROWS] = [0, 1, 2, 3];
    const INPUT: Range<usize> = 0..4;
    const RECURRENT: Range<usize> = 0..4;
    const HAS_CELL: bool = true;

    #[inline(always)]
    fn forward<S: Simd, const N: usize>(
        simd: S,
        [i, f, g, o]: [Bounds<S, N>; GATE_ROWS],
        _hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
        slack: Slack,
    ) -> Stepped<S, N> {
        let i = sigmoid(simd, i, slack);
        let f = sigmoid(simd, f, slack);
        let g = tanh(simd, g, slack);
        let o = sigmoid(simd, o, slack);
        let new = times(simd, corners(simd, i, g), g);
        let cell = times_plus(simd, corners(simd, f, cell), cell, new);
        let squashed = tanh(simd, cell, slack);
        Stepped {
            gates: [i, f, g, o],
            hidden: times(simd, corners(simd, o, squashed), squashed),
            cell,
            squashed,
        }
    }

    #[inline(always)]
    fn backward<S: Simd, const N: usize>(
        simd: S,
        past: &Past<S, N>,
        hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
    ) -> Back<S, N> {
        let [i, f, g, o] = past.gates;
        let through_output = times(simd, hidden, corners(simd, o, past.squashed));
        let cell = plus(
            simd,
            cell,
            through_tanh(simd, past.squashed, through_output),
        );
        let d_i = from_corners(simd, g, times(simd, cell, g));
        let d_f = from_corners(simd, past.cell, times(simd, cell, past.cell));
        let d_g = times(simd, cell, corners(simd, i, g));
        let d_o = from_corners(simd, past.squashed, times(simd, hidden, past.squashed));
        Back {
            gates: [
                through_sigmoid(simd, i, d_i),
                through_sigmoid(simd, f, d_f),
                through_tanh(simd, g, d_g),
                through_sigmoid(simd, o, d_o),
            ],
            hidden: zero(simd),
            cell: times(simd, cell, corners(simd, f, past.cell)),
        }
    }
}

impl Cell for Gru {
    const GATES: usize = 3;
    const STORED: [usize; GATE_ROWS] = [2, 0, 1, 2];
    const INPUT: Range<usize> = 0..3;
    const RECURRENT: Range<usize> = 1..4;
    const HAS_CELL: bool = false;

    #[inline(always)]
    fn forward<S: Simd, const N: usize>(
        simd: S,
        [input, r, z, recurrent]: [Bounds<S, N>; GATE_ROWS],
        hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
        slack: Slack,
    ) -> Stepped<S, N> {
        let r = sigmoid(simd, r, slack);
        let z = sigmoid(simd, z, slack);
        let before = times_plus(simd, corners(simd, r, recurrent), recurrent, input);
        let n = tanh(simd, before, slack);
        Stepped {
            gates: [n, r, z, recurrent],
            hidden: blend(simd, z, hidden, n, slack),
            cell,
            squashed: cell,
        }
    }

    #[inline(always)]
    fn backward<S: Simd, const N: usize>(
        simd: S,
        past: &Past<S, N>,
        hidden: Bounds<S, N>,
        cell: Bounds<S, N>,
    ) -> Back<S, N> {
        let [n, r, z, recurrent] = past.gates;
        let difference = minus(simd, past.hidden, n);
        let d_hidden = times(simd, hidden, corners(simd, z, difference));
        let d_n = match N {
            // The same number, rounded once.
            1 => [simd.negate_mul_add_f32s(hidden[0], z[0], hidden[0]); N],
            _ => minus(simd, hidden, d_hidden),
        };
        let d_input = through_tanh(simd, n, d_n);
        let d_r = from_corners(simd, recurrent, times(simd, d_input, recurrent));
        let d_z = from_corners(simd, difference, times(simd, hidden, difference));
        Back {
            gates: [
                d_input,
                through_sigmoid(simd, r, d_r),
                through_sigmoid(simd, z, d_z),
                times(simd, d_input, corners(simd, r, recurrent)),
            ],
            hidden: d_hidden,
            cell,
        }
    }
}
