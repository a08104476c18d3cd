//! Bootstrap samples of the rows, each keyed by (seed, number), and how far the rates of groups
//! deviate in them.
//!
//! A bootstrap sample draws as many rows as there are, with replacement (Efron 1979). One sample
//! serves every partition.

use rand::RngExt;
use rayon::prelude::*;

use super::grouping::Partition;
use super::tally::{Measure, Outcomes, Tally};
use probity_run::stream::{Purpose, stream};

/// Bootstrap deviations of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviations {
    /// Largest minus smallest deviation of the judged groups, by measure and sample.
    ranges: [Vec<f64>; 4],
    /// Largest minus smallest deviation of the logarithms of the selection rates, by sample.
    log_ranges: Vec<f64>,
}

impl Deviations {
    /// Largest minus smallest deviation of `measure` over the judged groups, a sample each.
    pub fn ranges(&self, measure: Measure) -> &[f64] {
        &self.ranges[measure as usize]
    }

    /// Largest minus smallest deviation of the logarithms of the selection rates, a sample each.
    pub fn log_ranges(&self) -> &[f64] {
        &self.log_ranges
    }
}

/// The settings of resampling.
#[derive(Debug, Clone, Copy)]
pub struct Resampling {
    /// Number of times that the rows are resampled.
    pub resamples: u32,
    /// Seed of the samples.
    pub seed: u64,
    /// Number of rows that a rate must be a share of to be judged.
    pub min_group: u64,
}

/// The part of one sample in [`Deviations`].
struct Deviation {
    ranges: [f64; 4],
    log_range: f64,
}

/// Resamples the rows and gives the deviations of each of `partitions`, whose counts are `tallies`.
/// A judged rate of no rows in a sample deviates without bound.
pub fn resample(
    outcomes: &Outcomes,
    partitions: &[Partition],
    tallies: &[Vec<Tally>],
    resampling: Resampling,
) -> Vec<Deviations> {
    let rows = outcomes.selected.len();
    let samples: Vec<Vec<Deviation>> = (0..resampling.resamples)
        .into_par_iter()
        .map(|number| {
            let mut draws = stream(resampling.seed, Purpose::Bootstrap, number.into(), 0);
            let mut times = vec![0u32; rows];
            for _ in 0..rows {
                times[draws.random_range(0..rows)] += 1;
            }
            let each = partitions.iter().zip(tallies);
            each.map(|(partition, own)| {
                // Calibration errors are not resampled.
                let drawn = Tally::of_groups(outcomes, &partition.of_row, own.len(), 1, &times);
                deviation(own, &drawn, resampling.min_group)
            })
            .collect()
        })
        .collect();
    (0..partitions.len())
        .map(|partition| {
            let of = || samples.iter().map(|sample| &sample[partition]);
            Deviations {
                ranges: Measure::ALL.map(|m| of().map(|d| d.ranges[m as usize]).collect()),
                log_ranges: of().map(|deviation| deviation.log_range).collect(),
            }
        })
        .collect()
}

fn deviation(own: &[Tally], drawn: &[Tally], min_group: u64) -> Deviation {
    let range = |measure: Measure, scale: fn(f64) -> f64| {
        let judged = own.iter().zip(drawn);
        let deviations = judged
            .filter(|(own, _)| own.denominator(measure) >= min_group)
            .map(
                |(own, drawn)| match (own.rate(measure), drawn.rate(measure)) {
                    (Some(own), Some(drawn)) => scale(drawn) - scale(own),
                    _ => f64::INFINITY,
                },
            );
        let (low, high) = deviations.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), d| {
            (low.min(d), high.max(d))
        });
        // Two unbounded ones have no difference.
        if high.is_finite() && low.is_finite() {
            high - low
        } else {
            f64::INFINITY
        }
    };
    Deviation {
        ranges: Measure::ALL.map(|measure| range(measure, |rate| rate)),
        log_range: range(Measure::Selection, f64::ln),
    }
}

/// The 95 % quantile of `values`: the ⌈0.95 (n + 1)⌉-th smallest, or infinity if there are too few.
pub fn quantile(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (0.95 * (sorted.len() + 1) as f64).ceil() as usize;
    sorted.get(place - 1).copied().unwrap_or(f64::INFINITY)
}
