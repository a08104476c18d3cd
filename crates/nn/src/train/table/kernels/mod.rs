//! Loss and gradients on the CPU, by kernels.
//!
//! # Layout
//! A batch is cut into shards of [`SHARD`] rows. In the forward pass, and in the one back to the
//! inputs, sixteen rows stand side by side in the lanes of registers, as where networks answer
//! ([`crate::lanes`]): a layer's values are `[blocks, units]` such rows. The gradients of weights
//! are sums over rows, so for them the gradients of the units are turned into lines, sixteen units
//! of one row side by side: a row's input times a line goes to the weights of sixteen units at
//! once. Numbers and embedded vectors enter the first layer by products; levels are gathered, not
//! multiplied.
//!
//! # Equations
//! With f the activation, ∘ the product of elements and m the mask of dropout:
//!
//! * z₁ = b₁ + W₁·x, v_i = f(z_i) ∘ m_i, z_{i+1} = b_{i+1} + W_{i+1}·v_i;
//! * δ_n = ∂loss/∂z_n, δ_i = (W_{i+1}ᵀ·δ_{i+1}) ∘ m_i ∘ f′(z_i);
//! * ∂loss/∂W_i = Σ_rows δ_i·v_{i−1}ᵀ, ∂loss/∂b_i = Σ_rows δ_i.
//!
//! What certified training adds is in [`worst`].
//!
//! # Theorem
//! Loss and gradients are, bit for bit, functions of the batch and the parameters alone: of neither
//! the threads nor the width of registers.
//!
//! *Proof.* A shard is worked on by one thread, and which rows it has is a matter of the batch. Its
//! numbers are the same bits for registers of any width, as in [`crate::lanes`]: lanes are treated
//! alike, and what is not rounded correctly is made of operations that are. The gradient of a
//! weight is summed by one thread: over the rows of a shard in their order, by fused multiply-adds,
//! and then over the shards in theirs. ∎

mod first;
mod loss;
mod parts;
mod shard;
mod sums;
#[cfg(test)]
mod tests;
mod worst;
mod worst_weights;

use rayon::prelude::*;

use self::first::Inputs;
use self::parts::Part;
use self::shard::{Shard, ShardPass};
use self::worst_weights::WorstWeights;
use super::goal::Targets;
use super::loss::{Batch, Loss};
use super::parameters::pieces;
use super::worst_case::TableWorstCase;
use crate::fnn::{Activation, Network};
use crate::lanes::{Product, dispatch};

/// The number of rows in a shard.
const SHARD: usize = 64;

/// The number of multiply-adds of a batch's forward pass that are worth a second thread.
const WORTH_THREADS: usize = 1 << 18;

/// The kernels, with the memory that a training keeps between its steps.
pub(super) struct Kernels {
    inputs: Inputs,
    parts: Vec<Part>,
    is_certified: bool,
    shards: Vec<Shard>,
}

/// A network's parameters in one step, as the kernels read them.
struct Weights<'a> {
    activation: Activation,
    inputs: &'a Inputs,
    /// The tables of embeddings.
    tables: Vec<&'a [f32]>,
    layers: Vec<Layer<'a>>,
    worst: Option<WorstWeights>,
}

/// The parameters of one layer.
struct Layer<'a> {
    inputs: usize,
    outputs: usize,
    /// The weights, row-major `[inputs, outputs]`.
    weight: &'a [f32],
    bias: &'a [f32],
    /// The product with the layer's inputs; in the first layer with those that are numbers.
    forward: Product,
    /// The product back to the layer's inputs; in the first layer to those of embedded attributes.
    backward: Product,
}

impl Kernels {
    /// Makes kernels for networks of the shape of `network`, and for what they learn in the worst
    /// case.
    pub fn new(network: &Network, worst_case: Option<&TableWorstCase>) -> Kernels {
        let protected = worst_case.map_or(&[][..], |worst_case| &worst_case.protected);
        let inputs = Inputs::new(&network.layout, protected);
        Kernels {
            parts: parts::list(network, &inputs),
            is_certified: worst_case.is_some(),
            inputs,
            shards: Vec::new(),
        }
    }

    /// Computes the loss of `batch`; `gradient` becomes the gradient of the loss with respect to
    /// `values`.
    pub fn gradients(
        &mut self,
        loss: &Loss<'_>,
        values: &[f32],
        batch: &Batch<'_>,
        gradient: &mut [f32],
    ) -> f64 {
        let network = &loss.network;
        let count = batch.rows.len().div_ceil(SHARD);
        while self.shards.len() < count {
            let kinds = (loss.dropout > 0.0, self.is_certified);
            self.shards.push(Shard::new(network, &self.inputs, kinds));
        }
        let shards = &mut self.shards[..count];
        let with_threads = batch.rows.len() * values.len() >= WORTH_THREADS;
        let weights = Weights::new(network, &self.inputs, values, batch);
        let masks = masks(loss, batch);
        let pass = |(number, shard): (usize, &mut Shard)| {
            let first = number * SHARD;
            let end = batch.rows.len().min(first + SHARD);
            shard.fill(loss, &weights, &batch.rows[first..end]);
            shard.set_masks(&masks, first, loss.shard);
            dispatch(ShardPass {
                weights: &weights,
                batch,
                first,
                shard,
            });
        };
        match with_threads {
            true => shards.par_iter_mut().enumerate().for_each(pass),
            false => shards.iter_mut().enumerate().for_each(pass),
        }
        let shards = &*shards;
        let mut rest = &mut *gradient;
        let mut places = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (place, others) = rest.split_at_mut(part.rows * part.outputs);
            places.push((part, place));
            rest = others;
        }
        let sum = |(part, place): (&Part, &mut [f32])| part.sum(&weights, shards, place);
        match with_threads {
            true => places.into_par_iter().for_each(sum),
            false => places.into_iter().for_each(sum),
        }
        if let Some(worst) = &weights.worst {
            let gained = |end: usize, output: usize| -> f32 {
                let of_shards = shards.iter().filter_map(|shard| shard.worst.as_ref());
                of_shards.map(|worst| worst.hull[end][output]).sum()
            };
            worst.add_hull(&weights, gained, gradient);
        }
        shards.iter().map(|shard| shard.loss).sum()
    }
}

impl<'a> Weights<'a> {
    fn new(
        network: &Network,
        inputs: &'a Inputs,
        values: &'a [f32],
        batch: &Batch<'_>,
    ) -> Weights<'a> {
        let (tables, layers) = pieces(network, values);
        let shapes = network.layers.iter().zip(layers).enumerate();
        let layers: Vec<Layer> = shapes
            .map(|(depth, (shape, [weight, bias]))| {
                let (rows, outputs) = (shape.inputs, shape.outputs);
                let at = |row: usize, output: usize| weight[row * outputs + output];
                let (forward, backward) = match depth {
                    0 => (
                        Product::new(outputs, inputs.numbers.len(), |output, number| {
                            at(inputs.numbers[number], output)
                        }),
                        Product::new(inputs.embedded.len(), outputs, |place, output| {
                            at(inputs.embedded[place], output)
                        }),
                    ),
                    _ => (
                        Product::new(outputs, rows, |output, row| at(row, output)),
                        Product::new(rows, outputs, at),
                    ),
                };
                Layer {
                    inputs: rows,
                    outputs,
                    weight,
                    bias,
                    forward,
                    backward,
                }
            })
            .collect();
        let worst = batch.worst.map(|worst| {
            let classes = match batch.targets {
                Targets::Classes(_) => network.classes(),
                Targets::Numbers(_) => 0,
            };
            WorstWeights::new(worst, inputs, &tables, &layers, classes)
        });
        Weights {
            activation: network.activation,
            inputs,
            tables,
            layers,
            worst,
        }
    }
}

/// Returns the dropout masks of a batch, for each of the loss's shards one a hidden layer; none
/// without dropout.
fn masks(loss: &Loss<'_>, batch: &Batch<'_>) -> Vec<Vec<Vec<f32>>> {
    if loss.dropout <= 0.0 {
        return Vec::new();
    }
    let hidden = loss.network.layers.len() - 1;
    let of_shard = |(shard, rows): (usize, &[u32])| {
        let layers = loss.network.layers[..hidden].iter().enumerate();
        layers
            .map(|(depth, layer)| {
                loss.mask(batch.number, (shard, depth), [rows.len(), layer.outputs])
            })
            .collect()
    };
    let shards = batch.rows.par_chunks(loss.shard).enumerate();
    shards.map(of_shard).collect()
}
