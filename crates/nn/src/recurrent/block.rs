//! Texts in lanes: which text stands where, how long it is, and the memory that a block works in.
//!
//! A batch is sorted by length and cut into blocks of [`LANES`] texts, so that the texts of a block
//! end at about the same step. Which texts share a block changes no result.

use pulp::Simd;

use super::cell::GATE_ROWS;
use super::network::Shape;
use crate::lanes::{LANES, Row, load};

/// A block of up to [`LANES`] texts.
pub(super) struct Block<'i, 't> {
    /// The position of each text in the batch.
    pub items: &'i [u32],
    /// The tokens of each lane; none in the lanes to spare.
    pub tokens: [&'t [i32]; LANES],
    /// The number of steps: the length of the longest text.
    pub steps: usize,
    lengths: Row,
}

impl<'i, 't> Block<'i, 't> {
    /// Makes a block of the texts of `items`.
    pub fn new(items: &'i [u32], text: impl Fn(usize) -> &'t [i32]) -> Block<'i, 't> {
        let mut tokens: [&[i32]; LANES] = [&[]; LANES];
        let mut lengths = Row::ZERO;
        for ((lane, length), &item) in tokens.iter_mut().zip(&mut lengths.0).zip(items) {
            *lane = text(item as usize);
            *length = lane.len() as f32;
        }
        Block {
            items,
            steps: tokens.iter().map(|tokens| tokens.len()).max().unwrap_or(0),
            tokens,
            lengths,
        }
    }

    /// Returns the lanes that have a token at position t.
    #[inline(always)]
    pub fn active<S: Simd>(&self, simd: S, t: usize, part: usize) -> S::m32s {
        simd.less_than_f32s(simd.splat_f32s(t as f32), load::<S>(&self.lengths, part))
    }

    /// Writes each lane's line of `table` at position t to `rows`, one number a row; zeros where
    /// the text has ended. The function is kept out of the kernels, where the compiler would make
    /// slow scatters of the copies.
    #[inline(never)]
    pub fn gather(&self, t: usize, table: &[f32], rows: &mut [Row]) {
        let width = rows.len();
        for (lane, tokens) in self.tokens.iter().enumerate() {
            match tokens.get(t) {
                Some(&token) => {
                    let line = &table[token as usize * width..][..width];
                    for (row, &value) in rows.iter_mut().zip(line) {
                        row.0[lane] = value;
                    }
                }
                None => rows.iter_mut().for_each(|row| row.0[lane] = 0.0),
            }
        }
    }
}

/// Returns the positions of a batch in order of length, to be cut into blocks.
pub(super) fn by_length<'a>(texts: usize, text: impl Fn(usize) -> &'a [i32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..texts as u32).collect();
    // Longest first: the short blocks at the end even out the threads.
    order.sort_by_key(|&item| std::cmp::Reverse(text(item as usize).len()));
    order
}

/// The values that a forward pass leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The last states alone.
    Last,
    /// The states at every position.
    States,
    /// The states at every position and all gates, for a backward pass.
    All,
}

impl Keep {
    /// The numbers of rows of gates and of cell states in a step; 0 where the rows of one step
    /// suffice for all.
    pub fn strides(self, units: usize) -> (usize, usize) {
        match self {
            Keep::Last => (0, 0),
            Keep::States => (0, units),
            Keep::All => (GATE_ROWS * units, units),
        }
    }
}

/// The memory of one direction of one layer.
#[derive(Debug, Default)]
pub(super) struct DirectionTrace {
    /// The hidden states of the current step, or gradients with respect to them: `[units]`.
    pub hidden: Vec<Row>,
    /// The cell states of the current step, or gradients with respect to them; empty for a GRU.
    pub cell: Vec<Row>,
    /// The gate rows, gate by gate: `[steps, 4, units]`, or of one step only.
    pub gates: Vec<Row>,
    /// The cell state at each position: `[steps, units]`.
    pub cells: Vec<Row>,
    /// The tanh of the cell state at each position: `[steps, units]`.
    pub squashed: Vec<Row>,
}

/// The memory of one layer.
#[derive(Debug, Default)]
pub(super) struct LayerTrace {
    /// The hidden states at each position, direction beside direction: `[steps, outputs]`.
    pub outputs: Vec<Row>,
    /// The gradients with respect to `outputs`.
    pub gradients: Vec<Row>,
    /// The memory of one or two directions.
    pub directions: Vec<DirectionTrace>,
}

/// The memory of a block, reused from block to block. Rows hold finite numbers at all times, and
/// what an earlier block left in lanes or steps to spare is masked or multiplied by zero.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The memory of each layer.
    pub layers: Vec<LayerTrace>,
    /// The embeddings at each position, or gradients with respect to them: `[steps, inputs]`.
    pub embedded: Vec<Row>,
}

impl Workspace {
    /// Makes room for `steps` steps and sets all states to zero.
    pub fn prepare(&mut self, shape: &Shape, steps: usize, keep: Keep) {
        let units = shape.units;
        let (gate_stride, cell_stride) = keep.strides(units);
        let gate_rows = (steps * gate_stride).max(GATE_ROWS * units);
        let states = if shape.cell.has_cell_state() {
            units
        } else {
            0
        };
        self.layers.resize_with(shape.layers, LayerTrace::default);
        for layer in &mut self.layers {
            grow(&mut layer.outputs, steps * shape.outputs());
            layer
                .directions
                .resize_with(shape.directions(), DirectionTrace::default);
            for trace in &mut layer.directions {
                set_zero(&mut trace.hidden, units);
                set_zero(&mut trace.cell, states);
                grow(&mut trace.gates, gate_rows);
                if states > 0 {
                    grow(&mut trace.cells, steps * cell_stride);
                    if keep == Keep::All {
                        grow(&mut trace.squashed, steps * units);
                    }
                }
            }
        }
    }
}

/// Makes sure that there are at least `length` rows.
pub(super) fn grow(rows: &mut Vec<Row>, length: usize) {
    if rows.len() < length {
        rows.resize(length, Row::ZERO);
    }
}

/// Sets `rows` to exactly `length` rows of zeros.
pub(super) fn set_zero(rows: &mut Vec<Row>, length: usize) {
    rows.clear();
    rows.resize(length, Row::ZERO);
}
