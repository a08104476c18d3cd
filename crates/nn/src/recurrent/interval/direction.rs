//! One direction of one layer over a block of texts, on bounds: forwards and backwards through time.
//!
//! Every number of [`super::super::layer`] becomes two rows, its lower and its upper bound, so that
//! row r is rows 2r and 2r + 1 here. A product with W becomes one with the matrix that sends lower
//! bounds through the positive weights and upper ones through the negative weights ([`doubled`]).
//! The zeros that it adds between the terms change no number, so each bound adds the same terms in
//! the same order as the kernels do.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::super::block::{Block, DirectionTrace};
use super::super::cell::{GATE_ROWS, Gru, Lstm};
use super::super::lanes::{Product, Row, dispatch, load, parts, store};
use super::super::layer::Direction;
use super::super::network::{CellKind, RecurrentWeights};
use super::cell::{BoundPast, Bounds, IntervalCell, Slack};

/// The weights of one direction of one layer, ready for bounds.
#[derive(Debug)]
pub(super) struct IntervalDirection {
    /// The same for plain numbers.
    pub plain: Direction,
    /// Bounds on the inputs to those on the gate rows; of no use in the first layer, whose inputs
    /// are numbers.
    pub input: Product,
    recurrent: Product,
    /// Transposed `input`.
    pub to_input: Product,
    /// Transposed `recurrent`.
    to_hidden: Product,
    /// Signs of the input weights.
    pub input_signs: Signs,
    /// Signs of the recurrent weights.
    pub recurrent_signs: Signs,
}

/// Which weights are not negative.
#[derive(Debug)]
pub(super) struct Signs {
    columns: usize,
    not_negative: Vec<bool>,
}

impl Signs {
    fn new(rows: usize, columns: usize, weight: impl Fn(usize, usize) -> f32) -> Signs {
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Signs {
            columns,
            not_negative: all
                .map(|(row, column)| weight(row, column) >= 0.0)
                .collect(),
        }
    }

    /// Whether output bound `row` is made of input bound `column`.
    pub fn takes(&self, row: usize, column: usize) -> bool {
        let not_negative = self.not_negative[row / 2 * self.columns + column / 2];
        not_negative == (row % 2 == column % 2)
    }
}

/// The weight of `input`'s bound in `output`'s, both counted in bounds.
fn doubled(output: usize, input: usize, weight: impl Fn(usize, usize) -> f32) -> f32 {
    let weight = weight(output / 2, input / 2);
    if output % 2 == input % 2 {
        weight.max(0.0)
    } else {
        weight.min(0.0)
    }
}

/// What the layer reads.
#[derive(Clone, Copy)]
pub(super) enum BoundSource<'a> {
    /// Bounds on the input gate rows, the input's product and biases included:
    /// `[steps, 2 · input gate rows]`.
    Gates(&'a [Row]),
    /// Bounds on the values at each step: `[steps, 2 · inputs]`.
    Values(&'a [Row]),
}

/// What both passes over a direction share.
pub(super) struct BoundRun<'a> {
    pub block: &'a Block<'a, 'a>,
    pub trace: &'a mut DirectionTrace,
    /// Bounds on the outputs of the layer at all positions: `stride` rows each.
    pub stride: usize,
    /// First of this direction's rows.
    pub offset: usize,
}

impl IntervalDirection {
    pub fn new(weights: &RecurrentWeights, layer: usize, direction: usize) -> IntervalDirection {
        let plain = Direction::new(weights, layer, direction);
        let (inputs, units) = (plain.inputs, plain.units);
        let tensors = weights.direction(layer, direction);
        let (input_rows, recurrent_rows) = (plain.input_rows(), plain.recurrent_rows());
        let input = |row: usize, i: usize| {
            tensors.weight_ih[plain.stored_row(input_rows.start + row) * inputs + i]
        };
        let recurrent = |row: usize, unit: usize| {
            tensors.weight_hh[plain.stored_row(recurrent_rows.start + row) * units + unit]
        };
        let (rows_in, rows_re) = (2 * input_rows.len(), 2 * recurrent_rows.len());
        IntervalDirection {
            input: Product::new(rows_in, 2 * inputs, |row, i| doubled(row, i, input)),
            recurrent: Product::new(rows_re, 2 * units, |row, u| doubled(row, u, recurrent)),
            to_input: Product::new(2 * inputs, rows_in, |i, row| doubled(row, i, input)),
            to_hidden: Product::new(2 * units, rows_re, |u, row| doubled(row, u, recurrent)),
            input_signs: Signs::new(input_rows.len(), inputs, input),
            recurrent_signs: Signs::new(recurrent_rows.len(), units, recurrent),
            plain,
        }
    }

    /// Runs all steps from zero states and leaves everything for a backward pass. Gives a row that
    /// is zero where all gates were finite and NaN elsewhere.
    pub fn forward(
        &self,
        run: BoundRun<'_>,
        source: BoundSource<'_>,
        slack: Slack,
        outputs: &mut [Row],
    ) -> Row {
        match self.plain.kind {
            CellKind::Lstm => dispatch(Forward::<Lstm>(
                self,
                run,
                source,
                slack,
                outputs,
                PhantomData,
            )),
            CellKind::Gru => dispatch(Forward::<Gru>(
                self,
                run,
                source,
                slack,
                outputs,
                PhantomData,
            )),
        }
    }

    /// Turns the gates of a forward pass without slack into the gradients with respect to the
    /// bounds on the gate rows before activation. `run.trace.hidden` holds the gradient with
    /// respect to the last hidden state's bounds; `upstream`, where given, those of the outputs.
    pub fn backward(&self, run: BoundRun<'_>, outputs: &[Row], upstream: Option<&[Row]>) {
        match self.plain.kind {
            CellKind::Lstm => dispatch(Backward::<Lstm>(self, run, outputs, upstream, PhantomData)),
            CellKind::Gru => dispatch(Backward::<Gru>(self, run, outputs, upstream, PhantomData)),
        }
    }

    /// Position of the `i`-th step.
    fn position(&self, i: usize, steps: usize) -> usize {
        if self.plain.reverse { steps - 1 - i } else { i }
    }
}

/// Bounds in rows 2u and 2u + 1.
#[inline(always)]
fn load_bounds<S: Simd>(rows: &[Row], u: usize, part: usize) -> Bounds<S> {
    Bounds {
        low: load::<S>(&rows[2 * u], part),
        high: load::<S>(&rows[2 * u + 1], part),
    }
}

#[inline(always)]
fn store_bounds<S: Simd>(rows: &mut [Row], u: usize, part: usize, bounds: Bounds<S>) {
    store::<S>(&mut rows[2 * u], part, bounds.low);
    store::<S>(&mut rows[2 * u + 1], part, bounds.high);
}

#[inline(always)]
fn select<S: Simd>(simd: S, mask: S::m32s, a: Bounds<S>, b: Bounds<S>) -> Bounds<S> {
    Bounds {
        low: simd.select_f32s(mask, a.low, b.low),
        high: simd.select_f32s(mask, a.high, b.high),
    }
}

/// Bounds on gate g of unit u.
#[inline(always)]
fn load_gates<S: Simd>(
    gates: &[Row],
    units: usize,
    u: usize,
    part: usize,
) -> [Bounds<S>; GATE_ROWS] {
    std::array::from_fn(|gate| load_bounds::<S>(gates, gate * units + u, part))
}

#[inline(always)]
fn store_gates<S: Simd>(
    gates: &mut [Row],
    units: usize,
    u: usize,
    part: usize,
    bounds: [Bounds<S>; GATE_ROWS],
) {
    for (gate, bounds) in bounds.into_iter().enumerate() {
        store_bounds::<S>(gates, gate * units + u, part, bounds);
    }
}

struct Forward<'a, C>(
    &'a IntervalDirection,
    BoundRun<'a>,
    BoundSource<'a>,
    Slack,
    &'a mut [Row],
    PhantomData<C>,
);

impl<C: IntervalCell> WithSimd for Forward<'_, C> {
    type Output = Row;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Row {
        let Forward(direction, run, source, slack, outputs, _) = self;
        let units = direction.plain.units;
        let stride = 2 * GATE_ROWS * units;
        let trace = run.trace;
        let mut poison = Row::ZERO;
        for i in 0..run.block.steps {
            let t = direction.position(i, run.block.steps);
            let gates = &mut trace.gates[t * stride..][..stride];
            start_gates::<S, C>(simd, direction, source, t, gates);
            let recurrent = 2 * C::RECURRENT.start * units..2 * C::RECURRENT.end * units;
            direction
                .recurrent
                .add(simd, &trace.hidden, &mut gates[recurrent]);
            let outputs = &mut outputs[t * run.stride + run.offset..][..2 * units];
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let hidden = load_bounds::<S>(&trace.hidden, u, part);
                    let cell = if C::HAS_CELL {
                        load_bounds::<S>(&trace.cell, u, part)
                    } else {
                        hidden
                    };
                    let before = load_gates::<S>(gates, units, u, part);
                    let poisoned = poisoned_by(simd, before, load::<S>(&poison, part));
                    store::<S>(&mut poison, part, poisoned);
                    let next = C::bound(simd, before, hidden, cell, slack);
                    let hidden = select(simd, active, next.hidden, hidden);
                    store_bounds::<S>(&mut trace.hidden, u, part, hidden);
                    store_bounds::<S>(outputs, u, part, hidden);
                    store_gates::<S>(gates, units, u, part, next.gates);
                    if C::HAS_CELL {
                        let cell = select(simd, active, next.cell, cell);
                        store_bounds::<S>(&mut trace.cell, u, part, cell);
                        let line = t * units + u;
                        store_bounds::<S>(&mut trace.cells, line, part, cell);
                        store_bounds::<S>(&mut trace.squashed, line, part, next.squashed);
                    }
                }
            }
        }
        poison
    }
}

/// `before` where all of `gates` are finite, NaN elsewhere.
#[inline(always)]
fn poisoned_by<S: Simd>(simd: S, gates: [Bounds<S>; GATE_ROWS], before: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let mut poison = before;
    for gate in gates {
        poison = simd.mul_add_f32s(gate.low, zero, poison);
        poison = simd.mul_add_f32s(gate.high, zero, poison);
    }
    poison
}

/// Bounds on the gates of step t before the recurrent product.
#[inline(always)]
fn start_gates<S: Simd, C: IntervalCell>(
    simd: S,
    direction: &IntervalDirection,
    source: BoundSource<'_>,
    t: usize,
    gates: &mut [Row],
) {
    let units = direction.plain.units;
    let input = 2 * C::INPUT.start * units..2 * C::INPUT.end * units;
    for (rows, &bias) in gates
        .as_chunks_mut::<2>()
        .0
        .iter_mut()
        .zip(&direction.plain.bias)
    {
        *rows = [Row::splat(bias); 2];
    }
    match source {
        BoundSource::Gates(started) => {
            let width = input.len();
            gates[input].copy_from_slice(&started[t * width..][..width]);
        }
        BoundSource::Values(values) => {
            let width = 2 * direction.plain.inputs;
            let x = &values[t * width..][..width];
            direction.input.add(simd, x, &mut gates[input]);
        }
    }
}

struct Backward<'a, C>(
    &'a IntervalDirection,
    BoundRun<'a>,
    &'a [Row],
    Option<&'a [Row]>,
    PhantomData<C>,
);

impl<C: IntervalCell> WithSimd for Backward<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward(direction, run, outputs, upstream, _) = self;
        let units = direction.plain.units;
        let stride = 2 * GATE_ROWS * units;
        let steps = run.block.steps;
        let trace = run.trace;
        let zero = Bounds {
            low: simd.splat_f32s(0.0),
            high: simd.splat_f32s(0.0),
        };
        for i in (0..steps).rev() {
            let t = direction.position(i, steps);
            let before = i
                .checked_sub(1)
                .map(|before| direction.position(before, steps));
            let gates = &mut trace.gates[t * stride..][..stride];
            let upstream = upstream.map(|rows| &rows[t * run.stride + run.offset..][..2 * units]);
            for u in 0..units {
                for part in 0..parts::<S>() {
                    let active = run.block.active(simd, t, part);
                    let mut d_hidden = load_bounds::<S>(&trace.hidden, u, part);
                    if let Some(upstream) = upstream {
                        let more = load_bounds::<S>(upstream, u, part);
                        d_hidden.low = simd.add_f32s(d_hidden.low, more.low);
                        d_hidden.high = simd.add_f32s(d_hidden.high, more.high);
                    }
                    let d_cell = if C::HAS_CELL {
                        load_bounds::<S>(&trace.cell, u, part)
                    } else {
                        zero
                    };
                    let mut past = BoundPast {
                        gates: load_gates::<S>(gates, units, u, part),
                        squashed: zero,
                        hidden: zero,
                        cell: zero,
                    };
                    if let Some(before) = before {
                        let rows = &outputs[before * run.stride + run.offset..][..2 * units];
                        past.hidden = load_bounds::<S>(rows, u, part);
                    }
                    if C::HAS_CELL {
                        past.squashed = load_bounds::<S>(&trace.squashed, t * units + u, part);
                        if let Some(before) = before {
                            past.cell = load_bounds::<S>(&trace.cells, before * units + u, part);
                        }
                    }
                    let back = C::pull(simd, &past, d_hidden, d_cell);
                    let d_gates = back.gates.map(|gate| select(simd, active, gate, zero));
                    store_gates::<S>(gates, units, u, part, d_gates);
                    let d_hidden = select(simd, active, back.hidden, d_hidden);
                    store_bounds::<S>(&mut trace.hidden, u, part, d_hidden);
                    if C::HAS_CELL {
                        let d_cell = select(simd, active, back.cell, d_cell);
                        store_bounds::<S>(&mut trace.cell, u, part, d_cell);
                    }
                }
            }
            let recurrent = 2 * C::RECURRENT.start * units..2 * C::RECURRENT.end * units;
            direction
                .to_hidden
                .add(simd, &gates[recurrent], &mut trace.hidden);
        }
    }
}
