//! Loss and gradients of texts by burn's autodiff: recurrent networks learn by it on devices other
//! than the CPU, and it is the second opinion on the [kernels](crate::recurrent::backward).
//!
//! A batch is one tile on the device, padded to its longest text and masked. Its word vectors
//! travel with it, so that those that learn stay where the optimiser is.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};

use crate::ModelError;
use crate::fnn::read;
use crate::recurrent::backward::{Batch, BatchGradients, distinct_tokens};
use crate::recurrent::interval::{WorstCase, WorstCaseGradients};
use crate::recurrent::kernels::EmbeddingTable;
use crate::recurrent::network::RecurrentWeights;
use crate::recurrent::tensor::RecurrentNetwork;
use probity_tensor::device::ComputeDevice;

/// The device that differentiates.
pub(super) struct Tensors {
    device: Device,
}

impl Tensors {
    /// Makes a value that differentiates on `device`.
    pub fn on(device: &ComputeDevice) -> Tensors {
        Tensors {
            device: device.burn().clone().autodiff(),
        }
    }

    /// Computes the mean class-weighted cross-entropy of `batch`, Σ w·CE / Σ w, and its gradients;
    /// with `embeddings`, also the gradients with respect to the embeddings.
    ///
    /// # Errors
    /// When the device fails.
    pub fn gradients(
        &self,
        weights: &RecurrentWeights,
        table: EmbeddingTable<'_>,
        batch: Batch<'_>,
        embeddings: bool,
    ) -> Result<BatchGradients, ModelError> {
        let (count, dimension) = (batch.texts.len(), table.dimension);
        let steps = batch.texts.iter().map(|text| text.len()).max().unwrap_or(0);
        // At least one step, as tensors may not be empty: a step that the mask hides.
        let steps = steps.max(1);
        let mut vectors = vec![0.0; steps * count * dimension];
        let mut mask = vec![0.0; steps * count];
        for (item, text) in batch.texts.iter().enumerate() {
            for (t, &token) in text.iter().enumerate() {
                let row = t * count + item;
                mask[row] = 1.0;
                let vector = &table.values[token as usize * dimension..][..dimension];
                vectors[row * dimension..][..dimension].copy_from_slice(vector);
            }
        }
        let values = self.matrix(weights.values.clone(), weights.values.len());
        let values = values.require_grad();
        let network = RecurrentNetwork::new(weights.shape, &values);
        let mut embedded = self.matrix(vectors, dimension);
        if embeddings {
            embedded = embedded.require_grad();
        }
        let logits = network.forward(embedded.clone(), self.matrix(mask, 1), count);
        let targets = self.matrix(batch.targets(), batch.class_weights.len());
        let loss = (log_softmax(logits, 1) * targets).sum().neg();
        let mut all = loss.backward();
        let gradient = values.grad_remove(&mut all);
        let parameters = match gradient {
            Some(gradient) => read(gradient)?,
            None => vec![0.0; weights.values.len()],
        };
        let embeddings = match embedded.grad_remove(&mut all) {
            Some(gradient) if embeddings => {
                let gradient = read(gradient)?;
                let mut sums = distinct_tokens(batch.texts, dimension);
                for (item, text) in batch.texts.iter().enumerate() {
                    let rows = (0..text.len()).map(|t| t * count + item);
                    let own: Vec<f32> = rows
                        .flat_map(|row| &gradient[row * dimension..][..dimension])
                        .copied()
                        .collect();
                    sums.add(text.iter(), &own);
                }
                Some(sums)
            }
            _ => embeddings.then(|| distinct_tokens(batch.texts, dimension)),
        };
        let loss = read(loss.without_autodiff().reshape([1, 1]))?;
        Ok(BatchGradients {
            loss: loss.first().copied().map_or(0.0, f64::from),
            parameters,
            embeddings,
        })
    }

    /// Computes what [`IntervalKernels::worst_case_gradients`] does.
    ///
    /// [`IntervalKernels::worst_case_gradients`]: crate::recurrent::interval::IntervalKernels::worst_case_gradients
    ///
    /// # Errors
    /// When the device fails.
    pub fn worst_case_gradients(
        &self,
        weights: &RecurrentWeights,
        table: EmbeddingTable<'_>,
        items: &[WorstCase<'_>],
        radius: f32,
    ) -> Result<WorstCaseGradients, ModelError> {
        if items.is_empty() {
            return Ok(WorstCaseGradients {
                loss: 0.0,
                parameters: vec![0.0; weights.values.len()],
            });
        }
        let values = self.matrix(weights.values.clone(), weights.values.len());
        let values = values.require_grad();
        let network = RecurrentNetwork::new(weights.shape, &values);
        let loss = network.worst_case_loss(table, items, radius, &self.device);
        let gradient = values.grad_remove(&mut loss.backward());
        let loss = read(loss.without_autodiff().reshape([1, 1]))?;
        Ok(WorstCaseGradients {
            loss: loss.first().copied().map_or(0.0, f64::from),
            parameters: match gradient {
                Some(gradient) => read(gradient)?,
                None => vec![0.0; weights.values.len()],
            },
        })
    }

    /// Returns `values` as `[rows, columns]`.
    fn matrix(&self, values: Vec<f32>, columns: usize) -> Tensor<2> {
        let shape = [values.len() / columns.max(1), columns];
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }
}
