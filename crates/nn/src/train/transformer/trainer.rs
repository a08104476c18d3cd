//! The state of a training of a transformer, and its steps.

use serde::{Deserialize, Serialize};

use crate::ModelError;
use crate::flat_optimizer::{FlatOptimizer, are_finite};
use crate::recurrent::backward::{Batch, BatchGradients};
use crate::row_adam::RowAdam;
use crate::train::fitting::{Learner, class_weights, weighted_loss};
use crate::train::options::TransformerTraining;
use crate::train::text::{LabelledTexts, clip};
use crate::train::{Pace, Split, TrainError};
use crate::transformer::backward::{GradientSpace, Learns};
use crate::transformer::kernels::Kernels;
use crate::transformer::shape::{Shape, TransformerWeights};
use crate::transformer::tensor::TransformerLearning;
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The state that a training of a transformer goes on from, beside its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformerState {
    values: Vec<f32>,
    pieces: Option<RowAdam>,
    optimizer: FlatOptimizer,
}

/// A transformer in training.
pub(super) struct Trainer<'a> {
    corpus: LabelledTexts<'a>,
    split: &'a Split,
    options: &'a TransformerTraining,
    pub pace: Pace,
    class_weights: Vec<f32>,
    optimizer: FlatOptimizer,
    /// The memory of the gradients, kept from step to step.
    space: GradientSpace,
    /// The weights that learn: those of the whole network, or of its head alone.
    weights: TransformerWeights,
    /// The optimiser of the table of pieces, where it learns.
    pieces: Option<RowAdam>,
    /// The values of every text of the corpus that the head reads, `[texts, units]`, where the head
    /// learns alone.
    pooled: Option<Vec<f32>>,
    /// The gradients by burn, on devices without kernels.
    pub tensors: Option<TransformerLearning>,
}

impl<'a> Trainer<'a> {
    /// Makes a training of `weights` before its first epoch; `class_rows` counts the training texts
    /// of each class.
    pub fn new(
        (corpus, weights): (LabelledTexts<'a>, &TransformerWeights),
        split: &'a Split,
        options: &'a TransformerTraining,
        class_rows: &[u64],
        device: &ComputeDevice,
    ) -> Trainer<'a> {
        let learning = &options.learning;
        let pace = options.pace(split.train.len());
        let pooled = options.network.freeze.then(|| {
            let max_length = options.network.pieces;
            let items = 0..corpus.texts.len() as u32;
            let texts: Vec<&[i32]> = items.map(|item| corpus.text(item, max_length)).collect();
            Kernels::new(weights.clone()).pooled(&texts)
        });
        let learnt = match options.network.freeze {
            true => weights.head_alone(),
            false => weights.clone(),
        };
        let pieces = learnt.shape.spans().words.len();
        let moved = learnt.values.len() - first_moved(&learnt.shape, options.network.freeze);
        Trainer {
            corpus,
            split,
            options,
            pace,
            class_weights: class_weights(&learning.class_weights, class_rows),
            optimizer: FlatOptimizer::new(learning.optimizer, pace.weight_decay, moved),
            space: GradientSpace::default(),
            pieces: (pieces > 0).then(|| RowAdam::new(pieces)),
            weights: learnt,
            pooled,
            tensors: (device.name() != DeviceName::Flex).then(|| TransformerLearning::on(device)),
        }
    }

    fn start(&self) -> usize {
        first_moved(&self.weights.shape, self.pooled.is_some())
    }

    fn texts(&self, items: &[u32]) -> Vec<&'a [i32]> {
        let max_length = self.options.network.pieces;
        let texts = items.iter();
        texts
            .map(|&item| self.corpus.text(item, max_length))
            .collect()
    }

    fn labels(&self, items: &[u32]) -> Vec<u32> {
        let label = |&item: &u32| self.corpus.labels[item as usize];
        items.iter().map(label).collect()
    }

    /// Returns the values of `items` that the head reads, out of those of all texts, `pooled`.
    fn of_items(&self, pooled: &[f32], items: &[u32]) -> Vec<f32> {
        let units = self.weights.shape.units;
        let rows = items
            .iter()
            .map(|&item| &pooled[item as usize * units..][..units]);
        rows.flatten().copied().collect()
    }

    fn gradients(&mut self, items: &[u32], labels: &[u32]) -> Result<BatchGradients, ModelError> {
        if let Some(tensors) = &self.tensors {
            return match &self.pooled {
                Some(pooled) => {
                    let pooled = self.of_items(pooled, items);
                    tensors.head_gradients(&self.weights, &pooled, labels, &self.class_weights)
                }
                None => {
                    let batch = Batch {
                        texts: &self.texts(items),
                        labels,
                        class_weights: &self.class_weights,
                    };
                    tensors.batch_gradients(&self.weights, batch)
                }
            };
        }
        // The parameters are lent, not copied: the table of pieces alone is larger than all that a
        // batch moves.
        let shape = self.weights.shape;
        let lent = std::mem::take(&mut self.weights.values);
        let kernels = Kernels::new(TransformerWeights {
            shape,
            values: lent,
        });
        let gradients = match &self.pooled {
            Some(pooled) => {
                let pooled = self.of_items(pooled, items);
                kernels.head_gradients(&pooled, labels, &self.class_weights)
            }
            None => {
                let batch = Batch {
                    texts: &self.texts(items),
                    labels,
                    class_weights: &self.class_weights,
                };
                kernels.batch_gradients(batch, Learns::All, &mut self.space)
            }
        };
        self.weights = kernels.into_weights();
        Ok(gradients)
    }

    /// Makes one step of the optimisers; returns the batch's loss before it.
    fn step(&mut self, items: &[u32], labels: &[u32], rate: f64) -> Result<f64, TrainError> {
        let mut gradients = self.gradients(items, labels)?;
        clip(
            &mut gradients.parameters,
            gradients.embeddings.as_mut(),
            self.options.network.clip_norm,
        );
        let start = self.start();
        let values = &mut self.weights.values[start..];
        self.optimizer.step(rate, values, &gradients.parameters);
        if let (Some(adam), Some(gradients)) = (&mut self.pieces, &gradients.embeddings) {
            let table = self.weights.shape.spans().words;
            adam.step(rate, &mut self.weights.values[table], gradients);
        }
        Ok(gradients.loss)
    }

    /// Returns the sum of the class weights of `labels`.
    fn weight(&self, labels: &[u32]) -> f64 {
        let weight = |&label: &u32| f64::from(self.class_weights[label as usize]);
        labels.iter().map(weight).sum()
    }
}

/// Returns the number of the first parameter that the optimiser moves: the first of the head, where
/// the head learns alone, or the first behind the table of pieces.
fn first_moved(shape: &Shape, is_head_alone: bool) -> usize {
    match is_head_alone {
        true => shape.head_start(),
        false => shape.spans().words.end,
    }
}

impl Learner for Trainer<'_> {
    /// The parameters of the whole network, or of its head alone.
    type Parameters = Vec<f32>;
    type State = TransformerState;

    fn pass(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError> {
        let (mut total, mut weight) = (0.0, 0.0);
        let keys = (self.options.learning.seed, epoch);
        let max_length = self.options.network.pieces;
        let batches = self
            .corpus
            .batches(&self.split.train, keys, self.pace.batch, max_length);
        for items in batches {
            let labels = self.labels(&items);
            let loss = self.step(&items, &labels, learning_rate)?;
            let batch_weight = self.weight(&labels);
            total += loss * batch_weight;
            weight += batch_weight;
        }
        let loss = total / weight.max(f64::MIN_POSITIVE);
        if !self.weights.values.iter().all(|value| value.is_finite()) {
            let epoch = epoch + 1;
            return Err(TrainError::Diverged { epoch, loss });
        }
        Ok(loss)
    }

    fn validate(&self) -> Result<Option<(f64, f64)>, TrainError> {
        let items = &self.split.validation;
        if items.is_empty() {
            return Ok(None);
        }
        let kernels = Kernels::new(self.weights.clone());
        let logits = match &self.pooled {
            Some(pooled) => kernels.head_logits(&self.of_items(pooled, items)),
            None => kernels.logits(&self.texts(items)),
        };
        let validated = weighted_loss(&logits, &self.labels(items), &self.class_weights);
        Ok(Some(validated))
    }

    fn parameters(&self) -> Vec<f32> {
        let start = self.pooled.as_ref().map_or(0, |_| self.start());
        self.weights.values[start..].to_vec()
    }

    fn state(&self) -> TransformerState {
        TransformerState {
            values: self.parameters(),
            pieces: self.pieces.clone(),
            optimizer: self.optimizer.clone(),
        }
    }

    fn restore(&mut self, state: TransformerState) -> bool {
        let count = self.weights.values.len();
        let pieces = self.weights.shape.spans().words.len();
        let fits = self.fits(&state.values)
            && state.pieces.is_some() == self.pieces.is_some()
            && state.pieces.as_ref().is_none_or(|adam| adam.fits(pieces))
            && state.optimizer.fits(&self.optimizer);
        if fits {
            let from = count - state.values.len();
            self.weights.values[from..].copy_from_slice(&state.values);
            self.pieces = state.pieces;
            self.optimizer = state.optimizer;
        }
        fits
    }

    fn fits(&self, values: &Vec<f32>) -> bool {
        let start = self.pooled.as_ref().map_or(0, |_| self.start());
        values.len() == self.weights.values.len() - start && are_finite(values)
    }
}
