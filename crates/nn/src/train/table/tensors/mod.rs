//! Loss and gradients by burn's autodiff: networks learn by it on devices other than the CPU, and
//! it is the second opinion on the [kernels](super::kernels).
//!
//! A batch is cut into shards of the device's tile height; their gradients are added in the order
//! of the shards, so that the result does not depend on the number of threads.

mod worst_case;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use self::worst_case::{Bounds, LayerTensors, bounds, without_protected};
use super::goal::Targets;
use super::loss::{Batch, Loss};
use super::parameters::pieces;
use crate::ModelError;
use crate::encoding::Encoding;
use crate::fnn::read;
use probity_tensor::device::ComputeDevice;

/// The device that differentiates.
pub(super) struct Tensors {
    device: Device,
}

/// The labels that some rows should get, on the device; boxed, since tensors of a GPU are large.
enum TargetTensors {
    /// The classes as `[rows, classes]`, with the weight at the row's class.
    Classes(Box<Tensor<2>>),
    /// The number and the weight of each row, `[rows, 1]` each.
    Numbers(Box<[Tensor<2>; 2]>),
}

impl Tensors {
    /// Makes a value that differentiates on `device`.
    pub fn on(device: &ComputeDevice) -> Tensors {
        Tensors {
            device: device.burn().clone().autodiff(),
        }
    }

    /// Computes the loss of `batch`, and its gradient with respect to `values`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn gradients(
        &self,
        loss: &Loss<'_>,
        values: &[f32],
        batch: &Batch<'_>,
        gradient: &mut [f32],
    ) -> Result<f64, ModelError> {
        let shards: Vec<Vec<f32>> = (0..batch.rows.len().div_ceil(loss.shard))
            .into_par_iter()
            .map(|shard| self.of_shard(loss, values, batch, shard))
            .collect::<Result<_, _>>()?;
        gradient.fill(0.0);
        let mut total = 0.0;
        for numbers in shards {
            if let Some((own, of_values)) = numbers.split_last() {
                total += f64::from(*own);
                let sums = gradient.iter_mut().zip(of_values);
                sums.for_each(|(sum, value)| *sum += value);
            }
        }
        Ok(total)
    }

    /// Computes the gradient and, in the last place, the loss of a shard's rows.
    fn of_shard(
        &self,
        loss: &Loss<'_>,
        values: &[f32],
        batch: &Batch<'_>,
        shard: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let range = shard * loss.shard..batch.rows.len().min((shard + 1) * loss.shard);
        let network = &loss.network;
        let mut features = Vec::new();
        for &row in &batch.rows[range.clone()] {
            let row = loss.table.row(row as usize);
            network.layout.encode(row, &mut features);
        }
        let (tables, layers) = pieces(network, values);
        let leaf = |values: &[f32], columns: usize| {
            let of_values = self.matrix(values.to_vec(), columns);
            of_values.require_grad()
        };
        let shapes = network.embeddings.iter();
        let tables: Vec<Tensor<2>> = shapes
            .zip(tables)
            .map(|(table, values)| leaf(values, table.dimension))
            .collect();
        let leaves: Vec<LayerTensors> = network
            .layers
            .iter()
            .zip(layers)
            .map(|(layer, parts)| parts.map(|values| leaf(values, layer.outputs)))
            .map(|[weight, bias]| (weight, bias))
            .collect();
        let mut layers = leaves.clone();
        layers[0].0 = absorb(loss, layers[0].0.clone(), &tables);
        let rest = batch
            .worst
            .map(|worst| without_protected(worst.case, &network.layout, &features));
        let width = network.layout.features();
        let mut x = self.matrix(features, width);
        let height = range.len();
        let mut own_sums = None;
        for (depth, (weight, bias)) in layers.iter().enumerate() {
            x = x.matmul(weight.clone()) + bias.clone();
            own_sums.get_or_insert_with(|| x.clone());
            if depth + 1 < layers.len() {
                x = network.activation.apply(x);
                if loss.dropout > 0.0 {
                    let columns = x.dims()[1];
                    let mask = loss.mask(batch.number, (shard, depth), [height, columns]);
                    x = x * self.matrix(mask, columns);
                }
            }
        }
        let targets = self.targets(batch, range, network.classes());
        let mut total = targets.loss(x);
        if let (Some(worst), Some(rest), Some(own)) = (batch.worst, rest, own_sums) {
            let (weight, bias) = &layers[0];
            let rest = self.matrix(rest, width).matmul(weight.clone()) + bias.clone();
            let of_worst = bounds(worst, network, &layers, (own, rest), &self.device);
            let of_worst = targets.worst_loss(of_worst, &self.device);
            total = total.mul_scalar(1.0 - worst.kappa) + of_worst.mul_scalar(worst.kappa);
        }
        let mut all = total.backward();
        let leaves = tables
            .into_iter()
            .chain(leaves.into_iter().flat_map(|(weight, bias)| [weight, bias]));
        let mut numbers: Vec<Tensor<2>> = leaves
            .map(|leaf| {
                let count = leaf.dims().iter().product();
                let zeros = || leaf.clone().without_autodiff().zeros_like();
                let gradient = leaf.grad_remove(&mut all).unwrap_or_else(zeros);
                gradient.reshape([1, count])
            })
            .collect();
        numbers.push(total.without_autodiff().reshape([1, 1]));
        read(Tensor::cat(numbers, 1))
    }

    /// Returns `values` as `[rows, columns]`.
    fn matrix(&self, values: Vec<f32>, columns: usize) -> Tensor<2> {
        let shape = [values.len() / columns, columns];
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    /// Returns the labels that the rows `range` of `batch` should get.
    fn targets(
        &self,
        batch: &Batch<'_>,
        range: std::ops::Range<usize>,
        classes: usize,
    ) -> TargetTensors {
        let weights = &batch.weights[range.clone()];
        match &batch.targets {
            Targets::Classes(labels) => {
                let mut at_label = vec![0.0; range.len() * classes];
                for (i, (&label, &weight)) in labels[range].iter().zip(weights).enumerate() {
                    at_label[i * classes + label as usize] = weight;
                }
                TargetTensors::Classes(Box::new(self.matrix(at_label, classes)))
            }
            Targets::Numbers(numbers) => TargetTensors::Numbers(Box::new([
                self.matrix(numbers[range].to_vec(), 1),
                self.matrix(weights.to_vec(), 1),
            ])),
        }
    }
}

impl TargetTensors {
    /// Computes the loss of rows with these `logits`: Σ weight · cross-entropy, or Σ weight ·
    /// squared error.
    fn loss(&self, logits: Tensor<2>) -> Tensor<1> {
        match self {
            TargetTensors::Classes(targets) => {
                (log_softmax(logits, 1) * (**targets).clone()).sum().neg()
            }
            TargetTensors::Numbers(of_rows) => {
                let [numbers, weights] = &**of_rows;
                let errors = logits.narrow(1, 1, 1) - numbers.clone();
                (errors.clone() * errors * weights.clone()).sum()
            }
        }
    }

    /// Computes the loss of rows with the worst logits within `bounds`.
    fn worst_loss(&self, bounds: Bounds, device: &Device) -> Tensor<1> {
        match self {
            TargetTensors::Classes(targets) => bounds.cross_entropy(targets, device),
            TargetTensors::Numbers(of_rows) => {
                let [numbers, weights] = &**of_rows;
                let (low, high) = bounds.last();
                let of_number = |bound: Tensor<2>| (bound.narrow(1, 1, 1) - numbers.clone()).abs();
                let worst = of_number(low).max_pair(of_number(high));
                (worst.clone() * worst * weights.clone()).sum()
            }
        }
    }
}

/// Returns the first layer's weight on features, differentiable: see [`crate::fnn`].
fn absorb(loss: &Loss<'_>, weight: Tensor<2>, embeddings: &[Tensor<2>]) -> Tensor<2> {
    let mut blocks = Vec::new();
    let mut tables = embeddings.iter();
    let mut input = 0;
    for span in loss.network.layout.spans() {
        let block = weight.clone().narrow(0, input, span.layer_inputs());
        input += span.layer_inputs();
        blocks.push(match span.encoding {
            Encoding::Scaled { deviation, .. } => block.div_scalar(deviation),
            Encoding::OneHot => block,
            Encoding::Embedded { .. } => match tables.next() {
                Some(table) => table.clone().matmul(block),
                None => block,
            },
        });
    }
    Tensor::cat(blocks, 0)
}
