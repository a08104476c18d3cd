//! Fully connected networks on the CPU: logits, and gradients with respect to the input.
//!
//! # Layout
//! Sixteen rows stand side by side in the lanes of a block ([`Row`]); a group of blocks goes
//! through a layer together and shares its weights while these are in the caches. A layer's values
//! are `[blocks, outputs]` such rows. Weights are packed for the products ([`Product`]), forward
//! and transposed.
//!
//! # Equations
//! With a row's numbers x_a of its scaled attributes and levels l_a of the other ones, f the
//! activation and ∘ the product of elements:
//!
//! * z₁ = (b₁ + Σ_a W₁[l_a]) + Σ_a x_a·W₁[a]: levels are gathered, not multiplied;
//! * v_i = f(z_i), z_{i+1} = b_{i+1} + W_{i+1}·v_i; the last z are the logits;
//! * δ_n = cotangents, δ_i = (W_{i+1}ᵀ·δ_{i+1}) ∘ f′(z_i), where f′(z_i) is a function of v_i, which
//!   the forward pass has kept; the gradient is W₁ᵀ·δ₁, all levels' features included.
//!
//! # Theorem
//! A row's logits and gradient, bit for bit, are functions of the row, its cotangents and the
//! weights alone: of neither batch, position, neighbours and threads nor the width of registers.
//!
//! *Proof.* Operations on rows treat every lane by itself and alike, so that what stands in other
//! lanes has no influence and the lane none either. The order of the operations in a lane is fixed
//! by the network: a sum begins with its bias and adds its terms in the order of inputs, whatever
//! the tiles, depths and groups are, for a sum that is put down and taken up again is the same 32
//! bits. All registers compute the same function: sums, products and quotients are rounded
//! correctly, products are added by fused multiply-adds, also where a processor has none, and
//! everything else is made of comparisons and bits. A thread works on a group alone. ∎

#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use pulp::{Simd, WithSimd};

use super::network::{Activation, Dense};
use crate::Rows;
use crate::encoding::{Encoding, InputLayout};
use crate::lanes::{
    BUNDLE, Ends, LANES, Product, Row, activation, dispatch, load, parts, store, transpose,
};

/// The number of blocks in a group where the network is small, so that their values stay in a
/// first-level cache.
const SMALL_GROUP: usize = 4;

/// The number of weights (256 KiB of them) up to which a network is small. The weights of a larger
/// network come from further away, once for a group, which is as large as a product can use.
const SMALL: usize = 1 << 16;

/// A network's weights in the order in which the kernels read them.
pub(super) struct Kernels {
    activation: Activation,
    /// The number of blocks in a group.
    group: usize,
    /// The first layer's lines of weights of all levels of all attributes that are not scaled,
    /// [`LANES`] outputs a row and zeros at the end of each; the last line is zeros, for codes
    /// outside the domain.
    lines: Vec<Row>,
    /// The number of rows in a line.
    line: usize,
    /// The number of attributes that are scaled, and of those that are not.
    scaled: usize,
    levelled: usize,
    layers: Vec<Layer>,
    /// Memory that is not in use now.
    rooms: Mutex<Vec<Memory>>,
}

/// The weights of one layer.
struct Layer {
    bias: Vec<f32>,
    /// The product with the layer's inputs; in the first layer with the scaled attributes.
    forward: Product,
    /// The transposed product, back to the inputs; in the first layer to all features.
    backward: Product,
    /// The number of outputs of `backward`.
    inputs: usize,
}

/// The memory that a group of blocks works in.
struct Memory {
    /// The numbers of the scaled attributes: `[blocks, scaled]`.
    numbers: Vec<Row>,
    /// The line that each lane takes: `[blocks, attributes that are not scaled]`.
    levels: Vec<[u32; LANES]>,
    /// The values of each layer: `[blocks, outputs]`.
    values: Vec<Vec<Row>>,
    /// The gradients that are passed from layer to layer on the way back: `[blocks, widest layer]`
    /// twice.
    passed: [Vec<Row>; 2],
}

impl Kernels {
    /// Lays out `layers`, the first of which takes features.
    pub fn new(layout: &InputLayout, layers: &[Dense], activation: Activation) -> Kernels {
        let outputs = layers[0].outputs;
        let (mut scaled, mut levelled) = (Vec::new(), Vec::new());
        for span in layout.spans() {
            match span.encoding.is_scaled() {
                true => scaled.push(span.start),
                false => levelled.push(span.start..span.start + span.features()),
            }
        }
        let line = outputs.div_ceil(LANES);
        let features = levelled.iter().cloned().flatten();
        let mut lines = Vec::new();
        for feature in features {
            let weights = &layers[0].weight[feature * outputs..][..outputs];
            lines.extend(weights.chunks(LANES).map(|weights| {
                let mut row = Row::ZERO;
                row.0[..weights.len()].copy_from_slice(weights);
                row
            }));
        }
        lines.resize(lines.len() + line, Row::ZERO);
        let weights: usize = layers.iter().map(|layer| layer.weight.len()).sum();
        Kernels {
            activation,
            group: if weights <= SMALL {
                SMALL_GROUP
            } else {
                BUNDLE
            },
            lines,
            line,
            scaled: scaled.len(),
            levelled: levelled.len(),
            layers: layers
                .iter()
                .enumerate()
                .map(|(depth, dense)| match depth {
                    0 => Layer::new(dense, &scaled),
                    _ => Layer::new(dense, &(0..dense.inputs).collect::<Vec<_>>()),
                })
                .collect(),
            rooms: Mutex::default(),
        }
    }

    /// Computes the logits of `rows`, `[rows, classes]`.
    pub fn logits(&self, layout: &InputLayout, rows: Rows<'_>) -> Vec<f32> {
        let classes = self.layers.last().map_or(0, |layer| layer.bias.len());
        let mut logits = Vec::with_capacity(rows.len() * classes);
        let mut memory = self.room();
        for codes in rows.codes.chunks(self.group * LANES * rows.width) {
            let count = codes.len() / rows.width;
            self.encode(layout, codes, &mut memory);
            dispatch(Forward(self, &mut memory, count.div_ceil(LANES)));
            if let Some(values) = memory.values.last() {
                unpack(values, classes, count, &mut logits);
            }
        }
        self.give_back(memory);
        logits
    }

    /// Computes ∂(cotangents · logits)/∂features of `rows`, `[rows, features]`; `cotangents` are
    /// `[rows, classes]`.
    pub fn input_gradients(
        &self,
        layout: &InputLayout,
        rows: Rows<'_>,
        cotangents: &[f32],
    ) -> Vec<f32> {
        let classes = self.layers.last().map_or(0, |layer| layer.bias.len());
        let features = layout.features();
        let mut gradients = Vec::with_capacity(rows.len() * features);
        let mut memory = self.room();
        let height = self.group * LANES;
        for (codes, cotangents) in rows
            .codes
            .chunks(height * rows.width)
            .zip(cotangents.chunks(height * classes))
        {
            let count = codes.len() / rows.width;
            let blocks = count.div_ceil(LANES);
            self.encode(layout, codes, &mut memory);
            pack(cotangents, classes, &mut memory.passed[0]);
            dispatch(Forward(self, &mut memory, blocks));
            dispatch(Backward(self, &mut memory, blocks));
            unpack(&memory.passed[0], features, count, &mut gradients);
        }
        self.give_back(memory);
        gradients
    }

    /// Returns memory for a group, used again if there is some.
    fn room(&self) -> Memory {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.pop().unwrap_or_else(|| Memory::new(self))
    }

    fn give_back(&self, room: Memory) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.push(room);
    }

    /// Writes a group's inputs to `memory`; lanes to spare get zeros. The function is kept out of
    /// the kernels, where the compiler would make slow gathers of the copies.
    #[inline(never)]
    fn encode(&self, layout: &InputLayout, codes: &[i32], memory: &mut Memory) {
        let width = layout.spans().len();
        let none = (self.lines.len() / self.line.max(1) - 1) as u32;
        for (block, codes) in codes.chunks(LANES * width).enumerate() {
            let mut numbers = memory.numbers[block * self.scaled..].iter_mut();
            let mut levels = memory.levels[block * self.levelled..].iter_mut();
            let mut first = 0;
            for (attribute, span) in layout.spans().iter().enumerate() {
                let column = codes.iter().skip(attribute).step_by(width);
                if let Encoding::Scaled { mean, .. } = span.encoding {
                    if let Some(numbers) = numbers.next() {
                        *numbers = Row::ZERO;
                        for (number, &code) in numbers.0.iter_mut().zip(column) {
                            *number = code as f32 - mean;
                        }
                    }
                } else if let Some(lines) = levels.next() {
                    *lines = [none; LANES];
                    for (line, &code) in lines.iter_mut().zip(column) {
                        *line = span.level(code).map_or(none, |level| first + level as u32);
                    }
                    first += span.levels as u32;
                }
            }
        }
    }

    /// Sums the first layer's biases and the weights of the levels of a block, which has some.
    #[inline(always)]
    fn gather<S: Simd>(&self, simd: S, levels: &[[u32; LANES]], sums: &mut [Row]) {
        let biases = self.layers[0].bias.chunks(LANES);
        for (part_of_line, (sums, biases)) in sums.chunks_mut(LANES).zip(biases).enumerate() {
            let mut tile = [Row::ZERO; LANES];
            for (lane, row) in tile.iter_mut().enumerate() {
                for part in 0..parts::<S>() {
                    let mut sum = simd.splat_f32s(0.0);
                    for lines in levels {
                        let line = lines[lane] as usize * self.line + part_of_line;
                        sum = simd.add_f32s(sum, load::<S>(&self.lines[line], part));
                    }
                    store::<S>(row, part, sum);
                }
            }
            transpose(&mut tile);
            for ((sum, row), &bias) in sums.iter_mut().zip(&tile).zip(biases) {
                for part in 0..parts::<S>() {
                    let bias = simd.splat_f32s(bias);
                    store::<S>(sum, part, simd.add_f32s(bias, load::<S>(row, part)));
                }
            }
        }
    }
}

impl Layer {
    /// Lays out `dense`; its forward product takes the inputs `taken` only.
    fn new(dense: &Dense, taken: &[usize]) -> Layer {
        let outputs = dense.outputs;
        let weight = |output: usize, input: usize| dense.weight[input * outputs + output];
        Layer {
            bias: dense.bias.clone(),
            forward: Product::new(outputs, taken.len(), |output, i| weight(output, taken[i])),
            backward: Product::new(dense.inputs, outputs, |input, output| weight(output, input)),
            inputs: dense.inputs,
        }
    }
}

impl Memory {
    /// Returns memory for a group.
    fn new(kernels: &Kernels) -> Memory {
        let blocks = kernels.group;
        let rows = |width: usize| vec![Row::ZERO; blocks * width];
        let layers = || kernels.layers.iter();
        let widest = layers().map(|layer| layer.inputs.max(layer.bias.len()));
        let widest = widest.max().unwrap_or(0);
        Memory {
            numbers: rows(kernels.scaled),
            levels: vec![[0; LANES]; blocks * kernels.levelled],
            values: layers().map(|layer| rows(layer.bias.len())).collect(),
            passed: [rows(widest), rows(widest)],
        }
    }
}

/// The forward pass of all layers over a number of blocks: the inputs in memory become values.
struct Forward<'a>(&'a Kernels, &'a mut Memory, usize);

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward(kernels, memory, blocks) = self;
        for (depth, layer) in kernels.layers.iter().enumerate() {
            let width = layer.bias.len();
            let (below, above) = memory.values.split_at_mut(depth);
            let values = &mut above[0][..blocks * width];
            let is_hidden = depth + 1 < kernels.layers.len();
            let mut ends = LayerEnds {
                bias: Some(&layer.bias),
                activation: is_hidden.then_some(kernels.activation),
            };
            let below = match below.last() {
                None => {
                    if kernels.levelled > 0 {
                        for (block, sums) in values.chunks_exact_mut(width).enumerate() {
                            let levels = &memory.levels[block * kernels.levelled..];
                            kernels.gather(simd, &levels[..kernels.levelled], sums);
                        }
                        ends.bias = None;
                    }
                    (&memory.numbers[..], kernels.scaled)
                }
                Some(below) => (&below[..], layer.inputs),
            };
            layer.forward.steps(simd, below, values, &ends);
        }
    }
}

/// The ends of a layer's sums: a sum starts at its bias, or at what is there where the bias is
/// already in it, and ends in the activation.
struct LayerEnds<'a> {
    bias: Option<&'a [f32]>,
    activation: Option<Activation>,
}

impl<S: Simd> Ends<S> for LayerEnds<'_> {
    #[inline(always)]
    fn start(&self, simd: S, output: usize, y: S::f32s) -> S::f32s {
        match self.bias {
            Some(bias) => simd.splat_f32s(bias[output]),
            None => y,
        }
    }

    #[inline(always)]
    fn finish(&self, simd: S, _place: usize, _part: usize, sum: S::f32s) -> S::f32s {
        match self.activation {
            Some(activation) => activate(simd, activation, sum),
            None => sum,
        }
    }
}

/// The backward pass of all layers over a number of blocks, from the last layer to the first: what
/// is passed on, at first the cotangents, becomes the gradient with respect to the features. The
/// gradients stand in the first of the two vectors of `passed`, `[blocks, width]`.
struct Backward<'a>(&'a Kernels, &'a mut Memory, usize);

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward(kernels, memory, blocks) = self;
        let (values, passed) = (&memory.values, &mut memory.passed);
        for (depth, layer) in kernels.layers.iter().enumerate().rev() {
            let [outer, inner] = &mut *passed;
            let gradients = &mut inner[..blocks * layer.inputs];
            let ends = GradientEnds {
                activation: kernels.activation,
                values: depth.checked_sub(1).map(|below| &values[below][..]),
            };
            let outer = (&outer[..], layer.bias.len());
            layer.backward.steps(simd, outer, gradients, &ends);
            passed.swap(0, 1);
        }
    }
}

/// The ends of the sums of gradients: a sum starts at nothing, and ends in the derivative of the
/// activation below, if there is one, at its values.
struct GradientEnds<'a> {
    activation: Activation,
    values: Option<&'a [Row]>,
}

impl<S: Simd> Ends<S> for GradientEnds<'_> {
    #[inline(always)]
    fn start(&self, simd: S, _output: usize, _y: S::f32s) -> S::f32s {
        simd.splat_f32s(0.0)
    }

    #[inline(always)]
    fn finish(&self, simd: S, place: usize, part: usize, sum: S::f32s) -> S::f32s {
        match self.values {
            Some(values) => {
                let value = load::<S>(&values[place], part);
                deactivate(simd, self.activation, value, sum)
            }
            None => sum,
        }
    }
}

/// Applies the activation. NaN stays NaN, so that an overflow shows in the logits.
#[inline(always)]
pub(crate) fn activate<S: Simd>(simd: S, activation: Activation, x: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    match activation {
        Activation::Relu => simd.select_f32s(simd.less_than_f32s(x, zero), zero, x),
        Activation::Tanh => number_or(simd, x, activation::tanh(simd, x)),
        Activation::Sigmoid => number_or(simd, x, activation::sigmoid(simd, x)),
    }
}

/// Returns y where x is a number, else x.
#[inline(always)]
fn number_or<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
    simd.select_f32s(simd.equal_f32s(x, x), y, x)
}

/// Multiplies a gradient with the activation's derivative, by its value: 1 where v > 0, 1 − v², or
/// v − v².
#[inline(always)]
pub(crate) fn deactivate<S: Simd>(
    simd: S,
    activation: Activation,
    v: S::f32s,
    g: S::f32s,
) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let squared = |of: S::f32s| simd.mul_add_f32s(simd.neg_f32s(v), v, of);
    match activation {
        Activation::Relu => simd.select_f32s(simd.less_than_or_equal_f32s(v, zero), zero, g),
        Activation::Tanh => simd.mul_f32s(g, squared(simd.splat_f32s(1.0))),
        Activation::Sigmoid => simd.mul_f32s(g, squared(v)),
    }
}

/// Puts numbers `[rows, width]` into lanes, `[blocks, width]`; lanes to spare get zeros.
#[inline(never)]
fn pack(numbers: &[f32], width: usize, rows: &mut [Row]) {
    let blocks = numbers.chunks(LANES * width);
    for (numbers, rows) in blocks.zip(rows.chunks_exact_mut(width)) {
        for (i, row) in rows.iter_mut().enumerate() {
            *row = Row::ZERO;
            let column = numbers.iter().skip(i).step_by(width);
            for (value, &number) in row.0.iter_mut().zip(column) {
                *value = number;
            }
        }
    }
}

/// Appends the numbers of the first `count` inputs from `[blocks, width]` rows: `[count, width]`.
#[inline(never)]
fn unpack(rows: &[Row], width: usize, count: usize, numbers: &mut Vec<f32>) {
    for item in 0..count {
        let block = &rows[item / LANES * width..][..width];
        numbers.extend(block.iter().map(|row| row.0[item % LANES]));
    }
}
