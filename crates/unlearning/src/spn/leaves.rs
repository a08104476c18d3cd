//! Leaves: exact statistics of one column, and the univariate distribution that they give.
//!
//! With n rows, smoothing α and L values or bins:
//!
//! | family      | statistics    | distribution                                                          |
//! |-------------|---------------|-----------------------------------------------------------------------|
//! | categorical | counts        | p(v) = (count(v) + α) / (n + αL)                                      |
//! | histogram   | counts        | mass of a bin as above, spread evenly over its width or whole numbers |
//! | Gaussian    | n, Σq, Σq²    | mean Σq/n; variance (n·s² + α·σ₀²) / (n + α), σ₀ = range/16            |
//! | Poisson     | n, Σq         | rate (Σq + α) / (n + α) of the distance q from the declared minimum   |
//!
//! The n rows are those whose value is known. With n = 0 all values or bins are alike, a Gaussian has
//! the mean and the variance of the uniform distribution over the declared range, and a Poisson
//! rate is half of the range.
//!
//! q are fixed-point values, so that all statistics are whole numbers and deletion is exact. The
//! Gaussian's variance is at least (range/10,000)², also with α = 0. A Poisson leaf has mass above
//! the declared maximum; Gaussian leaves have density outside the declared bounds.

use libm::erfc;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::moments::Moments;
use super::variable::{Binning, Domain, LeafFamily, REAL_STEPS, Variable};
use probity_run::stream::Stream;

/// The prior standard deviation of a Gaussian leaf as a share of the declared range.
const PRIOR_DEVIATION: f64 = 1.0 / 16.0;
/// The least standard deviation of a Gaussian leaf as a share of the declared range.
const LEAST_DEVIATION: f64 = 1e-4;

/// The largest error of an exponential in f64, as a share of itself: 10⁻¹⁵ and the error of its
/// logarithm, a sum of two numbers below a thousand in size.
const EXP_ERROR: f64 = 1e-12;
/// The largest error of a difference of two values of the normal distribution: `erfc` by a unit in
/// the last place, where it is asked by three at most.
const NORMAL_ERROR: f64 = 1e-14;
/// The largest error of the terms of the logarithm of a Poisson mass, as a share of their sizes.
const LOG_ERROR: f64 = 1e-13;

/// The counts of a leaf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeafStatistics {
    /// The number of rows by value or by bin.
    Counts(Vec<u32>),
    /// The number of rows and their moments.
    Moments(u32, Moments),
}

/// The rule by which the leaves of one variable count; made once a variable.
#[derive(Debug, Clone)]
pub struct LeafRule {
    family: LeafFamily,
    binning: Option<Binning>,
    cells: usize,
}

impl LeafRule {
    /// Creates the rule of `variable`; whole numbers get at most `bins` bins of a histogram.
    pub fn new(variable: &Variable, bins: u16) -> LeafRule {
        let binning =
            (variable.family() == LeafFamily::Histogram).then(|| variable.histogram_bins(bins));
        let cells = match (&binning, variable.family()) {
            (Some(binning), _) => binning.len(),
            (None, LeafFamily::Categorical) => variable.values().unwrap_or(0) as usize,
            (None, _) => 0,
        };
        LeafRule {
            family: variable.family(),
            binning,
            cells,
        }
    }

    /// Returns the statistics of no row.
    pub fn empty(&self) -> LeafStatistics {
        match self.family {
            LeafFamily::Categorical | LeafFamily::Histogram => {
                LeafStatistics::Counts(vec![0; self.cells])
            }
            LeafFamily::Gaussian | LeafFamily::Poisson => {
                LeafStatistics::Moments(0, Moments::default())
            }
        }
    }

    fn cell(&self, fixed: i32) -> usize {
        match &self.binning {
            Some(binning) => binning.bin(fixed),
            None => fixed as usize,
        }
    }

    /// Counts `fixed` into `statistics`.
    pub fn add(&self, statistics: &mut LeafStatistics, fixed: i32) {
        match statistics {
            LeafStatistics::Counts(counts) => counts[self.cell(fixed)] += 1,
            LeafStatistics::Moments(rows, moments) => {
                *rows += 1;
                moments.add(fixed);
            }
        }
    }

    /// Takes `fixed`, which was counted in, out again.
    pub fn remove(&self, statistics: &mut LeafStatistics, fixed: i32) {
        match statistics {
            LeafStatistics::Counts(counts) => counts[self.cell(fixed)] -= 1,
            LeafStatistics::Moments(rows, moments) => {
                *rows -= 1;
                moments.remove(fixed);
            }
        }
    }

    /// Returns the distribution that `statistics` of `variable` give.
    pub fn distribution(
        &self,
        statistics: &LeafStatistics,
        variable: &Variable,
        smoothing: f64,
    ) -> Distribution {
        match statistics {
            LeafStatistics::Counts(counts) => {
                let rows: f64 = counts.iter().map(|&count| f64::from(count)).sum();
                let cells = counts.len() as f64;
                let total = rows + smoothing * cells;
                let mass = |count: u32| match rows == 0.0 {
                    true => 1.0 / cells,
                    false => (f64::from(count) + smoothing) / total,
                };
                let log_mass = counts.iter().map(|&count| mass(count).ln());
                match &self.binning {
                    None => Distribution::Categorical {
                        min: variable.range().0,
                        log_mass: log_mass.collect(),
                    },
                    Some(binning) => histogram(binning, variable, log_mass.collect()),
                }
            }
            LeafStatistics::Moments(rows, moments) => {
                let rows = f64::from(*rows);
                let (min, range) = variable.range();
                if self.family == LeafFamily::Poisson && rows == 0.0 {
                    let rate = range / 2.0;
                    return Distribution::Poisson { min, rate };
                }
                if self.family == LeafFamily::Poisson {
                    let rate = (moments.sum() as f64 + smoothing) / (rows + smoothing);
                    return Distribution::Poisson { min, rate };
                }
                let unit = match variable.domain() {
                    Domain::Real { .. } => range / f64::from(REAL_STEPS),
                    Domain::Categorical { .. } | Domain::Integer { .. } => 1.0,
                };
                let scale = range.max(unit);
                if rows == 0.0 {
                    return Distribution::Gaussian {
                        mean: min + range / 2.0,
                        deviation: scale / 12.0_f64.sqrt(),
                    };
                }
                let spread = moments.spread(rows as usize) as f64 / (rows * rows) * unit * unit;
                let prior = scale * PRIOR_DEVIATION;
                let variance = (rows * spread + smoothing * prior * prior) / (rows + smoothing);
                Distribution::Gaussian {
                    mean: min + moments.sum() as f64 / rows * unit,
                    deviation: variance.sqrt().max(scale * LEAST_DEVIATION),
                }
            }
        }
    }
}

fn histogram(binning: &Binning, variable: &Variable, log_mass: Vec<f64>) -> Distribution {
    let (min, _) = variable.range();
    let edges = match variable.domain() {
        // The declared ones, all of which are kept: in fixed point an edge may lie a little above
        // the value that it is, which was counted in the bin that begins with it.
        Domain::Real { edges } => edges.clone(),
        Domain::Categorical { .. } | Domain::Integer { .. } => {
            let starts = (0..binning.len()).map(|at| binning.bounds(at).0);
            let end = binning.bounds(binning.len() - 1).1;
            let edges = starts.chain([end]).map(|edge| min + edge as f64);
            edges.collect()
        }
    };
    Distribution::Histogram {
        whole: matches!(variable.domain(), Domain::Integer { .. }),
        edges,
        log_mass,
    }
}

/// A univariate distribution.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// A distribution with a log-probability for each value, from `min` upwards.
    Categorical {
        /// The first value.
        min: f64,
        /// The log-probabilities.
        log_mass: Vec<f64>,
    },
    /// A normal density.
    Gaussian {
        /// The mean of the density.
        mean: f64,
        /// The standard deviation, above zero.
        deviation: f64,
    },
    /// A distribution in which `value - min` is Poisson distributed.
    Poisson {
        /// The smallest value.
        min: f64,
        /// The mean distance from the smallest value.
        rate: f64,
    },
    /// A distribution that is constant within bins: a density, or a probability of each whole
    /// number.
    Histogram {
        /// Whether values are whole numbers.
        whole: bool,
        /// The ascending edges, one more than bins.
        edges: Vec<f64>,
        /// The log-mass of each bin.
        log_mass: Vec<f64>,
    },
}

impl Distribution {
    /// Returns the log-density (real variables) or log-probability (others) of `value`.
    pub fn log_density(&self, value: f64) -> f64 {
        match self {
            Distribution::Categorical { min, log_mass } => {
                let at = value - min;
                if at < 0.0 || at.fract() != 0.0 {
                    return f64::NEG_INFINITY;
                }
                log_mass
                    .get(at as usize)
                    .copied()
                    .unwrap_or(f64::NEG_INFINITY)
            }
            Distribution::Gaussian { mean, deviation } => {
                let z = (value - mean) / deviation;
                -0.5 * z * z - deviation.ln() - 0.5 * std::f64::consts::TAU.ln()
            }
            Distribution::Poisson { min, rate } => {
                let distance = value - min;
                if distance < 0.0 || distance.fract() != 0.0 {
                    return f64::NEG_INFINITY;
                }
                let power = if distance == 0.0 {
                    0.0
                } else {
                    distance * rate.ln()
                };
                power - rate - ln_gamma(distance + 1.0)
            }
            Distribution::Histogram {
                whole,
                edges,
                log_mass,
            } => {
                let (first, last) = (edges[0], edges[edges.len() - 1]);
                let outside = value < first || value > last;
                if outside || (*whole && (value >= last || value.fract() != 0.0)) {
                    return f64::NEG_INFINITY;
                }
                let inner = &edges[1..edges.len() - 1];
                let at = inner.partition_point(|edge| *edge <= value);
                log_mass[at] - (edges[at + 1] - edges[at]).ln()
            }
        }
    }

    /// Returns the probability of the values v with `from` ≤ v < `to`, at least and at most: the
    /// possible error of f64 and its functions is taken off and added. Where the values are whole
    /// numbers, only those count.
    pub fn probability(&self, [from, to]: [f64; 2]) -> [f64; 2] {
        let whole_numbers = |first: f64| {
            let mut value = first.max(from.ceil());
            std::iter::from_fn(move || {
                let own = value;
                value += 1.0;
                (own < to).then_some(own)
            })
        };
        match self {
            Distribution::Categorical { min, log_mass } => {
                let last = min + log_mass.len() as f64;
                let values = whole_numbers(*min).take_while(|value| *value < last);
                widened(values.map(|value| self.log_density(value)), EXP_ERROR)
            }
            Distribution::Gaussian { mean, deviation } => {
                let standard = |value: f64| (value - mean) / deviation / std::f64::consts::SQRT_2;
                let (low, high) = (standard(from), standard(to));
                // In the tails the difference of complements keeps its digits.
                let probability = match low + high > 0.0 {
                    true => 0.5 * (erfc(low) - erfc(high)),
                    false => 0.5 * (erfc(-high) - erfc(-low)),
                };
                [
                    (probability - NORMAL_ERROR).max(0.0),
                    (probability + NORMAL_ERROR).min(1.0),
                ]
            }
            Distribution::Poisson { min, rate } => {
                let most = (to.ceil() - 1.0 - min).max(0.0);
                let sizes = [most * rate.ln(), *rate, ln_gamma(most + 1.0)];
                let size: f64 = sizes.iter().map(|size| size.abs()).sum();
                // Of the rate 0 all logarithms are exact.
                let error = if size.is_finite() {
                    LOG_ERROR * (1.0 + size)
                } else {
                    0.0
                };
                let values = whole_numbers(*min);
                widened(
                    values.map(|value| self.log_density(value)),
                    EXP_ERROR + error,
                )
            }
            Distribution::Histogram {
                whole,
                edges,
                log_mass,
            } => {
                let bins = edges.windows(2).zip(log_mass);
                let parts = bins.map(|(edge, mass)| {
                    let inside = match whole {
                        true => to.ceil().min(edge[1]) - from.ceil().max(edge[0]),
                        false => to.min(edge[1]) - from.max(edge[0]),
                    };
                    (inside.max(0.0) / (edge[1] - edge[0])).ln() + mass
                });
                widened(parts, EXP_ERROR)
            }
        }
    }

    /// Returns a most probable value; the smallest where several are.
    pub fn mode(&self) -> f64 {
        match self {
            Distribution::Categorical { min, log_mass } => min + first_largest(log_mass) as f64,
            Distribution::Gaussian { mean, .. } => *mean,
            // rate and rate - 1 are equally probable where the rate is whole.
            Distribution::Poisson { min, rate } => min + (rate.ceil() - 1.0).max(0.0),
            Distribution::Histogram {
                whole,
                edges,
                log_mass,
            } => {
                let density: Vec<f64> = log_mass
                    .iter()
                    .zip(edges.windows(2))
                    .map(|(mass, edge)| mass - (edge[1] - edge[0]).ln())
                    .collect();
                let at = first_largest(&density);
                if *whole {
                    edges[at]
                } else {
                    0.5 * (edges[at] + edges[at + 1])
                }
            }
        }
    }

    /// Draws a value.
    pub fn sample(&self, draws: &mut Stream) -> f64 {
        match self {
            Distribution::Categorical { min, log_mass } => min + pick(log_mass, draws) as f64,
            Distribution::Gaussian { mean, deviation } => {
                let radius = (-2.0 * (1.0 - draws.random::<f64>()).ln()).sqrt();
                let angle = std::f64::consts::TAU * draws.random::<f64>();
                mean + deviation * radius * angle.cos()
            }
            Distribution::Poisson { min, rate } => min + poisson(*rate, draws),
            Distribution::Histogram {
                whole,
                edges,
                log_mass,
            } => {
                let at = pick(log_mass, draws);
                let width = edges[at + 1] - edges[at];
                let inside = width * draws.random::<f64>();
                edges[at] + if *whole { inside.floor() } else { inside }
            }
        }
    }
}

/// Returns the sum of the numbers with these logarithms, at least and at most, where an exponential
/// errs by less than `error` of itself and each addition by a rounding.
fn widened(logs: impl Iterator<Item = f64>, mut error: f64) -> [f64; 2] {
    let mut sum = 0.0;
    for log in logs {
        sum += log.exp();
        error += f64::EPSILON;
    }
    // What is below the normal numbers is lost to them.
    [
        (sum * (1.0 - error)).max(0.0),
        sum * (1.0 + error) + f64::MIN_POSITIVE,
    ]
}

/// Draws a position by log-weights that need not sum to one.
pub(super) fn pick(log_weights: &[f64], draws: &mut Stream) -> usize {
    let largest = log_weights
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|w| (w - largest).exp()).collect();
    let mut rest = draws.random::<f64>() * weights.iter().sum::<f64>();
    let mut last = 0;
    for (at, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = at;
            if rest < weight {
                break;
            }
            rest -= weight;
        }
    }
    last
}

/// Draws a Poisson variate by inversion; a large rate is the sum of smaller ones.
fn poisson(rate: f64, draws: &mut Stream) -> f64 {
    const LARGEST: f64 = 500.0;
    let mut left = rate;
    let mut total = 0.0;
    while left > 0.0 {
        let part = left.min(LARGEST);
        left -= part;
        let mut mass = (-part).exp();
        let mut rest: f64 = draws.random();
        let mut count = 0.0;
        // The mass falls below the spacing of numbers near 1 long before the bound.
        while rest >= mass && count < 10.0 * LARGEST {
            rest -= mass;
            count += 1.0;
            mass *= part / count;
        }
        total += count;
    }
    total
}

/// Returns the first position of the largest number.
fn first_largest(numbers: &[f64]) -> usize {
    let mut best = 0;
    for (at, number) in numbers.iter().enumerate() {
        if *number > numbers[best] {
            best = at;
        }
    }
    best
}
