//! Training of fully connected networks on tables.
//!
//! One epoch visits the training rows in the keyed random order of (seed, epoch). A batch is cut
//! into shards of the device's tile height; shards are differentiated in parallel and their
//! gradients added in shard order, so that the result does not depend on the number of threads.
//! What the device draws at random would not be keyed, so dropout masks are drawn here.
//!
//! The loss is the class-weighted mean cross-entropy. With a validation part the parameters of the
//! epoch with the least validation loss are returned, and early stopping watches it; without one,
//! the last epoch's.

use std::ops::ControlFlow;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::encoding::{Encoding, InputLayout};
use super::fnn::{Fnn, Network, read};
use super::optimizer::{OptimizerState, ParameterOptimizer};
use super::train_options::{Categories, ClassWeights, TrainOptions};
use super::worst_case::{LayerTensors, TableWorstCase};
use super::{Classifier, ModelError, Rows};
use crate::data::schema::Schema;
use crate::data::table::Table;
use crate::device::ComputeDevice;
use crate::stream::{Purpose, permutation, stream};

/// Why training cannot start or go on.
#[derive(Debug, Error)]
pub enum TrainError {
    /// An option has no meaning.
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        /// Its name on the command line.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Splitting leaves no training row, or one class only.
    #[error(
        "the training part has {rows} rows of {classes} classes; use smaller --test and --validation shares"
    )]
    TooFewRows {
        /// Rows left.
        rows: usize,
        /// Classes among them.
        classes: usize,
    },
    /// The loss is no longer a number.
    #[error("the loss became {loss} in epoch {epoch}; use a smaller --learning-rate")]
    Diverged {
        /// Epoch, from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
    },
    /// A checkpoint of another training run.
    #[error("the checkpoint belongs to other data or options; start without --resume")]
    ForeignCheckpoint,
    /// The device failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Which rows train, validate and test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<u32>,
    /// Rows to validate on.
    pub validation: Vec<u32>,
    /// Rows to test on.
    pub test: Vec<u32>,
}

impl Split {
    /// Deals `rows` rows by the keyed order of `seed`.
    pub fn new(rows: usize, options: &TrainOptions) -> Split {
        let mut order = permutation(options.seed, Purpose::Split, 0, rows as u32);
        let test = order.split_off(rows - (rows as f64 * options.test).round() as usize);
        let kept = order.len();
        let validation = (rows as f64 * options.validation).round() as usize;
        let validation = order.split_off(kept.saturating_sub(validation));
        Split {
            train: order,
            validation,
            test,
        }
    }
}

/// What one epoch did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Epoch, from 1.
    pub epoch: u32,
    /// Mean training loss over the epoch's steps.
    pub loss: f64,
    /// Loss on the validation part, if there is one.
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation part, if there is one.
    pub validation_accuracy: Option<f64>,
}

/// Everything needed to go on after the last finished epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainCheckpoint {
    /// Says whether it belongs to this data and these options.
    fingerprint: u64,
    history: Vec<EpochReport>,
    parameters: Vec<Vec<f32>>,
    optimizer: OptimizerState,
    best: Option<(f64, Vec<Vec<f32>>)>,
}

/// A trained network and its course.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// The parts it was trained and validated on, and the one it never saw.
    pub split: Split,
    /// Epoch by epoch.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended it (rather than the caller).
    pub finished: bool,
}

/// Called after each epoch with its report and a closure that makes a checkpoint; `Break` ends the
/// training with what there is.
pub type Observe<'a> =
    dyn FnMut(&EpochReport, &dyn Fn() -> TrainCheckpoint) -> ControlFlow<()> + 'a;

/// Trains a network on `table`.
///
/// With `resume` it goes on where that checkpoint was made, to the
/// very network of an uninterrupted run.
///
/// # Errors
/// Options out of range, too few rows, divergence, a device failure, a foreign checkpoint.
pub fn train(
    table: &Table,
    schema: &Schema,
    options: &TrainOptions,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    let (split, _) = plan_split(table, schema, options)?;
    let layout = InputLayout::new(
        &schema.attributes,
        &encodings(table, schema, &split.train, options),
    );
    let network = Network::random(
        layout,
        &options.hidden,
        schema.label.classes.len(),
        options.activation,
        options.seed,
    );
    let lesson = Lesson {
        table,
        split,
        row_weights: None,
        network,
    };
    train_lesson(lesson, options, device, resume, observe)
}

/// What is learnt, and what learning starts from.
#[derive(Debug, Clone)]
pub struct Lesson<'a> {
    /// Labelled rows.
    pub table: &'a Table,
    /// Which of them train and validate.
    pub split: Split,
    /// How much each row of the table weighs in the loss, beside its class; `None`: all the same.
    pub row_weights: Option<&'a [f32]>,
    /// The network before the first step.
    pub network: Network,
}

/// Trains the network of `lesson` on its rows; see [`train`]. Of `options`, the widths, the activation, the encoding of
/// categories and the shares of the parts are those of the lesson, whatever they say.
///
/// # Errors
/// See [`train`].
pub fn train_lesson(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    learn(lesson, options, None, device, resume, observe)
}

/// Trains as [`train_lesson`] does, from the beginning, also against the worst protected variant of each
/// row: the parameters are those of the last epoch, since the validation loss says nothing of the worst
/// case.
///
/// # Errors
/// See [`train`]; also dropout or early stopping among the options, which this loss does not go with.
pub fn train_lesson_certified(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    worst_case: &TableWorstCase,
    device: &ComputeDevice,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    worst_case.check(options)?;
    learn(lesson, options, Some(worst_case), device, None, observe)
}

fn learn(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    worst_case: Option<&TableWorstCase>,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    let Lesson {
        table,
        split,
        row_weights,
        network,
    } = lesson;
    options.check(network.classes())?;
    let class_rows = count_classes(table, &split, network.classes())?;
    let parameters = parameters(&network);
    let mut trainer = Trainer {
        table,
        options,
        class_weights: class_weights(&options.class_weights, &class_rows),
        row_weights,
        shard: device.tile_rows(),
        device: device.burn().clone().autodiff(),
        optimizer: ParameterOptimizer::new(
            options.optimizer,
            options.weight_decay,
            parameters.len(),
        ),
        parameters,
        network,
        history: Vec::new(),
        best: None,
        fingerprint: fingerprint(table, options),
        worst_case,
        steps: split.train.len().div_ceil(options.batch) as u64,
    };
    if let Some(checkpoint) = resume {
        trainer.restore(checkpoint)?;
    }
    let mut finished = true;
    while !trainer.is_finished() {
        let report = trainer.epoch(&split, device)?;
        if observe(&report, &|| trainer.checkpoint()).is_break() {
            finished = trainer.is_finished();
            break;
        }
    }
    let history = trainer.history.clone();
    Ok(Trained {
        network: trainer.finish(),
        split,
        history,
        finished,
    })
}

/// Checks `options`, deals the rows of `table`, and counts the training rows of each class.
///
/// # Errors
/// Options out of range, or a training part without two classes.
pub fn plan_split(
    table: &Table,
    schema: &Schema,
    options: &TrainOptions,
) -> Result<(Split, Vec<u64>), TrainError> {
    options.check(schema.label.classes.len())?;
    let split = Split::new(table.rows(), options);
    let class_rows = count_classes(table, &split, schema.label.classes.len())?;
    Ok((split, class_rows))
}

/// The training rows of each class; at least two classes must have some.
fn count_classes(table: &Table, split: &Split, classes: usize) -> Result<Vec<u64>, TrainError> {
    let mut class_rows = vec![0u64; classes];
    for &row in &split.train {
        class_rows[table.labels()[row as usize] as usize] += 1;
    }
    let present = class_rows.iter().filter(|&&rows| rows > 0).count();
    if present < 2 {
        return Err(TrainError::TooFewRows {
            rows: split.train.len(),
            classes: present,
        });
    }
    Ok(class_rows)
}

/// How each attribute enters: means and deviations are of the training part.
fn encodings(
    table: &Table,
    schema: &Schema,
    train: &[u32],
    options: &TrainOptions,
) -> Vec<Encoding> {
    (0..schema.attributes.len())
        .map(|attribute| {
            if !schema.attributes[attribute].is_ordered() {
                match options.categories {
                    Categories::OneHot => return Encoding::OneHot,
                    Categories::Embedded(dimension) => return Encoding::Embedded { dimension },
                    Categories::Codes => {}
                }
            }
            let codes = || {
                train
                    .iter()
                    .map(|&row| f64::from(table.row(row as usize)[attribute]))
            };
            let count = train.len() as f64;
            let mean = codes().sum::<f64>() / count;
            let variance = codes().map(|code| (code - mean).powi(2)).sum::<f64>() / count;
            Encoding::Scaled {
                mean: mean as f32,
                deviation: if variance > 0.0 {
                    variance.sqrt() as f32
                } else {
                    1.0
                },
            }
        })
        .collect()
}

pub(super) fn class_weights(weights: &ClassWeights, class_rows: &[u64]) -> Vec<f32> {
    match weights {
        ClassWeights::None => vec![1.0; class_rows.len()],
        ClassWeights::Given(weights) => weights.clone(),
        ClassWeights::Balanced => {
            let total: u64 = class_rows.iter().sum();
            let present = class_rows.iter().filter(|&&rows| rows > 0).count() as f32;
            class_rows
                .iter()
                .map(|&rows| {
                    if rows == 0 {
                        0.0
                    } else {
                        total as f32 / (present * rows as f32)
                    }
                })
                .collect()
        }
    }
}

/// The trainable numbers of a network as a list of `[rows, columns]` matrices: embeddings first,
/// then weight and bias of each layer.
fn parameters(network: &Network) -> Vec<Matrix> {
    let matrix = |rows: usize, columns: usize, values: &[f32]| Matrix {
        rows,
        columns,
        values: values.to_vec(),
    };
    let mut list: Vec<Matrix> = network
        .embeddings
        .iter()
        .map(|table| matrix(table.levels, table.dimension, &table.values))
        .collect();
    for layer in &network.layers {
        list.push(matrix(layer.inputs, layer.outputs, &layer.weight));
        list.push(matrix(1, layer.outputs, &layer.bias));
    }
    list
}

/// One parameter on the host, row-major `[rows, columns]`.
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

fn fingerprint(table: &Table, options: &TrainOptions) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for code in table.codes() {
        hasher.update(&code.to_le_bytes());
    }
    for label in table.labels() {
        hasher.update(&label.to_le_bytes());
    }
    hasher.update(format!("{options:?}").as_bytes());
    hasher.digest()
}

struct Trainer<'a> {
    table: &'a Table,
    options: &'a TrainOptions,
    class_weights: Vec<f32>,
    row_weights: Option<&'a [f32]>,
    shard: usize,
    device: Device,
    network: Network,
    parameters: Vec<Matrix>,
    optimizer: ParameterOptimizer,
    history: Vec<EpochReport>,
    best: Option<(f64, Vec<Vec<f32>>)>,
    fingerprint: u64,
    worst_case: Option<&'a TableWorstCase>,
    /// Steps an epoch.
    steps: u64,
}

impl Trainer<'_> {
    fn epoch(&mut self, split: &Split, device: &ComputeDevice) -> Result<EpochReport, TrainError> {
        let epoch = self.history.len() as u32;
        let order = permutation(
            self.options.seed,
            Purpose::Shuffle,
            u64::from(epoch),
            split.train.len() as u32,
        );
        let learning_rate = self.options.learning_rate_in(epoch);
        let steps = order.len().div_ceil(self.options.batch) as u64;
        let plain = device.burn().clone();
        let mut values: Vec<Tensor<2>> = self
            .parameters
            .iter()
            .map(|parameter| matrix_tensor(parameter, &plain))
            .collect();
        let mut total = 0.0;
        for (step, batch) in order.chunks(self.options.batch).enumerate() {
            let rows: Vec<u32> = batch.iter().map(|&i| split.train[i as usize]).collect();
            let batch_number = u64::from(epoch) * steps + step as u64;
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
        let loss = total / order.len() as f64;
        if !loss.is_finite() {
            return Err(TrainError::Diverged {
                epoch: epoch + 1,
                loss,
            });
        }
        let mut report = EpochReport {
            epoch: epoch + 1,
            loss,
            validation_loss: None,
            validation_accuracy: None,
        };
        if !split.validation.is_empty() {
            let (loss, accuracy) = self.validate(&split.validation, device)?;
            report.validation_loss = Some(loss);
            report.validation_accuracy = Some(accuracy);
            let is_better = self.best.as_ref().is_none_or(|(best, _)| loss < *best);
            if is_better && self.worst_case.is_none() {
                self.best = Some((loss, self.values()));
            }
        }
        self.history.push(report);
        Ok(report)
    }

    /// What a row weighs in the loss.
    fn weight(&self, row: u32) -> f32 {
        let of_class = self.class_weights[self.table.labels()[row as usize] as usize];
        of_class
            * self
                .row_weights
                .map_or(1.0, |weights| weights[row as usize])
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
        let classes = self.class_weights.len();
        let mut features = Vec::new();
        let mut targets = vec![0.0; rows.len() * classes];
        for (i, &row) in rows.iter().enumerate() {
            self.network
                .layout
                .encode(self.table.row(row as usize), &mut features);
            let label = self.table.labels()[row as usize] as usize;
            targets[i * classes + label] = self.weight(row) / total_weight;
        }
        let leaves: Vec<Tensor<2>> = values
            .iter()
            .map(|value| value.clone().autodiff().require_grad())
            .collect();
        let features_count = self.network.layout.features();
        let tensor = |values: Vec<f32>, columns: usize| {
            Tensor::<2>::from_data(TensorData::new(values, [rows.len(), columns]), &self.device)
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
                if self.options.dropout > 0.0 {
                    let [height, width] = x.dims();
                    x = x * self.dropout_mask(height, width, batch, shard, layer);
                }
            }
        }
        let mut loss = (log_softmax(x, 1) * tensor(targets.clone(), classes))
            .sum()
            .neg();
        if let (Some((worst_case, kappa, radius)), Some(rest), Some(own)) =
            (worst_case, rest, own_sums)
        {
            let (weight, bias) = &tensors[0];
            let rest = tensor(rest, features_count).matmul(weight.clone()) + bias.clone();
            let kind = (&self.network.layout, self.network.activation);
            let worst =
                worst_case.loss(kind, &tensors, (own, rest), &targets, radius, &self.device);
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
        let all = self.steps * u64::from(self.options.epochs);
        let (kappa, radius) = worst_case.course.at(batch as f64 / all.max(1) as f64);
        (kappa > 0.0).then_some((worst_case, kappa as f32, radius as f32))
    }

    /// The first layer's weight on features, differentiable: see [`super::fnn`].
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
        let keep = 1.0 - self.options.dropout;
        let step = ((shard as u64) << 32) | layer as u64;
        let mut stream = stream(self.options.seed, Purpose::Dropout, batch, step);
        let mask: Vec<f32> = (0..height * width)
            .map(|_| {
                if stream.random::<f32>() < keep {
                    1.0 / keep
                } else {
                    0.0
                }
            })
            .collect();
        Tensor::from_data(TensorData::new(mask, [height, width]), &self.device)
    }

    fn validate(&self, rows: &[u32], device: &ComputeDevice) -> Result<(f64, f64), TrainError> {
        let network = self.network_with(&self.values());
        let part = self.table.select(rows);
        let fnn = Fnn::new(&network, device);
        let logits = parallel_logits(&fnn, &part)?;
        let classes = fnn.classes();
        let (mut loss, mut weight, mut right) = (0.0, 0.0, 0u64);
        for (logits, &label) in logits.chunks_exact(classes).zip(part.labels()) {
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f64 = logits.iter().map(|l| f64::from(l - largest).exp()).sum();
            let class_weight = f64::from(self.class_weights[label as usize]);
            loss += class_weight * (total.ln() - f64::from(logits[label as usize] - largest));
            weight += class_weight;
            right += u64::from(super::predicted_class(logits) == label);
        }
        let weight: f64 = weight;
        Ok((
            loss / weight.max(f64::MIN_POSITIVE),
            right as f64 / rows.len() as f64,
        ))
    }

    fn is_finished(&self) -> bool {
        self.history.len() as u32 >= self.options.epochs
            || out_of_patience(&self.history, self.options.patience)
    }

    fn values(&self) -> Vec<Vec<f32>> {
        self.parameters
            .iter()
            .map(|parameter| parameter.values.clone())
            .collect()
    }

    fn network_with(&self, values: &[Vec<f32>]) -> Network {
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

    /// The best validated parameters, or the last.
    fn finish(mut self) -> Network {
        let values = match self.best.take() {
            Some((_, best)) => best,
            None => self.values(),
        };
        self.network_with(&values)
    }

    fn checkpoint(&self) -> TrainCheckpoint {
        TrainCheckpoint {
            fingerprint: self.fingerprint,
            history: self.history.clone(),
            parameters: self.values(),
            optimizer: self.optimizer.state(),
            best: self.best.clone(),
        }
    }

    fn restore(&mut self, checkpoint: TrainCheckpoint) -> Result<(), TrainError> {
        let fits = checkpoint.fingerprint == self.fingerprint
            && checkpoint.parameters.len() == self.parameters.len()
            && checkpoint
                .parameters
                .iter()
                .zip(&self.parameters)
                .all(|(saved, own)| saved.len() == own.values.len());
        if !fits {
            return Err(TrainError::ForeignCheckpoint);
        }
        for (parameter, values) in self.parameters.iter_mut().zip(checkpoint.parameters) {
            parameter.values = values;
        }
        let plain = self.device.clone().without_autodiff();
        self.optimizer.restore(checkpoint.optimizer, &plain);
        self.history = checkpoint.history;
        self.best = checkpoint.best;
        Ok(())
    }
}

/// Whether the validation loss has not got better for `patience` epochs; 0 is endless patience.
pub(super) fn out_of_patience(history: &[EpochReport], patience: u32) -> bool {
    let losses: Vec<f64> = history
        .iter()
        .filter_map(|report| report.validation_loss)
        .collect();
    let best = (0..losses.len()).reduce(|best, i| if losses[i] < losses[best] { i } else { best });
    patience > 0 && best.is_some_and(|best| losses.len() - 1 - best >= patience as usize)
}

fn matrix_tensor(matrix: &Matrix, device: &Device) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(matrix.values.clone(), [matrix.rows, matrix.columns]),
        device,
    )
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
