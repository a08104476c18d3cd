//! The moves of scores: counts that add up over blocks, threads and shards, in any order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of steps that a move of a probability is counted in.
const STEPS: u32 = 1000;

/// Number of bits that a move of a number loses: it is rounded up by less than 1 in 512.
const LOST: u32 = 14;

/// A unit of the sum of moves.
const UNIT: f64 = (1_u64 << 32) as f64;

/// Number of bins of the moves that are stated.
const BINS: usize = 20;

/// Shares of inputs whose move is stated.
const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// Counts of inputs by how far their score moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Whether scores are numbers in the unit of a label, rather than probabilities.
    of_numbers: bool,
    /// Number of inputs by move, rounded up: of a probability in thousandths, of a number by its
    /// first bits, which are in the order of the numbers.
    steps: BTreeMap<u32, u64>,
    /// Sum of the moves of probabilities, in units of 2⁻³².
    sum: u64,
    /// The largest move.
    largest: f32,
}

/// The largest changes of a score when protected attributes change, over the inputs: of the
/// probability of a class, or of the number that a regressor gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// The mean change; of numbers rounded up by at most 0.2 %.
    pub mean: f64,
    /// The largest change of any input.
    pub largest: f32,
    /// Quantiles, rounded up, but not above the largest change: of probabilities to thousandths, of
    /// numbers by at most 0.2 %.
    pub quantiles: Vec<ChangeQuantile>,
    /// Inputs by change: 20 bins of this width, each with its upper end, the first with 0. The
    /// width for probabilities is 0.05.
    pub bin_width: f64,
    /// Number of inputs in each bin: see [`Changes::bin_width`].
    pub bins: Vec<u64>,
}

/// A quantile of the changes: a share of the inputs has no larger change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangeQuantile {
    /// The share.
    pub share: f64,
    /// The change.
    pub change: f32,
}

impl Moves {
    /// No moves yet, of numbers in the unit of a label where `of_numbers` says so.
    pub fn new(of_numbers: bool) -> Moves {
        Moves {
            of_numbers,
            ..Moves::default()
        }
    }

    /// Counts an input whose score moves by `change`: of a probability from 0 to 1.
    pub fn add(&mut self, change: f32) {
        let (step, change) = match self.of_numbers {
            true => {
                let change = change.clamp(0.0, f32::MAX);
                (change.to_bits().div_ceil(1 << LOST), change)
            }
            false => {
                let change = change.clamp(0.0, 1.0);
                let step = f64::from(change) * f64::from(STEPS);
                (step.ceil() as u32, change)
            }
        };
        *self.steps.entry(step).or_default() += 1;
        if !self.of_numbers {
            self.sum = self.sum.saturating_add((f64::from(change) * UNIT) as u64);
        }
        self.largest = self.largest.max(change);
    }

    /// The sum of these moves and `other`; `None` where they cannot be counts.
    pub fn and(mut self, other: &Moves) -> Option<Moves> {
        if self.of_numbers != other.of_numbers {
            return None;
        }
        self.sum = self.sum.checked_add(other.sum)?;
        for (&step, &more) in &other.steps {
            let own = self.steps.entry(step).or_default();
            *own = own.checked_add(more)?;
        }
        self.largest = self.largest.max(other.largest);
        Some(self)
    }

    /// Whether these can be the moves of `inputs` inputs.
    pub fn is_of(&self, inputs: u64) -> bool {
        let most = match self.of_numbers {
            true => f32::MAX,
            false => 1.0,
        };
        let is_one = |&step: &u32| self.of_numbers || step <= STEPS;
        self.inputs() == inputs
            && (0.0..=most).contains(&self.largest)
            && self.steps.keys().all(is_one)
    }

    fn inputs(&self) -> u64 {
        self.steps.values().copied().fold(0, u64::saturating_add)
    }

    /// The largest move that is counted in `step`.
    fn end(&self, step: u32) -> f64 {
        let end = match self.of_numbers {
            true => f64::from(f32::from_bits(step.saturating_mul(1 << LOST))),
            false => f64::from(step) / f64::from(STEPS),
        };
        end.min(f64::from(self.largest))
    }

    /// The figures that are stated of the moves.
    pub fn changes(&self) -> Changes {
        let inputs = self.inputs();
        let below = |share: f64| {
            let enough = (share * inputs as f64).ceil() as u64;
            let mut sum = 0;
            let mut ends = self.steps.iter().filter(|(_, inputs)| {
                sum += **inputs;
                sum >= enough
            });
            ends.next().map_or(0.0, |(&step, _)| self.end(step))
        };
        let mut bins = vec![0; BINS];
        let bin_width = match self.of_numbers {
            true => f64::from(self.largest) / BINS as f64,
            false => 1.0 / BINS as f64,
        };
        for (&step, inputs) in &self.steps {
            let bin = match self.of_numbers {
                true => (self.end(step) / bin_width).ceil() as usize,
                false => (step as usize).div_ceil(STEPS as usize / BINS),
            };
            bins[bin.clamp(1, BINS) - 1] += inputs;
        }
        let quantile = |share: f64| ChangeQuantile {
            share,
            change: below(share) as f32,
        };
        Changes {
            mean: match self.of_numbers {
                true => {
                    let ends = self.steps.iter();
                    let sum = ends.map(|(&step, &inputs)| self.end(step) * inputs as f64);
                    sum.sum::<f64>() / inputs.max(1) as f64
                }
                false => self.sum as f64 / UNIT / inputs.max(1) as f64,
            },
            largest: self.largest,
            quantiles: QUANTILES.map(quantile).into(),
            bin_width,
            bins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// Moves of probabilities are rounded up to thousandths, and not above the largest one.
    #[test]
    fn no_quantile_is_above_the_largest_move() {
        let mut moves = Moves::new(false);
        for change in [0.0, 0.0101, 0.0123, 0.0123] {
            moves.add(change);
        }
        assert!(moves.is_of(4));
        let changes = moves.changes();
        let quantiles = changes.quantiles.iter().map(|quantile| quantile.change);
        assert_eq!(quantiles.collect::<Vec<_>>()[..2], [0.011, 0.0123]);
        let largest = changes.largest;
        assert!(changes.quantiles.iter().all(|it| it.change <= largest));
    }

    /// Moves of numbers against sorting them, and cut in two.
    #[test]
    fn moves_of_numbers_are_in_any_unit() {
        let mut stream = stream(1, Purpose::UniformInput, 0, 0);
        let mut all: Vec<f32> = (0..1000)
            .map(|_| 1e-12 * stream.random::<f32>().powi(3))
            .collect();
        all[7] = 0.0;
        let count = |some: &[f32]| {
            let mut moves = Moves::new(true);
            some.iter().for_each(|&change| moves.add(change));
            moves
        };
        let moves = count(&all);
        let (one, other) = all.split_at(300);
        assert_eq!(count(one).and(&count(other)).unwrap(), moves);
        assert!(moves.is_of(1000) && !moves.is_of(999));
        assert!(Moves::new(false).and(&moves).is_none());
        let changes = moves.changes();
        let mean = all.iter().map(|&change| f64::from(change)).sum::<f64>() / 1000.0;
        assert!(
            (0.0..1.0 / 512.0).contains(&(changes.mean / mean - 1.0)),
            "{changes:?}"
        );
        all.sort_by(f32::total_cmp);
        assert_eq!(changes.largest, all[999]);
        for quantile in &changes.quantiles {
            let exact = f64::from(all[(quantile.share * 1000.0).ceil() as usize - 1]);
            let over = f64::from(quantile.change) / exact - 1.0;
            assert!((0.0..1.0 / 512.0).contains(&over), "{quantile:?} {exact}");
        }
        assert_eq!(changes.bins.iter().sum::<u64>(), 1000);
        assert_eq!(changes.bin_width, f64::from(all[999]) / 20.0);
        let none = count(&[0.0, 0.0]);
        assert!(none.changes().quantiles.iter().all(|it| it.change == 0.0));
        assert_eq!(none.changes().bins[0], 2);
    }
}
