//! Bounds on the lead of one class over another, as sums over attributes.

use probity_nn::fnn::Activation;

use super::super::network::Terms;
use super::super::product::LANES;
use super::cuts::Cuts;
use super::lines::{Sums, above};
use super::tables::{Convex, Grown};
use super::{LeadBound, Leads, Relaxation};

/// The place of the point at which bounds are made tight, between the middle of the box (0) and
/// where a linear approximation vanishes (1): how far it lies towards the decision boundary.
const TOWARDS_BOUNDARY: f64 = 0.3;

impl Relaxation<'_> {
    /// Bounds on the lead of class `one` over class `other`.
    #[inline(always)]
    pub fn leads(&mut self, one: usize, other: usize) -> Leads {
        let network = self.network;
        let hidden = network.layers.len();
        let Some(layer) = network.layers.last() else {
            return self.leads_of_sums(one, other);
        };
        let own = &layer.transposed[one * layer.inputs..][..layer.inputs];
        let others = &layer.transposed[other * layer.inputs..][..layer.inputs];
        let mut weights = own.to_vec();
        for (weight, other) in weights.iter_mut().zip(others) {
            *weight -= other;
        }
        let bias = layer.bias[one] - layer.bias[other];
        let point = self.towards_boundary(&weights, bias);
        let at = self.forward(&point);
        for (lines, at) in self.lines.iter_mut().zip(&at) {
            lines.retouch(network.activation, self.groups, at);
        }
        let cuts = Cuts::new(self, &point, &at[0]);
        let slack = network.double_error[hidden];
        let mut sums = self.both_leads(&weights, bias, slack);
        let mut steepness = vec![steep(&sums.weights)];
        for depth in (1..hidden).rev() {
            let Sums {
                rows,
                weights,
                slopes,
                constants,
            } = &mut sums;
            self.lines[depth].back(weights, *rows, slopes, constants);
            sums.below(&self.lines[depth], &network.layers[depth - 1]);
            steepness.push(steep(&sums.weights));
        }
        steepness.reverse();
        let gains = self.gains(&steepness);
        let error = self.lead_error(&weights, one, other);
        self.bounded(&mut sums, &cuts, (gains, error))
    }

    /// The weights of a lead and of its negative, in the first two rows.
    #[inline(always)]
    fn both_leads(&self, weights: &[f64], bias: f64, slack: f64) -> Sums {
        let mut sums = Sums {
            rows: LANES,
            weights: vec![0.0; weights.len() * LANES],
            slopes: Vec::new(),
            constants: vec![0.0; self.groups * LANES],
        };
        for (row, weight) in sums.weights.chunks_exact_mut(LANES).zip(weights) {
            (row[0], row[1]) = (*weight, -weight);
        }
        for constants in sums.constants.chunks_exact_mut(LANES) {
            (constants[0], constants[1]) = (bias - slack, -bias - slack);
        }
        sums
    }

    /// The bounds of [`Self::leads`] for a network without hidden layers, whose leads are sums
    /// themselves.
    #[inline(always)]
    fn leads_of_sums(&self, one: usize, other: usize) -> Leads {
        let network = self.network;
        let mut error = Vec::new();
        network.first_error(&self.low, &self.high, &mut error);
        let mut slopes = vec![0.0; network.width * LANES];
        for (row, sign) in [1.0, -1.0].into_iter().enumerate() {
            slopes[one * LANES + row] += sign;
            slopes[other * LANES + row] -= sign;
        }
        let constants = vec![-2.0 * network.double_error[0]; self.groups * LANES];
        let gains = vec![0.0; network.free.len()];
        let none = [Convex::default(), Convex::default()];
        let known = (gains, error[one] + error[other]);
        self.over_attributes(&slopes, &constants, &Cuts::default(), &none, known)
    }

    /// The point of the box, some way from its middle to where a linear approximation of the lead
    /// vanishes.
    #[inline(always)]
    fn towards_boundary(&self, weights: &[f64], bias: f64) -> Vec<f64> {
        let attributes = self.network.free.len();
        let mut sums = self.both_leads(weights, bias, 0.0);
        let mut columns = Vec::new();
        self.back(&mut sums, &mut columns);
        // The mean of the lower bound and the upper one.
        let mean = |own: &[f64]| {
            let mut sum = 0.0;
            for rows in own.chunks_exact(LANES) {
                sum += rows[0] - rows[1];
            }
            0.5 * sum / (own.len() / LANES).max(1) as f64
        };
        let mut lead = mean(&sums.constants) + mean(&columns[self.starts[attributes] * LANES..]);
        let mut spread = 0.0;
        let (mut slopes, mut variances) = (vec![0.0; attributes], vec![0.0; attributes]);
        for (place, free) in self.network.free.iter().enumerate() {
            let own = mean(&columns[self.starts[place] * LANES..self.starts[place + 1] * LANES]);
            if matches!(free.terms, Terms::Levels) {
                lead += own;
                continue;
            }
            let [low, high] = self.ends[place];
            let [first, last] = self.ranges[place];
            let steps = f64::from(last - first);
            if steps > 0.0 {
                let step = (high - low) / steps;
                variances[place] = step * step * ((steps + 1.0) * (steps + 1.0) - 1.0) / 12.0;
            }
            slopes[place] = own;
            lead += own * self.middle[place];
            spread += own * own * variances[place];
        }
        let way = if spread > 0.0 {
            TOWARDS_BOUNDARY * lead / spread
        } else {
            0.0
        };
        let mut point = Vec::with_capacity(attributes);
        for place in 0..attributes {
            let moved = self.middle[place] - way * slopes[place] * variances[place];
            let [a, b] = self.ends[place];
            point.push(moved.clamp(a.min(b), a.max(b)));
        }
        point
    }

    /// The bounds over attributes that `sums` over the first layer's activations give.
    #[inline(always)]
    fn bounded(&self, sums: &mut Sums, cuts: &Cuts, known: (Vec<f64>, f64)) -> Leads {
        let lines = &self.lines[0];
        let mut convex = [Convex::default(), Convex::default()];
        if self.network.activation == Activation::Relu {
            for (place, &neuron) in lines.kept[..lines.open].iter().enumerate() {
                for (row, convex) in convex.iter_mut().enumerate() {
                    // What the additive bound takes is left out of the lines.
                    let weight = &mut sums.weights[neuron * LANES + row];
                    if *weight < 0.0 {
                        convex.places.push(place);
                        convex.neurons.push(neuron);
                        convex.weights.push(*weight);
                        *weight = 0.0;
                    }
                }
            }
        }
        let Sums {
            rows,
            weights,
            slopes,
            constants,
        } = sums;
        lines.back(weights, *rows, slopes, constants);
        self.over_attributes(slopes, constants, cuts, &convex, known)
    }

    /// The lead whose bounds are lines with these `slopes` over the first layer's sums, and the additive
    /// bounds of `convex`; `known` are the gains and the error.
    #[inline(always)]
    fn over_attributes(
        &self,
        slopes: &[f64],
        constants: &[f64],
        cuts: &Cuts,
        convex: &[Convex; 2],
        (gains, error): (Vec<f64>, f64),
    ) -> Leads {
        let mut columns = Vec::new();
        self.over_columns(slopes, LANES, &mut columns);
        let mut spans = Vec::with_capacity(self.network.free.len());
        for (place, [from, to]) in self.ends.iter().enumerate() {
            let own = &columns[self.starts[place] * LANES..self.starts[place + 1] * LANES];
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for rows in own.chunks_exact(LANES) {
                least = least.min(rows[0]);
                most = most.max(rows[0]);
            }
            spans.push(match self.network.free[place].terms {
                Terms::Scaled(_) => (own[0] * (to - from)).abs(),
                Terms::Levels => most - least,
            });
        }
        Leads {
            // One by one: the closure of a map would not be compiled for the machine's vectors.
            bounds: [
                self.bound(0, &columns, constants, cuts, &convex[0]),
                self.bound(1, &columns, constants, cuts, &convex[1]),
            ],
            blocks: self.blocks.clone(),
            spans,
            gains,
            error,
        }
    }

    #[inline(always)]
    fn bound(
        &self,
        row: usize,
        columns: &[f64],
        constants: &[f64],
        cuts: &Cuts,
        convex: &Convex,
    ) -> LeadBound {
        let network = self.network;
        let count = convex.places.len();
        let (mut lines, mut below) = (vec![0.0; count], vec![0.0; count]);
        let mut bound = LeadBound {
            tables: Vec::with_capacity(self.blocks.len()),
            constants: Vec::with_capacity(network.combinations),
        };
        let mut grown = Grown::default();
        for block in &self.blocks {
            self.grow(row, block, columns, cuts, convex, &mut grown);
            bound.tables.push(grown.lined.clone());
        }
        for (below, &place) in below.iter_mut().zip(&convex.places) {
            *below = cuts.protected[place];
        }
        let own = &columns[self.starts[network.free.len()] * LANES..];
        for (combination, own) in own.chunks_exact(LANES).enumerate() {
            let protected = self.protected(combination);
            for (line, &neuron) in lines.iter_mut().zip(&convex.neurons) {
                *line = protected[neuron];
            }
            let group = if self.groups == 1 { 0 } else { combination };
            let lined = constants[group * LANES + row] + own[row];
            let above = above(&lines, 1.0, &below, &convex.weights);
            bound.constants.push(lined + above);
        }
        bound
    }

    /// The error that the computed lead of class `one` over class `other` may have.
    #[inline(always)]
    fn lead_error(&self, weights: &[f64], one: usize, other: usize) -> f64 {
        let none = vec![0.0; self.errors.len()];
        let mut passed = 0.0;
        for (weight, error) in weights.iter().zip(&self.errors) {
            passed += weight.abs() * error;
        }
        let mut error = Vec::new();
        let depth = self.network.layers.len();
        self.network.error(depth, &self.values, &none, &mut error);
        passed + error[one] + error[other]
    }
}

/// The weights of the activations in a lead: how much each moves it, on average over its two
/// bounds.
#[inline(always)]
fn steep(weights: &[f64]) -> Vec<f64> {
    let mut steep = Vec::with_capacity(weights.len() / LANES);
    for rows in weights.chunks_exact(LANES) {
        steep.push(0.5 * (rows[0].abs() + rows[1].abs()));
    }
    steep
}
