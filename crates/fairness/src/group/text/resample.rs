//! Bootstrap samples of labelled texts, each keyed by (seed, number), and the intervals of areas.
//!
//! A sample draws as many texts as there are, with replacement (Efron 1979); one serves every
//! figure. The interval of a figure is that of the percentiles of what it is in the samples. A
//! sample in which it is undefined, because none of a kind of texts was drawn, says nothing of it:
//! it counts as below all others at the lower end and as above them at the upper one.
//!
//! **The final bias metric** is estimated too low: its generalised means weigh the lowest areas most,
//! and among many small subgroups some are low by chance. The metric of a sample of the texts lies
//! below that of the texts by about as much as that below the true one. Its interval is therefore the
//! basic one (Davison and Hinkley 1997, *Bootstrap Methods and their Application*, section 5.2): from
//! 2v − q₉₇.₅ to 2v − q₂.₅ of the value v and the percentiles q. With 100 subgroups of 31 texts of
//! normal scores it held in 19 of 20 trials, that of percentiles in 13.
//!
//! **Areas of 0 and 1** do not vary when texts are resampled. Let all pairs of m positives and n
//! negatives be won. Then so are k = min(m, n) pairs of which no two share a text. Those are drawn
//! independently, and each is won with a probability of at most the true area A, so that all are with
//! A^k at most. This is below 0.025 where A < 0.025^(1/k): that is the lower end, but where the
//! percentile is lower still. An area of 0 is that of the classes in each other's place.

use rand::RngExt;
use rayon::prelude::*;

use super::auc::{Areas, Ranking, bias_of};
use probity_run::stream::{Purpose, stream};

/// The value of each figure in each sample.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    /// The AUC of all texts.
    pub(super) overall: Vec<Option<f64>>,
    /// The areas of each subgroup: by subgroup, area, sample.
    pub(super) areas: Vec<[Vec<Option<f64>>; 3]>,
    /// The final bias metric over each of the sets of subgroups.
    pub(super) bias: Vec<Vec<Option<f64>>>,
}

/// Resamples the texts of `ranking` and gives the figures of `subgroups`, which are in the order of
/// scores, and of `sets` of those.
pub(super) fn resample(
    ranking: &Ranking,
    texts: usize,
    subgroups: &[Vec<u32>],
    sets: &[Vec<usize>],
    (resamples, seed): (u32, u64),
) -> Samples {
    let drawn: Vec<(Option<f64>, Vec<Areas>)> = (0..resamples)
        .into_par_iter()
        .map(|number| {
            let mut draws = stream(seed, Purpose::Bootstrap, number.into(), 0);
            let mut times = vec![0u32; texts];
            for _ in 0..texts {
                times[draws.random_range(0..texts)] += 1;
            }
            let counted = ranking.counted(&times);
            let areas = subgroups.iter().map(|members| counted.areas(members));
            (counted.overall(), areas.collect())
        })
        .collect();
    let of = |subgroup: usize, area: usize| {
        let samples = drawn.iter();
        samples
            .map(move |(_, areas)| areas[subgroup].all()[area])
            .collect()
    };
    Samples {
        overall: drawn.iter().map(|(overall, _)| *overall).collect(),
        areas: (0..subgroups.len())
            .map(|subgroup| [0, 1, 2].map(|area| of(subgroup, area)))
            .collect(),
        bias: sets
            .iter()
            .map(|set| {
                let samples = drawn.iter();
                let bias = samples.map(|(overall, areas)| {
                    let areas: Vec<Areas> = set.iter().map(|&at| areas[at]).collect();
                    bias_of(*overall, &areas)
                });
                bias.collect()
            })
            .collect(),
    }
}

/// The 95 % interval of percentiles; from 0 to 1 where there are too few samples for one.
pub(super) fn percentiles(samples: &[Option<f64>]) -> [f64; 2] {
    let with = |undefined: f64| {
        let mut values: Vec<f64> = samples.iter().map(|v| v.unwrap_or(undefined)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let outside = (0.025 * (samples.len() + 1) as f64).floor() as usize;
    let (low, high) = (with(0.0), with(1.0));
    match outside.checked_sub(1) {
        Some(place) => [low[place], high[high.len() - outside]],
        None => [0.0, 1.0],
    }
}

/// The basic 95 % interval of a share of `value`, which percentiles would put too low or too high.
pub(super) fn basic(value: f64, samples: &[Option<f64>]) -> [f64; 2] {
    let [low, high] = percentiles(samples);
    [2.0 * value - high, 2.0 * value - low].map(|end| end.clamp(0.0, 1.0))
}

/// The interval of an area of `value` of these numbers of positives and negatives.
pub(super) fn area_interval(
    value: f64,
    samples: &[Option<f64>],
    (positives, negatives): (u64, u64),
) -> [f64; 2] {
    let [low, high] = percentiles(samples);
    let disjoint = positives.min(negatives).max(1) as f64;
    let unseen = 0.025_f64.powf(disjoint.recip());
    if value == 1.0 {
        [low.min(unseen), 1.0]
    } else if value == 0.0 {
        [0.0, high.max(1.0 - unseen)]
    } else {
        [low, high]
    }
}
