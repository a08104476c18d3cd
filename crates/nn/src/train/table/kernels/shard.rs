//! One shard: the pass forward to the loss, and back to the gradients of all units.

use pulp::{Simd, WithSimd};

use super::first::{Entry, Inputs, NONE};
use super::loss::{cross_entropy, squared_error};
use super::sums::{
    BLOCKS, activate_all, add_product, deactivate_all, first_sums, inner, multiply, start_sums,
    to_lines,
};
use super::worst::WorstShard;
use super::{SHARD, Weights};
use crate::fnn::Network;
use crate::lanes::{LANES, Row};
use crate::train::table::goal::Targets;
use crate::train::table::loss::{Batch, Loss};
use probity_data::table::Table;

/// The memory in which a shard is worked on.
pub(super) struct Shard {
    /// The number of rows of the shard.
    pub count: usize,
    /// The inputs of the first layer that are numbers: `[blocks, numbers]`.
    pub numbers: Vec<Row>,
    /// The rows of the first layer's weight that each lane takes: `[blocks, levelled attributes]`.
    pub levels: Vec<[u32; LANES]>,
    /// The levels of embedded attributes: `[blocks, embedded attributes]`.
    pub vectors: Vec<[u32; LANES]>,
    /// The values of each layer: `[blocks, outputs]`.
    pub values: Vec<Vec<Row>>,
    /// The values of each hidden layer under dropout, where there is any.
    dropped: Vec<Dropped>,
    /// The gradients with respect to the sums of each layer, in lines: `[lines of LANES outputs,
    /// SHARD]`.
    pub lines: Vec<Vec<Row>>,
    /// The gradients with respect to embedded vectors: `[blocks, numbers of them]`.
    pub inner: Vec<Row>,
    /// The gradients that are passed from layer to layer.
    passed: [Vec<Row>; 2],
    /// The memory that certified training adds.
    pub worst: Option<WorstShard>,
    /// The share of the shard's rows in the loss.
    pub loss: f64,
}

/// A hidden layer under dropout.
struct Dropped {
    /// The number that each value is multiplied with: `[blocks, outputs]`.
    mask: Vec<Row>,
    /// The products of the values with the mask.
    passed: Vec<Row>,
}

impl Shard {
    /// Makes the memory for a shard of `network`.
    pub fn new(
        network: &Network,
        inputs: &Inputs,
        (has_dropout, is_certified): (bool, bool),
    ) -> Shard {
        let layers = &network.layers;
        let hidden = &layers[..layers.len() - 1];
        let rows = |width: usize| vec![Row::ZERO; BLOCKS * width];
        let widest = rows(layers.iter().map(|layer| layer.outputs).max().unwrap_or(0));
        let lines = |outputs: usize| vec![Row::ZERO; outputs.div_ceil(LANES) * SHARD];
        Shard {
            count: 0,
            numbers: rows(inputs.numbers.len()),
            levels: vec![[NONE; LANES]; BLOCKS * inputs.levelled],
            vectors: vec![[NONE; LANES]; BLOCKS * inputs.vectors],
            values: layers.iter().map(|layer| rows(layer.outputs)).collect(),
            dropped: match has_dropout {
                true => hidden
                    .iter()
                    .map(|layer| Dropped {
                        mask: rows(layer.outputs),
                        passed: rows(layer.outputs),
                    })
                    .collect(),
                false => Vec::new(),
            },
            lines: layers.iter().map(|layer| lines(layer.outputs)).collect(),
            inner: rows(inputs.embedded.len()),
            passed: [widest.clone(), widest],
            worst: is_certified.then(|| WorstShard::new(network, inputs)),
            loss: 0.0,
        }
    }

    /// Takes up `rows` of the table.
    pub fn fill(&mut self, loss: &Loss<'_>, weights: &Weights<'_>, rows: &[u32]) {
        self.count = rows.len();
        let inputs = weights.inputs;
        self.encode(inputs, loss.table, rows, &weights.tables);
    }

    /// Puts `rows` of `table` into the lanes; lanes to spare get zeros.
    fn encode(&mut self, inputs: &Inputs, table: &Table, rows: &[u32], vectors: &[&[f32]]) {
        let width = inputs.numbers.len();
        if rows.len() < SHARD {
            self.numbers.fill(Row::ZERO);
            self.levels.fill([NONE; LANES]);
            self.vectors.fill([NONE; LANES]);
        }
        for (block, rows) in rows.chunks(LANES).enumerate() {
            let numbers = &mut self.numbers[block * width..][..width];
            let levels = &mut self.levels[block * inputs.levelled..][..inputs.levelled];
            let of_vectors = &mut self.vectors[block * inputs.vectors..][..inputs.vectors];
            for (attribute, column) in inputs.columns.iter().enumerate() {
                let codes = rows.iter().map(|&row| table.row(row as usize)[attribute]);
                match column.entry {
                    Entry::Scaled {
                        mean,
                        inverse,
                        number,
                    } => {
                        for (value, code) in numbers[number].0.iter_mut().zip(codes) {
                            *value = (code as f32 - mean) * inverse;
                        }
                    }
                    Entry::Levelled { place } => {
                        for (own, code) in levels[place].iter_mut().zip(codes) {
                            let level = column.level(code);
                            *own = level.map_or(NONE, |level| (column.row + level) as u32);
                        }
                    }
                    Entry::Embedded { place, number, .. } => {
                        for (lane, code) in codes.enumerate() {
                            let level = column.level(code);
                            of_vectors[place][lane] = level.map_or(NONE, |level| level as u32);
                            let of_vector = &mut numbers[number..number + column.rows];
                            for (i, row) in of_vector.iter_mut().enumerate() {
                                row.0[lane] = level
                                    .map_or(0.0, |level| vectors[place][level * column.rows + i]);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes up the dropout masks of the shard's rows, the first of which is `first` of the batch;
    /// `masks` are those of shards of `height` rows.
    pub fn set_masks(&mut self, masks: &[Vec<Vec<f32>>], first: usize, height: usize) {
        for (depth, dropped) in self.dropped.iter_mut().enumerate() {
            let width = dropped.mask.len() / BLOCKS;
            for item in 0..self.count {
                let (shard, row) = ((first + item) / height, (first + item) % height);
                let mask = &masks[shard][depth][row * width..][..width];
                let block = &mut dropped.mask[item / LANES * width..][..width];
                for (row, &value) in block.iter_mut().zip(mask) {
                    row.0[item % LANES] = value;
                }
            }
        }
    }

    /// Returns the lines of the gradients of layer `depth`; for the first layer those of weights
    /// whose attributes are protected, or not.
    pub fn lines_of(&self, weights: &Weights<'_>, depth: usize, is_protected: bool) -> &[Row] {
        match (&self.worst, &weights.worst) {
            (Some(worst), Some(_)) if depth == 0 && !is_protected => &worst.free_lines,
            _ => &self.lines[depth],
        }
    }

    /// Returns the lines of the gradients of the middles of layer `depth`, where the worst case
    /// counts and the layer is not the first.
    pub fn middle_lines(&self, weights: &Weights<'_>, depth: usize) -> Option<&[Row]> {
        let worst = self.worst.as_ref().filter(|_| weights.worst.is_some())?;
        Some(&worst.layers.get(depth.checked_sub(1)?)?.middle_lines)
    }

    /// Returns the gradients with respect to vectors of attributes that are protected, or not.
    pub fn inner_of(&self, weights: &Weights<'_>, is_protected: bool) -> &[Row] {
        match (&self.worst, &weights.worst) {
            (Some(worst), Some(_)) if !is_protected => &worst.inner,
            _ => &self.inner,
        }
    }

    /// Returns the values that enter layer `depth`, `[blocks, inputs]`; for the first layer the
    /// numbers.
    pub fn entering(&self, depth: usize) -> &[Row] {
        match depth.checked_sub(1) {
            None => &self.numbers,
            Some(below) => match self.dropped.get(below) {
                Some(dropped) => &dropped.passed,
                None => &self.values[below],
            },
        }
    }
}

/// The task that computes loss and gradients of a shard whose inputs are there.
pub(super) struct ShardPass<'a> {
    pub weights: &'a Weights<'a>,
    pub batch: &'a Batch<'a>,
    /// The number of rows of the batch before the shard.
    pub first: usize,
    pub shard: &'a mut Shard,
}

impl WithSimd for ShardPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ShardPass {
            weights,
            batch,
            first,
            shard,
        } = self;
        let blocks = shard.count.div_ceil(LANES);
        let rows = first..first + shard.count;
        forward(simd, weights, shard, blocks);
        let own = 1.0 - batch.worst.map_or(0.0, |worst| worst.kappa);
        let outputs = weights.layers.last().map_or(0, |layer| layer.outputs);
        let logits = shard.values.last().map_or(&[][..], |values| values);
        let logits = &logits[..blocks * outputs];
        let delta = &mut shard.passed[0][..blocks * outputs];
        let shares = (&batch.weights[rows.clone()], own);
        shard.loss = match &batch.targets {
            Targets::Classes(labels) => {
                let labels = &labels[rows.clone()];
                cross_entropy(simd, (logits, outputs), labels, shares, delta)
            }
            Targets::Numbers(numbers) => {
                squared_error(logits, &numbers[rows.clone()], shares, delta)
            }
        };
        backward(simd, weights, shard, blocks);
        let width = weights.layers[0].outputs;
        if let (Some(worst), Some(of_worst)) = (&mut shard.worst, &weights.worst) {
            let entered = (&shard.numbers[..], &shard.levels[..]);
            let own = &mut shard.passed[0][..blocks * width];
            shard.loss += worst.pass(simd, (weights, of_worst), entered, (batch, rows), own);
        }
        let delta = &shard.passed[0][..blocks * width];
        to_lines(delta, width, &mut shard.lines[0]);
        inner(simd, &weights.layers[0], delta, &mut shard.inner);
    }
}

/// Runs all layers over `blocks` blocks.
#[inline(always)]
fn forward<S: Simd>(simd: S, weights: &Weights<'_>, shard: &mut Shard, blocks: usize) {
    for (depth, layer) in weights.layers.iter().enumerate() {
        let (below, above) = shard.values.split_at_mut(depth);
        let values = &mut above[0][..blocks * layer.outputs];
        match below.last() {
            None => {
                let entered = (&shard.numbers[..], &shard.levels[..]);
                first_sums(simd, weights, entered, values);
                if let Some(worst) = &mut shard.worst {
                    worst.own[..values.len()].copy_from_slice(values);
                }
            }
            Some(below) => {
                for sums in values.chunks_exact_mut(layer.outputs) {
                    start_sums(sums, layer.bias);
                }
                let entering = match shard.dropped.get(depth - 1) {
                    Some(dropped) => &dropped.passed,
                    None => below,
                };
                let entering = (&entering[..], layer.inputs);
                add_product(simd, &layer.forward, entering, values);
            }
        }
        if depth + 1 < weights.layers.len() {
            activate_all(simd, weights.activation, values);
            if let Some(Dropped { mask, passed }) = shard.dropped.get_mut(depth) {
                passed[..values.len()].copy_from_slice(values);
                multiply(simd, mask, &mut passed[..values.len()]);
            }
        }
    }
}

/// Passes gradients back through all layers but the first: the gradient of the last one's sums,
/// which is the first of those that are passed on, becomes that of the first one's sums.
#[inline(always)]
fn backward<S: Simd>(simd: S, weights: &Weights<'_>, shard: &mut Shard, blocks: usize) {
    for (depth, layer) in weights.layers.iter().enumerate().skip(1).rev() {
        let [outer, inner] = &mut shard.passed;
        let outer = &outer[..blocks * layer.outputs];
        to_lines(outer, layer.outputs, &mut shard.lines[depth]);
        let gradients = &mut inner[..blocks * layer.inputs];
        gradients.fill(Row::ZERO);
        let outer = (outer, layer.outputs);
        add_product(simd, &layer.backward, outer, gradients);
        if let Some(dropped) = shard.dropped.get(depth - 1) {
            multiply(simd, &dropped.mask, gradients);
        }
        deactivate_all(
            simd,
            weights.activation,
            &shard.values[depth - 1],
            gradients,
        );
        shard.passed.swap(0, 1);
    }
}
