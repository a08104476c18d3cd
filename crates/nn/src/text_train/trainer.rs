//! The state of a text training, and its steps.

use burn::tensor::{Device, Tensor, TensorData};

use super::certified::CertifiedLoss;
use super::{Best, LabelledTexts, TextCheckpoint, TrainedText, text_logits};
use crate::fnn::read;
use crate::optimizer::ParameterOptimizer;
use crate::predicted_class;
use crate::recurrent::backward::{Batch, BatchGradients, EmbeddingGradients};
use crate::recurrent::kernels::{EmbeddingTable, Kernels};
use crate::recurrent::network::RecurrentWeights;
use crate::row_adam::RowAdam;
use crate::text_train_options::TextTrainOptions;
use crate::train::{EpochReport, Split, TrainError, class_weights, out_of_patience};
use crate::train_options::TrainOptions;
use probity_run::stream::{Purpose, permutation};

/// Batches that are sorted by length together.
const POOL: usize = 16;

/// Key of the order of batches, beside that of texts: item = this + epoch.
const BATCH_ORDER: u64 = 1 << 32;

/// A training under way.
pub(super) struct Trainer<'a> {
    corpus: LabelledTexts<'a>,
    table: EmbeddingTable<'a>,
    split: &'a Split,
    options: &'a TextTrainOptions,
    learning: TrainOptions,
    class_weights: Vec<f32>,
    optimizer: ParameterOptimizer,
    device: Device,
    weights: RecurrentWeights,
    /// Embeddings that learn, and their optimiser.
    learned: Option<(Vec<f32>, RowAdam)>,
    history: Vec<EpochReport>,
    best: Option<Best>,
    fingerprint: u64,
    certified: Option<&'a CertifiedLoss<'a>>,
}

impl<'a> Trainer<'a> {
    /// A training before its first epoch; `class_rows` counts the training texts of each class.
    pub fn new(
        corpus: LabelledTexts<'a>,
        table: EmbeddingTable<'a>,
        split: &'a Split,
        options: &'a TextTrainOptions,
        class_rows: &[u64],
        fingerprint: u64,
    ) -> Trainer<'a> {
        let shape = options.shape(table.dimension, corpus.classes);
        Trainer {
            corpus,
            table,
            split,
            options,
            learning: options.learning(),
            class_weights: class_weights(&options.class_weights, class_rows),
            optimizer: ParameterOptimizer::new(options.optimizer, options.weight_decay, 1),
            device: Device::flex(),
            weights: RecurrentWeights::random(shape, options.seed),
            learned: options
                .train_embeddings
                .then(|| (table.values.to_vec(), RowAdam::new(table.values.len()))),
            history: Vec::new(),
            best: None,
            fingerprint,
            certified: None,
        }
    }

    /// Learns by the loss of `certified` from now on.
    pub fn certify(&mut self, certified: &'a CertifiedLoss<'a>) {
        self.certified = Some(certified);
    }

    /// Passes over the training texts once.
    pub fn epoch(&mut self) -> Result<EpochReport, TrainError> {
        let epoch = self.history.len() as u32;
        let learning_rate = self.learning.learning_rate_in(epoch);
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
        let values = &self.weights.values;
        if !(loss.is_finite() && values.iter().all(|value| value.is_finite())) {
            let epoch = epoch + 1;
            return Err(TrainError::Diverged { epoch, loss });
        }
        let mut report = EpochReport {
            epoch: epoch + 1,
            loss,
            validation_loss: None,
            validation_accuracy: None,
        };
        if !self.split.validation.is_empty() {
            let (loss, accuracy) = self.validate();
            report.validation_loss = Some(loss);
            report.validation_accuracy = Some(accuracy);
            let is_better = self.best.as_ref().is_none_or(|best| loss < best.loss);
            if is_better && self.certified.is_none() {
                self.best = Some(Best {
                    loss,
                    values: self.weights.values.clone(),
                    embeddings: self.learned.as_ref().map(|(values, _)| values.clone()),
                });
            }
        }
        self.history.push(report);
        Ok(report)
    }

    /// The batches of an epoch: texts of similar length together, in random order.
    fn batches(&self, epoch: u32) -> Vec<Vec<u32>> {
        let train = &self.split.train;
        let (seed, key) = (self.options.seed, u64::from(epoch));
        let order = permutation(seed, Purpose::Shuffle, key, train.len() as u32);
        let mut batches: Vec<Vec<u32>> = Vec::new();
        for pool in order.chunks(POOL.saturating_mul(self.options.batch)) {
            let mut pool: Vec<u32> = pool.iter().map(|&i| train[i as usize]).collect();
            pool.sort_by_key(|&item| self.corpus.text(item, self.options.max_length).len());
            batches.extend(pool.chunks(self.options.batch).map(<[u32]>::to_vec));
        }
        let count = batches.len() as u32;
        permutation(seed, Purpose::Shuffle, BATCH_ORDER + key, count)
            .into_iter()
            .map(|i| std::mem::take(&mut batches[i as usize]))
            .collect()
    }

    /// Loss and gradients of a batch; `progress` counts epochs.
    fn gradients(&self, items: &[u32], labels: &[u32], progress: f64) -> BatchGradients {
        let max_length = self.options.max_length;
        let texts: Vec<&[i32]> = items
            .iter()
            .map(|&item| self.corpus.text(item, max_length))
            .collect();
        let batch = Batch {
            texts: &texts,
            labels,
            class_weights: &self.class_weights,
        };
        match self.certified {
            Some(certified) => {
                let table = self.table();
                certified.gradients(&self.weights, table, items, batch, self.options, progress)
            }
            None => {
                let kernels = Kernels::new(&self.weights);
                kernels.batch_gradients(self.table(), batch, self.learned.is_some())
            }
        }
    }

    /// One step of the optimiser; gives the batch's loss before it.
    fn step(
        &mut self,
        items: &[u32],
        labels: &[u32],
        learning_rate: f64,
        progress: f64,
    ) -> Result<f64, TrainError> {
        let mut gradients = self.gradients(items, labels, progress);
        clip(
            &mut gradients.parameters,
            gradients.embeddings.as_mut(),
            self.options.clip_norm,
        );
        let shape = [1, gradients.parameters.len()];
        let tensor = |values| Tensor::from_data(TensorData::new(values, shape), &self.device);
        let gradient = tensor(gradients.parameters);
        let values = tensor(std::mem::take(&mut self.weights.values));
        let next = self.optimizer.step(learning_rate, 0, values, gradient);
        self.weights.values = read(next)?;
        if let (Some((values, adam)), Some(gradients)) = (&mut self.learned, &gradients.embeddings)
        {
            adam.step(learning_rate, values, gradients);
        }
        Ok(gradients.loss)
    }

    /// The embeddings as they are now.
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

    /// Sum of the class weights of `labels`.
    fn weight(&self, labels: &[u32]) -> f64 {
        let weight = |&label: &u32| f64::from(self.class_weights[label as usize]);
        labels.iter().map(weight).sum()
    }

    /// Loss and accuracy on the validation part.
    fn validate(&self) -> (f64, f64) {
        let items = &self.split.validation;
        let labels = self.labels(items);
        let kernels = Kernels::new(&self.weights);
        let max_length = self.options.max_length;
        let logits = text_logits(&kernels, self.table(), self.corpus, items, max_length);
        let (mut loss, mut right) = (0.0, 0u64);
        for (logits, &label) in logits.chunks_exact(self.corpus.classes).zip(&labels) {
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f64 = logits.iter().map(|l| f64::from(l - largest).exp()).sum();
            let class_weight = f64::from(self.class_weights[label as usize]);
            loss += class_weight * (total.ln() - f64::from(logits[label as usize] - largest));
            right += u64::from(predicted_class(logits) == label);
        }
        let weight = self.weight(&labels).max(f64::MIN_POSITIVE);
        (loss / weight, right as f64 / labels.len() as f64)
    }

    /// Whether all epochs are done, or patience is.
    pub fn is_finished(&self) -> bool {
        self.history.len() as u32 >= self.options.epochs
            || out_of_patience(&self.history, self.options.patience)
    }

    /// The best validated parameters, or the last.
    pub fn finish(self, finished: bool) -> TrainedText {
        let (values, embeddings) = match self.best {
            Some(best) => (best.values, best.embeddings),
            None => (self.weights.values, self.learned.map(|(values, _)| values)),
        };
        TrainedText {
            weights: RecurrentWeights {
                shape: self.weights.shape,
                values,
            },
            embeddings,
            history: self.history,
            finished,
        }
    }

    /// Everything to go on from here.
    pub fn checkpoint(&self) -> TextCheckpoint {
        TextCheckpoint {
            fingerprint: self.fingerprint,
            history: self.history.clone(),
            values: self.weights.values.clone(),
            embeddings: self.learned.clone(),
            optimizer: self.optimizer.state(),
            best: self.best.clone(),
        }
    }

    /// Takes up a checkpoint of the same training.
    pub fn restore(&mut self, checkpoint: TextCheckpoint) -> Result<(), TrainError> {
        let length = |learned: &Option<(Vec<f32>, RowAdam)>| {
            learned
                .as_ref()
                .map(|(values, adam)| (values.len(), adam.len()))
        };
        let fits = checkpoint.fingerprint == self.fingerprint
            && checkpoint.values.len() == self.weights.values.len()
            && length(&checkpoint.embeddings) == length(&self.learned);
        if !fits {
            return Err(TrainError::ForeignCheckpoint);
        }
        self.weights.values = checkpoint.values;
        self.learned = checkpoint.embeddings;
        self.optimizer.restore(checkpoint.optimizer, &self.device);
        self.history = checkpoint.history;
        self.best = checkpoint.best;
        Ok(())
    }
}

/// Scales all gradients down when their joint norm is above `largest`.
fn clip(parameters: &mut [f32], embeddings: Option<&mut EmbeddingGradients>, largest: f64) {
    let embeddings = embeddings.map_or(&mut [][..], |gradients| &mut gradients.values);
    let squares = parameters.iter().chain(embeddings.iter());
    let norm = squares.map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    if norm > largest {
        let factor = (largest / norm) as f32;
        for value in parameters.iter_mut().chain(embeddings) {
            *value *= factor;
        }
    }
}
