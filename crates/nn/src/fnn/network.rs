//! The description and the numbers of a network, on the host.

use burn::tensor::Tensor;
use burn::tensor::activation::{relu, sigmoid, tanh};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rows;
use crate::encoding::{Encoding, InputLayout};
use probity_run::stream::{Purpose, stream};

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
    /// Applies the activation to every element.
    pub fn apply(self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Activation::Relu => relu(x),
            Activation::Tanh => tanh(x),
            Activation::Sigmoid => sigmoid(x),
        }
    }

    /// Returns `gradient` with respect to the activation's input, where `value` is its output: each
    /// of the three derivatives is a function of the output alone.
    pub(super) fn backward(self, value: Tensor<2>, gradient: Tensor<2>) -> Tensor<2> {
        match self {
            Activation::Relu => gradient.mask_fill(value.lower_equal_elem(0.0), 0.0),
            Activation::Tanh => gradient.clone() - gradient * value.clone() * value,
            Activation::Sigmoid => gradient * (value.clone() - value.clone() * value),
        }
    }

    pub(super) fn plain(self, x: f64) -> f64 {
        match self {
            Activation::Relu => x.max(0.0),
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }
}

/// The numbers of one layer: y = x·W + b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dense {
    /// The number of rows of `weight`.
    pub inputs: usize,
    /// The number of columns of `weight`.
    pub outputs: usize,
    /// The weights W, row-major `[inputs, outputs]`.
    pub weight: Vec<f32>,
    /// The biases b, `[outputs]`.
    pub bias: Vec<f32>,
}

/// The learned vectors of one embedded attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// The number of levels.
    pub levels: usize,
    /// The length of a vector.
    pub dimension: usize,
    /// The vectors, row-major `[levels, dimension]`.
    pub values: Vec<f32>,
}

/// A network on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// The layout by which codes become features.
    pub layout: InputLayout,
    /// One table for each embedded attribute, in attribute order.
    pub embeddings: Vec<Embedding>,
    /// The layers, first to last; the last one gives the logits.
    pub layers: Vec<Dense>,
    /// The activation between layers.
    pub activation: Activation,
}

impl Network {
    /// Whether the tables and layers are as large as those of `other`, and all numbers finite.
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

    /// Returns a network with `hidden` layer widths and random weights: He-uniform for ReLU,
    /// Glorot-uniform otherwise, biases zero, embeddings uniform in ±1.
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

    /// Returns what keeps the network from being evaluated, in words: a width of 0, or a number
    /// that is not finite once the scaling is multiplied in.
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

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// The number of trainable numbers.
    pub fn parameters(&self) -> usize {
        self.layers
            .iter()
            .map(|layer| layer.weight.len() + layer.bias.len())
            .chain(self.embeddings.iter().map(|table| table.values.len()))
            .sum()
    }

    /// The number of multiply-adds of one forward pass; an input gradient takes as many again.
    pub fn multiply_adds(&self) -> usize {
        let first = self.layers.first().map_or(0, |layer| layer.outputs);
        let rest: usize = self.layers.iter().skip(1).map(|l| l.weight.len()).sum();
        self.layout.features() * first + rest
    }

    /// Returns the network that `attributes` tell nothing: what each of them adds to the first
    /// layer's sums is always what it adds on average over `rows`, as a part of the bias, and its
    /// own weights are 0.
    pub fn without(&self, attributes: &[usize], rows: Rows<'_>) -> Network {
        let absorbed = self.absorbed_first_layer();
        let mut network = self.clone();
        let first = &mut network.layers[0];
        let mut bias: Vec<f64> = first.bias.iter().map(|&bias| f64::from(bias)).collect();
        let mut input = 0;
        for (attribute, span) in self.layout.spans().iter().enumerate() {
            let start = input * first.outputs;
            input += span.layer_inputs();
            if !attributes.contains(&attribute) {
                continue;
            }
            first.weight[start..input * first.outputs].fill(0.0);
            let mut means = vec![0.0; span.features()];
            let mut features = Vec::with_capacity(means.len());
            for row in rows.iter() {
                features.clear();
                span.encode(row[attribute], &mut features);
                for (mean, &feature) in means.iter_mut().zip(&features) {
                    *mean += f64::from(feature) / rows.len() as f64;
                }
            }
            let lines = absorbed.weight[span.start * first.outputs..].chunks_exact(first.outputs);
            for (mean, line) in means.into_iter().zip(lines) {
                for (bias, &weight) in bias.iter_mut().zip(line) {
                    *bias += mean * f64::from(weight);
                }
            }
        }
        first.bias = bias.into_iter().map(|bias| bias as f32).collect();
        network
    }

    /// Whether the first layer gives `attributes` no weight, so that no value of theirs changes a
    /// logit.
    pub fn ignores(&self, attributes: &[usize]) -> bool {
        let first = self.absorbed_first_layer();
        attributes.iter().all(|&attribute| {
            let span = &self.layout.spans()[attribute];
            let [start, end] = [span.start, span.start + span.features()];
            let mut weights = first.weight[start * first.outputs..end * first.outputs].iter();
            weights.all(|&weight| weight == 0.0)
        })
    }

    /// Returns the first layer on features: what stands before it is multiplied in.
    pub fn absorbed_first_layer(&self) -> Dense {
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
}

fn random_weights(count: usize, bound: f32, seed: u64, item: u64) -> Vec<f32> {
    let mut stream = stream(seed, Purpose::Weights, item, 0);
    (0..count)
        .map(|_| stream.random_range(-bound..=bound))
        .collect()
}
