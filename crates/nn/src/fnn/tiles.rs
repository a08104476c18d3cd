//! A network as burn operations in tiles of a fixed height: how devices other than the CPU answer.
//!
//! Shapes: features `[tile, features]`, weights `[inputs, outputs]`, logits `[tile, classes]`.

use burn::tensor::{Device, Tensor, TensorData};

use super::network::{Activation, Dense};
use crate::encoding::InputLayout;
use crate::{ModelError, Rows};
use probity_tensor::device::ComputeDevice;

/// A network on a device, as burn operations.
///
/// Gradients are computed by the chain rule layer by layer rather than by burn's autodiff: a
/// network of this form needs one product and one mask a layer, without a tape, and threads share
/// nothing. A test holds them against autodiff.
pub(super) struct Tiles {
    activation: Activation,
    /// The number of rows in a tile.
    tile: usize,
    device: Device,
    layers: Vec<Layer>,
}

/// The parameters of one layer on a device.
struct Layer {
    /// The weights, `[inputs, outputs]`.
    weight: Tensor<2>,
    /// The transposed weights, `[outputs, inputs]`, stored in that order.
    transposed: Tensor<2>,
    /// The biases, `[1, outputs]`.
    bias: Tensor<2>,
}

impl Layer {
    fn new(dense: &Dense, device: &Device) -> Layer {
        let (inputs, outputs) = (dense.inputs, dense.outputs);
        let transposed: Vec<f32> = (0..outputs)
            .flat_map(|output| (0..inputs).map(move |input| input * outputs + output))
            .map(|position| dense.weight[position])
            .collect();
        let tensor = |values: Vec<f32>, shape: [usize; 2]| {
            Tensor::from_data(TensorData::new(values, shape), device)
        };
        Layer {
            weight: tensor(dense.weight.clone(), [inputs, outputs]),
            transposed: tensor(transposed, [outputs, inputs]),
            bias: tensor(dense.bias.clone(), [1, outputs]),
        }
    }
}

impl Tiles {
    /// Puts `layers`, the first of which takes features, on `device`.
    pub fn new(layers: &[Dense], activation: Activation, device: &ComputeDevice) -> Tiles {
        Tiles {
            activation,
            tile: device.tile_rows(),
            layers: layers
                .iter()
                .map(|layer| Layer::new(layer, device.burn()))
                .collect(),
            device: device.burn().clone(),
        }
    }

    /// Computes the logits of `rows`, `[rows, classes]`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn logits(&self, layout: &InputLayout, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let mut logits = Vec::new();
        for tile in rows.codes.chunks(self.tile * rows.width) {
            if let Some(last) = self.forward(self.features(layout, tile)).pop() {
                let classes = last.dims()[1];
                let values = read(last)?;
                logits.extend_from_slice(&values[..tile.len() / rows.width * classes]);
            }
        }
        Ok(logits)
    }

    /// Computes ∂(cotangents · logits)/∂features of `rows`, `[rows, features]`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn input_gradients(
        &self,
        layout: &InputLayout,
        rows: Rows<'_>,
        cotangents: &[f32],
    ) -> Result<Vec<f32>, ModelError> {
        let per_row = layout.features();
        let classes = cotangents.len().checked_div(rows.len()).unwrap_or(0);
        let mut gradients = Vec::with_capacity(rows.len() * per_row);
        for (tile, cotangents) in rows
            .codes
            .chunks(self.tile * rows.width)
            .zip(cotangents.chunks((self.tile * classes).max(1)))
        {
            let values = self.forward(self.features(layout, tile));
            let mut padded = cotangents.to_vec();
            padded.resize(self.tile * classes, 0.0);
            let shape = [self.tile, classes];
            let cotangents = Tensor::from_data(TensorData::new(padded, shape), &self.device);
            let gradient = read(self.backward(&values, cotangents))?;
            gradients.extend_from_slice(&gradient[..tile.len() / rows.width * per_row]);
        }
        Ok(gradients)
    }

    /// Returns the values after each layer: hidden ones after their activation, last the logits.
    fn forward(&self, features: Tensor<2>) -> Vec<Tensor<2>> {
        let mut values: Vec<Tensor<2>> = Vec::with_capacity(self.layers.len());
        for (depth, layer) in self.layers.iter().enumerate() {
            let input = values.last().unwrap_or(&features).clone();
            let mut output = input.matmul(layer.weight.clone()) + layer.bias.clone();
            if depth + 1 < self.layers.len() {
                output = self.activation.apply(output);
            }
            values.push(output);
        }
        values
    }

    /// Computes ∂(cotangents · logits)/∂features, given the values of the forward pass.
    fn backward(&self, values: &[Tensor<2>], cotangents: Tensor<2>) -> Tensor<2> {
        let mut gradient = cotangents;
        for depth in (0..self.layers.len()).rev() {
            gradient = gradient.matmul(self.layers[depth].transposed.clone());
            if depth > 0 {
                gradient = self
                    .activation
                    .backward(values[depth - 1].clone(), gradient);
            }
        }
        gradient
    }

    /// Returns the features of a tile: at most `tile` rows, padded with zeros to exactly that
    /// height.
    fn features(&self, layout: &InputLayout, codes: &[i32]) -> Tensor<2> {
        let features = layout.features();
        let mut values = Vec::with_capacity(self.tile * features);
        for row in codes.chunks_exact(layout.spans().len()) {
            layout.encode(row, &mut values);
        }
        values.resize(self.tile * features, 0.0);
        Tensor::from_data(TensorData::new(values, [self.tile, features]), &self.device)
    }
}

/// Reads a tensor back; a failure is returned as the error of a model.
pub(crate) fn read(tensor: Tensor<2>) -> Result<Vec<f32>, ModelError> {
    tensor
        .try_into_data()
        .map_err(|error| ModelError::Device(error.to_string()))?
        .try_into_vec::<f32>()
        .map_err(|error| ModelError::Device(format!("{error:?}")))
}
