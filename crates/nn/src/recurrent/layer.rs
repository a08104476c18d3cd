//! One direction of one recurrent layer over a block of texts, forwards and backwards through time.
//!
//! At each step the gates start from the input's product ([`Source`]), the recurrent product is
//! added, and every unit takes its step ([`Cell`]). A lane whose text has no token at a step keeps
//! its state: that is the whole treatment of padding. The forward direction visits the positions
//! upwards, the backward direction downwards, so that it first meets each text's last token.
//!
//! The drivers compute with numbers, which have a row each, or with bounds on them, which have two:
//! row r is then rows 2r and 2r + 1 ([`super::bounds`]).

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::block::{Block, DirectionTrace, Keep};
use super::bounds::{Bounds, Slack, load, plus, select, store, zero};
use super::cell::{Cell, GATE_ROWS, Gru, Lstm, Past};
use super::network::{CellKind, RecurrentWeights};
use crate::lanes::{self, Product, Row, dispatch, parts};

/// The weights of one direction of one layer, ready for the kernels.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub kind: CellKind,
    pub units: usize,
    pub inputs: usize,
    /// Whether the direction visits the positions downwards.
    pub reverse: bool,
    /// The biases of the gate rows, gate by gate; a row with two biases has their sum.
    pub bias: Vec<f32>,
    /// The products with the weights.
    pub products: Products,
    /// The gate rows that the input's product adds to, [`Cell::INPUT`].
    input_gates: Range<usize>,
    /// The gate rows that the recurrent product adds to, [`Cell::RECURRENT`].
    recurrent_gates: Range<usize>,
    /// The stored gate behind each gate row, [`Cell::STORED`].
    stored_gates: [usize; GATE_ROWS],
}

/// The matrices of one direction, laid out for rows.
#[derive(Debug, Clone)]
pub(super) struct Products {
    /// The product of the inputs for the gate rows [`Cell::INPUT`].
    pub input: Product,
    /// The product of the hidden states for the gate rows [`Cell::RECURRENT`].
    pub recurrent: Product,
    /// The transposed product of `input`.
    pub to_input: Product,
    /// The transposed product of `recurrent`.
    pub to_hidden: Product,
}

/// The values that a layer reads.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Products of the input weights with every embedding, biases included, one line a token
    /// with a number for each input gate row; no bounds.
    Projected(&'a [f32]),
    /// The rows of the input gate rows, the input's product and biases included: `[steps, input
    /// gate rows]`.
    Gates(&'a [Row]),
    /// The values at each step: `[steps, inputs]` rows.
    Values(&'a [Row]),
}

/// The parts that both passes over a direction share. Strides and offsets count rows.
pub(super) struct Run<'a> {
    pub block: &'a Block<'a, 'a>,
    pub trace: &'a mut DirectionTrace,
    /// The number of rows that the outputs of the layer take at a position.
    pub stride: usize,
    /// The first of this direction's rows.
    pub offset: usize,
}

impl Direction {
    pub fn new(weights: &RecurrentWeights, layer: usize, direction: usize) -> Direction {
        match weights.shape.cell {
            CellKind::Lstm => Self::with_cell::<Lstm>(weights, layer, direction),
            CellKind::Gru => Self::with_cell::<Gru>(weights, layer, direction),
        }
    }

    fn with_cell<C: Cell>(weights: &RecurrentWeights, layer: usize, direction: usize) -> Direction {
        let shape = weights.shape;
        let units = shape.units;
        let inputs = shape.layer_inputs(layer);
        let tensors = weights.direction(layer, direction);
        // The position of a gate row in the stored tensors.
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
            products: Products {
                input: Product::new(input_rows, inputs, input),
                recurrent: Product::new(recurrent_rows, units, recurrent),
                to_input: Product::new(inputs, input_rows, |i, row| input(row, i)),
                to_hidden: Product::new(units, recurrent_rows, |unit, row| recurrent(row, unit)),
            },
            input_gates: C::INPUT,
            recurrent_gates: C::RECURRENT,
            stored_gates: C::STORED,
        }
    }

    /// The gate rows that the input's product adds to.
    pub fn input_rows(&self) -> Range<usize> {
        self.input_gates.start * self.units..self.input_gates.end * self.units
    }

    /// The gate rows that the recurrent product adds to.
    pub fn recurrent_rows(&self) -> Range<usize> {
        self.recurrent_gates.start * self.units..self.recurrent_gates.end * self.units
    }

    /// Returns the row of the stored tensors behind a gate row.
    pub fn stored_row(&self, row: usize) -> usize {
        self.stored_gates[row / self.units] * self.units + row % self.units
    }

    /// Returns the position of the `i`-th step.
    fn position(&self, i: usize, steps: usize) -> usize {
        if self.reverse { steps - 1 - i } else { i }
    }

    /// Runs all steps from the state in `run.trace`, which then holds the last one; writes the
    /// hidden state at each position to `outputs`.
    pub fn forward(&self, run: Run<'_>, source: Source<'_>, keep: Keep, outputs: &mut [Row]) {
        let (products, slack) = (&self.products, Slack::NONE);
        let pass = Forward::<1> {
            direction: self,
            products,
            run,
            source,
            keep,
            slack,
            outputs,
        };
        pass.run();
    }
}

/// A direction that gradients go back through, on numbers of [`Differentiable::ROWS`] rows.
pub(super) trait Differentiable {
    /// The number of rows of a number.
    const ROWS: usize;

    /// Returns the direction on plain numbers, and its products with numbers of
    /// [`Differentiable::ROWS`] rows.
    fn parts(&self) -> (&Direction, &Products);

    /// Turns the gates of a [`Keep::All`] pass without slack from a zero state into the gradients
    /// with respect to the gate rows before activation. `run.trace.hidden` holds the gradient with
    /// respect to the last hidden state; `upstream`, where given, those with respect to the
    /// outputs.
    fn backward(&self, run: Run<'_>, outputs: &[Row], upstream: Option<&[Row]>);
}

impl Differentiable for Direction {
    const ROWS: usize = 1;

    fn parts(&self) -> (&Direction, &Products) {
        (self, &self.products)
    }

    fn backward(&self, run: Run<'_>, outputs: &[Row], upstream: Option<&[Row]>) {
        Backward::<1>(self.parts(), run, outputs, upstream).run();
    }
}

/// The forward pass over all steps of a direction on numbers of N rows.
pub(super) struct Forward<'a, const N: usize> {
    pub direction: &'a Direction,
    /// The products with numbers of N rows.
    pub products: &'a Products,
    pub run: Run<'a>,
    pub source: Source<'a>,
    pub keep: Keep,
    pub slack: Slack,
    pub outputs: &'a mut [Row],
}

impl<const N: usize> Forward<'_, N> {
    /// Runs the pass; see [`Direction::forward`]. Returns a row that, with bounds, is zero where
    /// all gates were finite and NaN elsewhere.
    pub fn run(self) -> Row {
        match self.direction.kind {
            CellKind::Lstm => dispatch(Of::<_, Lstm>(self, PhantomData)),
            CellKind::Gru => dispatch(Of::<_, Gru>(self, PhantomData)),
        }
    }
}

/// A pass over a direction of cells of one kind.
struct Of<P, C>(P, PhantomData<C>);

/// Cuts `gates` into the rows of each number of a unit's four gates.
#[inline(always)]
fn by_gate<const N: usize>(gates: &mut [Row], units: usize) -> [&mut [[Row; N]]; GATE_ROWS] {
    let (first, second) = gates.as_chunks_mut::<N>().0.split_at_mut(2 * units);
    let (row0, row1) = first.split_at_mut(units);
    let (row2, row3) = second.split_at_mut(units);
    [row0, row1, row2, row3]
}

impl<C: Cell, const N: usize> WithSimd for Of<Forward<'_, N>, C> {
    type Output = Row;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Row {
        let Forward {
            direction,
            products,
            run,
            source,
            keep,
            slack,
            outputs,
        } = self.0;
        let units = direction.units;
        let (gate_stride, cell_stride) = keep.strides(units);
        let trace = run.trace;
        let mut poison = Row::ZERO;
        for i in 0..run.block.steps {
            let t = direction.position(i, run.block.steps);
            let gates = &mut trace.gates[t * N * gate_stride..][..N * GATE_ROWS * units];
            start_gates::<S, C, N>(simd, direction, products, run.block, source, t, gates);
            let recurrent = N * C::RECURRENT.start * units..N * C::RECURRENT.end * units;
            products
                .recurrent
                .add(simd, &trace.hidden, &mut gates[recurrent]);
            let [row0, row1, row2, row3] = by_gate::<N>(gates, units);
            let outputs = &mut outputs[t * run.stride + run.offset..][..N * units];
            let outputs = outputs.as_chunks_mut::<N>().0;
            let hidden_rows = &mut trace.hidden.as_chunks_mut::<N>().0[..units];
            let cell_rows = trace.cell.as_chunks_mut::<N>().0;
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let hidden = load::<S, N>(&hidden_rows[u], part);
                    let cell = if C::HAS_CELL {
                        load::<S, N>(&cell_rows[u], part)
                    } else {
                        hidden
                    };
                    let before = [
                        load::<S, N>(&row0[u], part),
                        load::<S, N>(&row1[u], part),
                        load::<S, N>(&row2[u], part),
                        load::<S, N>(&row3[u], part),
                    ];
                    if N > 1 {
                        let poisoned =
                            poisoned_by::<S, N>(simd, before, lanes::load::<S>(&poison, part));
                        lanes::store::<S>(&mut poison, part, poisoned);
                    }
                    let next = C::forward::<S, N>(simd, before, hidden, cell, slack);
                    let hidden = select::<S, N>(simd, active, next.hidden, hidden);
                    store::<S, N>(&mut hidden_rows[u], part, hidden);
                    store::<S, N>(&mut outputs[u], part, hidden);
                    if C::HAS_CELL {
                        let cell = select::<S, N>(simd, active, next.cell, cell);
                        store::<S, N>(&mut cell_rows[u], part, cell);
                        if cell_stride > 0 {
                            let cells = trace.cells.as_chunks_mut::<N>().0;
                            store::<S, N>(&mut cells[t * cell_stride + u], part, cell);
                        }
                    }
                    if gate_stride > 0 {
                        store::<S, N>(&mut row0[u], part, next.gates[0]);
                        store::<S, N>(&mut row1[u], part, next.gates[1]);
                        store::<S, N>(&mut row2[u], part, next.gates[2]);
                        store::<S, N>(&mut row3[u], part, next.gates[3]);
                        if C::HAS_CELL {
                            let squashed = trace.squashed.as_chunks_mut::<N>().0;
                            store::<S, N>(&mut squashed[t * units + u], part, next.squashed);
                        }
                    }
                }
            }
        }
        poison
    }
}

/// Returns `before` where all of `gates` are finite, NaN elsewhere.
#[inline(always)]
fn poisoned_by<S: Simd, const N: usize>(
    simd: S,
    gates: [Bounds<S, N>; GATE_ROWS],
    before: S::f32s,
) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let mut poison = before;
    for gate in gates {
        for end in gate {
            poison = simd.mul_add_f32s(end, zero, poison);
        }
    }
    poison
}

/// Computes the gates of step t before the recurrent product: bias plus the input's product.
#[inline(always)]
fn start_gates<S: Simd, C: Cell, const N: usize>(
    simd: S,
    direction: &Direction,
    products: &Products,
    block: &Block<'_, '_>,
    source: Source<'_>,
    t: usize,
    gates: &mut [Row],
) {
    let units = direction.units;
    let input = N * C::INPUT.start * units..N * C::INPUT.end * units;
    // The rows whose input comes with its bias; C::INPUT begins at 0.
    let biased = match source {
        Source::Values(_) => 0,
        Source::Projected(_) | Source::Gates(_) => C::INPUT.end * units,
    };
    let rows = &mut gates.as_chunks_mut::<N>().0[biased..];
    for (rows, &bias) in rows.iter_mut().zip(&direction.bias[biased..]) {
        *rows = [Row::splat(bias); N];
    }
    match source {
        Source::Projected(table) => block.gather(t, table, &mut gates[input]),
        Source::Gates(started) => {
            let width = input.len();
            gates[input].copy_from_slice(&started[t * width..][..width]);
        }
        Source::Values(values) => {
            let width = N * direction.inputs;
            let x = &values[t * width..][..width];
            products.input.add(simd, x, &mut gates[input]);
        }
    }
}

/// Returns `numbers` numbers of N rows from row `start` on.
#[inline(always)]
fn numbers_at<const N: usize>(rows: &[Row], start: usize, numbers: usize) -> &[[Row; N]] {
    rows[start..][..N * numbers].as_chunks::<N>().0
}

/// The backward pass over all steps of a direction on numbers of N rows; see
/// [`Differentiable::backward`].
pub(super) struct Backward<'a, const N: usize>(
    pub (&'a Direction, &'a Products),
    pub Run<'a>,
    pub &'a [Row],
    pub Option<&'a [Row]>,
);

impl<const N: usize> Backward<'_, N> {
    /// Runs the pass.
    pub fn run(self) {
        match self.0.0.kind {
            CellKind::Lstm => dispatch(Of::<_, Lstm>(self, PhantomData)),
            CellKind::Gru => dispatch(Of::<_, Gru>(self, PhantomData)),
        }
    }
}

impl<C: Cell, const N: usize> WithSimd for Of<Backward<'_, N>, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward((direction, products), run, outputs, upstream) = self.0;
        let units = direction.units;
        let stride = N * GATE_ROWS * units;
        let steps = run.block.steps;
        let trace = run.trace;
        let zero = zero::<S, N>(simd);
        let (cells, squashed) = (
            trace.cells.as_chunks::<N>().0,
            trace.squashed.as_chunks::<N>().0,
        );
        for i in (0..steps).rev() {
            let t = direction.position(i, steps);
            let before = i
                .checked_sub(1)
                .map(|before| direction.position(before, steps));
            let gates = &mut trace.gates[t * stride..][..stride];
            let [row0, row1, row2, row3] = by_gate::<N>(gates, units);
            let upstream =
                upstream.map(|rows| numbers_at::<N>(rows, t * run.stride + run.offset, units));
            let outputs = before
                .map(|before| numbers_at::<N>(outputs, before * run.stride + run.offset, units));
            let hidden_rows = &mut trace.hidden.as_chunks_mut::<N>().0[..units];
            let cell_rows = trace.cell.as_chunks_mut::<N>().0;
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let mut d_hidden = load::<S, N>(&hidden_rows[u], part);
                    if let Some(upstream) = upstream {
                        d_hidden = plus::<S, N>(simd, d_hidden, load::<S, N>(&upstream[u], part));
                    }
                    let d_cell = if C::HAS_CELL {
                        load::<S, N>(&cell_rows[u], part)
                    } else {
                        zero
                    };
                    let mut past = Past::<S, N> {
                        gates: [
                            load::<S, N>(&row0[u], part),
                            load::<S, N>(&row1[u], part),
                            load::<S, N>(&row2[u], part),
                            load::<S, N>(&row3[u], part),
                        ],
                        squashed: zero,
                        hidden: zero,
                        cell: zero,
                    };
                    if let Some(outputs) = outputs {
                        past.hidden = load::<S, N>(&outputs[u], part);
                    }
                    if C::HAS_CELL {
                        past.squashed = load::<S, N>(&squashed[t * units + u], part);
                        if let Some(before) = before {
                            past.cell = load::<S, N>(&cells[before * units + u], part);
                        }
                    }
                    let back = C::backward::<S, N>(simd, &past, d_hidden, d_cell);
                    let [gate0, gate1, gate2, gate3] = back.gates;
                    store::<S, N>(
                        &mut row0[u],
                        part,
                        select::<S, N>(simd, active, gate0, zero),
                    );
                    store::<S, N>(
                        &mut row1[u],
                        part,
                        select::<S, N>(simd, active, gate1, zero),
                    );
                    store::<S, N>(
                        &mut row2[u],
                        part,
                        select::<S, N>(simd, active, gate2, zero),
                    );
                    store::<S, N>(
                        &mut row3[u],
                        part,
                        select::<S, N>(simd, active, gate3, zero),
                    );
                    let d_hidden = select::<S, N>(simd, active, back.hidden, d_hidden);
                    store::<S, N>(&mut hidden_rows[u], part, d_hidden);
                    if C::HAS_CELL {
                        let d_cell = select::<S, N>(simd, active, back.cell, d_cell);
                        store::<S, N>(&mut cell_rows[u], part, d_cell);
                    }
                }
            }
            let recurrent = N * C::RECURRENT.start * units..N * C::RECURRENT.end * units;
            products
                .to_hidden
                .add(simd, &gates[recurrent], &mut trace.hidden);
        }
    }
}
