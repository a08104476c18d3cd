//! The worst case of certified training, by kernels: bounds forward, and their gradients back.
//!
//! # Equations
//! With s the first layer's sums of a row, s⁻ those without its protected attributes, c_a(l) what
//! level l of attribute a adds to them and r the radius, bounds of the first layer's sums are
//! s + r·(s⁻ + Σ_a min_l c_a(l) − s), and the same with the largest. With f the activation (it
//! rises) and low and high the bounds of a layer's sums:
//!
//! * m = (f(low) + f(high))/2, h = (f(high) − f(low))/2;
//! * bounds of the next layer's sums: (b + W·m) ∓ |W|·h;
//! * largest leads over class y: (b + W·m)_c − (b + W·m)_y + (|W_c − W_y|·h), 0 for y itself.
//!
//! So m passes through the network as a row's own values do, and its gradients are the same; the
//! gradients of |W|·h go to W by its signs. The gradient of the hull of an attribute goes to the
//! level that is at the hull's end for the unit.

use std::ops::Range;

use pulp::Simd;

use super::first::{Entry, Inputs, NONE};
use super::loss::cross_entropy;
use super::sums::{
    BLOCKS, activate_all, add_product, deactivate_all, first_sums, inner, start_sums, to_lines,
};
use super::worst_weights::WorstWeights;
use super::{SHARD, Weights};
use crate::fnn::Network;
use crate::lanes::{LANES, Row, load, parts, store};
use crate::train::table::goal::Targets;
use crate::train::table::loss::Batch;

/// The memory in which a shard's worst case is worked on.
pub(super) struct WorstShard {
    /// The first layer's sums: `[blocks, outputs]`.
    pub own: Vec<Row>,
    /// The inputs of the first layer without protected attributes.
    numbers: Vec<Row>,
    levels: Vec<[u32; LANES]>,
    /// The bounds that are passed from layer to layer, or gradients: `[blocks, outputs]`.
    bounds: [Vec<Row>; 2],
    passed: [Vec<Row>; 2],
    /// The memory of every layer but the first.
    pub layers: Vec<WorstLayer>,
    /// The lines of the gradients of those weights of the first layer whose attributes are not
    /// protected.
    pub free_lines: Vec<Row>,
    /// The gradients with respect to vectors of attributes that are not protected.
    pub inner: Vec<Row>,
    /// The gradients with respect to both ends of the hull, one an output of the first layer.
    pub hull: [Vec<f32>; 2],
}

/// The memory of one layer, and of the bounds that enter it.
pub(super) struct WorstLayer {
    /// The bounds of what enters the layer: `[blocks, inputs]`.
    bounds: [Vec<Row>; 2],
    middles: Vec<Row>,
    halves: Vec<Row>,
    /// The gradients with respect to the layer's sums by middles, in lines.
    pub middle_lines: Vec<Row>,
    /// The gradients with respect to the layer's sums by halves, in lines; in a last layer before
    /// classes, of the rows of each class.
    half_lines: Vec<Vec<Row>>,
}

impl WorstShard {
    /// Makes the memory for a shard of `network`.
    pub fn new(network: &Network, inputs: &Inputs) -> WorstShard {
        let layers = &network.layers;
        let rows = |width: usize| vec![Row::ZERO; BLOCKS * width];
        let lines = |outputs: usize| vec![Row::ZERO; outputs.div_ceil(LANES) * SHARD];
        let widest = rows(layers.iter().map(|layer| layer.outputs).max().unwrap_or(0));
        let outputs = layers[0].outputs;
        let last = layers.len() - 1;
        WorstShard {
            own: rows(outputs),
            numbers: rows(inputs.numbers.len()),
            levels: vec![[NONE; LANES]; BLOCKS * inputs.levelled],
            bounds: [widest.clone(), widest.clone()],
            passed: [widest.clone(), widest],
            layers: layers
                .iter()
                .enumerate()
                .skip(1)
                .map(|(depth, layer)| WorstLayer {
                    bounds: [rows(layer.inputs), rows(layer.inputs)],
                    middles: rows(layer.inputs),
                    halves: rows(layer.inputs),
                    middle_lines: lines(layer.outputs),
                    half_lines: match depth == last {
                        true => vec![lines(layer.outputs); layer.outputs],
                        false => vec![lines(layer.outputs)],
                    },
                })
                .collect(),
            free_lines: lines(outputs),
            inner: rows(inputs.embedded.len()),
            hull: [vec![0.0; outputs], vec![0.0; outputs]],
        }
    }

    /// Returns the middles that enter layer `depth`, from 1.
    pub fn middles(&self, depth: usize) -> &[Row] {
        &self.layers[depth - 1].middles
    }

    /// Returns the halves that enter layer `depth`, from 1, and lines of the gradients of its
    /// product `half`.
    pub fn halves(&self, depth: usize, half: usize) -> (&[Row], &[Row]) {
        let layer = &self.layers[depth - 1];
        (&layer.halves, &layer.half_lines[half])
    }

    /// Computes the worst case of the rows `rows` of the batch, which `entered` the first layer,
    /// and returns its share of the loss. `delta` is the gradient of the first layer's sums by the
    /// rows' own loss, and becomes that for weights of protected attributes by both losses.
    #[inline(always)]
    pub fn pass<S: Simd>(
        &mut self,
        simd: S,
        (weights, worst): (&Weights<'_>, &WorstWeights),
        entered: (&[Row], &[[u32; LANES]]),
        (batch, rows): (&Batch<'_>, Range<usize>),
        delta: &mut [Row],
    ) -> f64 {
        let blocks = rows.len().div_ceil(LANES);
        self.first_bounds(simd, weights, worst, entered, blocks);
        for depth in 1..weights.layers.len() {
            self.enter(simd, weights, worst, depth, blocks);
        }
        let shares = (&batch.weights[rows.clone()], worst.kappa);
        let loss = match &batch.targets {
            Targets::Classes(labels) => {
                let labels = &labels[rows.clone()];
                self.lead_loss(simd, (weights, worst), (labels, shares), blocks)
            }
            Targets::Numbers(numbers) => self.number_loss(&numbers[rows.clone()], shares, blocks),
        };
        for depth in (1..weights.layers.len()).rev() {
            let labels = match &batch.targets {
                Targets::Classes(labels) if worst.by_class(depth) => Some(&labels[rows.clone()]),
                _ => None,
            };
            self.back(simd, weights, worst, (depth, labels), blocks);
        }
        self.gather_hull(rows.len(), weights.layers[0].outputs);
        let count = delta.len();
        let [low, high] = &mut self.bounds;
        let kept = simd.splat_f32s(1.0 - worst.radius);
        for ((own, low), high) in delta.iter_mut().zip(&mut low[..count]).zip(&high[..count]) {
            for part in 0..parts::<S>() {
                let both = simd.add_f32s(load::<S>(low, part), load::<S>(high, part));
                let of_own = load::<S>(own, part);
                store::<S>(low, part, simd.add_f32s(of_own, both));
                store::<S>(own, part, simd.mul_add_f32s(kept, both, of_own));
            }
        }
        let first = &weights.layers[0];
        to_lines(&low[..count], first.outputs, &mut self.free_lines);
        inner(simd, first, &low[..count], &mut self.inner);
        loss
    }

    /// Computes the bounds of the first layer's sums.
    #[inline(always)]
    fn first_bounds<S: Simd>(
        &mut self,
        simd: S,
        weights: &Weights<'_>,
        worst: &WorstWeights,
        (numbers, levels): (&[Row], &[[u32; LANES]]),
        blocks: usize,
    ) {
        self.numbers.copy_from_slice(numbers);
        self.levels.copy_from_slice(levels);
        let inputs = weights.inputs;
        for column in inputs.columns.iter().filter(|column| column.is_protected) {
            match column.entry {
                Entry::Levelled { place } => {
                    let levels = self.levels.iter_mut().skip(place);
                    for levels in levels.step_by(inputs.levelled) {
                        *levels = [NONE; LANES];
                    }
                }
                Entry::Scaled { number, .. } | Entry::Embedded { number, .. } => {
                    for numbers in self.numbers.chunks_exact_mut(inputs.numbers.len()) {
                        numbers[number..number + column.rows].fill(Row::ZERO);
                    }
                }
            }
        }
        let outputs = weights.layers[0].outputs;
        let [low, high] = &mut self.bounds;
        let low = &mut low[..blocks * outputs];
        first_sums(simd, weights, (&self.numbers, &self.levels), low);
        let radius = simd.splat_f32s(worst.radius);
        for (place, ((low, high), own)) in low.iter_mut().zip(high).zip(&self.own).enumerate() {
            let hull = [0, 1].map(|end| simd.splat_f32s(worst.hull[end][place % outputs]));
            for part in 0..parts::<S>() {
                let (rest, own) = (load::<S>(low, part), load::<S>(own, part));
                let [least, largest] = hull.map(|added| {
                    let apart = simd.sub_f32s(simd.add_f32s(rest, added), own);
                    simd.mul_add_f32s(radius, apart, own)
                });
                store::<S>(low, part, least);
                store::<S>(high, part, largest);
            }
        }
    }

    /// Turns the bounds of the sums of the layer below into those of layer `depth`; before classes
    /// the first of them becomes the sums of the middles.
    #[inline(always)]
    fn enter<S: Simd>(
        &mut self,
        simd: S,
        weights: &Weights<'_>,
        worst: &WorstWeights,
        depth: usize,
        blocks: usize,
    ) {
        let layer = &weights.layers[depth];
        let own = &mut self.layers[depth - 1];
        let count = blocks * layer.inputs;
        for (bound, sums) in own.bounds.iter_mut().zip(&self.bounds) {
            bound[..count].copy_from_slice(&sums[..count]);
            activate_all(simd, weights.activation, &mut bound[..count]);
        }
        let [low, high] = &own.bounds;
        half_sums(
            simd,
            [low, high],
            [&mut own.middles, &mut own.halves],
            count,
        );
        let [middle, half] = &mut self.passed;
        let middle = &mut middle[..blocks * layer.outputs];
        for sums in middle.chunks_exact_mut(layer.outputs) {
            start_sums(sums, layer.bias);
        }
        let entering = (&own.middles[..], layer.inputs);
        add_product(simd, &layer.forward, entering, middle);
        let [low, high] = &mut self.bounds;
        if worst.by_class(depth) {
            low[..middle.len()].copy_from_slice(middle);
            return;
        }
        let half = &mut half[..blocks * layer.outputs];
        half.fill(Row::ZERO);
        let entering = (&own.halves[..], layer.inputs);
        let magnitudes = &worst.magnitudes[depth - 1][0];
        add_product(simd, &magnitudes.forward, entering, half);
        let bounds = low.iter_mut().zip(high);
        for ((middle, half), (low, high)) in middle.iter().zip(half.iter()).zip(bounds) {
            for part in 0..parts::<S>() {
                let (middle, half) = (load::<S>(middle, part), load::<S>(half, part));
                store::<S>(low, part, simd.sub_f32s(middle, half));
                store::<S>(high, part, simd.add_f32s(middle, half));
            }
        }
    }

    /// Computes the cross-entropy of the largest leads. The gradient with respect to the middles'
    /// sums becomes the first of what is passed; in a network of one layer the gradient with
    /// respect to the bounds becomes both bounds.
    #[inline(always)]
    fn lead_loss<S: Simd>(
        &mut self,
        simd: S,
        (weights, worst): (&Weights<'_>, &WorstWeights),
        (labels, shares): (&[u32], (&[f32], f32)),
        blocks: usize,
    ) -> f64 {
        let depth = weights.layers.len() - 1;
        let layer = &weights.layers[depth];
        let classes = layer.outputs;
        let count = blocks * classes;
        let [leads, half] = &mut self.passed;
        let leads = &mut leads[..count];
        let [low, high] = &mut self.bounds;
        leads.fill(Row::ZERO);
        if depth == 0 {
            leads.copy_from_slice(&high[..count]);
            for (item, &label) in labels.iter().enumerate() {
                let place = item / LANES * classes + label as usize;
                leads[place].0[item % LANES] = low[place].0[item % LANES];
            }
        } else {
            for (class, magnitudes) in worst.magnitudes[depth - 1].iter().enumerate() {
                let half = &mut half[..count];
                half.fill(Row::ZERO);
                let entering = (&self.layers[depth - 1].halves[..], layer.inputs);
                add_product(simd, &magnitudes.forward, entering, half);
                let of_class = |(_, label): &(usize, &u32)| **label as usize == class;
                for (item, _) in labels.iter().enumerate().filter(of_class) {
                    let (start, lane) = (item / LANES * classes, item % LANES);
                    for place in start..start + classes {
                        let lead = low[place].0[lane] - low[start + class].0[lane];
                        leads[place].0[lane] = lead + half[place].0[lane];
                    }
                }
            }
        }
        let delta = &mut half[..count];
        let loss = cross_entropy(simd, (leads, classes), labels, shares, delta);
        if depth == 0 {
            high[..count].copy_from_slice(delta);
            low[..count].fill(Row::ZERO);
            for (item, &label) in labels.iter().enumerate() {
                let (place, lane) = (item / LANES * classes + label as usize, item % LANES);
                low[place].0[lane] = std::mem::take(&mut high[place].0[lane]);
            }
        } else {
            self.passed.swap(0, 1);
        }
        loss
    }

    /// Computes the larger squared error of two bounds, and its gradient with respect to them.
    fn number_loss(
        &mut self,
        numbers: &[f32],
        (weights, scale): (&[f32], f32),
        blocks: usize,
    ) -> f64 {
        let mut loss = 0.0;
        let [low, high] = &mut self.bounds;
        for block in 0..blocks {
            low[2 * block].0.fill(0.0);
            high[2 * block].0.fill(0.0);
        }
        for (item, (&number, &weight)) in numbers.iter().zip(weights).enumerate() {
            let (place, lane) = (2 * (item / LANES) + 1, item % LANES);
            let errors = [&low[place], &high[place]].map(|row| row.0[lane] - number);
            let end = usize::from(errors[1].abs() >= errors[0].abs());
            let weight = weight * scale;
            loss += f64::from(weight) * f64::from(errors[end]) * f64::from(errors[end]);
            let gradient = 2.0 * weight * errors[end];
            low[place].0[lane] = if end == 0 { gradient } else { 0.0 };
            high[place].0[lane] = if end == 1 { gradient } else { 0.0 };
        }
        loss
    }

    /// Turns the gradients with respect to the sums of layer `depth`, from 1, into those of the
    /// bounds of the layer below. Before classes, of which the rows have `labels`, the gradients
    /// are of middles and stand first in what is passed; else they are of bounds.
    #[inline(always)]
    fn back<S: Simd>(
        &mut self,
        simd: S,
        weights: &Weights<'_>,
        worst: &WorstWeights,
        (depth, labels): (usize, Option<&[u32]>),
        blocks: usize,
    ) {
        let layer = &weights.layers[depth];
        let own = &mut self.layers[depth - 1];
        let (count, below) = (blocks * layer.outputs, blocks * layer.inputs);
        let [middle, half] = &mut self.passed;
        let [low, high] = &mut self.bounds;
        if labels.is_none() {
            for place in 0..count {
                for part in 0..parts::<S>() {
                    let of = [&low[place], &high[place]].map(|row| load::<S>(row, part));
                    store::<S>(&mut middle[place], part, simd.add_f32s(of[0], of[1]));
                    store::<S>(&mut half[place], part, simd.sub_f32s(of[1], of[0]));
                }
            }
        }
        let (of_middles, of_halves) = (&mut low[..below], &mut high[..below]);
        of_middles.fill(Row::ZERO);
        of_halves.fill(Row::ZERO);
        let middle = &middle[..count];
        to_lines(middle, layer.outputs, &mut own.middle_lines);
        let passing = (middle, layer.outputs);
        add_product(simd, &layer.backward, passing, of_middles);
        for (class, magnitudes) in worst.magnitudes[depth - 1].iter().enumerate() {
            let half = &mut half[..count];
            if let Some(labels) = labels {
                half.fill(Row::ZERO);
                let of_class = |(_, label): &(usize, &u32)| **label as usize == class;
                for (item, _) in labels.iter().enumerate().filter(of_class) {
                    let (start, lane) = (item / LANES * layer.outputs, item % LANES);
                    for place in start..start + layer.outputs {
                        half[place].0[lane] = middle[place].0[lane];
                    }
                }
            }
            to_lines(half, layer.outputs, &mut own.half_lines[class]);
            let passing = (&half[..], layer.outputs);
            add_product(simd, &magnitudes.backward, passing, of_halves);
        }
        // f(low) is m − h, f(high) is m + h.
        let [passed_low, passed_high] = &mut self.passed;
        let passed = [&mut passed_high[..], &mut passed_low[..]];
        half_sums(simd, [of_halves, of_middles], passed, below);
        self.bounds[0][..below].copy_from_slice(&self.passed[0][..below]);
        self.bounds[1][..below].copy_from_slice(&self.passed[1][..below]);
        for (gradients, values) in self.bounds.iter_mut().zip(&own.bounds) {
            deactivate_all(simd, weights.activation, values, &mut gradients[..below]);
        }
    }

    /// Sums the gradients of the first layer's bounds over `rows` rows: the sums are the gradients
    /// of the hull.
    fn gather_hull(&mut self, rows: usize, outputs: usize) {
        for (sums, bounds) in self.hull.iter_mut().zip(&self.bounds) {
            sums.fill(0.0);
            for (block, bounds) in bounds.chunks_exact(outputs).enumerate() {
                let lanes = rows.saturating_sub(block * LANES).min(LANES);
                for (sum, row) in sums.iter_mut().zip(bounds) {
                    *sum += row.0[..lanes].iter().sum::<f32>();
                }
            }
        }
    }
}

/// Computes half the sum and half the difference of each two rows: (b + a)/2 and (b − a)/2.
#[inline(always)]
fn half_sums<S: Simd>(
    simd: S,
    [a, b]: [&[Row]; 2],
    [sums, differences]: [&mut [Row]; 2],
    count: usize,
) {
    let half = simd.splat_f32s(0.5);
    for place in 0..count {
        for part in 0..parts::<S>() {
            let [a, b] = [&a[place], &b[place]].map(|row| load::<S>(row, part));
            let sum = simd.mul_f32s(simd.add_f32s(b, a), half);
            store::<S>(&mut sums[place], part, sum);
            let difference = simd.mul_f32s(simd.sub_f32s(b, a), half);
            store::<S>(&mut differences[place], part, difference);
        }
    }
}
