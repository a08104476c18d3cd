//! What one unit of an LSTM or GRU does at one step, forwards and backwards.
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
//! LSTM (Hochreiter, Schmidhuber 1997; Gers et al. 2000): c' = σ(f)·c + σ(i)·tanh(g),
//! h' = σ(o)·tanh(c'). GRU (Cho et al. 2014, first version, as PyTorch has it): n = tanh(nₓ + σ(r)·nₕ),
//! h' = (1 − σ(z))·n + σ(z)·h, where nₕ includes its own bias.

use std::ops::Range;

use pulp::Simd;

use super::activation::{sigmoid, tanh};

/// Gate rows a unit.
pub const GATE_ROWS: usize = 4;

/// A unit's state and what the backward pass needs of the step that made it.
pub struct Stepped<S: Simd> {
    /// Gates after their activation (LSTM i, f, g, o; GRU n, r, z, nₕ).
    pub gates: [S::f32s; GATE_ROWS],
    /// New hidden state.
    pub hidden: S::f32s,
    /// New cell state (LSTM).
    pub cell: S::f32s,
    /// tanh of the new cell state (LSTM).
    pub squashed: S::f32s,
}

/// The step that a gradient goes back through.
pub struct Past<S: Simd> {
    /// [`Stepped::gates`].
    pub gates: [S::f32s; GATE_ROWS],
    /// [`Stepped::squashed`].
    pub squashed: S::f32s,
    /// Hidden state before the step.
    pub hidden: S::f32s,
    /// Cell state before the step.
    pub cell: S::f32s,
}

/// Gradients before a step.
pub struct Back<S: Simd> {
    /// With respect to the gate rows before their activation.
    pub gates: [S::f32s; GATE_ROWS],
    /// With respect to the hidden state before, less what comes through the gates.
    pub hidden: S::f32s,
    /// With respect to the cell state before.
    pub cell: S::f32s,
}

/// A kind of recurrent cell.
pub trait Cell {
    /// Gates of the stored weights.
    const GATES: usize;
    /// The stored gate behind each gate row.
    const STORED: [usize; GATE_ROWS];
    /// Gate rows that the input's product adds to.
    const INPUT: Range<usize>;
    /// Gate rows that the recurrent product adds to.
    const RECURRENT: Range<usize>;
    /// Whether there is a cell state beside the hidden one.
    const HAS_CELL: bool;

    /// One step of one unit: `gates` before their activation.
    fn forward<S: Simd>(
        simd: S,
        gates: [S::f32s; GATE_ROWS],
        hidden: S::f32s,
        cell: S::f32s,
    ) -> Stepped<S>;

    /// The gradients before a step, from those with respect to its new states.
    fn backward<S: Simd>(simd: S, past: &Past<S>, hidden: S::f32s, cell: S::f32s) -> Back<S>;
}

/// Long short-term memory; stored gates in the order i, f, g, o.
#[derive(Debug, Clone, Copy)]
pub struct Lstm;

/// Gated recurrent unit; stored gates in the order r, z, n.
#[derive(Debug, Clone, Copy)]
pub struct Gru;

/// y·(1 − y)·d: back through y = σ(x).
#[inline(always)]
pub(super) fn through_sigmoid<S: Simd>(simd: S, y: S::f32s, d: S::f32s) -> S::f32s {
    let slope = simd.negate_mul_add_f32s(y, y, y);
    simd.mul_f32s(slope, d)
}

/// (1 − y²)·d: back through y = tanh(x).
#[inline(always)]
pub(super) fn through_tanh<S: Simd>(simd: S, y: S::f32s, d: S::f32s) -> S::f32s {
    let slope = simd.negate_mul_add_f32s(y, y, simd.splat_f32s(1.0));
    simd.mul_f32s(slope, d)
}

impl Cell for Lstm {
    const GATES: usize = 4;
    const STORED: [usize; GATE_ROWS] = [0, 1, 2, 3];
    const INPUT: Range<usize> = 0..4;
    const RECURRENT: Range<usize> = 0..4;
    const HAS_CELL: bool = true;

    #[inline(always)]
    fn forward<S: Simd>(
        simd: S,
        [i, f, g, o]: [S::f32s; GATE_ROWS],
        _hidden: S::f32s,
        cell: S::f32s,
    ) -> Stepped<S> {
        let i = sigmoid(simd, i);
        let f = sigmoid(simd, f);
        let g = tanh(simd, g);
        let o = sigmoid(simd, o);
        let cell = simd.mul_add_f32s(f, cell, simd.mul_f32s(i, g));
        let squashed = tanh(simd, cell);
        Stepped {
            gates: [i, f, g, o],
            hidden: simd.mul_f32s(o, squashed),
            cell,
            squashed,
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(simd: S, past: &Past<S>, hidden: S::f32s, cell: S::f32s) -> Back<S> {
        let [i, f, g, o] = past.gates;
        let through_output = simd.mul_f32s(hidden, o);
        let cell = simd.add_f32s(cell, through_tanh(simd, past.squashed, through_output));
        Back {
            gates: [
                through_sigmoid(simd, i, simd.mul_f32s(cell, g)),
                through_sigmoid(simd, f, simd.mul_f32s(cell, past.cell)),
                through_tanh(simd, g, simd.mul_f32s(cell, i)),
                through_sigmoid(simd, o, simd.mul_f32s(hidden, past.squashed)),
            ],
            hidden: simd.splat_f32s(0.0),
            cell: simd.mul_f32s(cell, f),
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
    fn forward<S: Simd>(
        simd: S,
        [input, r, z, recurrent]: [S::f32s; GATE_ROWS],
        hidden: S::f32s,
        cell: S::f32s,
    ) -> Stepped<S> {
        let r = sigmoid(simd, r);
        let z = sigmoid(simd, z);
        let n = tanh(simd, simd.mul_add_f32s(r, recurrent, input));
        Stepped {
            gates: [n, r, z, recurrent],
            hidden: simd.mul_add_f32s(z, simd.sub_f32s(hidden, n), n),
            cell,
            squashed: cell,
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(simd: S, past: &Past<S>, hidden: S::f32s, cell: S::f32s) -> Back<S> {
        let [n, r, z, recurrent] = past.gates;
        let d_n = simd.negate_mul_add_f32s(hidden, z, hidden);
        let d_input = through_tanh(simd, n, d_n);
        let d_z = simd.mul_f32s(hidden, simd.sub_f32s(past.hidden, n));
        Back {
            gates: [
                d_input,
                through_sigmoid(simd, r, simd.mul_f32s(d_input, recurrent)),
                through_sigmoid(simd, z, d_z),
                simd.mul_f32s(d_input, r),
            ],
            hidden: simd.mul_f32s(hidden, z),
            cell,
        }
    }
}
