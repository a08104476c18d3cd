//! Fully connected networks: their parameters, and how they answer.
//!
//! A [`Network`] is the description and the numbers, on the host; a [`Fnn`] is the same network on
//! a device, ready to answer: on the CPU (`flex`) by `kernels` of our own, on other devices by
//! burn in `tiles`. The first layer absorbs everything that stands before it (division
//! by the standard deviation, embeddings), which is exact algebra and leaves one product a layer:
//! with inputs z = D·e (D diagonal or block-wise an embedding), z·W + b = e·(D·W) + b.

mod kernels;
mod network;
mod reference;
#[cfg(test)]
mod tests;
mod tiles;

use super::encoding::InputLayout;
use super::{Classifier, Differentiable, ModelError, Rows, predicted_class};
use kernels::Kernels;
pub(crate) use kernels::{activate, deactivate};
use probity_tensor::device::{ComputeDevice, DeviceName};
use tiles::Tiles;
pub(super) use tiles::read;

pub use network::{Activation, Dense, Embedding, Network};
pub use reference::Reference;

/// A network on a device, ready to answer.
pub struct Fnn {
    layout: InputLayout,
    classes: usize,
    evaluation: Evaluation,
}

/// The code that computes a network.
enum Evaluation {
    /// Our own kernels, on the CPU.
    Kernels(Kernels),
    /// burn, on any device.
    Tiles(Box<Tiles>),
}

impl Fnn {
    /// Puts `network` on `device`.
    pub fn new(network: &Network, device: &ComputeDevice) -> Fnn {
        let mut layers = vec![network.absorbed_first_layer()];
        layers.extend_from_slice(&network.layers[1..]);
        let activation = network.activation;
        let evaluation = match device.name() {
            DeviceName::Flex => {
                Evaluation::Kernels(Kernels::new(&network.layout, &layers, activation))
            }
            _ => {
                let tiles = Tiles::new(&network.layout, &layers, activation, device);
                Evaluation::Tiles(Box::new(tiles))
            }
        };
        Fnn {
            layout: network.layout.clone(),
            classes: network.classes(),
            evaluation,
        }
    }

    /// Returns the predicted class of every row.
    ///
    /// # Errors
    /// See [`Classifier::logits`].
    pub fn predict(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        let logits = self.logits(rows)?;
        Ok(logits
            .chunks_exact(self.classes)
            .map(predicted_class)
            .collect())
    }
}

/// Checks that all values are finite; names the row of one that is not.
pub(super) fn check_finite(
    values: &[f32],
    per_row: usize,
    rows: Rows<'_>,
) -> Result<(), ModelError> {
    // All bits but that of the sign, as a number: numbers that are not finite have the largest.
    let size = |value: &f32| (value.to_bits() & (u32::MAX >> 1)) as i32;
    let largest = values.iter().map(size).fold(0, i32::max);
    if largest < f32::INFINITY.to_bits() as i32 {
        return Ok(());
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(position) => {
            let row = position / per_row;
            Err(ModelError::NotFinite {
                row: rows.codes[row * rows.width..(row + 1) * rows.width].to_vec(),
            })
        }
    }
}

impl Classifier for Fnn {
    fn width(&self) -> usize {
        self.layout.spans().len()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let logits = match &self.evaluation {
            Evaluation::Kernels(kernels) => kernels.logits(&self.layout, rows),
            Evaluation::Tiles(tiles) => tiles.logits(rows)?,
        };
        check_finite(&logits, self.classes, rows)?;
        Ok(logits)
    }

    fn decides_on_device(&self) -> bool {
        matches!(self.evaluation, Evaluation::Tiles(_))
    }

    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        match &self.evaluation {
            Evaluation::Kernels(_) => self.predict(rows),
            Evaluation::Tiles(tiles) => tiles.classes(rows),
        }
    }
}

impl Differentiable for Fnn {
    fn features(&self) -> usize {
        self.layout.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let gradients = match &self.evaluation {
            Evaluation::Kernels(kernels) => kernels.input_gradients(&self.layout, rows, cotangents),
            Evaluation::Tiles(tiles) => tiles.input_gradients(rows, cotangents)?,
        };
        check_finite(&gradients, self.layout.features(), rows)?;
        Ok(gradients)
    }
}
