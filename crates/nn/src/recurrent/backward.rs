//! Gradients of a whole network: with respect to its inputs, and with respect to its parameters.
//!
//! Both are the chain rule by hand, layer by layer and step by step: no tape, and every number of a
//! text in that text's lane. Parameter gradients of a batch are summed over steps and lanes within
//! a block and over blocks in their order, never in the order in which threads finish.

use rayon::prelude::*;

use super::block::{Block, Keep, Workspace, by_length, set_zero};
use super::cell::GATE_ROWS;
use super::kernels::{EmbeddingTable, Kernels, last_states};
use super::layer::{Differentiable, Run};
use crate::lanes::{LANES, OuterPass, ProductPass, Row, dispatch};

/// The number of blocks whose parameter gradients are held at a time.
const BLOCKS_AT_ONCE: usize = 16;

/// A batch to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The token ids of each text.
    pub texts: &'a [&'a [i32]],
    /// The class of each text.
    pub labels: &'a [u32],
    /// The weight of each class.
    pub class_weights: &'a [f32],
}

impl Batch<'_> {
    /// Returns what the logarithms of the probabilities count for in the loss, `[texts, classes]`:
    /// at the class of each text its share of the weights of all, else 0.
    pub fn targets(&self) -> Vec<f32> {
        let weight_of = |label: u32| f64::from(self.class_weights[label as usize]);
        let total: f64 = self.labels.iter().map(|&label| weight_of(label)).sum();
        let classes = self.class_weights.len();
        let mut targets = vec![0.0; self.labels.len() * classes];
        for (item, &label) in self.labels.iter().enumerate() {
            let share = weight_of(label) / total.max(f64::from(f32::MIN_POSITIVE));
            targets[item * classes + label as usize] = share as f32;
        }
        targets
    }
}

/// The loss and the gradients of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchGradients {
    /// Mean class-weighted cross-entropy: Σ w·CE / Σ w.
    pub loss: f64,
    /// The gradient with respect to the flat parameters.
    pub parameters: Vec<f32>,
    /// The gradient with respect to the embeddings of the batch's tokens, where asked for: token
    /// and vector in order of tokens.
    pub embeddings: Option<EmbeddingGradients>,
}

/// Gradients with respect to some rows of an embedding table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingGradients {
    /// The tokens of the rows, ascending.
    pub tokens: Vec<i32>,
    /// The gradients, row-major `[tokens, dimension]`.
    pub values: Vec<f32>,
}

/// The loss and the gradients that one block adds.
struct BlockGradients {
    loss: f64,
    parameters: Vec<f32>,
    /// The gradients with respect to the embeddings of every token in lane order: `[Σ lengths,
    /// dimension]`.
    embeddings: Vec<f32>,
}

impl Kernels {
    /// Computes for each text t and position p Σ_c `cotangents[t, c]` · ∂logit_c/∂(embedding at p):
    /// row-major `[texts, width, dimension]`, zero behind the end of a text. `cotangents` is
    /// row-major `[texts, classes]`; no text is longer than `width`.
    pub fn input_gradients(
        &self,
        table: EmbeddingTable<'_>,
        texts: &[&[i32]],
        cotangents: &[f32],
        width: usize,
    ) -> Vec<f32> {
        let projected = self.projected(table);
        let classes = self.shape.classes;
        let per_text = width * self.shape.inputs;
        let order = by_length(texts.len(), |item| texts[item]);
        let mut gradients = vec![0.0; texts.len() * per_text];
        let mut places: Vec<Option<&mut [f32]>> = gradients
            .chunks_exact_mut(per_text.max(1))
            .map(Some)
            .collect();
        let blocks: Vec<(&[u32], Vec<&mut [f32]>)> = order
            .chunks(LANES)
            .map(|items| {
                let take = |&item: &u32| places.get_mut(item as usize).and_then(Option::take);
                (items, items.iter().filter_map(take).collect())
            })
            .collect();
        blocks.into_par_iter().for_each_init(
            Workspace::default,
            |workspace, (items, mut places)| {
                let block = Block::new(items, |item| texts[item]);
                workspace.prepare(&self.shape, block.steps, Keep::All);
                self.forward(workspace, &block, table, projected, Keep::All);
                let mut d_logits = vec![Row::ZERO; classes];
                for (lane, &item) in items.iter().enumerate() {
                    for (class, row) in d_logits.iter_mut().enumerate() {
                        row.0[lane] = cotangents[item as usize * classes + class];
                    }
                }
                self.backward(workspace, &block, &d_logits, true);
                for (lane, place) in places.iter_mut().enumerate() {
                    self.embedding_gradients(workspace, &block, lane, place);
                }
            },
        );
        gradients
    }

    /// Computes the mean class-weighted cross-entropy of `batch` and its gradients; with
    /// `embeddings`, also the gradients with respect to the embeddings.
    pub fn batch_gradients(
        &self,
        table: EmbeddingTable<'_>,
        batch: Batch<'_>,
        embeddings: bool,
    ) -> BatchGradients {
        let weight_of = |&label: &u32| f64::from(batch.class_weights[label as usize]);
        let total: f64 = batch.labels.iter().map(weight_of).sum();
        let scale = (1.0 / total.max(f64::from(f32::MIN_POSITIVE))) as f32;
        let order = by_length(batch.texts.len(), |item| batch.texts[item]);
        let mut sum = BatchGradients {
            loss: 0.0,
            parameters: vec![0.0; self.shape.parameters()],
            embeddings: embeddings.then(|| distinct_tokens(batch.texts, self.shape.inputs)),
        };
        for some in order.chunks(BLOCKS_AT_ONCE * LANES) {
            let blocks: Vec<BlockGradients> = some
                .par_chunks(LANES)
                .map_init(Workspace::default, |workspace, items| {
                    let block = Block::new(items, |item| batch.texts[item]);
                    self.block_gradients(workspace, &block, table, batch, scale, embeddings)
                })
                .collect();
            for (items, block) in some.chunks(LANES).zip(blocks) {
                sum.loss += block.loss;
                for (sum, value) in sum.parameters.iter_mut().zip(&block.parameters) {
                    *sum += value;
                }
                if let Some(sum) = &mut sum.embeddings {
                    let texts = items.iter().map(|&item| batch.texts[item as usize]);
                    sum.add(texts.flatten(), &block.embeddings);
                }
            }
        }
        sum
    }

    fn block_gradients(
        &self,
        workspace: &mut Workspace,
        block: &Block<'_, '_>,
        table: EmbeddingTable<'_>,
        batch: Batch<'_>,
        scale: f32,
        embeddings: bool,
    ) -> BlockGradients {
        workspace.prepare(&self.shape, block.steps, Keep::All);
        self.forward(workspace, block, table, None, Keep::All);
        let mut logits = self.head(workspace);
        let last = last_states(workspace);
        let loss = cross_entropy(block, batch, scale, &mut logits);
        let mut gradients = BlockGradients {
            loss,
            parameters: vec![0.0; self.shape.parameters()],
            embeddings: Vec::new(),
        };
        self.head_gradients(&logits, &last, &mut gradients.parameters);
        // The embeddings are inputs of the first layer's weight gradient: taken before they are
        // overwritten by their own.
        self.backward(workspace, block, &logits, false);
        for layer in 0..self.layers.len() {
            self.layer_gradients(workspace, block, layer, &mut gradients.parameters);
        }
        if embeddings {
            self.first_layer_inputs(workspace, block.steps);
            let dimension = self.shape.inputs;
            for (lane, _) in block.items.iter().enumerate() {
                let start = gradients.embeddings.len();
                let length = block.tokens[lane].len() * dimension;
                gradients.embeddings.resize(start + length, 0.0);
                let place = &mut gradients.embeddings[start..];
                self.embedding_gradients(workspace, block, lane, place);
            }
        }
        gradients
    }

    /// Turns the gates of all layers into their gradients. With `inputs`, `workspace.embedded`
    /// becomes the gradient with respect to the embeddings.
    fn backward(
        &self,
        workspace: &mut Workspace,
        block: &Block<'_, '_>,
        d_logits: &[Row],
        inputs: bool,
    ) {
        let outputs = self.shape.outputs();
        let mut d_last = vec![Row::ZERO; outputs];
        dispatch(ProductPass {
            product: &self.from_head,
            x: d_logits,
            x_stride: self.shape.classes,
            y: &mut d_last,
        });
        through_layers(&self.layers, workspace, block, &d_last);
        if inputs {
            self.first_layer_inputs(workspace, block.steps);
        }
    }

    /// Computes the gradients with respect to the embeddings, in `workspace.embedded`.
    fn first_layer_inputs(&self, workspace: &mut Workspace, steps: usize) {
        set_zero(&mut workspace.embedded, steps * self.shape.inputs);
        if let (Some(directions), Some(trace)) = (self.layers.first(), workspace.layers.first()) {
            for (direction, trace) in directions.iter().zip(&trace.directions) {
                to_inputs(direction, &trace.gates, &mut workspace.embedded);
            }
        }
    }

    /// Copies one lane of the embeddings' gradients, `[length, dimension]`.
    fn embedding_gradients(
        &self,
        workspace: &Workspace,
        block: &Block<'_, '_>,
        lane: usize,
        place: &mut [f32],
    ) {
        let length = block.tokens[lane].len() * self.shape.inputs;
        for (value, row) in place.iter_mut().zip(&workspace.embedded[..length]) {
            *value = row.0[lane];
        }
    }

    /// Adds the gradients of the linear layer.
    fn head_gradients(&self, d_logits: &[Row], last: &[Row], parameters: &mut [f32]) {
        let (weight, bias) = self.shape.head();
        let outputs = self.shape.outputs();
        dispatch(OuterPass {
            d: d_logits,
            d_stride: d_logits.len(),
            d_rows: 0..d_logits.len(),
            x: last,
            x_stride: outputs,
            x_rows: 0..outputs,
            steps: 1,
            sink: &mut |class, i, sum| parameters[weight.start + class * outputs + i] += sum,
        });
        for (value, row) in parameters[bias].iter_mut().zip(d_logits) {
            *value += row.sum();
        }
    }

    /// Adds the gradients of the weights of a layer; needs its gates' gradients and its inputs.
    fn layer_gradients(
        &self,
        workspace: &Workspace,
        block: &Block<'_, '_>,
        layer: usize,
        parameters: &mut [f32],
    ) {
        let units = self.shape.units;
        let stride = self.shape.outputs();
        let trace = &workspace.layers[layer];
        let below = layer.checked_sub(1).map(|below| &workspace.layers[below]);
        let x = below.map_or(&workspace.embedded, |below| &below.outputs);
        for (d, direction) in self.layers[layer].iter().enumerate() {
            let gates = &trace.directions[d].gates[..];
            let at = self.shape.direction(layer, d);
            let gate_stride = GATE_ROWS * units;
            let input_rows = direction.input_rows();
            dispatch(OuterPass {
                d: gates,
                d_stride: gate_stride,
                d_rows: input_rows.clone(),
                x,
                x_stride: direction.inputs,
                x_rows: 0..direction.inputs,
                steps: block.steps,
                sink: &mut |row, i, sum| {
                    let row = direction.stored_row(input_rows.start + row);
                    parameters[at.weight_ih.start + row * direction.inputs + i] += sum;
                },
            });
            // A step's recurrent input is the output at the position visited before.
            let (d_from, x_from) = if direction.reverse { (0, 1) } else { (1, 0) };
            let recurrent_rows = direction.recurrent_rows();
            dispatch(OuterPass {
                d: gates.get(d_from * gate_stride..).unwrap_or_default(),
                d_stride: gate_stride,
                d_rows: recurrent_rows.clone(),
                x: trace.outputs.get(x_from * stride..).unwrap_or_default(),
                x_stride: stride,
                x_rows: d * units..(d + 1) * units,
                steps: block.steps.saturating_sub(1),
                sink: &mut |row, unit, sum| {
                    let row = direction.stored_row(recurrent_rows.start + row);
                    parameters[at.weight_hh.start + row * units + unit] += sum;
                },
            });
            let one = [Row::splat(1.0)];
            let mut bias = |rows: std::ops::Range<usize>, start: usize| {
                dispatch(OuterPass {
                    d: gates,
                    d_stride: gate_stride,
                    d_rows: rows.clone(),
                    x: &one,
                    x_stride: 0,
                    x_rows: 0..1,
                    steps: block.steps,
                    sink: &mut |row, _, sum| {
                        parameters[start + direction.stored_row(rows.start + row)] += sum;
                    },
                });
            };
            bias(input_rows.clone(), at.bias_ih.start);
            bias(recurrent_rows.clone(), at.bias_hh.start);
        }
    }
}

/// Turns the gates of all layers into their gradients; `d_last` holds the gradients with respect to
/// the last states of the last layer.
pub(super) fn through_layers<D: Differentiable>(
    layers: &[Vec<D>],
    workspace: &mut Workspace,
    block: &Block<'_, '_>,
    d_last: &[Row],
) {
    let stride = d_last.len();
    for (layer, directions) in layers.iter().enumerate().rev() {
        let is_last = layer + 1 == layers.len();
        let units = stride / directions.len();
        let (below, trace) = workspace.layers.split_at_mut(layer);
        let trace = &mut trace[0];
        for (d, direction) in directions.iter().enumerate() {
            let states = &mut trace.directions[d];
            if is_last {
                states.hidden.copy_from_slice(&d_last[d * units..][..units]);
            } else {
                states.hidden.fill(Row::ZERO);
            }
            states.cell.fill(Row::ZERO);
            let run = Run {
                block,
                trace: states,
                stride,
                offset: d * units,
            };
            let upstream = (!is_last).then_some(&trace.gradients[..]);
            direction.backward(run, &trace.outputs, upstream);
        }
        if let Some(below) = below.last_mut() {
            set_zero(&mut below.gradients, block.steps * stride);
            for (d, direction) in directions.iter().enumerate() {
                to_inputs(direction, &trace.directions[d].gates, &mut below.gradients);
            }
        }
    }
}

/// Adds what comes through a direction's gates to the gradient with respect to its inputs.
fn to_inputs<D: Differentiable>(direction: &D, d_gates: &[Row], d_inputs: &mut [Row]) {
    if d_inputs.is_empty() {
        return;
    }
    let (plain, products) = direction.parts();
    dispatch(ProductPass {
        product: &products.to_input,
        x: &d_gates[D::ROWS * plain.input_rows().start..],
        x_stride: D::ROWS * GATE_ROWS * plain.units,
        y: d_inputs,
    });
}

/// Turns logits into the gradient of the loss with respect to them; returns the block's share of
/// the loss. Lanes to spare get zeros.
fn cross_entropy(block: &Block<'_, '_>, batch: Batch<'_>, scale: f32, logits: &mut [Row]) -> f64 {
    let mut loss = 0.0;
    for lane in 0..LANES {
        let Some(&item) = block.items.get(lane) else {
            logits.iter_mut().for_each(|row| row.0[lane] = 0.0);
            continue;
        };
        let label = batch.labels[item as usize] as usize;
        let weight = batch.class_weights[label] * scale;
        let largest = logits
            .iter()
            .map(|row| row.0[lane])
            .fold(f32::NEG_INFINITY, f32::max);
        let exponential = |row: &Row| f64::from(row.0[lane] - largest).exp();
        let total: f64 = logits.iter().map(exponential).sum();
        loss += f64::from(weight) * (total.ln() - f64::from(logits[label].0[lane] - largest));
        for (class, row) in logits.iter_mut().enumerate() {
            let probability = exponential(row) / total;
            let target = if class == label { 1.0 } else { 0.0 };
            row.0[lane] = weight * (probability - target) as f32;
        }
    }
    loss
}

pub(crate) fn distinct_tokens(texts: &[&[i32]], dimension: usize) -> EmbeddingGradients {
    let mut tokens: Vec<i32> = texts.iter().copied().flatten().copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    EmbeddingGradients {
        values: vec![0.0; tokens.len() * dimension],
        tokens,
    }
}

impl EmbeddingGradients {
    /// Adds the gradient vectors of `tokens`, all of which are in the table.
    pub(crate) fn add<'t>(&mut self, tokens: impl Iterator<Item = &'t i32>, gradients: &[f32]) {
        let dimension = self.values.len() / self.tokens.len().max(1);
        for (token, gradient) in tokens.zip(gradients.chunks_exact(dimension.max(1))) {
            if let Ok(row) = self.tokens.binary_search(token) {
                let sums = &mut self.values[row * dimension..][..dimension];
                for (sum, value) in sums.iter_mut().zip(gradient) {
                    *sum += value;
                }
            }
        }
    }
}
