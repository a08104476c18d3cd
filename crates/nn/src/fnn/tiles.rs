//! A network as burn operations in tiles of a fixed height: how devices other than the CPU answer.
//!
//! Codes travel to the device, which makes features of them. Of a check only the predicted classes
//! travel back, those of all tiles of a batch together: the device computes while the host prepares
//! the next tile.
//!
//! Shapes: codes `[tile, attributes]`, features `[tile, features]`, weights `[inputs, outputs]`,
//! logits `[tile, classes]`.

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::network::{Activation, Dense};
use crate::encoding::{Encoding, InputLayout};
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
    encoder: Encoder,
    layers: Vec<Layer>,
}

/// The way from codes to features on a device. A code that is a level's gives its indicator, any
/// other none, as [`InputLayout::encode`] does.
struct Encoder {
    /// The number of attributes.
    width: usize,
    /// The attribute that each feature is of, `[features]`.
    attributes: Tensor<1, Int>,
    /// The mean of each scaled feature, and 0 for others, `[1, features]`.
    means: Tensor<2>,
    /// The codes of the features that are indicators, with a mark on those that are.
    indicators: Option<Indicators>,
}

/// The features that are indicators of levels.
struct Indicators {
    /// The code that each feature is of; 0 for those that are no indicator, `[1, features]`.
    codes: Tensor<2, Int>,
    /// Whether each feature is an indicator, `[tile, features]`.
    marks: Tensor<2, Bool>,
}

impl Encoder {
    fn new(layout: &InputLayout, tile: usize, device: &Device) -> Encoder {
        let features = layout.features();
        let (mut attributes, mut means) = (Vec::with_capacity(features), Vec::new());
        let (mut codes, mut marks) = (Vec::with_capacity(features), Vec::new());
        for (attribute, span) in (0..).zip(layout.spans()) {
            for code in (span.min..).take(span.features()) {
                attributes.push(attribute);
                let (mean, code, is_indicator) = match span.encoding {
                    Encoding::Scaled { mean, .. } => (mean, 0, false),
                    Encoding::OneHot | Encoding::Embedded { .. } => (0.0, code, true),
                };
                means.push(mean);
                codes.push(code);
                marks.push(is_indicator);
            }
        }
        let shape = [1, features];
        let indicators = marks.contains(&true).then(|| Indicators {
            codes: Tensor::from_data(TensorData::new::<i32, _>(codes, shape), device),
            marks: Tensor::<2, Bool>::from_data(TensorData::new(marks, shape), device)
                .expand([tile, features]),
        });
        Encoder {
            width: layout.spans().len(),
            attributes: Tensor::from_data(
                TensorData::new::<i32, _>(attributes, [features]),
                device,
            ),
            means: Tensor::from_data(TensorData::new(means, shape), device),
            indicators,
        }
    }

    /// Computes the features of `codes`, `[tile, attributes]`.
    fn encode(&self, codes: Tensor<2, Int>) -> Tensor<2> {
        let codes = codes.select(1, self.attributes.clone());
        let scaled = codes.clone().float() - self.means.clone();
        match &self.indicators {
            None => scaled,
            Some(of) => {
                let is_level = codes.equal(of.codes.clone()).float();
                scaled.mask_where(of.marks.clone(), is_level)
            }
        }
    }
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

/// The number of tiles of which the results wait on a device to be read together.
const WAITING: usize = 64;

impl Tiles {
    /// Puts `layers`, the first of which takes the features of `layout`, on `device`.
    pub fn new(
        layout: &InputLayout,
        layers: &[Dense],
        activation: Activation,
        device: &ComputeDevice,
    ) -> Tiles {
        let tile = device.tile_rows();
        Tiles {
            activation,
            tile,
            encoder: Encoder::new(layout, tile, device.burn()),
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
    pub fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.of_tiles(rows, |_, codes| self.forward(self.features(codes)).pop())
    }

    /// Computes the predicted class of each of `rows`: the one with the largest logit, the first of
    /// them on ties. No logits leave the device.
    ///
    /// # Errors
    /// When the device fails, or tells that a logit is not finite; not every device does.
    pub fn classes(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        let predicted = self.of_tiles(rows, |_, codes| {
            let logits = self.forward(self.features(codes)).pop()?;
            Some(self.predicted(logits))
        })?;
        let classes = self.layers.last().map_or(0, |layer| layer.bias.dims()[1]);
        if let Some(row) = predicted
            .iter()
            .position(|&class| class as usize >= classes)
        {
            let row = rows.codes[row * rows.width..(row + 1) * rows.width].to_vec();
            return Err(ModelError::NotFinite { row });
        }
        Ok(predicted.into_iter().map(|class| class as u32).collect())
    }

    /// Computes ∂(cotangents · logits)/∂features of `rows`, `[rows, features]`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn input_gradients(
        &self,
        rows: Rows<'_>,
        cotangents: &[f32],
    ) -> Result<Vec<f32>, ModelError> {
        let classes = cotangents.len().checked_div(rows.len()).unwrap_or(0);
        self.of_tiles(rows, |tile, codes| {
            let values = self.forward(self.features(codes));
            let begin = tile * self.tile * classes;
            let end = (begin + self.tile * classes).min(cotangents.len());
            let mut padded = cotangents[begin..end].to_vec();
            padded.resize(self.tile * classes, 0.0);
            let shape = [self.tile, classes];
            let cotangents = Tensor::from_data(TensorData::new(padded, shape), &self.device);
            Some(self.backward(&values, cotangents))
        })
    }

    /// Returns what `compute` gives for the tiles of `rows`, by their numbers and codes: one line
    /// for each row.
    fn of_tiles(
        &self,
        rows: Rows<'_>,
        compute: impl Fn(usize, &[i32]) -> Option<Tensor<2>>,
    ) -> Result<Vec<f32>, ModelError> {
        let tiles: Vec<&[i32]> = rows.codes.chunks(self.tile * rows.width.max(1)).collect();
        let mut values = Vec::new();
        let mut per_row = 0;
        for (group, tiles) in tiles.chunks(WAITING).enumerate() {
            let numbers = group * WAITING..;
            let computed = numbers
                .zip(tiles)
                .filter_map(|(tile, codes)| compute(tile, codes));
            let computed: Vec<Tensor<2>> = computed.collect();
            let Some(first) = computed.first() else {
                continue;
            };
            per_row = first.dims()[1];
            values.append(&mut read(Tensor::cat(computed, 0))?);
        }
        values.truncate(rows.len() * per_row);
        Ok(values)
    }

    /// Returns the predicted class of each line of `logits`, `[tile, 1]`; where a logit is not
    /// finite the number of classes.
    fn predicted(&self, logits: Tensor<2>) -> Tensor<2> {
        let [_, classes] = logits.dims();
        let numbers: Vec<f32> = (0..classes).map(|class| class as f32).collect();
        let numbers = Tensor::<2>::from_data(TensorData::new(numbers, [1, classes]), &self.device);
        let is_largest = logits.clone().equal(logits.clone().max_dim(1));
        let numbers = numbers.expand(logits.dims());
        let first = numbers
            .mask_fill(is_largest.bool_not(), classes as f32)
            .min_dim(1);
        let is_finite = logits.abs().lower_equal_elem(f32::MAX).all_dim(1);
        first.mask_fill(is_finite.bool_not(), classes as f32)
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

    /// Returns the features of a tile of `codes`: at most `tile` rows, padded to exactly that height.
    fn features(&self, codes: &[i32]) -> Tensor<2> {
        let mut padded = codes.to_vec();
        padded.resize(self.tile * self.encoder.width, 0);
        let shape = [self.tile, self.encoder.width];
        let codes = Tensor::<2, Int>::from_data(TensorData::new(padded, shape), &self.device);
        self.encoder.encode(codes)
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
