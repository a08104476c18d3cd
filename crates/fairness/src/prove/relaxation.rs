//! Bounds on how far one class leads another, additive in the attributes, over a set of rows.
//!
//! Bounds are taken back from the logits to the attributes layer by layer (Zhang et al.: Efficient
//! Neural Network Robustness Certification with General Activation Functions, 2018). Two things are
//! our own:
//! * *One relaxation for all protected values.* A neuron's lines hold over the rows and all protected
//!   combinations, so that the bounds of two combinations differ by a constant: a bound is
//!   Σ_i G_i\[x_i\] + K_a with the same G for each combination a.
//! * *Additive, not linear.* What is counted is only that a bound is a sum over attributes. In the
//!   first layer ReLU is therefore bounded above by max(0, Σ_i z_i + c_a) ≤ Σ_i max(0, z_i − d_i) +
//!   max(0, c_a − d), for any d_i and d whose sum is 0, since max(0, ·) is subadditive: on average
//!   over a box a third of the error that the line through its ends makes, and never more. With as
//!   many parts as attributes the bound grows like their number, what it bounds like the root of that:
//!   so attributes with few positions are parts together, as blocks with a table of all of their
//!   combinations.
//!
//! docs/proofs.md states the theorem and proves it.

mod cuts;
mod gains;
mod layers;
mod leads;
mod lines;
mod tables;

pub(super) use lines::dot;
use lines::{Lines, plain};

use super::network::{Ranges, SumNetwork, Terms};

/// Largest number of combinations of protected values that have intercepts of their own; of more,
/// all share theirs.
const MOST_GROUPS: usize = 8;

/// Largest number of combinations of positions for which attributes are taken together.
const JOINT: usize = 200;

/// A lower bound on a lead: Σ_b `tables`\[b\]\[positions\] + `constants`\[combination\].
#[derive(Debug, Clone, Default)]
pub struct LeadBound {
    /// The table of each of the [`Leads::blocks`], over the combinations of its positions in the
    /// box, those of the first attribute next to each other.
    pub tables: Vec<Vec<f64>>,
    /// The constant of each protected combination.
    pub constants: Vec<f64>,
}

/// The bounds on the lead of one class over another on a box.
#[derive(Debug, Clone)]
pub struct Leads {
    /// Lower bounds on the lead of the class, and on that of the other one.
    pub bounds: [LeadBound; 2],
    /// The attributes that are not protected, in blocks that the bounds take together.
    pub blocks: Vec<Vec<usize>>,
    /// The distance by which each attribute moves the line below the lead.
    pub spans: Vec<f64>,
    /// The distance by which the bounds come closer once a box is split at an attribute.
    pub gains: Vec<f64>,
    /// The error that the computed lead may have.
    pub error: f64,
}

impl Leads {
    /// The bounds, over the positions in `ranges` of `network`, at `row` under protected combination
    /// `combination`.
    pub(super) fn at(
        &self,
        network: &SumNetwork,
        ranges: &Ranges,
        row: &[i32],
        combination: usize,
    ) -> [f64; 2] {
        let position = |&place: &usize| {
            let (free, [first, last]) = (&network.free[place], ranges[place]);
            let own = &free.codes[first as usize..=last as usize];
            let at = own.iter().position(|code| *code == row[free.attribute]);
            (at, own.len())
        };
        // Where each block's combination stands in its table.
        let places = self.blocks.iter().map(|block| {
            let positions = block.iter().map(position);
            let (at, _) = positions.fold((Some(0), 1), |(place, step), (at, length)| {
                let place = place.zip(at).map(|(place, at)| place + at * step);
                (place, step * length)
            });
            at.unwrap_or(usize::MAX)
        });
        let places: Vec<usize> = places.collect();
        self.bounds.each_ref().map(|bound| {
            let tables = bound.tables.iter().zip(&places);
            let parts = tables.map(|(table, &at)| table.get(at).copied().unwrap_or(f64::NAN));
            parts.sum::<f64>() + bound.constants[combination]
        })
    }
}

/// Bounds over one box that all pairs of classes share.
pub struct Relaxation<'a> {
    network: &'a SumNetwork,
    ranges: &'a Ranges,
    groups: usize,
    /// The least term that each attribute adds to the first layer's sums, `[attributes, width]`;
    /// `high` holds the largest.
    low: Vec<f64>,
    high: Vec<f64>,
    /// The ends of each attribute's line of weights, if it is scaled: at its least and largest
    /// number.
    ends: Vec<[f64; 2]>,
    /// The middle of the box, and the sums of the layers there.
    middle: Vec<f64>,
    at_middle: Vec<Vec<f64>>,
    /// The terms that levels add in the middle, `[width]` each.
    level_means: Vec<Vec<f64>>,
    lines: Vec<Lines>,
    /// The columns of a weighted sum of the first layer's sums, `[width, columns]`: of each
    /// attribute its line of weights, or those of its levels, from `starts` on, and then the
    /// protected sums.
    columns: Vec<f64>,
    starts: Vec<usize>,
    /// The neurons of the first layer that the columns are laid out of.
    kept: Vec<usize>,
    /// Attributes that bounds take together.
    blocks: Vec<Vec<usize>>,
    /// The moves of layers after the first: how far each attribute moves each sum,
    /// `[attributes, outputs]`.
    moves: Vec<Vec<f64>>,
    /// The errors of the last hidden layer's activations, and their bounds.
    errors: Vec<f64>,
    values: Vec<[f64; 2]>,
}

impl<'a> Relaxation<'a> {
    /// Bounds the layers of `network` over the rows in `ranges`.
    #[inline(always)]
    pub fn new(network: &'a SumNetwork, ranges: &'a Ranges) -> Relaxation<'a> {
        let groups = match network.combinations {
            few if few <= MOST_GROUPS => few,
            _ => 1,
        };
        let mut relaxation = Relaxation {
            network,
            ranges,
            groups,
            low: Vec::new(),
            high: Vec::new(),
            ends: Vec::new(),
            middle: Vec::new(),
            at_middle: Vec::new(),
            level_means: Vec::new(),
            lines: Vec::new(),
            columns: Vec::new(),
            starts: Vec::new(),
            kept: Vec::new(),
            blocks: blocks(ranges),
            moves: Vec::new(),
            errors: Vec::new(),
            values: Vec::new(),
        };
        relaxation.bound_terms();
        if network.layers.is_empty() {
            relaxation.lay_columns((0..network.width).collect());
        } else {
            relaxation.at_middle = relaxation.forward(&relaxation.middle);
            relaxation.bound_first();
            relaxation.lay_columns(relaxation.lines[0].kept.clone());
            for depth in 1..network.layers.len() {
                relaxation.bound_layer(depth);
            }
            relaxation.bound_errors();
        }
        relaxation
    }

    fn width(&self) -> usize {
        self.network.width
    }

    /// The combinations of each group.
    #[inline(always)]
    fn of_group(&self, group: usize) -> std::ops::Range<usize> {
        match self.groups {
            1 => 0..self.network.combinations,
            _ => group..group + 1,
        }
    }

    #[inline(always)]
    fn protected(&self, combination: usize) -> &'a [f64] {
        let width = self.network.width;
        &self.network.protected[combination * width..][..width]
    }

    /// Bounds the terms that each attribute adds to the first layer's sums.
    #[inline(always)]
    fn bound_terms(&mut self) {
        let (network, width) = (self.network, self.width());
        self.low.reserve(network.free.len() * width);
        self.high.reserve(network.free.len() * width);
        for (free, range) in network.free.iter().zip(self.ranges) {
            let [first, last] = range.map(|position| position as usize);
            match &free.terms {
                Terms::Scaled(values) => {
                    let ends = [values[first], values[last]];
                    for weight in &free.lines {
                        let (a, b) = (weight * ends[0], weight * ends[1]);
                        self.low.push(if a < b { a } else { b });
                        self.high.push(if a < b { b } else { a });
                    }
                    self.ends.push(ends);
                    self.middle.push(0.5 * (ends[0] + ends[1]));
                    self.level_means.push(Vec::new());
                }
                Terms::Levels => {
                    let start = self.low.len();
                    let lines = &free.lines[first * width..(last + 1) * width];
                    self.low.extend_from_slice(&lines[..width]);
                    self.high.extend_from_slice(&lines[..width]);
                    let mut mean = vec![0.0; width];
                    for line in lines.chunks_exact(width) {
                        let low = &mut self.low[start..];
                        let high = &mut self.high[start..];
                        for j in 0..width {
                            low[j] = if line[j] < low[j] { line[j] } else { low[j] };
                            high[j] = if line[j] > high[j] { line[j] } else { high[j] };
                            mean[j] += line[j];
                        }
                    }
                    let count = (last - first + 1) as f64;
                    mean.iter_mut().for_each(|mean| *mean /= count);
                    self.ends.push([0.0; 2]);
                    self.middle.push(0.0);
                    self.level_means.push(mean);
                }
            }
        }
    }

    /// The sums of all layers at `numbers` of the scaled attributes, levels and protected values in
    /// the middle.
    #[inline(always)]
    fn forward(&self, numbers: &[f64]) -> Vec<Vec<f64>> {
        let (network, width) = (self.network, self.width());
        let mut sums = vec![0.0; width];
        let share = 1.0 / network.combinations as f64;
        for line in network.protected.chunks_exact(width) {
            add(&mut sums, share, line);
        }
        for ((free, &number), mean) in network.free.iter().zip(numbers).zip(&self.level_means) {
            match free.terms {
                Terms::Scaled(_) => add(&mut sums, number, &free.lines),
                Terms::Levels => add(&mut sums, 1.0, mean),
            }
        }
        let mut all = vec![sums];
        for layer in &network.layers[..network.layers.len().saturating_sub(1)] {
            let mut next = layer.bias.clone();
            let before = &all[all.len() - 1];
            for (&sum, weights) in before.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
                let value = plain(network.activation, sum);
                if value != 0.0 {
                    add(&mut next, value, weights);
                }
            }
            all.push(next);
        }
        all
    }

    #[inline(always)]
    fn bound_first(&mut self) {
        let width = self.width();
        let (mut low, mut high) = (vec![0.0; width], vec![0.0; width]);
        for own in self.low.chunks_exact(width) {
            add(&mut low, 1.0, own);
        }
        for own in self.high.chunks_exact(width) {
            add(&mut high, 1.0, own);
        }
        let slack = self.network.double_error[0];
        let mut lines = Lines {
            group_low: vec![f64::INFINITY; self.groups * width],
            group_high: vec![f64::NEG_INFINITY; self.groups * width],
            ..Lines::default()
        };
        for group in 0..self.groups {
            let least = &mut lines.group_low[group * width..][..width];
            let most = &mut lines.group_high[group * width..][..width];
            for combination in self.of_group(group) {
                let own = self.protected(combination);
                for j in 0..width {
                    least[j] = if own[j] < least[j] { own[j] } else { least[j] };
                    most[j] = if own[j] > most[j] { own[j] } else { most[j] };
                }
            }
            for j in 0..width {
                least[j] += low[j] - slack;
                most[j] += high[j] + slack;
            }
        }
        lines.draw(self.network.activation, self.groups, &self.at_middle[0]);
        self.lines.push(lines);
    }
}

/// Attributes in blocks of no more than [`JOINT`] combinations of their positions in `ranges`, or of
/// one attribute: those with few positions share one.
fn blocks(ranges: &Ranges) -> Vec<Vec<usize>> {
    let length = |place: usize| (ranges[place][1] - ranges[place][0]) as usize + 1;
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_unstable_by_key(|&place| (length(place), place));
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut combinations = usize::MAX;
    for place in order {
        combinations = combinations.saturating_mul(length(place));
        match blocks.last_mut() {
            Some(block) if combinations <= JOINT => block.push(place),
            _ => {
                combinations = length(place);
                blocks.push(vec![place]);
            }
        }
    }
    blocks
}

/// Adds `factor`·`line` to `sums`.
#[inline(always)]
fn add(sums: &mut [f64], factor: f64, line: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(line) {
        *sum += factor * value;
    }
}
