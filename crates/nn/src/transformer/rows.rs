//! Operations on the rows of a matrix one by one: normalisation, softmax, activations, and their
//! derivatives.
//!
//! Sums over a row are kept in [`LANES`] parts, whatever the width of the machine's registers, so
//! that their bits are the same on every processor.

use pulp::{Simd, WithSimd};

use super::shape::InnerActivation;
use crate::lanes::activation::{exp_of_negative, normal, tanh};
use crate::lanes::{LANES, Row};

/// The constants √(2/π) and the factor of the cube in the approximation of GELU by tanh (Hendrycks,
/// Gimpel 2016).
const GELU_TANH: (f32, f32) = (0.797_884_6, 0.044_715);

/// Computes Σ term(a, b) over the pairs of numbers of two lists of equal length.
#[inline(always)]
fn sum(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = Row::ZERO;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes.0[lane] += term(a[lane], b[lane]);
        }
    }
    for ((sum, a), b) in lanes.0.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += term(*a, *b);
    }
    lanes.sum()
}

/// A function of a number of `x` and its partner in `y`, on registers.
/// `Pairwise` is a trait because its method can always be inlined. A closure or a function that is
/// handed over need not be: on its own it is compiled for the least of processors, and calls every
/// wide instruction as a function.
trait Pairwise {
    fn value<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s;
}

/// Applies F to every number of `x` and its partner in `y`, into `y`.
#[inline(always)]
fn zip_map<F: Pairwise, S: Simd>(simd: S, x: &[f32], y: &mut [f32]) {
    let (x, x_rest) = S::as_simd_f32s(x);
    let (y, y_rest) = S::as_mut_simd_f32s(y);
    for (x, y) in x.iter().zip(y) {
        *y = F::value(simd, *x, *y);
    }
    if !y_rest.is_empty() {
        let (x, y) = (
            simd.partial_load_f32s(x_rest),
            simd.partial_load_f32s(y_rest),
        );
        simd.partial_store_f32s(y_rest, F::value(simd, x, y));
    }
}

/// A task that turns rows x into (x − mean)/√(variance + ε)·gain + bias (Ba et al. 2016).
pub struct Normalise<'a> {
    /// The rows x, `[rows, units]`.
    pub rows: &'a mut [f32],
    /// The gain, `[units]`.
    pub gain: &'a [f32],
    /// The bias, `[units]`.
    pub bias: &'a [f32],
    /// The number ε.
    pub epsilon: f32,
    /// The place where the values for a backward pass are kept.
    pub kept: Option<&'a mut Normalised>,
}

/// The values that normalisation leaves for its derivative.
#[derive(Debug, Default)]
pub struct Normalised {
    /// The normalised values, (x − mean)/√(variance + ε): `[rows, units]`.
    pub values: Vec<f32>,
    /// The scales, 1/√(variance + ε): `[rows]`.
    pub scales: Vec<f32>,
}

impl WithSimd for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let units = self.gain.len();
        let mut kept = self.kept;
        if let Some(kept) = kept.as_deref_mut() {
            kept.values.clear();
            kept.scales.clear();
        }
        for row in self.rows.chunks_exact_mut(units.max(1)) {
            let mean = sum(row, row, |x, _| x) / units as f32;
            let square = |x: f32, _| (x - mean) * (x - mean);
            let variance = sum(row, row, square) / units as f32;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            for value in row.iter_mut() {
                *value = (*value - mean) * scale;
            }
            if let Some(kept) = kept.as_deref_mut() {
                kept.values.extend_from_slice(row);
                kept.scales.push(scale);
            }
            for ((value, gain), bias) in row.iter_mut().zip(self.gain).zip(self.bias) {
                *value = value.mul_add(*gain, *bias);
            }
        }
    }
}

/// A task that turns gradients with respect to the results of [`Normalise`] into those with respect
/// to its rows; the gradients with respect to gain and bias are added to the sums of these.
pub struct NormaliseBack<'a> {
    /// The gradients, `[rows, units]`.
    pub gradients: &'a mut [f32],
    /// The gain, `[units]`.
    pub gain: &'a [f32],
    /// The values that the forward pass kept.
    pub kept: &'a Normalised,
    /// The sums of gradients with respect to gain and bias, each `[units]`, where they are wanted.
    pub parameters: Option<(&'a mut [f32], &'a mut [f32])>,
}

impl WithSimd for NormaliseBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let units = self.gain.len();
        let mut parameters = self.parameters;
        let kept = self.kept.values.chunks_exact(units.max(1));
        let rows = self.gradients.chunks_exact_mut(units.max(1));
        for ((row, values), scale) in rows.zip(kept).zip(&self.kept.scales) {
            if let Some((gain, bias)) = &mut parameters {
                for ((gain, &value), &x) in gain.iter_mut().zip(&*row).zip(values) {
                    *gain = value.mul_add(x, *gain);
                }
                add_rows(row, bias);
            }
            for (value, gain) in row.iter_mut().zip(self.gain) {
                *value *= gain;
            }
            let mean = sum(row, row, |x, _| x) / units as f32;
            let slope = sum(row, values, |x, y| x * y) / units as f32;
            for (value, x) in row.iter_mut().zip(values) {
                *value = (*value - mean - x * slope) * scale;
            }
        }
    }
}

/// A task that turns rows of scores into the softmax of `factor` times them.
pub struct Softmax<'a> {
    /// The rows of scores, `[rows, width]`.
    pub rows: &'a mut [f32],
    /// The number of numbers in a row.
    pub width: usize,
    /// The factor of the scores, above 0.
    pub factor: f32,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.width.max(1)) {
            exponentials(simd, row, self.factor);
            let total = 1.0 / sum(row, row, |x, _| x);
            for value in row.iter_mut() {
                *value *= total;
            }
        }
    }
}

/// Turns each x of a row into e^(factor·(x − largest)); returns the largest.
#[inline(always)]
fn exponentials<S: Simd>(simd: S, row: &mut [f32], factor: f32) -> f32 {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for value in row.iter_mut() {
        *value = (*value - largest) * factor;
    }
    let (whole, rest) = S::as_mut_simd_f32s(row);
    for value in whole {
        *value = exp_of_negative(simd, *value);
    }
    if !rest.is_empty() {
        let last = exp_of_negative(simd, simd.partial_load_f32s(rest));
        simd.partial_store_f32s(rest, last);
    }
    largest
}

/// A task that computes log Σ e^x over the numbers x of a row, in whose place there is something
/// else afterwards.
pub struct LogSum<'a>(pub &'a mut [f32]);

impl WithSimd for LogSum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let largest = exponentials(simd, self.0, 1.0);
        largest + sum(self.0, self.0, |x, _| x).ln()
    }
}

/// A task that turns gradients with respect to the results of [`Softmax`] into those with respect
/// to its scores.
pub struct SoftmaxBack<'a> {
    /// The gradients, `[rows, width]`.
    pub gradients: &'a mut [f32],
    /// The results of the softmax, `[rows, width]`.
    pub values: &'a [f32],
    /// The number of numbers in a row.
    pub width: usize,
    /// The factor of the scores.
    pub factor: f32,
}

impl WithSimd for SoftmaxBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.width.max(1);
        let rows = self.gradients.chunks_exact_mut(width);
        for (row, values) in rows.zip(self.values.chunks_exact(width)) {
            let mean = sum(row, values, |x, y| x * y);
            for (value, share) in row.iter_mut().zip(values) {
                *value = (*value - mean) * share * self.factor;
            }
        }
    }
}

/// A task that computes y = act(x).
pub struct Activate<'a>(pub InnerActivation, pub &'a [f32], pub &'a mut [f32]);

impl WithSimd for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Activate(activation, x, y) = self;
        match activation {
            InnerActivation::Gelu => zip_map::<Gelu, S>(simd, x, y),
            InnerActivation::GeluTanh => zip_map::<GeluTanh, S>(simd, x, y),
            InnerActivation::Relu => zip_map::<Relu, S>(simd, x, y),
        }
    }
}

/// A task that computes y = y·act′(x).
pub struct ActivateBack<'a>(pub InnerActivation, pub &'a [f32], pub &'a mut [f32]);

impl WithSimd for ActivateBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ActivateBack(activation, x, y) = self;
        match activation {
            InnerActivation::Gelu => zip_map::<GeluBack, S>(simd, x, y),
            InnerActivation::GeluTanh => zip_map::<GeluTanhBack, S>(simd, x, y),
            InnerActivation::Relu => zip_map::<ReluBack, S>(simd, x, y),
        }
    }
}

struct Relu;

impl Pairwise for Relu {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, _: S::f32s) -> S::f32s {
        simd.max_f32s(x, simd.splat_f32s(0.0))
    }
}

struct ReluBack;

impl Pairwise for ReluBack {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
        let zero = simd.splat_f32s(0.0);
        simd.select_f32s(simd.less_than_f32s(zero, x), y, zero)
    }
}

/// The function x·Φ(x), where Φ is the distribution function of the normal distribution.
struct Gelu;

impl Pairwise for Gelu {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, _: S::f32s) -> S::f32s {
        simd.mul_f32s(x, normal(simd, x).0)
    }
}

struct GeluBack;

impl Pairwise for GeluBack {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
        let (below, density) = normal(simd, x);
        simd.mul_f32s(y, simd.mul_add_f32s(x, density, below))
    }
}

struct GeluTanh;

impl Pairwise for GeluTanh {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, _: S::f32s) -> S::f32s {
        gelu_tanh(simd, x).0
    }
}

struct GeluTanhBack;

impl Pairwise for GeluTanhBack {
    #[inline(always)]
    fn value<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
        simd.mul_f32s(y, gelu_tanh(simd, x).1)
    }
}

/// Computes x·(1 + tanh u)/2 with u = √(2/π)·(x + a·x³), and its derivative.
#[inline(always)]
fn gelu_tanh<S: Simd>(simd: S, x: S::f32s) -> (S::f32s, S::f32s) {
    let (root, cube) = GELU_TANH;
    let half = simd.splat_f32s(0.5);
    let one = simd.splat_f32s(1.0);
    let square = simd.mul_f32s(x, x);
    let inner = simd.mul_add_f32s(square, simd.splat_f32s(root * cube), simd.splat_f32s(root));
    let t = tanh(simd, simd.mul_f32s(x, inner));
    let below = simd.mul_f32s(half, simd.add_f32s(one, t));
    let slope = simd.splat_f32s(3.0 * root * cube);
    let slope = simd.mul_add_f32s(square, slope, simd.splat_f32s(root));
    let rest = simd.mul_f32s(half, simd.sub_f32s(one, simd.mul_f32s(t, t)));
    let derivative = simd.mul_add_f32s(simd.mul_f32s(x, rest), slope, below);
    (simd.mul_f32s(x, below), derivative)
}

/// Adds every row of `rows` to `total`, `[units]`.
#[inline(always)]
pub fn add_rows(rows: &[f32], total: &mut [f32]) {
    for row in rows.chunks_exact(total.len().max(1)) {
        for (total, value) in total.iter_mut().zip(row) {
            *total += value;
        }
    }
}
