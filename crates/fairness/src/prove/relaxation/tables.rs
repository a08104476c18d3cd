//! The tables of the contributions of the attributes of a block to a bound.

use super::super::network::Terms;
use super::super::product::LANES;
use super::Relaxation;
use super::cuts::Cuts;
use super::lines::above;

/// Largest number of positions of a scaled attribute whose part is a table; beyond that it is a
/// line.
const WIDE: usize = 512;

/// The ReLUs of which one bound of a lead takes the additive one, and the weight of each.
#[derive(Default)]
pub(super) struct Convex {
    /// The places of these neurons among the open ones of the first layer.
    pub(super) places: Vec<usize>,
    pub(super) neurons: Vec<usize>,
    pub(super) weights: Vec<f64>,
}

/// The contributions to a bound of the combinations of a block's attributes so far.
#[derive(Default)]
pub(super) struct Grown {
    /// The contribution of the lines; at the end the whole contribution.
    pub(super) lined: Vec<f64>,
    /// The numbers d less what the neurons get, `[combinations, neurons]`.
    below: Vec<f64>,
    /// The numbers of `lined` and `below` with one attribute more.
    next: Vec<f64>,
    next_below: Vec<f64>,
    /// The lines of one position.
    lines: Vec<f64>,
}

impl Relaxation<'_> {
    /// Tables the contributions of the attributes of `block` to a bound, for every combination of
    /// their positions: [`Grown::lined`].
    #[inline(always)]
    pub(super) fn grow(
        &self,
        row: usize,
        block: &[usize],
        columns: &[f64],
        cuts: &Cuts,
        convex: &Convex,
        grown: &mut Grown,
    ) {
        let (network, width) = (self.network, self.width());
        let count = convex.places.len();
        let Grown {
            lined,
            below,
            next,
            next_below,
            lines,
        } = grown;
        lined.clear();
        lined.push(0.0);
        below.clear();
        below.resize(count, 0.0);
        lines.resize(count, 0.0);
        for &place in block {
            let cuts = cuts.for_attribute(place);
            for (below, &place) in below.iter_mut().zip(&convex.places) {
                *below += cuts[place];
            }
        }
        for (nth, &place) in block.iter().enumerate() {
            let is_last = nth + 1 == block.len();
            let free = &network.free[place];
            let [first, last] = self.ranges[place].map(|position| position as usize);
            let own = &columns[self.starts[place] * LANES..];
            let positions = last + 1 - first;
            // A sum of concave functions is above the line through its ends.
            let is_wide = positions > WIDE && matches!(free.terms, Terms::Scaled(_));
            next.clear();
            next_below.clear();
            if let Terms::Scaled(_) = free.terms {
                for (line, &neuron) in lines.iter_mut().zip(&convex.neurons) {
                    *line = free.lines[neuron];
                }
            }
            for position in 0..positions {
                let (x, added) = match &free.terms {
                    Terms::Scaled(values) => {
                        let x = values[first + position];
                        (x, own[row] * x)
                    }
                    Terms::Levels => {
                        let level = &free.lines[(first + position) * width..][..width];
                        for (line, &neuron) in lines.iter_mut().zip(&convex.neurons) {
                            *line = level[neuron];
                        }
                        (1.0, own[position * LANES + row])
                    }
                };
                let is_between = position > 0 && position + 1 < positions;
                for (at, lined) in lined.iter().enumerate() {
                    let below = &below[at * count..][..count];
                    let mut sum = lined + added;
                    if !is_last {
                        for (below, line) in below.iter().zip(&*lines) {
                            next_below.push(below - line * x);
                        }
                    } else if !(is_wide && is_between) {
                        sum += above(lines, x, below, &convex.weights);
                    }
                    next.push(sum);
                }
            }
            if let Terms::Scaled(values) = &free.terms
                && is_last
                && is_wide
            {
                chord(next, &values[first..=last], lined.len());
            }
            std::mem::swap(lined, next);
            std::mem::swap(below, next_below);
        }
    }
}

/// Puts the `sums` at the first and the last of `values` on a line between them, for each of
/// `combinations` combinations.
#[inline(always)]
fn chord(sums: &mut [f64], values: &[f64], combinations: usize) {
    let end = sums.len() - combinations;
    let length = values[values.len() - 1] - values[0];
    for at in 0..combinations {
        let (from, to) = (sums[at], sums[end + at]);
        let rate = if length != 0.0 {
            (to - from) / length
        } else {
            0.0
        };
        for (place, x) in values.iter().enumerate() {
            sums[place * combinations + at] = from + rate * (x - values[0]);
        }
    }
}
