//! The answers of a network by plain loops in 64 bits: the independent path that tests and
//! verification hold the kernels' answers against.

use pulp::{Simd, WithSimd};

use super::network::{Activation, Dense, Network};
use crate::Rows;
use crate::encoding::InputLayout;
use crate::lanes::dispatch;

/// The number of rows that go through the loops together.
const BLOCK: usize = 8;

/// The number of outputs that are computed together: as many sums as keep two adders busy.
const TILE: usize = 8;

/// One number of each row of a block.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Numbers([f64; BLOCK]);

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
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for codes in rows.codes.chunks(BLOCK * rows.width.max(1)) {
            let count = codes.len() / rows.width;
            x.clear();
            x.resize(self.layout.features(), Numbers([0.0; BLOCK]));
            for (place, row) in codes.chunks_exact(rows.width).enumerate() {
                features.clear();
                self.layout.encode(row, &mut features);
                for (x, &feature) in x.iter_mut().zip(&features) {
                    x.0[place] = f64::from(feature);
                }
            }
            for (depth, layer) in self.layers.iter().enumerate() {
                y.clear();
                y.resize(
                    layer.weights.len() / layer.inputs.max(1) * TILE,
                    Numbers([0.0; BLOCK]),
                );
                dispatch(Sums {
                    layer,
                    x: &x,
                    y: &mut y,
                });
                if depth + 1 < self.layers.len() {
                    for y in y.iter_mut().flat_map(|y| &mut y.0) {
                        *y = self.activation.plain(*y);
                    }
                }
                y.truncate(layer.bias.len());
                std::mem::swap(&mut x, &mut y);
            }
            logits.extend((0..count).flat_map(|place| x.iter().map(move |x| x.0[place])));
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

/// The sums of a layer over the numbers `x` of a block, whose outputs `y` are those of whole tiles.
struct Sums<'a> {
    layer: &'a Layer,
    x: &'a [Numbers],
    y: &'a mut [Numbers],
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sums { layer, x, y } = self;
        let tiles = y.chunks_exact_mut(TILE).zip(layer.bias.chunks(TILE));
        for ((y, bias), weights) in tiles.zip(layer.weights.chunks_exact(layer.inputs.max(1))) {
            for part in 0..BLOCK / S::F64_LANES {
                let mut sums = [simd.splat_f64s(0.0); TILE];
                for (sum, &bias) in sums.iter_mut().zip(bias) {
                    *sum = simd.splat_f64s(bias);
                }
                for (x, weights) in x.iter().zip(weights) {
                    let x = S::as_simd_f64s(&x.0).0[part];
                    for (sum, &weight) in sums.iter_mut().zip(weights) {
                        let product = simd.mul_f64s(x, simd.splat_f64s(weight));
                        *sum = simd.add_f64s(*sum, product);
                    }
                }
                for (y, sum) in y.iter_mut().zip(sums) {
                    S::as_mut_simd_f64s(&mut y.0).0[part] = sum;
                }
            }
        }
    }
}

impl Network {
    /// Computes the logits of one row by plain loops in f64: see [`Reference`].
    pub fn reference_logits(&self, row: &[i32]) -> Vec<f64> {
        Reference::new(self).logits(Rows::new(row, row.len()))
    }
}
