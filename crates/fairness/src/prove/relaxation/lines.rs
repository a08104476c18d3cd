//! Lines below and above the activations of a layer, and sums over them on their way back to the
//! attributes.
//!
//! Sums are taken back side by side: `[neurons, rows]`, with the rows next to each other, so that all
//! of them pass a neuron together. A ReLU that is off is left out, one that is on passes as it is.

use probity_nn::fnn::Activation;

use super::super::network::Layer;
use super::super::product::{Lined, product};

/// The lines of a layer's activations, and the bounds within which its sums lie.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) low_slope: Vec<f64>,
    pub(super) high_slope: Vec<f64>,
    /// The lower bounds of the sums by group, `[groups, width]`.
    pub(super) group_low: Vec<f64>,
    pub(super) group_high: Vec<f64>,
    pub(super) low_cut: Vec<f64>,
    pub(super) high_cut: Vec<f64>,
    /// Neurons that are not off for certain: first the `open` ones, whose lines differ, then those
    /// that are on.
    pub(super) kept: Vec<usize>,
    pub(super) open: usize,
}

/// Sums over a layer's activations or sums, with constants, on their way back to the attributes.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// Number of sums: a multiple of [`super::super::product::LANES`].
    pub(super) rows: usize,
    /// The weights of activations, `[width, rows]`.
    pub(super) weights: Vec<f64>,
    /// The weights of the sums of neurons that are kept, `[kept, rows]`.
    pub(super) slopes: Vec<f64>,
    /// The constants, `[groups, rows]`.
    pub(super) constants: Vec<f64>,
}

impl Sums {
    /// Goes from the sums of `layer`, of which those of `lines` are kept, to the activations that
    /// it takes.
    #[inline(always)]
    pub(super) fn below(&mut self, lines: &Lines, layer: &Layer) {
        let rows = self.rows;
        for (&neuron, slopes) in lines.kept.iter().zip(self.slopes.chunks_exact(rows)) {
            let bias = layer.bias[neuron];
            for constants in self.constants.chunks_exact_mut(rows) {
                for (constant, slope) in constants.iter_mut().zip(slopes) {
                    *constant += bias * slope;
                }
            }
        }
        let weights = Lined {
            values: &layer.transposed,
            columns: layer.inputs,
            kept: &lines.kept,
        };
        product(&self.slopes, rows, &weights, &mut self.weights);
    }
}

impl Lines {
    /// Draws the bounds of all groups together, and lines that hold between them; those whose slope
    /// is free are tight where the sums are `at`.
    #[inline(always)]
    pub(super) fn draw(&mut self, activation: Activation, groups: usize, at: &[f64]) {
        let width = at.len();
        self.low = vec![f64::INFINITY; width];
        self.high = vec![f64::NEG_INFINITY; width];
        for group in 0..groups {
            let group_low = &mut self.group_low[group * width..][..width];
            let group_high = &mut self.group_high[group * width..][..width];
            for j in 0..width {
                // Bounds of two kinds of arithmetic may cross by a rounding.
                let (a, b) = (group_low[j], group_high[j]);
                let (low, high) = if a > b { (b, a) } else { (a, b) };
                (group_low[j], group_high[j]) = (low, high);
                self.low[j] = if low < self.low[j] { low } else { self.low[j] };
                self.high[j] = if high > self.high[j] {
                    high
                } else {
                    self.high[j]
                };
            }
        }
        self.low_slope = vec![0.0; width];
        self.high_slope = vec![0.0; width];
        self.low_cut = vec![0.0; groups * width];
        self.high_cut = vec![0.0; groups * width];
        self.kept.reserve(width);
        for (j, &at) in at.iter().enumerate() {
            let (low, high) = (self.low[j], self.high[j]);
            match activation {
                Activation::Relu if low >= 0.0 => {
                    self.low_slope[j] = 1.0;
                    self.high_slope[j] = 1.0;
                    continue;
                }
                Activation::Relu if high <= 0.0 => continue,
                Activation::Relu => {
                    let slope = high / (high - low);
                    self.high_slope[j] = slope;
                    for group in 0..groups {
                        let place = group * width + j;
                        // Convex, so largest at an end.
                        let over = |z: f64| z.max(0.0) - slope * z;
                        let ends = [self.group_low[place], self.group_high[place]].map(over);
                        self.high_cut[place] = ends[0].max(ends[1]);
                    }
                    self.touch(j, groups, at);
                }
                _ => self.bend(j, groups, activation),
            }
            self.kept.push(j);
        }
        self.open = self.kept.len();
        if activation == Activation::Relu {
            for j in 0..width {
                if self.low[j] >= 0.0 {
                    self.kept.push(j);
                }
            }
        }
    }

    /// Draws lower lines of ReLU that are tight where the sums are `at`.
    #[inline(always)]
    pub(super) fn retouch(&mut self, activation: Activation, groups: usize, at: &[f64]) {
        if activation != Activation::Relu {
            return;
        }
        for place in 0..self.open {
            let j = self.kept[place];
            self.touch(j, groups, at[j]);
        }
    }

    #[inline(always)]
    fn touch(&mut self, j: usize, groups: usize, at: f64) {
        let width = self.low.len();
        let slope = if at > 0.0 { 1.0 } else { 0.0 };
        self.low_slope[j] = slope;
        for group in 0..groups {
            let place = group * width + j;
            let (low, high) = (self.group_low[place], self.group_high[place]);
            // max(0, z) − slope·z over the group's own sums: 0 at the kink, if it is among them.
            self.low_cut[place] = match (low >= 0.0, high <= 0.0) {
                (true, _) => (1.0 - slope) * low,
                (_, true) => -slope * high,
                _ => 0.0,
            };
        }
    }

    /// Draws lines of an activation that is shaped like an S, with the least slope between the
    /// bounds: the function rises at least as fast, so that a line through its value at the lower
    /// bound stays below it, and one at the upper bound above.
    #[inline(always)]
    fn bend(&mut self, j: usize, groups: usize, activation: Activation) {
        let width = self.low.len();
        let steepness = |z: f64| {
            let value = plain(activation, z);
            match activation {
                Activation::Tanh => 1.0 - value * value,
                _ => value * (1.0 - value),
            }
        };
        // Where the function is flat, 1 − value² has no digits left.
        let slope = steepness(self.low[j]).min(steepness(self.high[j])) - 4e-16;
        let slope = slope.max(0.0);
        self.low_slope[j] = slope;
        self.high_slope[j] = slope;
        for group in 0..groups {
            let place = group * width + j;
            let (low, high) = (self.group_low[place], self.group_high[place]);
            // What f64's own functions err by, and what the slope errs by over the box.
            let slack = 1e-14 * (1.0 + slope * (high - low));
            self.low_cut[place] = plain(activation, low) - slope * low - slack;
            self.high_cut[place] = plain(activation, high) - slope * high + slack;
        }
    }

    /// Turns lower bounds over the activations, weighted by `weights`, into ones over the sums:
    /// `slopes` of the neurons that are kept, and what is added to `constants`.
    #[inline(always)]
    pub(super) fn back(
        &self,
        weights: &[f64],
        rows: usize,
        slopes: &mut Vec<f64>,
        constants: &mut [f64],
    ) {
        let width = self.low.len();
        slopes.clear();
        slopes.resize(self.kept.len() * rows, 0.0);
        let (open, on) = self.kept.split_at(self.open);
        let (open_slopes, on_slopes) = slopes.split_at_mut(self.open * rows);
        for (&j, slopes) in open.iter().zip(open_slopes.chunks_exact_mut(rows)) {
            let weights = &weights[j * rows..][..rows];
            let (low, high) = (self.low_slope[j], self.high_slope[j]);
            for (slope, &weight) in slopes.iter_mut().zip(weights) {
                *slope = weight * if weight > 0.0 { low } else { high };
            }
            for (group, constants) in constants.chunks_exact_mut(rows).enumerate() {
                let (low, high) = (
                    self.low_cut[group * width + j],
                    self.high_cut[group * width + j],
                );
                for (constant, &weight) in constants.iter_mut().zip(weights) {
                    *constant += weight * if weight > 0.0 { low } else { high };
                }
            }
        }
        for (&j, slopes) in on.iter().zip(on_slopes.chunks_exact_mut(rows)) {
            slopes.copy_from_slice(&weights[j * rows..][..rows]);
        }
    }
}

/// The product Σ a·b in eight sums, whose order does not depend on how wide registers are.
#[inline(always)]
pub(in super::super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let mut rest = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += a * b;
    }
    added(sums) + rest
}

#[inline(always)]
fn added(sums: [f64; 8]) -> f64 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The sum Σ weight·max(0, line·x − cut).
#[inline(always)]
pub(super) fn above(lines: &[f64], x: f64, cuts: &[f64], weights: &[f64]) -> f64 {
    let (line, line_rest) = lines.as_chunks::<8>();
    let (cut, cut_rest) = cuts.as_chunks::<8>();
    let (weight, weight_rest) = weights.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for ((line, cut), weight) in line.iter().zip(cut).zip(weight) {
        for lane in 0..8 {
            let over = line[lane] * x - cut[lane];
            sums[lane] += weight[lane] * if over > 0.0 { over } else { 0.0 };
        }
    }
    let mut rest = 0.0;
    for ((line, cut), weight) in line_rest.iter().zip(cut_rest).zip(weight_rest) {
        let over = line * x - cut;
        rest += weight * if over > 0.0 { over } else { 0.0 };
    }
    added(sums) + rest
}

/// The activation, in f64.
#[inline(always)]
pub(super) fn plain(activation: Activation, sum: f64) -> f64 {
    match activation {
        Activation::Relu => sum.max(0.0),
        Activation::Tanh => sum.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-sum).exp()),
    }
}
