//! A network of tables as sums over attributes, and what its 32-bit arithmetic may err by.
//!
//! The first layer's sums are additive in the attributes, z = b + Σ_i T_i\[x_i\]: what the protected
//! ones add is one vector for each of their combinations (`SumNetwork::protected`), what the other
//! ones add a vector for each of their *positions*. A position is a code, in the order of the codes
//! where they are scaled; levels are put in the order in which they move the output, so that a
//! range of positions is a set of levels that are alike.

use probity_nn::encoding::{Encoding, InputLayout, Span};
use probity_nn::fnn::{Activation, Dense, Network};
use probity_nn::interval::fnn::ACTIVATION_ERROR;

use super::product::LANES;
use crate::domain::{Domain, TabularDomain};

/// A set of rows: for each attribute that is not protected the first and the last position.
pub type Ranges = Vec<[u32; 2]>;

/// The error of f64 arithmetic, as a share of the sum of all terms' sizes: some hundred operations
/// a layer of 10⁻¹⁶ each.
const DOUBLE_ERROR: f64 = 4e-12;

/// The terms that an attribute that is not protected adds to the first layer's sums.
#[derive(Debug, Clone)]
pub(super) enum Terms {
    /// The number of each position, by which its one line of weights is multiplied.
    Scaled(Vec<f64>),
    /// A line of weights for each position.
    Levels,
}

/// An attribute that is not protected.
#[derive(Debug, Clone)]
pub(super) struct FreeAttribute {
    /// The number of the attribute in the schema.
    pub attribute: usize,
    /// The code of each position.
    pub codes: Vec<i32>,
    pub terms: Terms,
    /// The lines of weights of the attribute, `[lines, outputs]`.
    pub lines: Vec<f64>,
}

/// A term of the first layer's sums, in the order in which the kernels add them.
#[derive(Debug, Clone)]
enum Added {
    Free(usize),
    /// The least and the largest term of a protected attribute, for each output.
    Protected(Vec<[f64; 2]>),
}

/// A layer after the first.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// The weights, `[inputs, outputs]`.
    pub weight: Vec<f64>,
    /// The weights, `[outputs, inputs]`.
    pub transposed: Vec<f64>,
    pub bias: Vec<f64>,
    /// Number of outputs, rounded up to a multiple of [`LANES`].
    pub padded: usize,
    /// The weights of every output, and those of its negative: `[inputs, 2 · padded]`.
    pub signed: Vec<f64>,
    /// The bias of every output, and that of its negative.
    pub signed_bias: Vec<f64>,
}

/// A network as sums over attributes.
#[derive(Debug, Clone)]
pub struct SumNetwork {
    pub(super) activation: Activation,
    pub(super) free: Vec<FreeAttribute>,
    /// Number of outputs of the first layer.
    pub(super) width: usize,
    pub(super) layers: Vec<Layer>,
    /// The sums of protected values, `[combinations, width]`: the bias and what each combination of
    /// protected values adds.
    pub(super) protected: Vec<f64>,
    pub(super) combinations: usize,
    /// The first layer's bias.
    bias: Vec<f64>,
    /// The order of the terms: the number of levels is given, which are added before the bias,
    /// scaled attributes after it.
    order: (Vec<Added>, usize),
    /// The largest error of f64 in the sums of each layer.
    pub(super) double_error: Vec<f64>,
    /// The row of the least codes.
    first_row: Vec<i32>,
    /// Factor of the 32-bit error; 1, but in the test that weakens it.
    pub(super) rounding: f64,
}

/// The reason why a network cannot be bounded: a sum may be larger than 32 bits hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayOverflow;

impl SumNetwork {
    /// Lays out `network`, whose inputs are those of `domain`; of each attribute that is not
    /// protected it takes the codes of `within`, or all of them.
    ///
    /// # Errors
    /// When a sum may be larger than 32 bits hold.
    pub fn new(
        network: &Network,
        domain: &TabularDomain,
        within: &[Option<Vec<i32>>],
    ) -> Result<SumNetwork, MayOverflow> {
        let first = network.absorbed_first_layer();
        let width = first.outputs;
        let spans = network.layout.spans();
        let lines_of = |span: &Span| -> Vec<f64> {
            let lines = &first.weight[span.start * width..(span.start + span.features()) * width];
            lines.iter().map(|&weight| f64::from(weight)).collect()
        };
        let slope = slopes(network);
        let free: Vec<FreeAttribute> = domain
            .free()
            .iter()
            .map(|&attribute| {
                let span = &spans[attribute];
                let all = (0..span.levels).map(|level| span.min + level as i32);
                let codes = within[attribute].clone().unwrap_or_else(|| all.collect());
                free_attribute(attribute, span, codes, &lines_of(span), &slope)
            })
            .collect();
        let bias: Vec<f64> = first.bias.iter().map(|&bias| f64::from(bias)).collect();
        let place_of = |attribute| free.iter().position(|free| free.attribute == attribute);
        let ordered = |scaled: bool| {
            let spans = spans.iter().enumerate();
            let spans = spans.filter(move |(_, span)| span.encoding.is_scaled() == scaled);
            spans.map(|(attribute, span)| match place_of(attribute) {
                Some(place) => Added::Free(place),
                None => Added::Protected(hull(span, &lines_of(span), width)),
            })
        };
        let levels: Vec<Added> = ordered(false).collect();
        let count = levels.len();
        let order = levels.into_iter().chain(ordered(true)).collect();
        let protected = protected_sums(&network.layout, &first, domain);
        let layers: Vec<Layer> = network.layers[1..].iter().map(Layer::new).collect();
        let mut sums = SumNetwork {
            activation: network.activation,
            combinations: protected.len() / width,
            free,
            width,
            layers,
            protected,
            bias,
            order: (order, count),
            double_error: Vec::new(),
            first_row: spans.iter().map(|span| span.min).collect(),
            rounding: 1.0,
        };
        sums.double_error = sums.sizes().ok_or(MayOverflow)?;
        Ok(sums)
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.layers.last().map_or(self.width, |layer| layer.outputs)
    }

    /// Whether each protected attribute adds the same whatever its value is, so that the network
    /// computes the same numbers for all combinations.
    pub fn ignores_protected(&self) -> bool {
        self.order.0.iter().all(|added| match added {
            Added::Free(_) => true,
            Added::Protected(hull) => hull.iter().all(|[low, high]| low == high),
        })
    }

    /// All rows.
    pub fn domain(&self) -> Ranges {
        let last = |free: &FreeAttribute| free.codes.len() as u32 - 1;
        self.free.iter().map(|free| [0, last(free)]).collect()
    }

    /// The row at `positions`, with the first protected values, that `domain` calls variant 0.
    pub fn row(&self, positions: &[u32]) -> Vec<i32> {
        let mut row = self.first_row.clone();
        for (free, &position) in self.free.iter().zip(positions) {
            row[free.attribute] = free.codes[position as usize];
        }
        row
    }

    /// The codes of position `range` of the attribute at `place` among those that are not
    /// protected, and the number of that attribute in the schema.
    pub fn codes(&self, place: usize, range: [u32; 2]) -> (usize, Vec<i32>) {
        let free = &self.free[place];
        let mut codes = free.codes[range[0] as usize..=range[1] as usize].to_vec();
        codes.sort_unstable();
        (free.attribute, codes)
    }

    /// The largest error of f64 in the sums of each layer; `None` where a sum may be larger than 32
    /// bits hold.
    fn sizes(&self) -> Option<Vec<f64>> {
        let width = self.width;
        let mut sizes = vec![0f64; width];
        for line in self.protected.chunks_exact(width) {
            for (size, value) in sizes.iter_mut().zip(line) {
                *size = size.max(value.abs());
            }
        }
        for (size, bias) in sizes.iter_mut().zip(&self.bias) {
            *size += bias.abs();
        }
        for free in &self.free {
            let mut largest = vec![0f64; width];
            match &free.terms {
                Terms::Scaled(values) => {
                    let most = values
                        .iter()
                        .fold(0f64, |most, value| most.max(value.abs()));
                    for (largest, weight) in largest.iter_mut().zip(&free.lines) {
                        *largest = most * weight.abs();
                    }
                }
                Terms::Levels => {
                    for line in free.lines.chunks_exact(width) {
                        for (largest, weight) in largest.iter_mut().zip(line) {
                            *largest = largest.max(weight.abs());
                        }
                    }
                }
            }
            for (size, largest) in sizes.iter_mut().zip(largest) {
                *size += largest;
            }
        }
        let most = |sizes: &[f64]| sizes.iter().fold(0f64, |most, &size| most.max(size));
        let mut errors = vec![most(&sizes)];
        for layer in &self.layers {
            let mut next: Vec<f64> = layer.bias.iter().map(|bias| bias.abs()).collect();
            for (size, weights) in sizes.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
                for (next, weight) in next.iter_mut().zip(weights) {
                    *next += weight.abs() * size.max(1.0);
                }
            }
            sizes = next;
            errors.push(most(&sizes));
        }
        let fits = errors.iter().all(|&size| size < f64::from(f32::MAX) / 4.0);
        fits.then(|| errors.iter().map(|size| size * DOUBLE_ERROR).collect())
    }

    /// The error of each of the first layer's sums over rows whose attributes that are not
    /// protected add terms within `low` and `high`, `[attributes, width]`.
    #[inline(always)]
    pub(super) fn first_error(&self, low: &[f64], high: &[f64], error: &mut Vec<f64>) {
        let width = self.width;
        let (mut from, mut to) = (vec![0.0; width], vec![0.0; width]);
        error.clear();
        error.resize(width, 0.0);
        let (order, levels) = &self.order;
        for (step, added) in order.iter().enumerate() {
            if step == *levels {
                add_bias(&self.bias, &mut from, &mut to, error, *levels > 0);
            }
            match added {
                Added::Free(place) => {
                    let low = &low[place * width..][..width];
                    let high = &high[place * width..][..width];
                    for j in 0..width {
                        from[j] += low[j];
                        to[j] += high[j];
                    }
                }
                Added::Protected(hull) => {
                    for (j, [low, high]) in hull.iter().enumerate() {
                        from[j] += low;
                        to[j] += high;
                    }
                }
            }
            // The first level is added to 0, exactly.
            if step > 0 || *levels == 0 {
                for j in 0..width {
                    error[j] += half_ulp(from[j].abs().max(to[j].abs()) + error[j]);
                }
            }
        }
        if *levels == order.len() {
            add_bias(&self.bias, &mut from, &mut to, error, true);
        }
        for error in error.iter_mut() {
            *error *= self.rounding;
        }
    }

    /// The error of each sum of layer `depth` ≥ 1, whose inputs lie within `values` and err by
    /// `before`: with n inputs that may be other than 0, no partial sum is larger than the size S
    /// of all terms and what n roundings add, so that each rounding is one of S / (1 − n·2⁻²⁴) at
    /// most.
    #[inline(always)]
    pub(super) fn error(
        &self,
        depth: usize,
        values: &[[f64; 2]],
        before: &[f64],
        error: &mut Vec<f64>,
    ) {
        let layer = &self.layers[depth - 1];
        let mut size = vec![0.0; layer.outputs];
        for (size, bias) in size.iter_mut().zip(&layer.bias) {
            *size = bias.abs();
        }
        error.clear();
        error.resize(layer.outputs, 0.0);
        let mut steps = 0.0;
        let weights = layer.weight.chunks_exact(layer.outputs);
        for (([low, high], before), weights) in values.iter().zip(before).zip(weights) {
            let most = low.abs().max(high.abs());
            if most == 0.0 && *before == 0.0 {
                continue;
            }
            steps += 1.0;
            for ((size, error), weight) in size.iter_mut().zip(&mut *error).zip(weights) {
                let weight = weight.abs();
                *size += weight * most;
                *error += weight * before;
            }
        }
        let grown = 1.0 - steps / 16_777_216.0;
        for (size, error) in size.iter().zip(error) {
            let rounded = match grown > 0.5 {
                true => half_ulp((size + 1e-30) / grown),
                false => f64::INFINITY,
            };
            *error += self.rounding * steps * rounded;
        }
    }

    /// The error of an activation where its sum errs by `error` and lies within `low` and `high`,
    /// and the bounds within which it lies.
    #[inline(always)]
    pub(super) fn activation_error(&self, low: f64, high: f64, error: f64) -> (f64, [f64; 2]) {
        match self.activation {
            Activation::Relu if high + error <= 0.0 => (0.0, [0.0; 2]),
            Activation::Relu => (error, [(low - error).max(0.0), high + error]),
            Activation::Tanh => (error + ACTIVATION_ERROR, [-1.0, 1.0]),
            Activation::Sigmoid => (0.25 * error + ACTIVATION_ERROR, [0.0, 1.0]),
        }
    }

    /// The network with its 32-bit errors taken to be `rounding` times as large as they are: for
    /// the test that shows that a smaller one is found out.
    #[cfg(test)]
    pub(super) fn with_rounding(mut self, rounding: f64) -> SumNetwork {
        self.rounding = rounding;
        self
    }
}

/// Adds the bias; the sum that was there before, if `is_added`, makes that a rounded sum.
#[inline(always)]
fn add_bias(bias: &[f64], from: &mut [f64], to: &mut [f64], error: &mut [f64], is_added: bool) {
    for (j, bias) in bias.iter().enumerate() {
        from[j] += bias;
        to[j] += bias;
        if is_added {
            error[j] += half_ulp(from[j].abs().max(to[j].abs()) + error[j]);
        }
    }
}

/// The error of rounding to 32 bits at most, for numbers of size `most`: half a unit in the last
/// place of the largest, and what numbers next to 0 lose.
#[inline(always)]
fn half_ulp(most: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let power = f64::from_bits((most * (1.0 + 1e-12)).to_bits() & EXPONENT);
    power * (1.0 / 16_777_216.0) + 1e-45
}

impl Layer {
    fn new(dense: &Dense) -> Layer {
        let weight: Vec<f64> = dense
            .weight
            .iter()
            .map(|&weight| f64::from(weight))
            .collect();
        let column = |output: usize| weight[output..].iter().step_by(dense.outputs).copied();
        let padded = dense.outputs.next_multiple_of(LANES);
        let signed = |line: &[f64]| {
            let mut signed = vec![0.0; 2 * padded];
            for (output, weight) in line.iter().enumerate() {
                signed[output] = *weight;
                signed[padded + output] = -weight;
            }
            signed
        };
        let bias: Vec<f64> = dense.bias.iter().map(|&bias| f64::from(bias)).collect();
        Layer {
            inputs: dense.inputs,
            outputs: dense.outputs,
            transposed: (0..dense.outputs).flat_map(column).collect(),
            padded,
            signed: weight
                .chunks_exact(dense.outputs)
                .flat_map(signed)
                .collect(),
            signed_bias: signed(&bias),
            weight,
            bias,
        }
    }
}

/// The slopes by which levels are put in order: how much each output of the first layer moves the
/// last class against the first, with every activation's slope taken for a half.
fn slopes(network: &Network) -> Vec<f64> {
    let last = network.classes() - 1;
    let mut slope: Vec<f64> = (0..=last)
        .map(|class| f64::from(u8::from(class == last)) - f64::from(u8::from(class == 0)))
        .collect();
    for layer in network.layers[1..].iter().rev() {
        let weights = layer.weight.chunks_exact(layer.outputs);
        slope = weights
            .map(|weights| {
                let terms = weights.iter().zip(&slope);
                terms
                    .map(|(&weight, slope)| 0.5 * f64::from(weight) * slope)
                    .sum()
            })
            .collect();
    }
    slope
}

fn free_attribute(
    attribute: usize,
    span: &Span,
    codes: Vec<i32>,
    lines: &[f64],
    slope: &[f64],
) -> FreeAttribute {
    if let Encoding::Scaled { mean, .. } = span.encoding {
        let values = codes.iter().map(|&code| f64::from(code as f32 - mean));
        return FreeAttribute {
            attribute,
            terms: Terms::Scaled(values.collect()),
            codes,
            lines: lines.to_vec(),
        };
    }
    let width = slope.len();
    let line = |code: i32| {
        let level = span.level(code).unwrap_or_default();
        &lines[level * width..][..width]
    };
    let moves = |code: i32| -> f64 {
        let terms = line(code).iter().zip(slope);
        terms.map(|(weight, slope)| weight * slope).sum()
    };
    let mut order: Vec<(f64, i32)> = codes.iter().map(|&code| (moves(code), code)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    FreeAttribute {
        attribute,
        lines: order
            .iter()
            .flat_map(|&(_, code)| line(code).iter().copied())
            .collect(),
        codes: order.into_iter().map(|(_, code)| code).collect(),
        terms: Terms::Levels,
    }
}

/// The least and the largest term that the codes of an attribute with these lines of weights add.
fn hull(span: &Span, lines: &[f64], width: usize) -> Vec<[f64; 2]> {
    let mut features = Vec::new();
    let mut hull = vec![[f64::INFINITY, f64::NEG_INFINITY]; width];
    for level in 0..span.levels {
        features.clear();
        span.encode(span.min + level as i32, &mut features);
        for (output, [low, high]) in hull.iter_mut().enumerate() {
            let lines = lines[output..].iter().step_by(width);
            let sum: f64 = features
                .iter()
                .zip(lines)
                .map(|(&x, w)| f64::from(x) * w)
                .sum();
            *low = low.min(sum);
            *high = high.max(sum);
        }
    }
    hull
}

/// The sums of protected values: the first layer's bias and what each combination of protected
/// values adds to it.
fn protected_sums(layout: &InputLayout, first: &Dense, domain: &TabularDomain) -> Vec<f64> {
    let row = vec![0; layout.spans().len()];
    let mut sums = Vec::new();
    for variant in 0..domain.variants(&row) {
        let mut changed = Vec::with_capacity(row.len());
        domain.write_variant(&row, variant, &mut changed);
        let start = sums.len();
        sums.extend(first.bias.iter().map(|&bias| f64::from(bias)));
        for &attribute in domain.protected() {
            let span = &layout.spans()[attribute];
            let mut features = Vec::new();
            span.encode(changed[attribute], &mut features);
            let lines = first.weight[span.start * first.outputs..].chunks_exact(first.outputs);
            for (&feature, line) in features.iter().zip(lines) {
                for (sum, &weight) in sums[start..].iter_mut().zip(line) {
                    *sum += f64::from(feature) * f64::from(weight);
                }
            }
        }
    }
    sums
}
