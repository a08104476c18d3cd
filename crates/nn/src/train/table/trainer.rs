//! One training on a table under way: its steps and its state.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::kernels::Kernels;
use super::loss::{Batch, Loss, Worst};
use super::parameters::network_with;
use super::tensors::Tensors;
use super::worst_case::TableWorstCase;
use crate::flat_optimizer::{FlatOptimizer, are_finite};
use crate::fnn::{Fnn, Network};
use crate::train::fitting::Learner;
use crate::train::{Pace, Split, TrainError};
use crate::{Classifier, ModelError, Rows};
use probity_data::table::Table;
use probity_run::stream::{Purpose, permutation};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The state that a training on a table goes on from, beside its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableState {
    values: Vec<f32>,
    optimizer: FlatOptimizer,
}

/// A network in training.
pub(super) struct Trainer<'a> {
    pub loss: Loss<'a>,
    pub split: &'a Split,
    pub pace: Pace,
    pub device: &'a ComputeDevice,
    pub gradients: Gradients,
    /// All trainable numbers.
    pub values: Vec<f32>,
    pub optimizer: FlatOptimizer,
    pub worst_case: Option<&'a TableWorstCase>,
    /// The number of steps in an epoch.
    pub steps: u64,
}

/// The code that computes loss and gradients.
pub(super) enum Gradients {
    /// Our own kernels, on the CPU.
    Kernels(Kernels),
    /// burn, on any device.
    Tensors(Tensors),
}

impl Gradients {
    /// Returns the gradients' code for networks of the shape of `network` on `device`.
    pub fn on(
        device: &ComputeDevice,
        network: &Network,
        worst_case: Option<&TableWorstCase>,
    ) -> Gradients {
        match device.name() {
            DeviceName::Flex => Gradients::Kernels(Kernels::new(network, worst_case)),
            _ => Gradients::Tensors(Tensors::on(device)),
        }
    }

    /// Computes the loss of `batch`; `gradient` becomes the gradient of the loss with respect to
    /// `values`.
    fn compute(
        &mut self,
        loss: &Loss<'_>,
        values: &[f32],
        batch: &Batch<'_>,
        gradient: &mut [f32],
    ) -> Result<f64, ModelError> {
        match self {
            Gradients::Kernels(kernels) => Ok(kernels.gradients(loss, values, batch, gradient)),
            Gradients::Tensors(tensors) => tensors.gradients(loss, values, batch, gradient),
        }
    }
}

impl Learner for Trainer<'_> {
    type Parameters = Vec<f32>;
    type State = TableState;

    fn pass(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError> {
        // Called from within the pool, so that a step need not wake its threads up from outside.
        rayon::scope(|_| self.steps(epoch, learning_rate))
    }

    fn validate(&self) -> Result<Option<(f64, f64)>, TrainError> {
        let items = &self.split.validation;
        if items.is_empty() {
            return Ok(None);
        }
        let network = network_with(&self.loss.network, &self.values);
        let part = self.loss.table.select(items);
        let logits = parallel_logits(&Fnn::new(&network, self.device), &part)?;
        Ok(Some(self.loss.goal.validated(&logits, items)))
    }

    fn parameters(&self) -> Vec<f32> {
        self.values.clone()
    }

    fn state(&self) -> TableState {
        TableState {
            values: self.values.clone(),
            optimizer: self.optimizer.clone(),
        }
    }

    fn restore(&mut self, state: TableState) -> bool {
        let fits = self.fits(&state.values) && state.optimizer.fits(&self.optimizer);
        if fits {
            self.values = state.values;
            self.optimizer = state.optimizer;
        }
        fits
    }

    fn fits(&self, values: &Vec<f32>) -> bool {
        values.len() == self.values.len() && are_finite(values)
    }
}

impl<'a> Trainer<'a> {
    /// Makes all steps of an epoch; returns their mean loss.
    fn steps(&mut self, epoch: u32, learning_rate: f64) -> Result<f64, TrainError> {
        let order = permutation(
            self.loss.seed,
            Purpose::Shuffle,
            u64::from(epoch),
            self.split.train.len() as u32,
        );
        let mut gradient = vec![0.0; self.values.len()];
        let mut total = 0.0;
        let mut rows = Vec::new();
        for (step, batch) in order.chunks(self.pace.batch).enumerate() {
            rows.clear();
            rows.extend(batch.iter().map(|&i| self.split.train[i as usize]));
            let number = u64::from(epoch) * self.steps + step as u64;
            let batch = self.loss.batch(number, &rows, self.worst_at(number));
            let (loss, values) = (&self.loss, &mut self.values);
            let loss = self
                .gradients
                .compute(loss, values, &batch, &mut gradient)?;
            total += loss * rows.len() as f64;
            self.optimizer.step(learning_rate, values, &gradient);
        }
        Ok(total / order.len() as f64)
    }

    /// Computes the mean loss of the training part for `values`, as it is when the worst case counts
    /// in full.
    pub fn mean_loss(&mut self, values: &[f32]) -> Result<f64, TrainError> {
        let mut gradient = vec![0.0; values.len()];
        let mut total = 0.0;
        let end = self.steps * u64::from(self.pace.epochs);
        for rows in self.split.train.chunks(self.pace.batch) {
            let batch = self.loss.batch(end, rows, self.worst_at(end));
            let loss = &self.loss;
            let loss = self
                .gradients
                .compute(loss, values, &batch, &mut gradient)?;
            total += loss * rows.len() as f64;
        }
        Ok(total / self.split.train.len() as f64)
    }

    /// Returns the worst case in step `number`; `None` while it does not count.
    fn worst_at(&self, number: u64) -> Option<Worst<'a>> {
        let case = self.worst_case?;
        let all = self.steps * u64::from(self.pace.epochs);
        let (kappa, radius) = case.course.at(number as f64 / all.max(1) as f64);
        (kappa > 0.0).then_some(Worst {
            case,
            kappa: kappa as f32,
            radius: radius as f32,
        })
    }
}

/// Computes the logits of a whole table, tiles in parallel.
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
