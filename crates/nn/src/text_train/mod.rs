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

use serde::{Deserialize, Serialize};

pub use certified::{CertifiedLoss, Course, Site, Substitutions};

use super::ModelError;
use super::optimizer::OptimizerState;
use super::recurrent::kernels::{EmbeddingTable, Kernels};
use super::recurrent::network::RecurrentWeights;
use super::row_adam::RowAdam;
use super::text_train_options::TextTrainOptions;
use super::train::{EpochReport, Split, TrainError};
use trainer::Trainer;

mod certified;
#[cfg(test)]
mod tests;
mod trainer;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    let fingerprint = fingerprint(corpus, table, split, options);
    let mut trainer = Trainer::new(corpus, table, split, options, &class_rows, fingerprint);
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

/// Trains a network as [`train_text`] does, from the beginning, with the loss of `certified`: the
/// parameters are those of the last epoch, since the validation loss says nothing of the worst case.
///
/// # Errors
/// See [`train_text`]; also word vectors that learn or early stopping among the options, which this
/// loss does not go with.
pub fn train_text_certified(
    corpus: LabelledTexts<'_>,
    table: EmbeddingTable<'_>,
    split: &Split,
    options: &TextTrainOptions,
    certified: &CertifiedLoss<'_>,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<TrainedText, TrainError> {
    certified.check(options, corpus.texts.len())?;
    options.check(corpus.classes)?;
    check_tokens(corpus.texts, table.tokens())?;
    let class_rows = class_rows(corpus, &split.train)?;
    // There is no checkpoint to recognise.
    let mut trainer = Trainer::new(corpus, table, split, options, &class_rows, 0);
    trainer.certify(certified);
    let mut finished = true;
    while !trainer.is_finished() {
        let report = trainer.epoch()?;
        if observe(&report).is_break() {
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
