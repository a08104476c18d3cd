//! Fully connected networks: their parameters, and their evaluation in fixed tiles.
//!
//! A [`Network`] is the description and the numbers, on the host; a [`Fnn`] is the same network on
//! a device, ready to answer. The first layer absorbs everything that stands before it (division
//! by the standard deviation, embeddings), which is exact algebra and leaves one product a layer:
//! with inputs z = D·e (D diagonal or block-wise an embedding), z·W + b = e·(D·W) + b.
//!
//! Shapes: features `[tile, features]`, weights `[inputs, outputs]`, logits `[tile, classes]`.

use burn::tensor::activation::{relu, sigmoid, tanh};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encoding::{Encoding, InputLayout};
use super::{Classifier, Differentiable, ModelError, Rows, predicted_class};
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

/// The function between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// max(0, x)
    #[default]
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
}

impl Activation {
    /// Applies it to every element.
    pub fn apply(self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Activation::Relu => relu(x),
            Activation::Tanh => tanh(x),
            Activation::Sigmoid => sigmoid(x),
        }
    }

    /// `gradient` with respect to the activation's input, where `value` is its output: each of the
    /// three derivatives is a function of the output alone.
    fn backward(self, value: Tensor<2>, gradient: Tensor<2>) -> Tensor<2> {
        match self {
            Activation::Relu => gradient.mask_fill(value.lower_equal_elem(0.0), 0.0),
            Activation::Tanh => gradient.clone() - gradient * value.clone() * value,
            Activation::Sigmoid => gradient * (value.clone() - value.clone() * value),
        }
    }

    fn plain(self, x: f64) -> f64 {
        match self {
            Activation::Relu => x.max(0.0),
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }
}

/// One layer's numbers: y = x·W + b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dense {
    /// Rows of `weight`.
    pub inputs: usize,
    /// Columns of `weight`.
    pub outputs: usize,
    /// Row-major `[inputs, outputs]`.
    pub weight: Vec<f32>,
    /// `[outputs]`.
    pub bias: Vec<f32>,
}

/// The learned vectors of one embedded attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Number of levels.
    pub levels: usize,
    /// Length of a vector.
    pub dimension: usize,
    /// Row-major `[levels, dimension]`.
    pub values: Vec<f32>,
}

/// A network on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// How codes become features.
    pub layout: InputLayout,
    /// One table for each embedded attribute, in attribute order.
    pub embeddings: Vec<Embedding>,
    /// The layers, first to last; the last one gives the logits.
    pub layers: Vec<Dense>,
    /// Between layers.
    pub activation: Activation,
}

impl Network {
    /// Whether its tables and layers are as large as those of `other`, and its numbers finite.
    pub fn has_shape_of(&self, other: &Network) -> bool {
        let sizes = |of: &Network| -> Vec<[usize; 4]> {
            let tables = of.embeddings.iter();
            let tables = tables.map(|table| [table.levels, table.dimension, table.values.len(), 0]);
            let layers = of.layers.iter().map(|layer| {
                let Dense {
                    inputs,
                    outputs,
                    weight,
                    bias,
                } = layer;
                [*inputs, *outputs, weight.len(), bias.len()]
            });
            tables.chain(layers).collect()
        };
        let tables = self.embeddings.iter().map(|table| &table.values);
        let layers = self.layers.iter();
        let layers = layers.flat_map(|layer| [&layer.weight, &layer.bias]);
        let is_finite = |values: &Vec<f32>| values.iter().all(|value| value.is_finite());
        sizes(self) == sizes(other) && tables.chain(layers).all(is_finite)
    }

    /// A network with `hidden` layer widths and random weights: He-uniform for ReLU, Glorot-uniform
    /// otherwise, biases zero, embeddings uniform in ±1.
    pub fn random(
        layout: InputLayout,
        hidden: &[usize],
        classes: usize,
        activation: Activation,
        seed: u64,
    ) -> Network {
        let embedded = layout.spans().iter().enumerate();
        let embeddings = embedded
            .filter_map(|(attribute, span)| match span.encoding {
                Encoding::Embedded { dimension } => {
                    // Layers count up from 0, embeddings from the other end: keys never meet.
                    let item = u64::MAX - attribute as u64;
                    Some(Embedding {
                        levels: span.levels,
                        dimension,
                        values: random_weights(span.levels * dimension, 1.0, seed, item),
                    })
                }
                _ => None,
            })
            .collect();
        let mut widths = vec![layout.layer_inputs()];
        widths.extend_from_slice(hidden);
        widths.push(classes);
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(layer, pair)| {
                let fan = match activation {
                    Activation::Relu => pair[0] as f32,
                    _ => (pair[0] + pair[1]) as f32,
                };
                let bound = (6.0 / fan).sqrt();
                Dense {
                    inputs: pair[0],
                    outputs: pair[1],
                    weight: random_weights(pair[0] * pair[1], bound, seed, layer as u64),
                    bias: vec![0.0; pair[1]],
                }
            })
            .collect();
        Network {
            layout,
            embeddings,
            layers,
            activation,
        }
    }

    /// What keeps the network from being evaluated, in words: a width of 0, or a number that is not
    /// finite once the scaling is multiplied in.
    pub fn problem(&self) -> Option<String> {
        let widths = self
            .layers
            .iter()
            .flat_map(|layer| [layer.inputs, layer.outputs]);
        let lengths = self.embeddings.iter().map(|table| table.dimension);
        if self.layers.is_empty() || widths.chain(lengths).any(|width| width == 0) {
            return Some("a layer or embedding of width 0".to_owned());
        }
        for (position, span) in self.layout.spans().iter().enumerate() {
            if let Encoding::Scaled { mean, deviation } = span.encoding
                && !(mean.is_finite() && deviation.is_finite() && deviation > 0.0)
            {
                return Some(format!(
                    "input {position} has mean {mean} and deviation {deviation}; both must be finite, the deviation above 0"
                ));
            }
        }
        let is_finite = |layer: &Dense| {
            layer
                .weight
                .iter()
                .chain(&layer.bias)
                .all(|w| w.is_finite())
        };
        if !is_finite(&self.absorbed_first_layer()) || !self.layers.iter().all(is_finite) {
            return Some("a weight that is not finite".to_owned());
        }
        None
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// Number of trainable numbers.
    pub fn parameters(&self) -> usize {
        self.layers
            .iter()
            .map(|layer| layer.weight.len() + layer.bias.len())
            .chain(self.embeddings.iter().map(|table| table.values.len()))
            .sum()
    }

    /// Multiply-adds of one forward pass; an input gradient takes as many again.
    pub fn multiply_adds(&self) -> usize {
        let first = self.layers.first().map_or(0, |layer| layer.outputs);
        let rest: usize = self.layers.iter().skip(1).map(|l| l.weight.len()).sum();
        self.layout.features() * first + rest
    }

    /// The first layer on features: what stands before it multiplied in.
    pub(super) fn absorbed_first_layer(&self) -> Dense {
        let first = &self.layers[0];
        let outputs = first.outputs;
        let mut weight = Vec::with_capacity(self.layout.features() * outputs);
        let mut tables = self.embeddings.iter();
        let mut input = 0;
        for span in self.layout.spans() {
            let block = &first.weight[input * outputs..(input + span.layer_inputs()) * outputs];
            match span.encoding {
                Encoding::Scaled { deviation, .. } => {
                    weight.extend(block.iter().map(|w| w / deviation));
                }
                Encoding::OneHot => weight.extend_from_slice(block),
                Encoding::Embedded { dimension } => {
                    if let Some(table) = tables.next() {
                        for level in table.values.chunks_exact(dimension) {
                            weight.extend((0..outputs).map(|output| {
                                level
                                    .iter()
                                    .enumerate()
                                    .map(|(i, e)| e * block[i * outputs + output])
                                    .sum::<f32>()
                            }));
                        }
                    }
                }
            }
            input += span.layer_inputs();
        }
        Dense {
            inputs: self.layout.features(),
            outputs,
            weight,
            bias: first.bias.clone(),
        }
    }

    /// Logits of one row by plain loops in f64: the independent path that tests and
    /// verification hold the device's answers against.
    pub fn reference_logits(&self, row: &[i32]) -> Vec<f64> {
        let mut features = Vec::with_capacity(self.layout.features());
        self.layout.encode(row, &mut features);
        let mut values: Vec<f64> = features.into_iter().map(f64::from).collect();
        for (depth, layer) in [self.absorbed_first_layer()]
            .iter()
            .chain(&self.layers[1..])
            .enumerate()
        {
            let mut next: Vec<f64> = layer.bias.iter().map(|&b| f64::from(b)).collect();
            for (value, weights) in values.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
                for (sum, &weight) in next.iter_mut().zip(weights) {
                    *sum += value * f64::from(weight);
                }
            }
            if depth + 1 < self.layers.len() {
                for value in &mut next {
                    *value = self.activation.plain(*value);
                }
            }
            values = next;
        }
        values
    }
}

fn random_weights(count: usize, bound: f32, seed: u64, item: u64) -> Vec<f32> {
    let mut stream = stream(seed, Purpose::Weights, item, 0);
    (0..count)
        .map(|_| stream.random_range(-bound..=bound))
        .collect()
}

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
    use probity_data::builtin;

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
