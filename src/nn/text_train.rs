//! Training of recurrent networks on texts.
//!
//! One epoch visits the training texts in the keyed random order of (seed, epoch). Pools of
//! neighbours in that order are sorted by length before they are cut into batches, so that the texts
//! of a batch have similar lengths; the batches are then visited in a keyed order of their own.
//! Gradients come from the kernels ([`super::recurrent::backward`]) and do not depend on the number
//! of threads.
//!
//! The loss is the class-weighted mean cross-entropy. With a validation part the parameters of the
//! epoch with the least validation loss are returned, and early stopping watches it; without one,
//! the last epoch's. Embeddings, where they learn, do so by Adam on the rows that a batch holds.

use std::ops::ControlFlow;

use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::ModelError;
use super::fnn::read;
use super::optimizer::{OptimizerState, ParameterOptimizer};
use super::predicted_class;
use super::recurrent::backward::{Batch, EmbeddingGradients};
use super::recurrent::kernels::{EmbeddingTable, Kernels};
use super::recurrent::network::RecurrentWeights;
use super::row_adam::RowAdam;
use super::text_train_options::TextTrainOptions;
use super::train::{EpochReport, Split, TrainError, class_weights, out_of_patience};
use super::train_options::TrainOptions;
use crate::stream::{Purpose, permutation};

/// Batches that are sorted by length together.
const POOL: usize = 16;

/// Key of the order of batches, beside that of texts: item = this + epoch.
const BATCH_ORDER: u64 = 1 << 32;

/// Labelled texts as token ids.
#[derive(Debug, Clone, Copy)]
pub struct LabelledTexts<'a> {
    /// Token ids of each text: rows of the embedding table.
    pub texts: &'a [Vec<i32>],
    /// Class of each text, below `classes`.
    pub labels: &'a [u32],
    /// Number of classes.
    pub classes: usize,
}

impl<'a> LabelledTexts<'a> {
    /// The first `max_length` tokens of text `item`.
    fn text(&self, item: u32, max_length: usize) -> &'a [i32] {
        let text = &self.texts[item as usize];
        &text[..text.len().min(max_length)]
    }
}

/// A trained network and its course.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedText {
    /// The network.
    pub weights: RecurrentWeights,
    /// Its embeddings, where they learned.
    pub embeddings: Option<Vec<f32>>,
    /// Epoch by epoch.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended it (rather than the caller).
    pub finished: bool,
}

/// Everything needed to go on after the last finished epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextCheckpoint {
    /// Says whether it belongs to these texts and options.
    fingerprint: u64,
    history: Vec<EpochReport>,
    values: Vec<f32>,
    embeddings: Option<(Vec<f32>, RowAdam)>,
    optimizer: OptimizerState,
    best: Option<Best>,
}

/// The epoch with the least validation loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Best {
    loss: f64,
    values: Vec<f32>,
    embeddings: Option<Vec<f32>>,
}

/// Called after each epoch with its report and a closure that makes a checkpoint; `Break` ends the
/// training with what there is.
pub type ObserveText<'a> =
    dyn FnMut(&EpochReport, &dyn Fn() -> TextCheckpoint) -> ControlFlow<()> + 'a;

/// Trains a network on the training part of `split`.
///
/// `table` holds the embeddings to begin with. With `resume` it goes on where that checkpoint was
/// made, to the very network of an uninterrupted run.
///
/// # Errors
/// Options out of range, a token without an embedding, fewer than two classes in the training part,
/// divergence, a foreign checkpoint.
pub fn train_text(
    corpus: LabelledTexts<'_>,
    table: EmbeddingTable<'_>,
    split: &Split,
    options: &TextTrainOptions,
    resume: Option<TextCheckpoint>,
    observe: &mut ObserveText<'_>,
) -> Result<TrainedText, TrainError> {
    options.check(corpus.classes)?;
    check_tokens(corpus.texts, table.tokens())?;
    let class_rows = class_rows(corpus, &split.train)?;
    let learning = options.learning();
    let shape = options.shape(table.dimension, corpus.classes);
    let learned = options
        .train_embeddings
        .then(|| (table.values.to_vec(), RowAdam::new(table.values.len())));
    let mut trainer = Trainer {
        corpus,
        table,
        split,
        options,
        class_weights: class_weights(&options.class_weights, &class_rows),
        optimizer: ParameterOptimizer::new(options.optimizer, options.weight_decay, 1),
        weights: RecurrentWeights::random(shape, options.seed),
        learned,
        history: Vec::new(),
        best: None,
        fingerprint: fingerprint(corpus, table, split, options),
        learning,
        device: Device::flex(),
    };
    if let Some(checkpoint) = resume {
        trainer.restore(checkpoint)?;
    }
    let mut finished = true;
    while !trainer.is_finished() {
        let report = trainer.epoch()?;
        if observe(&report, &|| trainer.checkpoint()).is_break() {
            finished = trainer.is_finished();
            break;
        }
    }
    Ok(trainer.finish(finished))
}

/// Logits of some texts of `corpus`, row-major `[items, classes]`.
pub fn text_logits(
    kernels: &Kernels,
    table: EmbeddingTable<'_>,
    corpus: LabelledTexts<'_>,
    items: &[u32],
    max_length: usize,
) -> Vec<f32> {
    let texts: Vec<&[i32]> = items
        .iter()
        .map(|&item| corpus.text(item, max_length))
        .collect();
    kernels.logits(table, &texts)
}

fn check_tokens(texts: &[Vec<i32>], tokens: usize) -> Result<(), TrainError> {
    let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
    for text in texts {
        if let Some(position) = text.iter().position(|id| !is_token(id)) {
            return Err(TrainError::Model(ModelError::Token {
                id: text[position],
                position,
                last: tokens as i64 - 1,
            }));
        }
    }
    Ok(())
}

/// Training texts of each class.
fn class_rows(corpus: LabelledTexts<'_>, train: &[u32]) -> Result<Vec<u64>, TrainError> {
    let mut class_rows = vec![0u64; corpus.classes];
    for &item in train {
        class_rows[corpus.labels[item as usize] as usize] += 1;
    }
    let classes = class_rows.iter().filter(|&&rows| rows > 0).count();
    if classes < 2 {
        let rows = train.len();
        return Err(TrainError::TooFewRows { rows, classes });
    }
    Ok(class_rows)
}

fn fingerprint(
    corpus: LabelledTexts<'_>,
    table: EmbeddingTable<'_>,
    split: &Split,
    options: &TextTrainOptions,
) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for text in corpus.texts {
        hasher.update(&text.len().to_le_bytes());
        for id in text {
            hasher.update(&id.to_le_bytes());
        }
    }
    for label in corpus.labels {
        hasher.update(&label.to_le_bytes());
    }
    for value in table.values {
        hasher.update(&value.to_le_bytes());
    }
    hasher.update(format!("{split:?}{options:?}").as_bytes());
    hasher.digest()
}

struct Trainer<'a> {
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
}

impl Trainer<'_> {
    fn epoch(&mut self) -> Result<EpochReport, TrainError> {
        let epoch = self.history.len() as u32;
        let learning_rate = self.learning.learning_rate_in(epoch);
        let (mut total, mut weight) = (0.0, 0.0);
        for items in self.batches(epoch) {
            let labels: Vec<u32> = self.labels(&items);
            let loss = self.step(&items, &labels, learning_rate)?;
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
            if self.best.as_ref().is_none_or(|best| loss < best.loss) {
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

    /// One step of the optimiser; gives the batch's loss before it.
    fn step(
        &mut self,
        items: &[u32],
        labels: &[u32],
        learning_rate: f64,
    ) -> Result<f64, TrainError> {
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
        let kernels = Kernels::new(&self.weights);
        let mut gradients = kernels.batch_gradients(self.table(), batch, self.learned.is_some());
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

    fn is_finished(&self) -> bool {
        self.history.len() as u32 >= self.options.epochs
            || out_of_patience(&self.history, self.options.patience)
    }

    /// The best validated parameters, or the last.
    fn finish(self, finished: bool) -> TrainedText {
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

    fn checkpoint(&self) -> TextCheckpoint {
        TextCheckpoint {
            fingerprint: self.fingerprint,
            history: self.history.clone(),
            values: self.weights.values.clone(),
            embeddings: self.learned.clone(),
            optimizer: self.optimizer.state(),
            best: self.best.clone(),
        }
    }

    fn restore(&mut self, checkpoint: TextCheckpoint) -> Result<(), TrainError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::optimizer::OptimizerName;
    use crate::nn::recurrent::network::CellKind;
    use crate::nn::train_options::ClassWeights;
    use crate::stream::stream;
    use rand::RngExt;

    const DIMENSION: usize = 8;
    const TOKENS: i32 = 30;

    struct Corpus {
        texts: Vec<Vec<i32>>,
        labels: Vec<u32>,
        embeddings: Vec<f32>,
    }

    impl Corpus {
        /// 600 texts of 0 to 24 tokens; class 1 when token 7 comes before any token 3.
        fn new() -> Corpus {
            let mut stream = stream(2, Purpose::UniformInput, 0, 0);
            let texts: Vec<Vec<i32>> = (0..600)
                .map(|_| {
                    let length = stream.random_range(0..25);
                    (0..length)
                        .map(|_| stream.random_range(0..TOKENS))
                        .collect()
                })
                .collect();
            let label = |text: &Vec<i32>| {
                let first = text.iter().find(|&&id| id == 7 || id == 3);
                u32::from(first == Some(&7))
            };
            Corpus {
                labels: texts.iter().map(label).collect(),
                texts,
                embeddings: (0..TOKENS as usize * DIMENSION)
                    .map(|_| stream.random_range(-1.0..1.0))
                    .collect(),
            }
        }

        fn labelled(&self) -> LabelledTexts<'_> {
            LabelledTexts {
                texts: &self.texts,
                labels: &self.labels,
                classes: 2,
            }
        }

        fn table(&self) -> EmbeddingTable<'_> {
            EmbeddingTable {
                values: &self.embeddings,
                dimension: DIMENSION,
            }
        }

        fn train(
            &self,
            options: &TextTrainOptions,
            resume: Option<TextCheckpoint>,
            observe: &mut ObserveText<'_>,
        ) -> Result<TrainedText, TrainError> {
            let split = Split::new(self.texts.len(), &options.learning());
            train_text(
                self.labelled(),
                self.table(),
                &split,
                options,
                resume,
                observe,
            )
        }
    }

    fn small(cell: CellKind) -> TextTrainOptions {
        TextTrainOptions {
            cell,
            layers: 1,
            units: 6,
            max_length: 20,
            epochs: 4,
            batch: 40,
            ..TextTrainOptions::default()
        }
    }

    fn go_on(_: &EpochReport, _: &dyn Fn() -> TextCheckpoint) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn learns_what_depends_on_order() {
        let corpus = Corpus::new();
        for cell in [CellKind::Lstm, CellKind::Gru] {
            let options = TextTrainOptions {
                epochs: 40,
                learning_rate: 0.03,
                weight_decay: 0.0,
                ..small(cell)
            };
            let trained = corpus.train(&options, None, &mut go_on).unwrap();
            let split = Split::new(corpus.texts.len(), &options.learning());
            let kernels = Kernels::new(&trained.weights);
            let table = corpus.table();
            let logits = text_logits(&kernels, table, corpus.labelled(), &split.test, 20);
            let right = logits
                .chunks_exact(2)
                .zip(&split.test)
                .filter(|(logits, item)| predicted_class(logits) == corpus.labels[**item as usize])
                .count();
            assert!(right >= 112, "{cell:?}: {right} of {}", split.test.len());
            assert_eq!(trained.embeddings, None);
            assert!(trained.finished);
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let corpus = Corpus::new();
        let options = TextTrainOptions {
            train_embeddings: true,
            class_weights: ClassWeights::Balanced,
            ..small(CellKind::Lstm)
        };
        let trained = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| corpus.train(&options, None, &mut go_on).unwrap())
        });
        assert_eq!(trained[0], trained[1]);
        let embeddings = trained[0].embeddings.as_ref().unwrap();
        assert_ne!(embeddings, &corpus.embeddings, "they learned");
    }

    #[test]
    fn a_resumed_training_is_the_uninterrupted_one() {
        let corpus = Corpus::new();
        for (optimizer, train_embeddings) in
            [(OptimizerName::Adamw, true), (OptimizerName::Sgd, false)]
        {
            let options = TextTrainOptions {
                optimizer,
                train_embeddings,
                ..small(CellKind::Gru)
            };
            let whole = corpus.train(&options, None, &mut go_on).unwrap();
            let mut saved = None;
            let part = corpus.train(&options, None, &mut |report, checkpoint| {
                saved = Some(checkpoint());
                if report.epoch == 2 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            assert!(!part.unwrap().finished);
            let resumed = corpus.train(&options, saved.clone(), &mut go_on).unwrap();
            assert_eq!(resumed, whole);
            let other = TextTrainOptions {
                batch: 41,
                ..options
            };
            let foreign = corpus.train(&other, saved, &mut go_on);
            assert!(matches!(foreign, Err(TrainError::ForeignCheckpoint)));
        }
    }

    #[test]
    fn tokens_behind_the_longest_length_do_not_matter() {
        let mut corpus = Corpus::new();
        let options = small(CellKind::Lstm);
        let whole = corpus.train(&options, None, &mut go_on).unwrap();
        corpus.texts.iter_mut().for_each(|text| text.truncate(20));
        assert_eq!(corpus.train(&options, None, &mut go_on).unwrap(), whole);
    }

    #[test]
    fn what_cannot_be_trained_is_an_error() {
        let mut corpus = Corpus::new();
        let options = small(CellKind::Lstm);
        let check = |options: TextTrainOptions| options.check(2).unwrap_err().to_string();
        assert!(
            check(TextTrainOptions {
                units: 0,
                ..options.clone()
            })
            .contains("--units")
        );
        assert!(
            check(TextTrainOptions {
                epochs: 0,
                ..options.clone()
            })
            .contains("--epochs")
        );
        assert!(
            check(TextTrainOptions {
                clip_norm: 0.0,
                ..options.clone()
            })
            .contains("--clip-norm")
        );
        corpus.labels.fill(1);
        let one_class = corpus.train(&options, None, &mut go_on);
        assert!(matches!(
            one_class,
            Err(TrainError::TooFewRows { classes: 1, .. })
        ));
        corpus.texts[5].push(TOKENS);
        let token = corpus.train(&options, None, &mut go_on);
        assert!(matches!(
            token,
            Err(TrainError::Model(ModelError::Token { id: TOKENS, .. }))
        ));
    }
}
