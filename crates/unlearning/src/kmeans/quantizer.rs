//! The update step: it decides what follows an iteration, new centroids or the end; in Lloyd's
//! form, and with quantized centroids (Algorithm 1).
//!
//! **Lloyd.** A centroid becomes the mean of its cluster, rounded to fixed point; an empty cluster
//! keeps its centroid. The end is an iteration that changes no centroid.
//!
//! **Quantized** (section 4.1, Appendix B). With m = γ n / k, a cluster of at most m points is
//! averaged with its previous centroid: (n_κ · mean + (m − n_κ) · previous) / m. Each coordinate
//! then moves to the nearest vertex of the lattice θ + εℤ, θ uniform in [0, ε), drawn anew for each
//! iteration and coordinate from the seed; a vertex outside of the declared bounds of the data is
//! moved to the bound, nearer to every point. The end is an iteration that does not lower the loss,
//! which is discarded. ε and γ are fixed-point numbers too, so all of this is exact.

use serde::{Deserialize, Serialize};

use super::errors::KMeansError;
use super::iteration::Iteration;
use super::points::ONE;
use super::seeding::Draws;

/// The number of bits behind the point of γ.
const GAMMA_BITS: u32 = 20;
/// The largest number of clusters.
pub const MAX_CLUSTERS: usize = 1 << 15;
/// The largest number of restarts.
pub const MAX_RESTARTS: usize = 1000;

/// The way in which means become centroids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub enum Quantizer {
    /// The means are the centroids: Lloyd's algorithm.
    #[default]
    None,
    /// The means are balanced and moved to a random lattice.
    Lattice {
        /// The width of the lattice in scaled units: a column is 1 wide.
        epsilon: f64,
        /// The imbalance γ: a cluster below this share of the average size is averaged with its
        /// previous centroid.
        gamma: f64,
    },
}

/// Parameters of one clustering.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The number of clusters.
    pub clusters: usize,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The number of clusterings from other seeds, of which the one with the smallest loss is the
    /// result.
    pub restarts: usize,
    /// The way in which means become centroids.
    pub quantizer: Quantizer,
}

/// Parameters that have been checked, in exact form.
#[derive(Debug, Clone)]
pub(crate) struct UpdateStep {
    pub clusters: usize,
    pub iterations: usize,
    columns: usize,
    draws: Draws,
    lattice: Option<Lattice>,
}

#[derive(Debug, Clone)]
struct Lattice {
    /// The width ε in fixed point.
    width: i64,
    /// The imbalance, γ·2²⁰.
    gamma: i128,
    /// The phase θ of each iteration so far, from the first, and coordinate.
    phases: Vec<Vec<i32>>,
}

/// The decision after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    /// There is another iteration with these centroids.
    Centroids(Vec<i32>),
    /// The clustering ends.
    Stop,
}

impl Parameters {
    /// Checks the parameters, and returns their exact form, for points of `columns` columns and one
    /// restart.
    pub(crate) fn check(&self, columns: usize, draws: Draws) -> Result<UpdateStep, KMeansError> {
        if self.clusters == 0 {
            return Err(KMeansError::NoCluster);
        }
        if self.clusters > MAX_CLUSTERS {
            return Err(KMeansError::TooManyClusters {
                clusters: self.clusters,
                limit: MAX_CLUSTERS,
            });
        }
        if !(1..=MAX_RESTARTS).contains(&self.restarts) {
            return Err(KMeansError::Restarts {
                restarts: self.restarts,
                limit: MAX_RESTARTS,
            });
        }
        let lattice = match self.quantizer {
            Quantizer::None => None,
            Quantizer::Lattice { epsilon, gamma } => {
                if !(epsilon > 0.0 && epsilon <= 1.0) {
                    return Err(KMeansError::Epsilon { epsilon });
                }
                if !(0.0..1.0).contains(&gamma) {
                    return Err(KMeansError::Gamma { gamma });
                }
                Some(Lattice {
                    width: ((epsilon * f64::from(ONE)).round() as i64).max(1),
                    gamma: (gamma * f64::from(1 << GAMMA_BITS)).round() as i128,
                    phases: Vec::new(),
                })
            }
        };
        Ok(UpdateStep {
            clusters: self.clusters,
            iterations: self.iterations,
            columns,
            draws,
            lattice,
        })
    }
}

/// Draws θ of one iteration: uniform integers below `width`.
fn phase(draws: Draws, iteration: u64, columns: usize, width: i64) -> Vec<i32> {
    let words = draws.phases(iteration);
    (0..columns as u64)
        .map(|column| words.below(width as u64, column) as i32)
        .collect()
}

impl UpdateStep {
    /// Draws θ for the updates after the first `count` iterations. Only updates that are made have
    /// a θ, so that a large limit of iterations costs no memory.
    pub fn draw_phases(&mut self, count: usize) {
        if let Some(lattice) = &mut self.lattice {
            for iteration in lattice.phases.len()..count {
                let width = lattice.width;
                let phase = phase(self.draws, iteration as u64 + 1, self.columns, width);
                lattice.phases.push(phase);
            }
        }
    }

    /// Returns what follows iteration `at` of `iterations`, whose clusters share out `n` points; θ
    /// up to `at` is drawn.
    pub fn next(&self, iterations: &[Iteration], at: usize, n: usize) -> Next {
        if self.ends(iterations, at) {
            return Next::Stop;
        }
        let iteration = &iterations[at];
        let columns = iteration.centroids.len() / self.clusters;
        let mut next = Vec::with_capacity(iteration.centroids.len());
        for cluster in 0..self.clusters {
            let previous = &iteration.centroids[cluster * columns..(cluster + 1) * columns];
            let sums = &iteration.sums[cluster * columns..(cluster + 1) * columns];
            let count = iteration.counts[cluster];
            match &self.lattice {
                None if count == 0 => next.extend_from_slice(previous),
                None => next.extend(sums.iter().map(|&sum| mean(sum, count))),
                Some(lattice) => {
                    let balance = Balance::choose(lattice.gamma, count, n, self.clusters);
                    let phases = &lattice.phases[at];
                    for ((&sum, &before), &phase) in sums.iter().zip(previous).zip(phases) {
                        let (numerator, denominator) = balance.mean(sum, before);
                        next.push(lattice.vertex(numerator, denominator, phase));
                    }
                }
            }
        }
        if self.lattice.is_none() && next == iteration.centroids {
            return Next::Stop;
        }
        Next::Centroids(next)
    }

    /// Returns whether [`UpdateStep::next`] for iteration `at` would still give the centroids of
    /// iteration `at + 1`, or the end if that is the last one. Divides nothing where it has not to.
    ///
    /// `touched` tells the clusters whose sums or counts have changed since those centroids were
    /// made, when there were `before` points.
    pub fn stands(
        &self,
        iterations: &[Iteration],
        at: usize,
        n: usize,
        before: usize,
        touched: &[bool],
    ) -> bool {
        let Some(lattice) = &self.lattice else {
            return match (self.next(iterations, at, n), iterations.get(at + 1)) {
                (Next::Centroids(centroids), Some(next)) => centroids == next.centroids,
                (Next::Stop, None) => true,
                _ => false,
            };
        };
        let Some(next) = iterations.get(at + 1) else {
            return self.ends(iterations, at);
        };
        if self.ends(iterations, at) {
            return false;
        }
        let iteration = &iterations[at];
        let columns = iteration.centroids.len() / self.clusters;
        (0..self.clusters).all(|cluster| {
            let count = iteration.counts[cluster];
            if !touched[cluster]
                && !Balance::choose(lattice.gamma, count, before, self.clusters).is_short()
            {
                // Fewer points lower the threshold: it is balanced now too.
                return true;
            }
            let balance = Balance::choose(lattice.gamma, count, n, self.clusters);
            let range = cluster * columns..(cluster + 1) * columns;
            let phases = &lattice.phases[at];
            let means = iteration.sums[range.clone()]
                .iter()
                .zip(&iteration.centroids[range.clone()]);
            means.zip(phases).zip(&next.centroids[range]).all(
                |(((&sum, &previous), &phase), &vertex)| {
                    let (numerator, denominator) = balance.mean(sum, previous);
                    lattice.is_vertex(vertex, numerator, denominator, phase)
                },
            )
        })
    }

    /// Returns whether iteration `at` is the last one whatever its centroids would become.
    fn ends(&self, iterations: &[Iteration], at: usize) -> bool {
        at == self.iterations || self.is_rejected(iterations, at)
    }

    /// Returns whether iteration `at` fails to lower the loss, under the quantized rule.
    fn is_rejected(&self, iterations: &[Iteration], at: usize) -> bool {
        self.lattice.is_some() && at > 0 && iterations[at].loss >= iterations[at - 1].loss
    }

    /// Returns whether centroids lie on a lattice.
    pub fn has_lattice(&self) -> bool {
        self.lattice.is_some()
    }

    /// Returns the position of the iteration that is the result: the last one that was not
    /// rejected.
    pub fn result(&self, iterations: &[Iteration]) -> usize {
        let last = iterations.len() - 1;
        last - usize::from(self.is_rejected(iterations, last))
    }
}

/// The formula of the mean of one cluster.
enum Balance {
    /// The mean is sum / count.
    Whole { count: i128 },
    /// The mean is (sum·`share` + previous·`rest`) / `all`.
    Short { share: i128, rest: i128, all: i128 },
}

impl Balance {
    /// Chooses the formula by whether `count` is at most γ n / k.
    fn choose(gamma: i128, count: u64, n: usize, clusters: usize) -> Balance {
        let share = clusters as i128 * (1 << GAMMA_BITS);
        let all = gamma * n as i128;
        let held = i128::from(count) * share;
        if count == 0 && all == 0 {
            // Without momentum an empty cluster keeps its centroid.
            Balance::Short {
                share: 0,
                rest: 1,
                all: 1,
            }
        } else if held <= all {
            Balance::Short {
                share,
                rest: all - held,
                all,
            }
        } else {
            Balance::Whole {
                count: i128::from(count),
            }
        }
    }

    fn is_short(&self) -> bool {
        matches!(self, Balance::Short { .. })
    }

    /// Returns one coordinate of the mean as numerator and positive denominator.
    #[inline]
    fn mean(&self, sum: i64, previous: i32) -> (i128, i128) {
        match *self {
            Balance::Whole { count } => (i128::from(sum), count),
            Balance::Short { share, rest, all } => {
                (i128::from(sum) * share + i128::from(previous) * rest, all)
            }
        }
    }
}

impl Lattice {
    /// Returns the vertex phase + j·width that is nearest to numerator / denominator, the upper one
    /// of two, moved into the bounds 0 … [`ONE`].
    fn vertex(&self, numerator: i128, denominator: i128, phase: i32) -> i32 {
        let width = i128::from(self.width);
        let above = 2 * (numerator - i128::from(phase) * denominator) + width * denominator;
        let nearest = above.div_euclid(2 * width * denominator);
        (i128::from(phase) + nearest * width).clamp(0, i128::from(ONE)) as i32
    }

    /// Returns whether `vertex` is what [`Lattice::vertex`] would give: the mean is in its cell,
    /// which is open to the outside at the bounds.
    #[inline]
    fn is_vertex(&self, vertex: i32, numerator: i128, denominator: i128, phase: i32) -> bool {
        let (phase, one) = (i64::from(phase), i64::from(ONE));
        // Twice the ends of the cell.
        let low = match vertex {
            0 => i64::MIN,
            ONE => {
                let inner = phase + (one - 1 - phase).div_euclid(self.width) * self.width;
                2 * inner + self.width
            }
            vertex => 2 * i64::from(vertex) - self.width,
        };
        let high = match vertex {
            ONE => i64::MAX,
            0 if phase > 0 => 2 * phase - self.width,
            vertex => 2 * i64::from(vertex) + self.width,
        };
        let twice = 2 * numerator;
        (low == i64::MIN || i128::from(low) * denominator <= twice)
            && (high == i64::MAX || twice < i128::from(high) * denominator)
    }
}

/// Computes sum / count, rounded to the nearest integer, halves up.
fn mean(sum: i64, count: u64) -> i32 {
    let count = count as i64;
    ((2 * sum + count) / (2 * count)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::stream::{Purpose, Words};

    #[test]
    fn the_cell_of_a_vertex_is_where_it_is_nearest() {
        let words = Words::new(3, Purpose::Phase, &[0]);
        let mut ends = [0; 2];
        for case in 0..200_000_u64 {
            let draw = |step: u64, below: u64| (words.word(case * 8 + step) % below) as i64;
            let width = match draw(0, 4) {
                0 => 1 + draw(1, 8),
                1 => i64::from(ONE) - draw(1, 8),
                _ => 1 + draw(1, 1 << 24),
            };
            let lattice = Lattice {
                width,
                gamma: 0,
                phases: Vec::new(),
            };
            let phase = if draw(2, 8) == 0 {
                0
            } else {
                draw(3, width as u64) as i32
            };
            let denominator = 1 + draw(4, 50);
            let mean = |step| (draw(step, (i64::from(ONE) * denominator) as u64 + 1)) as i128;
            let (first, second) = (mean(5), mean(6));
            let near =
                (first + draw(7, 5) as i128 - 2).clamp(0, i128::from(ONE) * denominator as i128);
            let vertex = lattice.vertex(first, denominator.into(), phase);
            ends[0] += usize::from(vertex == 0);
            ends[1] += usize::from(vertex == ONE);
            for other in [first, second, near] {
                assert_eq!(
                    lattice.is_vertex(vertex, other, denominator.into(), phase),
                    lattice.vertex(other, denominator.into(), phase) == vertex,
                    "width {width}, phase {phase}, {first} and {other} / {denominator}"
                );
            }
        }
        assert!(ends[0] > 1000 && ends[1] > 1000);
    }
}
