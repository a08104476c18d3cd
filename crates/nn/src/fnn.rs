//! Fully connected networks: their parameters, and their evaluation in fixed tiles.
//!
//! A [`Network`] is the description and the numbers, on the host; a [`Fnn`] is the same network on
//! a device, ready to answer. The first layer absorbs everything that stands before it (division
//! by the standard deviation, embeddings), which is exact algebra and leaves one product a layer:
//! with inputs z = D·e (D diagonal or block-wise an embedding), z·W + b = e·(D·W) + b.
//!
//! Shapes: features `[tile, features]`, weights `[inputs, outputs]`, logits `[tile, classes]`.

mod network;

use burn::tensor::{Device, Tensor, TensorData};

use super::encoding::InputLayout;
use super::{Classifier, Differentiable, ModelError, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

pub use network::{Activation, Dense, Embedding, Network};

/// A network on a device, ready to answer.
///
/// Gradients are computed by the chain rule layer by layer rather than by burn's autodiff: a
/// network of this form needs one product and one mask a layer, without a tape, and threads share
/// nothing. A test holds them against finite differences, another against autodiff.
pub struct Fnn {
    layout: InputLayout,
    classes: usize,
    activation: Activation,
    tile: usize,
    device: Device,
    layers: Vec<Layer>,
}

/// One layer on a device.
struct Layer {
    /// `[inputs, outputs]`
    weight: Tensor<2>,
    /// `[outputs, inputs]`, stored in that order.
    transposed: Tensor<2>,
    /// `[1, outputs]`
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

impl Fnn {
    /// Puts `network` on `device`.
    pub fn new(network: &Network, device: &ComputeDevice) -> Fnn {
        let mut dense = vec![network.absorbed_first_layer()];
        dense.extend_from_slice(&network.layers[1..]);
        Fnn {
            layout: network.layout.clone(),
            classes: network.classes(),
            activation: network.activation,
            tile: device.tile_rows(),
            layers: dense
                .iter()
                .map(|layer| Layer::new(layer, device.burn()))
                .collect(),
            device: device.burn().clone(),
        }
    }

    /// The predicted class of every row.
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

    /// The values after each layer: hidden ones after their activation, last the logits.
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

    /// ∂(cotangents · logits)/∂features, given the values of the forward pass.
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

    /// The features of a tile: at most `tile` rows, padded with zeros to exactly that height.
    fn tile_features(&self, codes: &[i32]) -> Tensor<2> {
        let width = self.layout.spans().len();
        let features = self.layout.features();
        let mut values = Vec::with_capacity(self.tile * features);
        for row in codes.chunks_exact(width) {
            self.layout.encode(row, &mut values);
        }
        values.resize(self.tile * features, 0.0);
        Tensor::from_data(TensorData::new(values, [self.tile, features]), &self.device)
    }
}

/// Reads a tensor back, as the error type of models.
pub(super) fn read(tensor: Tensor<2>) -> Result<Vec<f32>, ModelError> {
    tensor
        .try_into_data()
        .map_err(|error| ModelError::Device(error.to_string()))?
        .try_into_vec::<f32>()
        .map_err(|error| ModelError::Device(format!("{error:?}")))
}

/// Checks that all values are finite; names the row of one that is not.
pub(super) fn check_finite(
    values: &[f32],
    per_row: usize,
    rows: Rows<'_>,
) -> Result<(), ModelError> {
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
        let mut logits = Vec::with_capacity(rows.len() * self.classes);
        for tile in rows.codes.chunks(self.tile * rows.width) {
            if let Some(last) = self.forward(self.tile_features(tile)).pop() {
                let values = read(last)?;
                logits.extend_from_slice(&values[..tile.len() / rows.width * self.classes]);
            }
        }
        check_finite(&logits, self.classes, rows)?;
        Ok(logits)
    }
}

impl Differentiable for Fnn {
    fn features(&self) -> usize {
        self.layout.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let per_row = self.layout.features();
        let mut gradients = Vec::with_capacity(rows.len() * per_row);
        for (tile, cotangents) in rows
            .codes
            .chunks(self.tile * rows.width)
            .zip(cotangents.chunks(self.tile * self.classes))
        {
            let values = self.forward(self.tile_features(tile));
            let mut padded = cotangents.to_vec();
            padded.resize(self.tile * self.classes, 0.0);
            let shape = [self.tile, self.classes];
            let cotangents = Tensor::from_data(TensorData::new(padded, shape), &self.device);
            let gradient = read(self.backward(&values, cotangents))?;
            gradients.extend_from_slice(&gradient[..tile.len() / rows.width * per_row]);
        }
        check_finite(&gradients, per_row, rows)?;
        Ok(gradients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Objective;
    use crate::encoding::Encoding;
    use probity_data::builtin;
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// A random network over the synthetic census with every kind of encoding, and some rows.
    fn mixed() -> (Network, Vec<i32>) {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let encodings: Vec<Encoding> = (0..schema.attributes.len())
            .map(|attribute| match attribute % 3 {
                0 => Encoding::Scaled {
                    mean: 3.5,
                    deviation: 2.0,
                },
                1 => Encoding::OneHot,
                _ => Encoding::Embedded { dimension: 3 },
            })
            .collect();
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let network = Network::random(layout, &[9, 7], 3, Activation::Tanh, 4);
        let mut rows = Vec::new();
        for item in 0..300 {
            let mut stream = stream(8, Purpose::UniformInput, item, 0);
            for attribute in &schema.attributes {
                let (min, max) = attribute.domain();
                rows.push(stream.random_range(min..=max));
            }
        }
        (network, rows)
    }

    #[test]
    fn device_and_plain_loops_agree() {
        let (network, codes) = mixed();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let rows = Rows::new(&codes, fnn.width());
        let logits = fnn.logits(rows).unwrap();
        for (row, logits) in rows.iter().zip(logits.chunks_exact(3)) {
            for (plain, &fast) in network.reference_logits(row).iter().zip(logits) {
                assert!((plain - f64::from(fast)).abs() < 1e-4, "{plain} {fast}");
            }
        }
    }

    #[test]
    fn a_row_alone_or_in_any_batch_is_bit_equal() {
        let (network, codes) = mixed();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let width = fnn.width();
        let whole = fnn.logits(Rows::new(&codes, width)).unwrap();
        let cotangents: Vec<f32> = (0..whole.len()).map(|i| (i % 5) as f32 - 2.0).collect();
        let gradients = fnn
            .input_gradients(Rows::new(&codes, width), &cotangents)
            .unwrap();
        let features = fnn.features();
        for row in 0..codes.len() / width {
            let alone = Rows::new(&codes[row * width..(row + 1) * width], width);
            assert_eq!(fnn.logits(alone).unwrap(), whole[row * 3..row * 3 + 3]);
            let alone = fnn
                .input_gradients(alone, &cotangents[row * 3..row * 3 + 3])
                .unwrap();
            assert_eq!(alone, gradients[row * features..(row + 1) * features]);
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        // Objective m along the feature of attribute 0 (scaled): central difference of the plain
        // f64 path over ±1 code; tanh is smooth, so halving an O(h²) error is not needed at 1e-2.
        let (network, codes) = mixed();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let width = fnn.width();
        let rows = Rows::new(&codes, width);
        let logits = fnn.logits(rows).unwrap();
        let mut cotangents = Vec::new();
        for logits in logits.chunks_exact(3) {
            Objective::Margin.cotangent(logits, predicted_class(logits), &mut cotangents);
        }
        let gradients = fnn.input_gradients(rows, &cotangents).unwrap();
        let objective = |features: &[f64], cotangent: &[f32]| -> f64 {
            let mut values = features.to_vec();
            for (depth, layer) in [network.absorbed_first_layer()]
                .iter()
                .chain(&network.layers[1..])
                .enumerate()
            {
                let mut next: Vec<f64> = layer.bias.iter().map(|&b| f64::from(b)).collect();
                for (value, weights) in values.iter().zip(layer.weight.chunks_exact(layer.outputs))
                {
                    for (sum, &weight) in next.iter_mut().zip(weights) {
                        *sum += value * f64::from(weight);
                    }
                }
                if depth + 1 < network.layers.len() {
                    next.iter_mut().for_each(|value| *value = value.tanh());
                }
                values = next;
            }
            values
                .iter()
                .zip(cotangent)
                .map(|(value, &weight)| value * f64::from(weight))
                .sum()
        };
        for (i, row) in rows.iter().enumerate().take(40) {
            let mut features = Vec::new();
            network.layout.encode(row, &mut features);
            let features: Vec<f64> = features.into_iter().map(f64::from).collect();
            let cotangent = &cotangents[i * 3..i * 3 + 3];
            for feature in 0..features.len() {
                let step = 1e-5;
                let mut up = features.clone();
                up[feature] += step;
                let mut down = features.clone();
                down[feature] -= step;
                let numeric =
                    (objective(&up, cotangent) - objective(&down, cotangent)) / (2.0 * step);
                let exact = f64::from(gradients[i * features.len() + feature]);
                assert!((numeric - exact).abs() < 1e-4, "{numeric} {exact}");
            }
        }
    }

    #[test]
    fn gradients_agree_with_autodiff_for_every_activation() {
        for activation in [Activation::Relu, Activation::Tanh, Activation::Sigmoid] {
            let (mut network, codes) = mixed();
            network.activation = activation;
            let fnn = Fnn::new(&network, &ComputeDevice::flex());
            let rows = Rows::new(&codes, fnn.width());
            let cotangents: Vec<f32> = (0..rows.len() * 3).map(|i| (i % 7) as f32 - 3.0).collect();
            let gradients = fnn.input_gradients(rows, &cotangents).unwrap();
            let device = Device::flex().autodiff();
            let mut values = Vec::new();
            rows.iter()
                .for_each(|row| network.layout.encode(row, &mut values));
            let shape = [rows.len(), fnn.features()];
            let features =
                Tensor::<2>::from_data(TensorData::new(values, shape), &device).require_grad();
            let mut x = features.clone();
            for (depth, layer) in fnn.layers.iter().enumerate() {
                x = x.matmul(layer.weight.clone().autodiff()) + layer.bias.clone().autodiff();
                if depth + 1 < fnn.layers.len() {
                    x = activation.apply(x);
                }
            }
            let cotangents = TensorData::new(cotangents, [rows.len(), 3]);
            let objective = (x * Tensor::from_data(cotangents, &device)).sum();
            let expected = read(features.grad(&objective.backward()).unwrap()).unwrap();
            for (own, autodiff) in gradients.iter().zip(expected) {
                assert!((own - autodiff).abs() < 1e-4, "{own} {autodiff}");
            }
        }
    }
}
