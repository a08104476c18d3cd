//! Training of recurrent networks on texts.
//!
//! One epoch visits the training texts in the keyed random order of (seed, epoch). Pools of
//! neighbours in that order are sorted by length before they are cut into batches, so that the
//! texts of a batch have similar lengths; the batches are then visited in a keyed order of their
//! own. On the CPU gradients come from the kernels ([`crate::recurrent::backward`]) and do not
//! depend on the number of threads; on other devices from burn's autodiff, the same bits every time
//! on one device. Validation is the kernels' everywhere.
//!
//! The loss is the class-weighted mean cross-entropy. Embeddings, where they learn, learn by Adam
//! on the rows that a batch holds.

mod certified;
mod differentiated;
mod labelled;
mod tensors;
#[cfg(test)]
mod tests;
mod trainer;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub use self::certified::{CertifiedLoss, Site, Substitutions};
pub(super) use self::labelled::clip;
pub use self::labelled::{LabelledTexts, text_logits};
pub use self::trainer::TextState;
use self::trainer::Trainer;
use super::fitting::{Checkpoint, EpochReport, Fitting, Observe};
use super::options::TextOptions;
use super::split::count_classes;
use super::{Split, TrainError};
use crate::ModelError;
use crate::recurrent::kernels::EmbeddingTable;
use crate::recurrent::network::RecurrentWeights;
use probity_tensor::device::ComputeDevice;

/// The state with which a training on texts goes on.
pub type TextCheckpoint = Checkpoint<TextState, (Vec<f32>, Option<Vec<f32>>)>;

/// A trained network and its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainedText {
    /// The weights of the network.
    pub weights: RecurrentWeights,
    /// The embeddings of the network, where they learned.
    pub embeddings: Option<Vec<f32>>,
    /// The reports of all epochs.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended the training (rather than the caller).
    pub finished: bool,
}

/// Trains a network on the training part of `split`, on `device`.
///
/// `table` holds the embeddings to begin with. With `resume` the training goes on where that
/// checkpoint was made, to the very network of an uninterrupted run.
///
/// # Errors
/// Options that do not fit, a token without an embedding, fewer than two classes in the training
/// part, divergence, a foreign checkpoint, a device that fails.
pub fn train_text(
    corpus: LabelledTexts<'_>,
    table: EmbeddingTable<'_>,
    split: &Split,
    options: &TextOptions,
    device: &ComputeDevice,
    resume: Option<TextCheckpoint>,
    observe: &mut Observe<'_, TextCheckpoint>,
) -> Result<TrainedText, TrainError> {
    learn(
        (corpus, table, split),
        (options, device),
        None,
        resume,
        observe,
    )
}

/// Trains a network as [`train_text`] does, from the beginning, with the loss of `certified`: the parameters are those of the last epoch, since the validation loss says nothing
/// of the worst case.
///
/// # Errors
/// See [`train_text`]; also word vectors that learn or early stopping among the options, which this
/// loss does not go with.
pub fn train_text_certified(
    corpus: LabelledTexts<'_>,
    table: EmbeddingTable<'_>,
    split: &Split,
    (options, device): (&TextOptions, &ComputeDevice),
    certified: &CertifiedLoss<'_>,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<TrainedText, TrainError> {
    certified.check(options, corpus.texts.len())?;
    let observe = &mut |report: &EpochReport, _: &dyn Fn() -> TextCheckpoint| observe(report);
    learn(
        (corpus, table, split),
        (options, device),
        Some(certified),
        None,
        observe,
    )
}

fn learn(
    (corpus, table, split): (LabelledTexts<'_>, EmbeddingTable<'_>, &Split),
    (options, device): (&TextOptions, &ComputeDevice),
    certified: Option<&CertifiedLoss<'_>>,
    resume: Option<TextCheckpoint>,
    observe: &mut Observe<'_, TextCheckpoint>,
) -> Result<TrainedText, TrainError> {
    options.check(corpus.classes)?;
    check_tokens(corpus.texts, table.tokens())?;
    let class_rows = count_classes(corpus.labels, &split.train, corpus.classes)?;
    let fingerprint = fingerprint(corpus, table.values, split, options);
    let trainer = Trainer::new(
        corpus,
        table,
        split,
        options,
        &class_rows,
        certified,
        device,
    );
    let pace = (&options.learning, trainer.pace);
    let mut fitting = Fitting::new(trainer, pace, fingerprint);
    fitting.keeps_best = certified.is_none();
    let fitted = fitting.run(resume, observe)?;
    let (values, embeddings) = fitted.parameters;
    Ok(TrainedText {
        weights: RecurrentWeights {
            shape: fitted.learner.weights.shape,
            values,
        },
        embeddings,
        history: fitted.history,
        finished: fitted.finished,
    })
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

/// Computes a fingerprint that tells the data and options of a training from those of another: of
/// texts, labels, parts, the numbers that it begins with and the options as JSON.
pub(super) fn fingerprint(
    corpus: LabelledTexts<'_>,
    numbers: &[f32],
    split: &Split,
    options: &impl Serialize,
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
    for value in numbers {
        hasher.update(&value.to_le_bytes());
    }
    for part in [&split.train, &split.validation, &split.test] {
        hasher.update(&part.len().to_le_bytes());
        for item in part {
            hasher.update(&item.to_le_bytes());
        }
    }
    hasher.update(&serde_json::to_vec(options).unwrap_or_default());
    hasher.digest()
}
