//! One training on a table under way: its steps, its loss and gradients, its state.

use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rayon::prelude::*;

use serde::{Deserialize, Serialize};

use super::goal::Goal;
use super::parameters::{Matrix, matrix_tensor};
use super::worst_case::{LayerTensors, TableWorstCase};
use crate::encoding::Encoding;
use crate::fnn::{Fnn, Network, read};
use crate::optimizer::{OptimizerState, ParameterOptimizer};
use crate::train::fitting::Learner;
use crate::train::options::TableOptions;
use crate::train::{Pace, Split, TrainError};
use crate::{Classifier, ModelError, Rows};
use probity_data::table::Table;
use probity_run::stream::{Purpose, permutation, stream};
use probity_tensor::device::ComputeDevice;

/// What a training on a table goes on from, beside its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableState {
    parameters: Vec<Vec<f32>>,
    optimizer: OptimizerState,
}

/// A network in training.
pub(super) struct Trainer<'a> {
    pub table: &'a Table,
    pub split: &'a Split,
    pub options: &'a TableOptions,
    pub pace: Pace,
    pub goal: Goal<'a>,
    pub row_weights: Option<&'a [f32]>,
    pub shard: usize,
    pub device: &'a ComputeDevice,
    /// The same, for gradients.
    pub gradients_on: Device,
    pub network: Network,
    pub parameters: Vec<Matrix>,
    pub optimizer: ParameterOptimizer,
    pub worst_case: Option<&'a TableWorstCase>,
    /// Steps an epoch.
    pub steps: u64,
}

impl Learner for Trainer<'_> {
    type Parameters = Vec<Vec<f32>>;
    type State = TableState;

    fn pass(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError> {
        let order = permutation(
            self.options.learning.seed,
            Purpose::Shuffle,
            u64::from(epoch),
            self.split.train.len() as u32,
        );
        let plain = self.device.burn().clone();
        let mut values: Vec<Tensor<2>> = self
            .parameters
            .iter()
            .map(|parameter| matrix_tensor(parameter, &plain))
            .collect();
        let mut total = 0.0;
        for (step, batch) in order.chunks(self.pace.batch).enumerate() {
            let rows: Vec<u32> = batch
                .iter()
                .map(|&i| self.split.train[i as usize])
                .collect();
            let batch_number = u64::from(epoch) * self.steps + step as u64;
            let (loss, gradients) = self.gradients(&values, &rows, batch_number)?;
            total += loss * rows.len() as f64;
            values = values
                .into_iter()
                .zip(gradients)
                .enumerate()
                .map(|(index, (value, gradient))| {
                    self.optimizer.step(learning_rate, index, value, gradient)
                })
                .collect();
        }
        for (parameter, value) in self.parameters.iter_mut().zip(values) {
            parameter.values = read(value)?;
        }
        Ok(total / order.len() as f64)
    }

    fn validate(&self) -> Result<Option<(f64, f64)>, TrainError> {
        if self.split.validation.is_empty() {
            return Ok(None);
        }
        let network = self.network_with(&self.parameters());
        let part = self.table.select(&self.split.validation);
        let logits = parallel_logits(&Fnn::new(&network, self.device), &part)?;
        Ok(Some(self.goal.validated(&logits, &self.split.validation)))
    }

    fn parameters(&self) -> Vec<Vec<f32>> {
        self.parameters
            .iter()
            .map(|parameter| parameter.values.clone())
            .collect()
    }

    fn state(&self) -> TableState {
        TableState {
            parameters: self.parameters(),
            optimizer: self.optimizer.state(),
        }
    }

    fn restore(&mut self, state: TableState) -> bool {
        let shapes: Vec<_> = self
            .parameters
            .iter()
            .map(|own| [own.rows, own.columns])
            .collect();
        let fits = self.fits(&state.parameters) && state.optimizer.fits(&shapes);
        if fits {
            for (parameter, values) in self.parameters.iter_mut().zip(state.parameters) {
                parameter.values = values;
            }
            let plain = self.gradients_on.clone().without_autodiff();
            self.optimizer.restore(state.optimizer, &plain);
        }
        fits
    }

    fn fits(&self, parameters: &Vec<Vec<f32>>) -> bool {
        let mut pairs = parameters.iter().zip(&self.parameters);
        parameters.len() == self.parameters.len()
            && pairs.all(|(saved, own)| saved.len() == own.values.len())
    }
}

impl Trainer<'_> {
    /// What a row weighs in the loss.
    fn weight(&self, row: u32) -> f32 {
        let of_row = self.row_weights;
        self.goal.weight(row) * of_row.map_or(1.0, |weights| weights[row as usize])
    }

    /// Mean loss of `rows` and its gradients, shards in parallel, added in shard order.
    fn gradients(
        &self,
        values: &[Tensor<2>],
        rows: &[u32],
        batch: u64,
    ) -> Result<(f64, Vec<Tensor<2>>), TrainError> {
        let total_weight: f32 = rows
            .iter()
            .map(|&row| self.weight(row))
            .sum::<f32>()
            .max(f32::MIN_POSITIVE);
        let shards: Vec<_> = rows
            .par_chunks(self.shard)
            .enumerate()
            .map(|(shard, rows)| self.shard_gradients(values, rows, total_weight, batch, shard))
            .collect::<Result<_, _>>()?;
        let mut shards = shards.into_iter();
        let (mut loss, mut sums) = shards.next().unwrap_or_default();
        for (more, gradients) in shards {
            loss += more;
            sums = sums
                .into_iter()
                .zip(gradients)
                .map(|(sum, gradient)| sum + gradient)
                .collect();
        }
        Ok((loss, sums))
    }

    fn shard_gradients(
        &self,
        values: &[Tensor<2>],
        rows: &[u32],
        total_weight: f32,
        batch: u64,
        shard: usize,
    ) -> Result<(f64, Vec<Tensor<2>>), TrainError> {
        let mut features = Vec::new();
        for &row in rows {
            let layout = &self.network.layout;
            layout.encode(self.table.row(row as usize), &mut features);
        }
        let weights = rows.iter().map(|&row| self.weight(row) / total_weight);
        let targets = self.goal.targets(rows, weights.collect());
        let leaves: Vec<Tensor<2>> = values
            .iter()
            .map(|value| value.clone().autodiff().require_grad())
            .collect();
        let features_count = self.network.layout.features();
        let tensor = |values: Vec<f32>, columns: usize| {
            Tensor::<2>::from_data(
                TensorData::new(values, [rows.len(), columns]),
                &self.gradients_on,
            )
        };
        let worst_case = self.worst_case_at(batch);
        let rest = worst_case
            .map(|(worst_case, ..)| worst_case.without_protected(&self.network.layout, &features));
        let mut x = tensor(features, features_count);
        let mut own_sums = None;
        let mut tensors: Vec<LayerTensors> = Vec::new();
        let embeddings = self.network.embeddings.len();
        let layers = (leaves.len() - embeddings) / 2;
        for layer in 0..layers {
            let weight = leaves[embeddings + 2 * layer].clone();
            let bias = leaves[embeddings + 2 * layer + 1].clone();
            let weight = if layer == 0 {
                self.absorb(weight, &leaves[..embeddings])
            } else {
                weight
            };
            x = x.matmul(weight.clone()) + bias.clone();
            tensors.push((weight, bias));
            own_sums.get_or_insert_with(|| x.clone());
            if layer + 1 < layers {
                x = self.network.activation.apply(x);
                if self.options.network.dropout > 0.0 {
                    let [height, width] = x.dims();
                    x = x * self.dropout_mask(height, width, batch, shard, layer);
                }
            }
        }
        let mut loss = targets.loss(x, &self.gradients_on);
        if let (Some((worst_case, kappa, radius)), Some(rest), Some(own)) =
            (worst_case, rest, own_sums)
        {
            let (weight, bias) = &tensors[0];
            let rest = tensor(rest, features_count).matmul(weight.clone()) + bias.clone();
            let kind = (&self.network.layout, self.network.activation);
            let device = &self.gradients_on;
            let bounds = worst_case.bounds(kind, &tensors, (own, rest), radius, device);
            let worst = targets.worst_loss(bounds, device);
            loss = loss.mul_scalar(1.0 - kappa) + worst.mul_scalar(kappa);
        }
        let mut all = loss.backward();
        let gradients = leaves
            .iter()
            .map(|leaf| {
                leaf.grad_remove(&mut all)
                    .unwrap_or_else(|| leaf.clone().without_autodiff().zeros_like())
            })
            .collect();
        let loss = loss
            .without_autodiff()
            .try_into_data()
            .map_err(|error| ModelError::Device(error.to_string()))?
            .iter::<f64>()
            .next()
            .unwrap_or(f64::NAN);
        Ok((loss, gradients))
    }

    /// The worst case, κ and the radius in step `batch`; `None` while κ is 0.
    fn worst_case_at(&self, batch: u64) -> Option<(&TableWorstCase, f32, f32)> {
        let worst_case = self.worst_case?;
        let all = self.steps * u64::from(self.pace.epochs);
        let (kappa, radius) = worst_case.course.at(batch as f64 / all.max(1) as f64);
        (kappa > 0.0).then_some((worst_case, kappa as f32, radius as f32))
    }

    /// The first layer's weight on features, differentiable: see [`crate::fnn`].
    fn absorb(&self, weight: Tensor<2>, embeddings: &[Tensor<2>]) -> Tensor<2> {
        let mut blocks = Vec::new();
        let mut tables = embeddings.iter();
        let mut input = 0;
        for span in self.network.layout.spans() {
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

    /// Zeros and 1/(1 − p), keyed by (seed, batch, shard and layer).
    fn dropout_mask(
        &self,
        height: usize,
        width: usize,
        batch: u64,
        shard: usize,
        layer: usize,
    ) -> Tensor<2> {
        let keep = 1.0 - self.options.network.dropout;
        let step = ((shard as u64) << 32) | layer as u64;
        let mut stream = stream(self.options.learning.seed, Purpose::Dropout, batch, step);
        let mask: Vec<f32> = (0..height * width)
            .map(|_| {
                if stream.random::<f32>() < keep {
                    1.0 / keep
                } else {
                    0.0
                }
            })
            .collect();
        Tensor::from_data(TensorData::new(mask, [height, width]), &self.gradients_on)
    }

    /// The network with the parameters `values`.
    pub fn network_with(&self, values: &[Vec<f32>]) -> Network {
        let mut network = self.network.clone();
        let (tables, layers) = values.split_at(network.embeddings.len());
        for (table, values) in network.embeddings.iter_mut().zip(tables) {
            table.values.clone_from(values);
        }
        for (layer, pair) in network.layers.iter_mut().zip(layers.chunks_exact(2)) {
            layer.weight.clone_from(&pair[0]);
            layer.bias.clone_from(&pair[1]);
        }
        network
    }
}

/// Logits of a whole table, tiles in parallel.
///
/// # Errors
/// See [`Classifier::logits`].
pub fn parallel_logits(model: &dyn Classifier, table: &Table) -> Result<Vec<f32>, ModelError> {
    let width = table.width();
    let parts: Vec<Vec<f32>> = table
        .codes()
        .par_chunks(4096 * width.max(1))
        .map(|codes| model.logits(Rows::new(codes, width)))
        .collect::<Result<_, _>>()?;
    Ok(parts.concat())
}
