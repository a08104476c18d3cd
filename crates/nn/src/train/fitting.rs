//! The course of a training, for every kind of network: epochs, validation, early stopping,
//! checkpoints.
//!
//! With a validation part the parameters of the epoch with the least validation loss are kept, and
//! early stopping watches it; without one, the last epoch's.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::options::{ClassWeights, Learning};
use super::pace::Pace;
use crate::predicted_class;

/// The report of one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// The epoch, from 1.
    pub epoch: u32,
    /// The mean training loss over the epoch's steps; for labels that are numbers in squares of
    /// their deviation.
    pub loss: f64,
    /// The loss on the validation part, if there is one.
    pub validation_loss: Option<f64>,
    /// The accuracy on the validation part, if there is one; for labels that are numbers R².
    pub validation_accuracy: Option<f64>,
}

/// Everything needed to go on after the last finished epoch: the state `S` of a training and the
/// best parameters `P` so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint<S, P> {
    /// A fingerprint that says whether the checkpoint belongs to this data and these options.
    fingerprint: u64,
    history: Vec<EpochReport>,
    state: S,
    best: Option<(f64, P)>,
}

/// A function called after each epoch with its report and a closure that makes a checkpoint;
/// `Break` ends the training with what there is.
pub type Observe<'a, C> = dyn FnMut(&EpochReport, &dyn Fn() -> C) -> ControlFlow<()> + 'a;

/// A network in training.
pub(super) trait Learner {
    /// All trainable numbers.
    type Parameters: Clone;
    /// All trainable numbers with the state of the optimisers.
    type State;

    /// Passes over the training part once; returns the mean loss.
    fn pass(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError>;

    /// Returns loss and accuracy on the validation part; `None` without one.
    fn validate(&self) -> Result<Option<(f64, f64)>, TrainError>;

    fn parameters(&self) -> Self::Parameters;

    fn state(&self) -> Self::State;

    /// Takes up a state, if it fits; returns whether it does.
    fn restore(&mut self, state: Self::State) -> bool;

    /// Whether `parameters` are as many as the learner's own, and numbers.
    fn fits(&self, parameters: &Self::Parameters) -> bool;
}

/// A training under way.
pub(super) struct Fitting<'a, L: Learner> {
    pub learner: L,
    pub learning: &'a Learning,
    pub pace: Pace,
    /// The fingerprint of the data and the options; see [`Checkpoint`].
    pub fingerprint: u64,
    /// Whether the epoch with the least validation loss is kept, rather than the last.
    pub keeps_best: bool,
    history: Vec<EpochReport>,
    best: Option<(f64, L::Parameters)>,
    /// The number of epochs of the checkpoint that was taken up.
    resumed_at: Option<usize>,
}

/// The outcome of a training.
pub(super) struct Fitted<L: Learner> {
    pub learner: L,
    /// The best validated parameters, or the last ones.
    pub parameters: L::Parameters,
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended the training (rather than the caller).
    pub finished: bool,
}

impl<'a, L: Learner> Fitting<'a, L> {
    pub fn new(
        learner: L,
        (learning, pace): (&'a Learning, Pace),
        fingerprint: u64,
    ) -> Fitting<'a, L> {
        Fitting {
            learner,
            learning,
            pace,
            fingerprint,
            keeps_best: true,
            history: Vec::new(),
            best: None,
            resumed_at: None,
        }
    }

    /// Runs all epochs, from the one after `resume`.
    pub fn run(
        mut self,
        resume: Option<Checkpoint<L::State, L::Parameters>>,
        observe: &mut Observe<'_, Checkpoint<L::State, L::Parameters>>,
    ) -> Result<Fitted<L>, TrainError> {
        if let Some(checkpoint) = resume {
            self.restore(checkpoint)?;
        }
        let mut finished = true;
        while !self.is_finished() {
            let report = self.epoch()?;
            if observe(&report, &|| self.checkpoint()).is_break() {
                finished = self.is_finished();
                break;
            }
        }
        let parameters = match self.best {
            Some((_, best)) => best,
            None => self.learner.parameters(),
        };
        Ok(Fitted {
            learner: self.learner,
            parameters,
            history: self.history,
            finished,
        })
    }

    fn epoch(&mut self) -> Result<EpochReport, TrainError> {
        let epoch = self.history.len() as u32;
        let rate = self.learning.learning_rate_in(epoch, self.pace.epochs);
        let loss = self.learner.pass(epoch, rate)?;
        if !loss.is_finite() {
            let is_first = self.resumed_at == Some(self.history.len());
            let epoch = epoch + 1;
            return Err(match is_first {
                true => TrainError::DivergedAfterCheckpoint { epoch, loss },
                false => TrainError::Diverged { epoch, loss },
            });
        }
        let validated = self.learner.validate()?;
        let report = EpochReport {
            epoch: epoch + 1,
            loss,
            validation_loss: validated.map(|(loss, _)| loss),
            validation_accuracy: validated.map(|(_, accuracy)| accuracy),
        };
        if let Some((loss, _)) = validated
            && self.keeps_best
            && self.best.as_ref().is_none_or(|(best, _)| loss < *best)
        {
            self.best = Some((loss, self.learner.parameters()));
        }
        self.history.push(report);
        Ok(report)
    }

    fn is_finished(&self) -> bool {
        self.history.len() as u32 >= self.pace.epochs
            || out_of_patience(&self.history, self.learning.patience)
    }

    fn checkpoint(&self) -> Checkpoint<L::State, L::Parameters> {
        Checkpoint {
            fingerprint: self.fingerprint,
            history: self.history.clone(),
            state: self.learner.state(),
            best: self.best.clone(),
        }
    }

    fn restore(
        &mut self,
        checkpoint: Checkpoint<L::State, L::Parameters>,
    ) -> Result<(), TrainError> {
        let best = checkpoint.best.as_ref();
        let is_own = checkpoint.fingerprint == self.fingerprint
            && checkpoint.history.len() <= self.pace.epochs as usize
            && checkpoint.history.iter().all(|one| one.loss.is_finite())
            && best.is_none_or(|(loss, best)| loss.is_finite() && self.learner.fits(best));
        if !(is_own && self.learner.restore(checkpoint.state)) {
            return Err(TrainError::ForeignCheckpoint);
        }
        self.history = checkpoint.history;
        self.best = checkpoint.best;
        self.resumed_at = Some(self.history.len());
        Ok(())
    }
}

/// Whether the validation loss has not got better for `patience` epochs; 0 is endless patience.
fn out_of_patience(history: &[EpochReport], patience: u32) -> bool {
    let losses: Vec<f64> = history
        .iter()
        .filter_map(|report| report.validation_loss)
        .collect();
    let best = (0..losses.len()).reduce(|best, i| if losses[i] < losses[best] { i } else { best });
    patience > 0 && best.is_some_and(|best| losses.len() - 1 - best >= patience as usize)
}

/// Computes the class-weighted mean cross-entropy, and the accuracy, of the `logits` of inputs with
/// the classes `labels`.
pub(super) fn weighted_loss(logits: &[f32], labels: &[u32], class_weights: &[f32]) -> (f64, f64) {
    let (mut loss, mut weight, mut right) = (0.0, 0.0, 0u64);
    for (logits, &label) in logits.chunks_exact(class_weights.len()).zip(labels) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f64 = logits.iter().map(|l| f64::from(l - largest).exp()).sum();
        let class_weight = f64::from(class_weights[label as usize]);
        loss += class_weight * (total.ln() - f64::from(logits[label as usize] - largest));
        weight += class_weight;
        right += u64::from(predicted_class(logits) == label);
    }
    let weight: f64 = weight;
    (
        loss / weight.max(f64::MIN_POSITIVE),
        right as f64 / labels.len() as f64,
    )
}

/// Returns the weight of each class in the loss.
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
