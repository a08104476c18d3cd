//! Bounds on a fully connected network's logits over sets of codes of some attributes.
//!
//! # Theorem
//! Let B be a row and, for each of some attributes, a set of codes; and let `bounds` be the result
//! of [`FnnBounds::lead_bounds`] for B and class y. If `bounds[c]` > 0 for every class c ≠ y, then
//! an [`super::super::fnn::Fnn`] on the reference device (flex) predicts y for every row that takes
//! codes from the sets and is B elsewhere.
//!
//! # Proof
//! By induction over the layers, every number that the device computes lies between its bounds,
//! which are held in f64.
//! * *Sums.* The device computes s = Σ x_i·w_i + b in 32 bits. Its kernels begin with the bias and
//!   add one product after the other, each fused with its sum; in the first layer the weights of
//!   the levels, whose features are 0 or 1, are added up first. No term then passes more roundings
//!   than there are terms and two. In any order and with any fusing of which that holds,
//!   |computed − real| ≤ γ·(Σ|x_i·w_i| + |b|), γ = ku/(1−ku) with
//!   u = 2⁻²⁴ and k two more than the number of terms (Higham: Accuracy and Stability of Numerical
//!   Algorithms, sections 3.1 and 4.2). The real sum is bounded over the box of the x_i, the error
//!   by the largest |x_i| in it, and 2⁻¹²⁰ a term is given to underflow.
//! * *First layer.* What stands before it is multiplied in by the same code for device and bounds,
//!   so both have the same 32-bit weights and features. The sum over the features is additive in
//!   the attributes: its hull is the sum of one hull an attribute, each over the codes of its set,
//!   and no product of domains is enumerated.
//! * *Activations.* ReLU is exact. The kernels' tanh and σ err by less than 2·10⁻⁷ and stay within
//!   −1, 0 and 1 (a test of `lanes::activation` sweeps them), and both functions rise:
//!   f(low) − 10⁻⁶ and f(high) + 10⁻⁶ bound them.
//! * *Leads.* logit_y − logit_c is bounded as one sum with the weights w_y − w_c over the last box,
//!   less the error of both logits.
//! * f64's own rounding, some 10⁻¹⁶ of Σ|terms|, is covered by taking γ larger by a thousandth.
//! * *Overflow.* Where |bound| exceeds what 32 bits hold, the lead's bounds are NaN. ∎

use crate::encoding::{InputLayout, Span};
use crate::fnn::{Activation, Dense, Network};

/// The largest error that a tanh or σ of the device may have.
pub const ACTIVATION_ERROR: f64 = 1e-6;

/// The contribution of a set of codes to the first layer's sums: for each output the bounds, and
/// the largest Σ|terms|.
#[derive(Debug, Clone, PartialEq)]
struct Contribution {
    low: f64,
    high: f64,
    size: f64,
}

/// A set of codes of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSet {
    /// The attribute.
    pub attribute: usize,
    /// The codes of the set; at least one.
    pub codes: Vec<i32>,
}

/// A network, ready for bounds.
#[derive(Debug, Clone)]
pub struct FnnBounds {
    layout: InputLayout,
    activation: Activation,
    layers: Vec<Dense>,
}

/// Computes γ of a sum of `terms` terms; see the module's proof.
fn gamma(terms: usize) -> f64 {
    let error = (terms + 2) as f64 * 0.5f64.powi(24);
    1.001 * error / (1.0 - error)
}

impl FnnBounds {
    /// Lays out `network`.
    pub fn new(network: &Network) -> FnnBounds {
        let mut layers = vec![network.absorbed_first_layer()];
        layers.extend_from_slice(&network.layers[1..]);
        FnnBounds {
            layout: network.layout.clone(),
            activation: network.activation,
            layers,
        }
    }

    /// Computes lower bounds on logit_`label` − logit_c over all rows that take the attributes of
    /// `sets` from them and are `row` elsewhere; infinite at c = `label`.
    pub fn lead_bounds(&self, row: &[i32], sets: &[CodeSet], label: u32) -> Vec<f64> {
        let mut bounds = self.first_layer(row, sets);
        let (Some(last), hidden) = (self.layers.last(), self.layers.len() - 1) else {
            return Vec::new();
        };
        if hidden == 0 {
            return self.first_layer_leads(row, sets, label as usize);
        }
        for layer in &self.layers[1..hidden] {
            bounds = self.activated(bounds);
            bounds = layer_bounds(layer, &bounds);
        }
        leads(last, &self.activated(bounds), label as usize)
    }

    /// Cuts the codes of a set into two parts of about equal number, along the output of the first
    /// layer that they move furthest; `None` for a set of one code.
    pub fn split(&self, set: &CodeSet) -> Option<[CodeSet; 2]> {
        if set.codes.len() < 2 {
            return None;
        }
        let sums: Vec<Vec<f64>> = set
            .codes
            .iter()
            .map(|&code| self.code_sums(set.attribute, code).0)
            .collect();
        let spread = |output: usize| {
            let values = || sums.iter().map(|sums| sums[output]);
            values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
        };
        let widest = (0..self.layers[0].outputs)
            .max_by(|&a, &b| spread(a).total_cmp(&spread(b)))
            .unwrap_or(0);
        let mut order: Vec<usize> = (0..set.codes.len()).collect();
        order.sort_by(|&a, &b| sums[a][widest].total_cmp(&sums[b][widest]));
        let part = |places: &[usize]| CodeSet {
            attribute: set.attribute,
            codes: places.iter().map(|&place| set.codes[place]).collect(),
        };
        let (lower, upper) = order.split_at(order.len() / 2);
        Some([part(lower), part(upper)])
    }

    /// Computes how far a set's codes move the first layer: the sum over its outputs of the hull's
    /// width.
    pub fn width(&self, set: &CodeSet) -> f64 {
        let contributions = self.contributions(set);
        contributions.iter().map(|c| c.high - c.low).sum()
    }

    /// Computes what a code of an attribute adds to the first layer's sums, and Σ|terms|.
    fn code_sums(&self, attribute: usize, code: i32) -> (Vec<f64>, Vec<f64>) {
        let layer = &self.layers[0];
        let span: &Span = &self.layout.spans()[attribute];
        let mut features = Vec::with_capacity(span.features());
        span.encode(code, &mut features);
        let mut sums = vec![0.0; layer.outputs];
        let mut sizes = vec![0.0; layer.outputs];
        let lines = layer.weight[span.start * layer.outputs..].chunks_exact(layer.outputs);
        for (&feature, weights) in features.iter().zip(lines) {
            for ((sum, size), &weight) in sums.iter_mut().zip(&mut sizes).zip(weights) {
                let product = f64::from(feature) * f64::from(weight);
                *sum += product;
                *size += product.abs();
            }
        }
        (sums, sizes)
    }

    fn contributions(&self, set: &CodeSet) -> Vec<Contribution> {
        let mut hull: Vec<Contribution> = Vec::new();
        for &code in &set.codes {
            let (sums, sizes) = self.code_sums(set.attribute, code);
            if hull.is_empty() {
                let both = sums.into_iter().zip(sizes);
                hull = both
                    .map(|(sum, size)| Contribution {
                        low: sum,
                        high: sum,
                        size,
                    })
                    .collect();
                continue;
            }
            for (own, (sum, size)) in hull.iter_mut().zip(sums.into_iter().zip(sizes)) {
                own.low = own.low.min(sum);
                own.high = own.high.max(sum);
                own.size = own.size.max(size);
            }
        }
        hull
    }

    /// Computes the first layer's sums without rounding, and the size of their terms.
    fn first_sums(&self, row: &[i32], sets: &[CodeSet]) -> Vec<Contribution> {
        let layer = &self.layers[0];
        let mut sums: Vec<Contribution> = layer
            .bias
            .iter()
            .map(|&bias| Contribution {
                low: f64::from(bias),
                high: f64::from(bias),
                size: f64::from(bias).abs(),
            })
            .collect();
        for (attribute, &code) in row.iter().enumerate() {
            let set = sets.iter().find(|set| set.attribute == attribute);
            let own = match set {
                Some(set) => self.contributions(set),
                None => self.contributions(&CodeSet {
                    attribute,
                    codes: vec![code],
                }),
            };
            for (sum, own) in sums.iter_mut().zip(own) {
                sum.low += own.low;
                sum.high += own.high;
                sum.size += own.size;
            }
        }
        sums
    }

    fn first_layer(&self, row: &[i32], sets: &[CodeSet]) -> Vec<[f64; 2]> {
        let terms = self.layout.features();
        let rounded = |sum: Contribution| {
            let error = error(terms, sum.size);
            [sum.low - error, sum.high + error]
        };
        self.first_sums(row, sets)
            .into_iter()
            .map(rounded)
            .collect()
    }

    /// Computes the leads of a network of one layer: the difference of two logits is itself
    /// additive in the attributes.
    fn first_layer_leads(&self, row: &[i32], sets: &[CodeSet], label: usize) -> Vec<f64> {
        let terms = self.layout.features();
        let sizes: Vec<f64> = self.first_sums(row, sets).iter().map(|c| c.size).collect();
        let layer = &self.layers[0];
        let lead = |class: usize| {
            if class == label {
                return f64::INFINITY;
            }
            let mut lead = f64::from(layer.bias[label]) - f64::from(layer.bias[class]);
            for (attribute, &code) in row.iter().enumerate() {
                let difference = |&code: &i32| {
                    let (sums, _) = self.code_sums(attribute, code);
                    sums[label] - sums[class]
                };
                let set = sets.iter().find(|set| set.attribute == attribute);
                let codes = set.map_or(std::slice::from_ref(&code), |set| &set.codes);
                lead += codes.iter().map(difference).fold(f64::INFINITY, f64::min);
            }
            lead - error(terms, sizes[label] + sizes[class])
        };
        (0..layer.outputs).map(lead).collect()
    }

    fn activated(&self, bounds: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        let apply = |[low, high]: [f64; 2]| {
            let rising = |f: fn(f64) -> f64, least: f64| {
                [
                    (f(low) - ACTIVATION_ERROR).max(least),
                    (f(high) + ACTIVATION_ERROR).min(1.0),
                ]
            };
            // Maxima would lose a NaN.
            if !(low + high).is_finite() {
                return [f64::NAN; 2];
            }
            match self.activation {
                Activation::Relu => [low.max(0.0), high.max(0.0)],
                Activation::Tanh => rising(f64::tanh, -1.0),
                Activation::Sigmoid => rising(|x| 1.0 / (1.0 + (-x).exp()), 0.0),
            }
        };
        bounds.into_iter().map(apply).collect()
    }
}

/// Bounds the error of a computed sum of `terms` terms, of sizes that add to `size`; NaN where the
/// sum may overflow.
fn error(terms: usize, size: f64) -> f64 {
    gamma(terms) * finite(size) + (terms + 2) as f64 * 2f64.powi(-120)
}

/// Returns the largest |x| between two bounds; NaN where one bound is NaN.
fn largest(low: f64, high: f64) -> f64 {
    low.abs().max(high.abs()) + 0.0 * (low + high)
}

/// Returns `value`, or NaN for what is beyond 32 bits.
fn finite(value: f64) -> f64 {
    if value.abs() < f64::from(f32::MAX) / 2.0 {
        value
    } else {
        f64::NAN
    }
}

fn layer_bounds(layer: &Dense, inputs: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let bias = layer.bias.iter().map(|&bias| f64::from(bias));
    let mut sums: Vec<(f64, f64, f64)> = bias.map(|bias| (bias, bias, bias.abs())).collect();
    for ([low, high], weights) in inputs.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
        let largest = largest(*low, *high);
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            let weight = f64::from(weight);
            let (a, b) = (weight * low, weight * high);
            sum.0 += a.min(b);
            sum.1 += a.max(b);
            sum.2 += weight.abs() * largest;
        }
    }
    sums.into_iter()
        .map(|(low, high, size)| {
            let error = error(layer.inputs, size);
            [low - error, high + error]
        })
        .collect()
}

fn leads(layer: &Dense, inputs: &[[f64; 2]], label: usize) -> Vec<f64> {
    let lead = |class: usize| {
        if class == label {
            return f64::INFINITY;
        }
        let (own, other) = (f64::from(layer.bias[label]), f64::from(layer.bias[class]));
        let (mut lead, mut size) = (own - other, own.abs() + other.abs());
        for ([low, high], weights) in inputs.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
            let (own, other) = (f64::from(weights[label]), f64::from(weights[class]));
            let weight = own - other;
            lead += weight * if weight >= 0.0 { low } else { high };
            size += (own.abs() + other.abs()) * largest(*low, *high);
        }
        lead - error(layer.inputs, size)
    };
    (0..layer.outputs).map(lead).collect()
}

#[cfg(test)]
mod tests;
