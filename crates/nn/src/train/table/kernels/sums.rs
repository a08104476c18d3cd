//! The steps of a layer on the rows of a shard.

use pulp::Simd;

use super::first::NONE;
use super::{Layer, SHARD, Weights};
use crate::fnn::{Activation, activate, deactivate};
use crate::lanes::{LANES, Product, ProductPass, Row, load, parts, store, transpose};

/// The number of blocks in a shard.
pub(super) const BLOCKS: usize = SHARD / LANES;

/// Computes the gradient with respect to the numbers that embedded attributes give the first layer.
#[inline(always)]
pub(super) fn inner<S: Simd>(simd: S, layer: &Layer<'_>, delta: &[Row], inner: &mut [Row]) {
    if !inner.is_empty() {
        inner.fill(Row::ZERO);
        let used = delta.len() / layer.outputs * (inner.len() / BLOCKS);
        let delta = (delta, layer.outputs);
        add_product(simd, &layer.backward, delta, &mut inner[..used]);
    }
}

/// Computes the sums of the first layer, `[blocks, outputs]`.
#[inline(always)]
pub(super) fn first_sums<S: Simd>(
    simd: S,
    weights: &Weights<'_>,
    (numbers, levels): (&[Row], &[[u32; LANES]]),
    sums: &mut [Row],
) {
    let layer = &weights.layers[0];
    let (outputs, levelled) = (layer.outputs, weights.inputs.levelled);
    for (block, sums) in sums.chunks_exact_mut(outputs).enumerate() {
        start_sums(sums, layer.bias);
        if levelled > 0 {
            let levels = &levels[block * levelled..][..levelled];
            add_levels(layer, levels, sums);
        }
    }
    let numbers = (numbers, weights.inputs.numbers.len());
    add_product(simd, &layer.forward, numbers, sums);
}

/// Calls [`Product::add_steps`] as a function of its own: it is long, and there are many products.
#[inline(always)]
pub(super) fn add_product<S: Simd>(
    simd: S,
    product: &Product,
    (x, x_stride): (&[Row], usize),
    y: &mut [Row],
) {
    simd.vectorize(ProductPass {
        product,
        x,
        x_stride,
        y,
    });
}

/// Starts sums with the biases.
#[inline(always)]
pub(super) fn start_sums(sums: &mut [Row], bias: &[f32]) {
    for (sum, &bias) in sums.iter_mut().zip(bias) {
        *sum = Row::splat(bias);
    }
}

/// Adds the weights of the levels of a block.
#[inline(always)]
fn add_levels(layer: &Layer<'_>, levels: &[[u32; LANES]], sums: &mut [Row]) {
    for (line, sums) in sums.chunks_mut(LANES).enumerate() {
        let mut lines = [Row::ZERO; LANES];
        for (lane, of_lane) in lines.iter_mut().enumerate() {
            for rows in levels.iter().filter(|rows| rows[lane] != NONE) {
                let start = rows[lane] as usize * layer.outputs + line * LANES;
                let weights = &layer.weight[start..][..sums.len()];
                for (sum, weight) in of_lane.0.iter_mut().zip(weights) {
                    *sum += weight;
                }
            }
        }
        transpose(&mut lines);
        for (sum, of_levels) in sums.iter_mut().zip(&lines) {
            for (sum, value) in sum.0.iter_mut().zip(&of_levels.0) {
                *sum += value;
            }
        }
    }
}

/// Applies the activation to all values.
#[inline(always)]
pub(super) fn activate_all<S: Simd>(simd: S, activation: Activation, values: &mut [Row]) {
    for row in values {
        for part in 0..parts::<S>() {
            let value = activate(simd, activation, load::<S>(row, part));
            store::<S>(row, part, value);
        }
    }
}

/// Multiplies gradients with the activation's derivative, by its `values`.
#[inline(always)]
pub(super) fn deactivate_all<S: Simd>(
    simd: S,
    activation: Activation,
    values: &[Row],
    gradients: &mut [Row],
) {
    for (row, value) in gradients.iter_mut().zip(values) {
        for part in 0..parts::<S>() {
            let (value, gradient) = (load::<S>(value, part), load::<S>(row, part));
            store::<S>(row, part, deactivate(simd, activation, value, gradient));
        }
    }
}

/// Multiplies `rows` with `factors`, number by number.
#[inline(always)]
pub(super) fn multiply<S: Simd>(simd: S, factors: &[Row], rows: &mut [Row]) {
    for (row, factor) in rows.iter_mut().zip(factors) {
        for part in 0..parts::<S>() {
            let product = simd.mul_f32s(load::<S>(row, part), load::<S>(factor, part));
            store::<S>(row, part, product);
        }
    }
}

/// Turns numbers `[blocks, width]` into `lines`, `[lines of LANES numbers, SHARD]`. The function is
/// kept out of the kernels, where the compiler would make slow scatters of the copies.
#[inline(never)]
pub(super) fn to_lines(numbers: &[Row], width: usize, lines: &mut [Row]) {
    for (block, numbers) in numbers.chunks_exact(width).enumerate() {
        for (line, numbers) in numbers.chunks(LANES).enumerate() {
            let lines = &mut lines[line * SHARD + block * LANES..][..LANES];
            for (i, row) in numbers.iter().enumerate() {
                for (line, &value) in lines.iter_mut().zip(&row.0) {
                    line.0[i] = value;
                }
            }
        }
    }
}
