//! Training of transformers on texts: fresh ones, the head on an encoder that stays as it is, or
//! encoder and head together.
//!
//! Batches are dealt as those of recurrent networks ([`super::text`]). On the CPU gradients come from
//! the kernels ([`crate::transformer::backward`]) and do not depend on the number of threads; on other
//! devices from burn's autodiff ([`crate::transformer::tensor`]), the same bits every time on one
//! device. Validation is the kernels' everywhere. The loss is the class-weighted mean cross-entropy. The table of pieces learns by Adam on the rows that a
//! batch holds, all other parameters by the optimiser of the options. There is no dropout.
//!
//! An encoder that stays as it is answers each text once: what its head reads is kept.

pub(super) mod options;
#[cfg(test)]
mod tests;
mod trainer;

use super::fitting::{Checkpoint, EpochReport, Fitting, Observe};
use super::options::TransformerTraining;
use super::split::count_classes;
use super::text::{LabelledTexts, fingerprint};
use super::{Split, TrainError};
use crate::transformer::shape::TransformerWeights;
use probity_tensor::device::ComputeDevice;

pub use self::options::TransformerOptions;
use self::trainer::Trainer;
pub use self::trainer::TransformerState;

/// The state with which a training of a transformer goes on.
pub type TransformerCheckpoint = Checkpoint<TransformerState, Vec<f32>>;

/// A trained transformer and its course.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedTransformer {
    /// The weights of the network.
    pub weights: TransformerWeights,
    /// The number of parameters that learnt.
    pub learnt: usize,
    /// The reports of all epochs.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended the training (rather than the caller).
    pub finished: bool,
}

/// Trains `weights`, whose head is fresh, on the training part of `split`, on `device`. Texts are
/// pieces below the size of the vocabulary, of which there are at most [`Shape::longest`] and at least one.
///
/// [`Shape::longest`]: crate::transformer::shape::Shape::longest
///
/// # Errors
/// Options that do not fit, fewer than two classes in the training part, divergence, a foreign
/// checkpoint, a device that fails.
pub fn train_transformer(
    (corpus, weights): (LabelledTexts<'_>, TransformerWeights),
    split: &Split,
    options: &TransformerTraining,
    device: &ComputeDevice,
    resume: Option<TransformerCheckpoint>,
    observe: &mut Observe<'_, TransformerCheckpoint>,
) -> Result<TrainedTransformer, TrainError> {
    options.check(corpus.classes)?;
    let class_rows = count_classes(corpus.labels, &split.train, corpus.classes)?;
    let fingerprint = fingerprint(corpus, &weights.values, split, options);
    let mut whole = weights;
    let trainer = Trainer::new((corpus, &whole), split, options, &class_rows, device);
    let pace = (&options.learning, trainer.pace);
    let fitted = Fitting::new(trainer, pace, fingerprint).run(resume, observe)?;
    let learnt = fitted.parameters.len();
    let start = whole.values.len() - learnt;
    whole.values[start..].copy_from_slice(&fitted.parameters);
    Ok(TrainedTransformer {
        weights: whole,
        learnt,
        history: fitted.history,
        finished: fitted.finished,
    })
}
