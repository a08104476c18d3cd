//! One direction of one recurrent layer over a block of texts, forwards and backwards through time.
//!
//! At each step the gates start from the input's product ([`Source`]), the recurrent product is
//! added, and every unit takes its step ([`Cell`]). A lane whose text has no token at a step keeps
//! its state: that is the whole treatment of padding. The forward direction visits the positions
//! upwards, the backward direction downwards, so that it first meets each text's last token.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::block::{Block, DirectionTrace, Keep};
use super::cell::{Cell, GATE_ROWS, Gru, Lstm, Past};
use super::lanes::{Product, Row, dispatch, load, parts, store};
use super::network::{CellKind, RecurrentWeights};

/// The weights of one direction of one layer, ready for the kernels.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub kind: CellKind,
    pub units: usize,
    pub inputs: usize,
    /// Whether it visits the positions downwards.
    pub reverse: bool,
    /// Gate rows' biases, gate by gate; what has two biases has their sum.
    pub bias: Vec<f32>,
    /// Inputs to the gate rows [`Cell::INPUT`].
    pub input: Product,
    /// Hidden states to the gate rows [`Cell::RECURRENT`].
    pub recurrent: Product,
    /// Transposed `input`.
    pub to_input: Product,
    /// Transposed `recurrent`.
    pub to_hidden: Product,
}

/// What the layer reads.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Products of the input weights with every embedding, biases included, one line a token
    /// with a number for each input gate row.
    Projected(&'a [f32]),
    /// The values at each step: `[steps, inputs]` rows.
    Values(&'a [Row]),
}

/// What both passes over a direction share.
pub(super) struct Run<'a> {
    pub block: &'a Block<'a, 'a>,
    pub trace: &'a mut DirectionTrace,
    /// Outputs of the layer at all positions: `stride` rows each.
    pub stride: usize,
    /// First of this direction's rows.
    pub offset: usize,
}

impl Direction {
    pub fn new(weights: &RecurrentWeights, layer: usize, direction: usize) -> Direction {
        match weights.shape.cell {
            CellKind::Lstm => Self::of::<Lstm>(weights, layer, direction),
            CellKind::Gru => Self::of::<Gru>(weights, layer, direction),
        }
    }

    fn of<C: Cell>(weights: &RecurrentWeights, layer: usize, direction: usize) -> Direction {
        let shape = weights.shape;
        let units = shape.units;
        let inputs = shape.layer_inputs(layer);
        let tensors = weights.direction(layer, direction);
        // A gate row's position in the stored tensors.
        let stored = |row: usize| C::STORED[row / units] * units + row % units;
        let input = |row: usize, input: usize| {
            tensors.weight_ih[stored(C::INPUT.start * units + row) * inputs + input]
        };
        let recurrent = |row: usize, unit: usize| {
            tensors.weight_hh[stored(C::RECURRENT.start * units + row) * units + unit]
        };
        let bias = (0..GATE_ROWS * units).map(|row| {
            let gate = row / units;
            let ih = C::INPUT
                .contains(&gate)
                .then(|| tensors.bias_ih[stored(row)]);
            let hh = C::RECURRENT
                .contains(&gate)
                .then(|| tensors.bias_hh[stored(row)]);
            ih.unwrap_or(0.0) + hh.unwrap_or(0.0)
        });
        let input_rows = C::INPUT.len() * units;
        let recurrent_rows = C::RECURRENT.len() * units;
        Direction {
            kind: shape.cell,
            units,
            inputs,
            reverse: direction == 1,
            bias: bias.collect(),
            input: Product::new(input_rows, inputs, input),
            recurrent: Product::new(recurrent_rows, units, recurrent),
            to_input: Product::new(inputs, input_rows, |i, row| input(row, i)),
            to_hidden: Product::new(units, recurrent_rows, |unit, row| recurrent(row, unit)),
        }
    }

    /// Gate rows that the input's product adds to.
    pub fn input_rows(&self) -> std::ops::Range<usize> {
        let gates = match self.kind {
            CellKind::Lstm => Lstm::INPUT,
            CellKind::Gru => Gru::INPUT,
        };
        gates.start * self.units..gates.end * self.units
    }

    /// Gate rows that the recurrent product adds to.
    pub fn recurrent_rows(&self) -> std::ops::Range<usize> {
        let gates = match self.kind {
            CellKind::Lstm => Lstm::RECURRENT,
            CellKind::Gru => Gru::RECURRENT,
        };
        gates.start * self.units..gates.end * self.units
    }

    /// The row of the stored tensors behind a gate row.
    pub fn stored_row(&self, row: usize) -> usize {
        let stored = match self.kind {
            CellKind::Lstm => Lstm::STORED,
            CellKind::Gru => Gru::STORED,
        };
        stored[row / self.units] * self.units + row % self.units
    }

    /// Runs all steps from the state in `run.trace`, which then holds the last one; writes the
    /// hidden state at each position to `outputs`.
    pub fn forward(&self, run: Run<'_>, source: Source<'_>, keep: Keep, outputs: &mut [Row]) {
        match self.kind {
            CellKind::Lstm => dispatch(Forward::<Lstm>(
                self,
                run,
                source,
                keep,
                outputs,
                PhantomData,
            )),
            CellKind::Gru => dispatch(Forward::<Gru>(
                self,
                run,
                source,
                keep,
                outputs,
                PhantomData,
            )),
        }
    }

    /// Turns the gates of a [`Keep::All`] pass from a zero state into the gradients with respect
    /// to the gate rows before activation. `run.trace.hidden` holds the gradient with respect to
    /// the last hidden state; `upstream`, where given, those with respect to the outputs.
    pub fn backward(&self, run: Run<'_>, outputs: &[Row], upstream: Option<&[Row]>) {
        match self.kind {
            CellKind::Lstm => dispatch(Backward::<Lstm>(self, run, outputs, upstream, PhantomData)),
            CellKind::Gru => dispatch(Backward::<Gru>(self, run, outputs, upstream, PhantomData)),
        }
    }

    /// Position of the `i`-th step.
    fn position(&self, i: usize, steps: usize) -> usize {
        if self.reverse { steps - 1 - i } else { i }
    }
}

struct Forward<'a, C>(
    &'a Direction,
    Run<'a>,
    Source<'a>,
    Keep,
    &'a mut [Row],
    PhantomData<C>,
);

impl<C: Cell> WithSimd for Forward<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward(direction, run, source, keep, outputs, _) = self;
        let units = direction.units;
        let (gate_stride, cell_stride) = keep.strides(units);
        let trace = run.trace;
        for i in 0..run.block.steps {
            let t = direction.position(i, run.block.steps);
            let gates = &mut trace.gates[t * gate_stride..][..GATE_ROWS * units];
            start_gates::<S, C>(simd, direction, run.block, source, t, gates);
            let recurrent = C::RECURRENT.start * units..C::RECURRENT.end * units;
            direction
                .recurrent
                .add(simd, &trace.hidden, &mut gates[recurrent]);
            let (first, second) = gates.split_at_mut(2 * units);
            let (row0, row1) = first.split_at_mut(units);
            let (row2, row3) = second.split_at_mut(units);
            let outputs = &mut outputs[t * run.stride + run.offset..][..units];
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let hidden = load::<S>(&trace.hidden[u], part);
                    let cell = if C::HAS_CELL {
                        load::<S>(&trace.cell[u], part)
                    } else {
                        hidden
                    };
                    let before = [
                        load::<S>(&row0[u], part),
                        load::<S>(&row1[u], part),
                        load::<S>(&row2[u], part),
                        load::<S>(&row3[u], part),
                    ];
                    let next = C::forward(simd, before, hidden, cell);
                    let hidden = simd.select_f32s(active, next.hidden, hidden);
                    store::<S>(&mut trace.hidden[u], part, hidden);
                    store::<S>(&mut outputs[u], part, hidden);
                    if C::HAS_CELL {
                        let cell = simd.select_f32s(active, next.cell, cell);
                        store::<S>(&mut trace.cell[u], part, cell);
                        if cell_stride > 0 {
                            store::<S>(&mut trace.cells[t * cell_stride + u], part, cell);
                        }
                    }
                    if gate_stride > 0 {
                        store::<S>(&mut row0[u], part, next.gates[0]);
                        store::<S>(&mut row1[u], part, next.gates[1]);
                        store::<S>(&mut row2[u], part, next.gates[2]);
                        store::<S>(&mut row3[u], part, next.gates[3]);
                        if C::HAS_CELL {
                            store::<S>(&mut trace.squashed[t * units + u], part, next.squashed);
                        }
                    }
                }
            }
        }
    }
}

/// Gates of step t before the recurrent product: bias plus the input's product.
#[inline(always)]
fn start_gates<S: Simd, C: Cell>(
    simd: S,
    direction: &Direction,
    block: &Block<'_, '_>,
    source: Source<'_>,
    t: usize,
    gates: &mut [Row],
) {
    let units = direction.units;
    let input = C::INPUT.start * units..C::INPUT.end * units;
    match source {
        Source::Projected(table) => {
            for (row, &bias) in gates[input.end..]
                .iter_mut()
                .zip(&direction.bias[input.end..])
            {
                *row = Row::splat(bias);
            }
            block.gather(t, table, &mut gates[input]);
        }
        Source::Values(values) => {
            for (row, &bias) in gates.iter_mut().zip(&direction.bias) {
                *row = Row::splat(bias);
            }
            let x = &values[t * direction.inputs..][..direction.inputs];
            direction.input.add(simd, x, &mut gates[input]);
        }
    }
}

struct Backward<'a, C>(
    &'a Direction,
    Run<'a>,
    &'a [Row],
    Option<&'a [Row]>,
    PhantomData<C>,
);

impl<C: Cell> WithSimd for Backward<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward(direction, run, outputs, upstream, _) = self;
        let units = direction.units;
        let steps = run.block.steps;
        let trace = run.trace;
        let zero = simd.splat_f32s(0.0);
        for i in (0..steps).rev() {
            let t = direction.position(i, steps);
            let before = i
                .checked_sub(1)
                .map(|before| direction.position(before, steps));
            let gates = &mut trace.gates[t * GATE_ROWS * units..][..GATE_ROWS * units];
            let (first, second) = gates.split_at_mut(2 * units);
            let (row0, row1) = first.split_at_mut(units);
            let (row2, row3) = second.split_at_mut(units);
            let upstream = upstream.map(|rows| &rows[t * run.stride + run.offset..][..units]);
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let mut d_hidden = load::<S>(&trace.hidden[u], part);
                    if let Some(upstream) = upstream {
                        d_hidden = simd.add_f32s(d_hidden, load::<S>(&upstream[u], part));
                    }
                    let d_cell = if C::HAS_CELL {
                        load::<S>(&trace.cell[u], part)
                    } else {
                        zero
                    };
                    let mut past = Past {
                        gates: [
                            load::<S>(&row0[u], part),
                            load::<S>(&row1[u], part),
                            load::<S>(&row2[u], part),
                            load::<S>(&row3[u], part),
                        ],
                        squashed: zero,
                        hidden: zero,
                        cell: zero,
                    };
                    if let Some(before) = before {
                        let row = &outputs[before * run.stride + run.offset + u];
                        past.hidden = load::<S>(row, part);
                    }
                    if C::HAS_CELL {
                        past.squashed = load::<S>(&trace.squashed[t * units + u], part);
                        if let Some(before) = before {
                            past.cell = load::<S>(&trace.cells[before * units + u], part);
                        }
                    }
                    let back = C::backward(simd, &past, d_hidden, d_cell);
                    let mut d_gates = back.gates;
                    for gate in &mut d_gates {
                        *gate = simd.select_f32s(active, *gate, zero);
                    }
                    store::<S>(&mut row0[u], part, d_gates[0]);
                    store::<S>(&mut row1[u], part, d_gates[1]);
                    store::<S>(&mut row2[u], part, d_gates[2]);
                    store::<S>(&mut row3[u], part, d_gates[3]);
                    let d_hidden = simd.select_f32s(active, back.hidden, d_hidden);
                    store::<S>(&mut trace.hidden[u], part, d_hidden);
                    if C::HAS_CELL {
                        let d_cell = simd.select_f32s(active, back.cell, d_cell);
                        store::<S>(&mut trace.cell[u], part, d_cell);
                    }
                }
            }
            let recurrent = C::RECURRENT.start * units..C::RECURRENT.end * units;
            direction
                .to_hidden
                .add(simd, &gates[recurrent], &mut trace.hidden);
        }
    }
}
