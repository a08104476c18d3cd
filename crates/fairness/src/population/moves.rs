//! How far scores move: counts that add up over blocks, threads and shards, in any order.

use serde::{Deserialize, Serialize};

/// Steps that a move is counted in.
const STEPS: usize = 1000;

/// A unit of the sum of moves.
const UNIT: f64 = (1_u64 << 32) as f64;

/// Bins of the moves that are stated.
const BINS: usize = 20;

/// Shares of inputs whose move is stated.
const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// Inputs by how far their score moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Inputs by move: none, and up to each thousandth.
    steps: Vec<u64>,
    /// Sum of the moves, in units of 2⁻³².
    sum: u64,
    /// The largest one.
    largest: f32,
}

/// How far the probability of a class moves at most when protected attributes change, over the
/// inputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Mean.
    pub mean: f64,
    /// The largest change of any input.
    pub largest: f32,
    /// Quantiles, rounded up to thousandths.
    pub quantiles: Vec<ChangeQuantile>,
    /// Inputs by change: 20 bins of 0.05, each with its upper end, the first with 0.
    pub bins: Vec<u64>,
}

/// That a share of the inputs has no larger change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangeQuantile {
    /// The share.
    pub share: f64,
    /// The change.
    pub change: f64,
}

impl Default for Moves {
    fn default() -> Moves {
        Moves {
            steps: vec![0; STEPS + 1],
            sum: 0,
            largest: 0.0,
        }
    }
}

impl Moves {
    /// Counts an input whose score moves by `change`, from 0 to 1.
    pub fn add(&mut self, change: f32) {
        let step = f64::from(change).clamp(0.0, 1.0);
        self.steps[(step * STEPS as f64).ceil() as usize] += 1;
        self.sum = self.sum.saturating_add((step * UNIT) as u64);
        self.largest = self.largest.max(change);
    }

    /// Both together; nothing where they cannot be counts.
    pub fn and(mut self, other: &Moves) -> Option<Moves> {
        if self.steps.len() != other.steps.len() {
            return None;
        }
        self.sum = self.sum.checked_add(other.sum)?;
        for (own, more) in self.steps.iter_mut().zip(&other.steps) {
            *own = own.checked_add(*more)?;
        }
        self.largest = self.largest.max(other.largest);
        Some(self)
    }

    /// Whether these can be the moves of so many inputs.
    pub fn is_of(&self, inputs: u64) -> bool {
        self.steps.len() == STEPS + 1
            && self.inputs() == inputs
            && (0.0..=1.0).contains(&self.largest)
    }

    fn inputs(&self) -> u64 {
        self.steps.iter().copied().fold(0, u64::saturating_add)
    }

    /// What is stated of them.
    pub fn changes(&self) -> Changes {
        let inputs = self.inputs();
        let below = |share: f64| {
            let enough = (share * inputs as f64).ceil() as u64;
            let mut sum = 0;
            let step = self.steps.iter().position(|inputs| {
                sum += inputs;
                sum >= enough
            });
            step.unwrap_or(STEPS) as f64 / STEPS as f64
        };
        let mut bins = vec![0; BINS];
        for (step, inputs) in self.steps.iter().enumerate() {
            bins[step.saturating_sub(1) / (STEPS / BINS)] += inputs;
        }
        let quantile = |share: f64| ChangeQuantile {
            share,
            change: below(share),
        };
        Changes {
            mean: self.sum as f64 / UNIT / inputs.max(1) as f64,
            largest: self.largest,
            quantiles: QUANTILES.map(quantile).into(),
            bins,
        }
    }
}
