//! The answers of a network by plain loops in 64 bits: the independent path that tests and
//! verification hold the kernels' answers against.

use pulp::{Simd, WithSimd};

use super::network::{Activation, Dense, Network};
use crate::Rows;
use crate::encoding::InputLayout;
use crate::lanes::dispatch;

/// The number of rows that go through the loops together.
const BLOCK: usize = 8;

/// The number of outputs that are computed together.
const TILE: usize = 4;

/// One number of each row of a block.
type Numbers = [f64; BLOCK];

/// A network's numbers in 64 bits, and its answers by plain loops.
///
/// For each row a layer's sum begins with its bias and adds its products one by one in the order of
/// the inputs, each of the two roundings by itself: a row's logits do not depend on the others.
pub struct Reference {
    layout: InputLayout,
    layers: Vec<Layer>,
    activation: Activation,
}

struct Layer {
    /// The weights of [`TILE`] outputs, input by input, then those of the next ones; past the last
    /// output zeros.
    weights: Vec<[f64; TILE]>,
    inputs: usize,
    bias: Vec<f64>,
}

impl Reference {
    /// Takes over the numbers of `network`.
    pub fn new(network: &Network) -> Reference {
        let first = network.absorbed_first_layer();
        let layers = std::iter::once(&first).chain(&network.layers[1..]);
        Reference {
            layout: network.layout.clone(),
            layers: layers.map(Layer::new).collect(),
            activation: network.activation,
        }
    }

    /// Computes the logits of `rows`, `[rows, classes]`.
    pub fn logits(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut logits = Vec::new();
        let mut features = Vec::new();
        for codes in rows.codes.chunks(BLOCK * rows.width.max(1)) {
            let count = codes.len() / rows.width;
            let mut x = vec![[0.0; BLOCK]; self.layout.features()];
            for (place, row) in codes.chunks_exact(rows.width).enumerate() {
                features.clear();
                self.layout.encode(row, &mut features);
                for (x, &feature) in x.iter_mut().zip(&features) {
                    x[place] = f64::from(feature);
                }
            }
            for (depth, layer) in self.layers.iter().enumerate() {
                x = dispatch(Sums(layer, &x));
                if depth + 1 < self.layers.len() {
                    for x in x.iter_mut().flatten() {
                        *x = self.activation.plain(*x);
                    }
                }
            }
            logits.extend((0..count).flat_map(|place| x.iter().map(move |x| x[place])));
        }
        logits
    }
}

impl Layer {
    fn new(dense: &Dense) -> Layer {
        let mut weights = Vec::with_capacity(dense.inputs * dense.outputs.div_ceil(TILE));
        for first in (0..dense.outputs).step_by(TILE) {
            for weight in dense.weight.chunks_exact(dense.outputs) {
                let mut tile = [0.0; TILE];
                for (to, &weight) in tile.iter_mut().zip(&weight[first..]) {
                    *to = f64::from(weight);
                }
                weights.push(tile);
            }
        }
        Layer {
            weights,
            inputs: dense.inputs,
            bias: dense.bias.iter().map(|&bias| f64::from(bias)).collect(),
        }
    }
}

/// The sums of a layer over the numbers of a block. No operation is written for registers: with the
/// widest ones allowed, the compiler finds them by itself.
struct Sums<'a>(&'a Layer, &'a [Numbers]);

impl WithSimd for Sums<'_> {
    type Output = Vec<Numbers>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Vec<Numbers> {
        let Sums(layer, x) = self;
        let mut y = vec![[0.0; BLOCK]; layer.bias.len()];
        let tiles = y.chunks_mut(TILE).zip(layer.bias.chunks(TILE));
        for (tile, (y, bias)) in tiles.enumerate() {
            let weights = &layer.weights[tile * layer.inputs..][..layer.inputs];
            let mut sums = [[0.0; BLOCK]; TILE];
            for (sum, &bias) in sums.iter_mut().zip(bias) {
                *sum = [bias; BLOCK];
            }
            for (x, weights) in x.iter().zip(weights) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    for (sum, x) in sum.iter_mut().zip(x) {
                        *sum += x * weight;
                    }
                }
            }
            y.copy_from_slice(&sums[..y.len()]);
        }
        y
    }
}

impl Network {
    /// Computes the logits of one row by plain loops in f64: see [`Reference`].
    pub fn reference_logits(&self, row: &[i32]) -> Vec<f64> {
        Reference::new(self).logits(Rows::new(row, row.len()))
    }
}
