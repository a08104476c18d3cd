//! A recurrent network with the parameters of one step, and whatever differentiates it.

use super::tensors::Tensors;
use crate::ModelError;
use crate::recurrent::backward::{Batch, BatchGradients};
use crate::recurrent::interval::{IntervalKernels, WorstCase, WorstCaseGradients};
use crate::recurrent::kernels::{EmbeddingTable, Kernels};
use crate::recurrent::network::RecurrentWeights;

/// A network that is differentiated, and its embeddings.
pub(super) struct Differentiated<'a> {
    weights: &'a RecurrentWeights,
    table: EmbeddingTable<'a>,
    by: Engine<'a>,
}

enum Engine<'a> {
    Kernels(Kernels),
    Tensors(&'a Tensors),
}

impl<'a> Differentiated<'a> {
    /// Makes a value that differentiates by `tensors`, or on the CPU by the kernels.
    pub fn new(
        weights: &'a RecurrentWeights,
        table: EmbeddingTable<'a>,
        tensors: Option<&'a Tensors>,
    ) -> Differentiated<'a> {
        let by = match tensors {
            Some(tensors) => Engine::Tensors(tensors),
            None => Engine::Kernels(Kernels::new(weights)),
        };
        Differentiated { weights, table, by }
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        self.weights.shape.parameters()
    }

    /// Computes the mean class-weighted cross-entropy of `batch` and its gradients; with
    /// `embeddings`, also those with respect to the embeddings.
    ///
    /// # Errors
    /// When the device fails.
    pub fn of_batch(
        &self,
        batch: Batch<'_>,
        embeddings: bool,
    ) -> Result<BatchGradients, ModelError> {
        match &self.by {
            Engine::Kernels(kernels) => Ok(kernels.batch_gradients(self.table, batch, embeddings)),
            Engine::Tensors(tensors) => {
                tensors.gradients(self.weights, self.table, batch, embeddings)
            }
        }
    }

    /// Computes Σ weight · worst-case loss of `items` and its gradient, over hulls of which
    /// `radius` is left.
    ///
    /// # Errors
    /// When the device fails.
    pub fn of_worst_cases(
        &self,
        items: &[WorstCase<'_>],
        radius: f32,
    ) -> Result<WorstCaseGradients, ModelError> {
        match &self.by {
            Engine::Kernels(_) => {
                let intervals = IntervalKernels::new(self.weights);
                Ok(intervals.worst_case_gradients(self.table, items, radius))
            }
            Engine::Tensors(tensors) => {
                tensors.worst_case_gradients(self.weights, self.table, items, radius)
            }
        }
    }
}
