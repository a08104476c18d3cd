//! The state of a text training, and its steps.

use serde::{Deserialize, Serialize};

use super::certified::CertifiedLoss;
use super::differentiated::Differentiated;
use super::labelled::{LabelledTexts, clip, text_logits};
use super::tensors::Tensors;
use crate::ModelError;
use crate::flat_optimizer::{FlatOptimizer, are_finite};
use crate::recurrent::backward::{Batch, BatchGradients};
use crate::recurrent::kernels::{EmbeddingTable, Kernels};
use crate::recurrent::network::RecurrentWeights;
use crate::row_adam::RowAdam;
use crate::train::fitting::{Learner, class_weights, weighted_loss};
use crate::train::options::TextOptions;
use crate::train::{Pace, Split, TrainError};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The state that a training on texts goes on from, beside its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextState {
    values: Vec<f32>,
    embeddings: Option<(Vec<f32>, RowAdam)>,
    optimizer: FlatOptimizer,
}

/// The trainable numbers: the parameters of the network and, where they learn, the word vectors.
pub(super) type TextParameters = (Vec<f32>, Option<Vec<f32>>);

/// A recurrent network in training.
pub(super) struct Trainer<'a> {
    corpus: LabelledTexts<'a>,
    table: EmbeddingTable<'a>,
    split: &'a Split,
    options: &'a TextOptions,
    pub pace: Pace,
    class_weights: Vec<f32>,
    optimizer: FlatOptimizer,
    pub weights: RecurrentWeights,
    /// The embeddings that learn, and their optimiser.
    learned: Option<(Vec<f32>, RowAdam)>,
    certified: Option<&'a CertifiedLoss<'a>>,
    /// The gradients by burn, on devices without kernels.
    pub tensors: Option<Tensors>,
}

impl Learner for Trainer<'_> {
    type Parameters = TextParameters;
    type State = TextState;

    fn pass(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError> {
        let (mut total, mut weight) = (0.0, 0.0);
        let batches = self.batches(epoch);
        let count = batches.len().max(1) as f64;
        for (number, items) in batches.into_iter().enumerate() {
            let labels: Vec<u32> = self.labels(&items);
            let progress = f64::from(epoch) + number as f64 / count;
            let loss = self.step(&items, &labels, learning_rate, progress)?;
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
        let kernels = Kernels::new(&self.weights);
        let max_length = self.options.network.max_length;
        let logits = text_logits(&kernels, self.table(), self.corpus, items, max_length);
        let validated = weighted_loss(&logits, &self.labels(items), &self.class_weights);
        Ok(Some(validated))
    }

    fn parameters(&self) -> TextParameters {
        let learned = self.learned.as_ref().map(|(values, _)| values.clone());
        (self.weights.values.clone(), learned)
    }

    fn state(&self) -> TextState {
        TextState {
            values: self.weights.values.clone(),
            embeddings: self.learned.clone(),
            optimizer: self.optimizer.clone(),
        }
    }

    fn restore(&mut self, state: TextState) -> bool {
        let numbers = |(values, _): &(Vec<f32>, RowAdam)| values.len();
        let own = self.learned.as_ref().map(numbers);
        let learned = state.embeddings.as_ref();
        let fits = state.values.len() == self.weights.values.len()
            && are_finite(&state.values)
            && learned.map(numbers) == own
            && learned.is_none_or(|(values, _)| are_finite(values))
            && learned.is_none_or(|(values, adam)| adam.fits(values.len()))
            && state.optimizer.fits(&self.optimizer);
        if fits {
            self.weights.values = state.values;
            self.learned = state.embeddings;
            self.optimizer = state.optimizer;
        }
        fits
    }

    fn fits(&self, (values, learned): &TextParameters) -> bool {
        let own = self.learned.as_ref().map(|(values, _)| values.len());
        values.len() == self.weights.values.len()
            && learned.as_ref().map(Vec::len) == own
            && are_finite(values)
            && learned.as_ref().is_none_or(|values| are_finite(values))
    }
}

impl<'a> Trainer<'a> {
    /// Makes a training before its first epoch; `class_rows` counts the training texts of each
    /// class.
    pub fn new(
        corpus: LabelledTexts<'a>,
        table: EmbeddingTable<'a>,
        split: &'a Split,
        options: &'a TextOptions,
        class_rows: &[u64],
        certified: Option<&'a CertifiedLoss<'a>>,
        device: &ComputeDevice,
    ) -> Trainer<'a> {
        let shape = options.network.shape(table.dimension, corpus.classes);
        let learning = &options.learning;
        let pace = options.pace(split.train.len());
        let weights = RecurrentWeights::random(shape, learning.seed);
        Trainer {
            corpus,
            table,
            split,
            options,
            pace,
            class_weights: class_weights(&learning.class_weights, class_rows),
            optimizer: FlatOptimizer::new(
                learning.optimizer,
                pace.weight_decay,
                weights.values.len(),
            ),
            weights,
            learned: options
                .network
                .train_embeddings
                .then(|| (table.values.to_vec(), RowAdam::new(table.values.len()))),
            certified,
            tensors: (device.name() != DeviceName::Flex).then(|| Tensors::on(device)),
        }
    }

    fn batches(&self, epoch: u32) -> Vec<Vec<u32>> {
        let max_length = self.options.network.max_length;
        let keys = (self.options.learning.seed, epoch);
        self.corpus
            .batches(&self.split.train, keys, self.pace.batch, max_length)
    }

    /// Computes loss and gradients of a batch; `progress` counts epochs.
    fn gradients(
        &self,
        items: &[u32],
        labels: &[u32],
        progress: f64,
    ) -> Result<BatchGradients, ModelError> {
        let max_length = self.options.network.max_length;
        let texts: Vec<&[i32]> = items
            .iter()
            .map(|&item| self.corpus.text(item, max_length))
            .collect();
        let batch = Batch {
            texts: &texts,
            labels,
            class_weights: &self.class_weights,
        };
        let network = Differentiated::new(&self.weights, self.table(), self.tensors.as_ref());
        match self.certified {
            Some(certified) => {
                let course = (progress, self.pace.epochs);
                certified.gradients(&network, items, batch, self.options, course)
            }
            None => network.of_batch(batch, self.learned.is_some()),
        }
    }

    /// Makes one step of the optimiser; returns the batch's loss before it.
    fn step(
        &mut self,
        items: &[u32],
        labels: &[u32],
        learning_rate: f64,
        progress: f64,
    ) -> Result<f64, TrainError> {
        let mut gradients = self.gradients(items, labels, progress)?;
        clip(
            &mut gradients.parameters,
            gradients.embeddings.as_mut(),
            self.options.network.clip_norm,
        );
        let (values, moved) = (&mut self.weights.values, &gradients.parameters);
        self.optimizer.step(learning_rate, values, moved);
        if let (Some((values, adam)), Some(gradients)) = (&mut self.learned, &gradients.embeddings)
        {
            adam.step(learning_rate, values, gradients);
        }
        Ok(gradients.loss)
    }

    /// Returns the embeddings as they are now.
    fn table(&self) -> EmbeddingTable<'_> {
        let values = self.learned.as_ref().map(|(values, _)| &values[..]);
        EmbeddingTable {
            values: values.unwrap_or(self.table.values),
            dimension: self.table.dimension,
        }
    }

    fn labels(&self, items: &[u32]) -> Vec<u32> {
        let label = |&item: &u32| self.corpus.labels[item as usize];
        items.iter().map(label).collect()
    }

    /// Returns the sum of the class weights of `labels`.
    fn weight(&self, labels: &[u32]) -> f64 {
        let weight = |&label: &u32| f64::from(self.class_weights[label as usize]);
        labels.iter().map(weight).sum()
    }
}
