//! The randomised dependence coefficient (Lopez-Paz, Hennig, Schölkopf 2013), computed anew each
//! time.
//!
//! Each column is replaced by its empirical distribution function (one indicator a level for
//! categories), mapped by ten random sine features, and whitened; the coefficient of two columns is
//! the largest canonical correlation of their features. The random projections are keyed by (seed,
//! variable) alone, and sums run over rows in the order of their ids, so that the coefficient is a
//! function of the remaining rows. A deletion recomputes it, as in the paper, which is its
//! bottleneck there.
//!
//! A device may give the products of all features beforehand ([`InnerProducts`]), each off by at
//! most e. **Lemma.** If the coefficient of two columns with p and q features is, by these, farther
//! from the threshold than e √(p q) and 10⁻⁵ more, the reference says the same. *Proof.* The largest
//! singular value of a matrix changes by at most the largest one of what is added (Weyl), which is
//! at most its Frobenius norm, e √(p q). 10⁻⁵ is more than the roundings of f64 in both: a sum of at
//! most 2³⁰ products of unit vectors is off by at most 2⁻²², so that ten times ten are by at most
//! 10 · 2⁻²² < 3 · 10⁻⁶; rotations, and roots near a threshold of at least 10⁻³, add less than
//! that. ∎ All others are for the reference.

use std::ops::Range;

use probity_tensor::nearest::inner::InnerProducts;
use rand::RngExt;

use super::components::Components;
use crate::spn::Dataset;
use crate::spn::variable::Domain;
use probity_run::stream::{Purpose, stream};

/// The number of random features a column, as the paper's software (SPFlow) has it.
const FEATURES: usize = 10;
/// The scale of the projections.
const SCALE: f64 = 1.0 / 6.0;
/// The share of the largest variance below which directions are numerically void.
const VOID: f64 = 1e-7;

/// Returns the connected components of the graph of pairs whose coefficient is above `threshold`;
/// `positions` ascending.
pub fn components(
    data: &Dataset,
    seed: u64,
    threshold: f64,
    scope: &[u32],
    positions: &[u32],
) -> Components {
    let features: Vec<Vec<Vec<f64>>> = scope
        .iter()
        .map(|&variable| whitened(data, seed, variable, positions))
        .collect();
    let proposed = Proposed::compute(data, &features, positions.len(), threshold);
    let mut components = Components::new(scope.len());
    components.join_where(|a, b| {
        let proposed = proposed.as_ref().and_then(|proposed| proposed.above(a, b));
        proposed.unwrap_or_else(|| coefficient(&features[a], &features[b]) > threshold)
    });
    components
}

/// The least threshold that a device proposes for.
const LEAST_THRESHOLD: f64 = 1e-3;
/// The allowance for what f64 rounds.
const SLACK: f64 = 1e-5;

/// The products of the features of all columns, from a device.
struct Proposed {
    products: InnerProducts,
    /// For each column, the places of its features.
    places: Vec<Range<usize>>,
    threshold: f64,
}

impl Proposed {
    /// Computes the products on a device; nothing where none is asked or it failed.
    fn compute(
        data: &Dataset,
        features: &[Vec<Vec<f64>>],
        rows: usize,
        threshold: f64,
    ) -> Option<Proposed> {
        let mut places = Vec::with_capacity(features.len());
        let mut count = 0;
        for features in features {
            places.push(count..count + features.len());
            count += features.len();
        }
        let device = data.proposer().device_for(count * count * rows)?;
        if threshold < LEAST_THRESHOLD {
            return None;
        }
        let vectors: Vec<&[f64]> = features.iter().flatten().map(Vec::as_slice).collect();
        Some(Proposed {
            products: InnerProducts::new(&vectors, rows, device)?,
            places,
            threshold,
        })
    }

    /// Returns whether the coefficient of two columns is above the threshold, where that is clear.
    fn above(&self, a: usize, b: usize) -> Option<bool> {
        let (a, b) = (self.places[a].clone(), self.places[b].clone());
        let error = self.products.bound() * ((a.len() * b.len()) as f64).sqrt() + SLACK;
        let row = |x| {
            b.clone()
                .map(move |y| self.products.product(x, y))
                .collect()
        };
        let distance = largest_singular_value(&a.map(row).collect::<Vec<_>>()) - self.threshold;
        (distance.abs() > error).then_some(distance > 0.0)
    }
}

/// Returns uncorrelated features of one column: unit vectors over rows.
fn whitened(data: &Dataset, seed: u64, variable: u32, positions: &[u32]) -> Vec<Vec<f64>> {
    let column = data.column(variable);
    let values: Vec<i32> = positions.iter().map(|&at| column[at as usize]).collect();
    let categorical = matches!(
        data.variables()[variable as usize].domain(),
        Domain::Categorical { .. }
    );
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let rows = values.len() as f64;
    let below = |value: i32| sorted.partition_point(|&other| other <= value) as f64 / rows;
    let mut distinct = sorted.clone();
    distinct.dedup();
    // Features depend on the value alone, so they are computed once for each distinct value.
    let inputs = |value: i32| -> Vec<(u64, f64)> {
        if !categorical {
            return vec![(1, below(value))];
        }
        let levels = distinct.iter().map(|&level| {
            let share = below(level) - below(level - 1);
            let rank = if level == value { 1.0 } else { 1.0 - share };
            (level as u64 + 1, rank)
        });
        levels.collect()
    };
    let axes = if categorical { distinct.len() } else { 1 } as f64 + 1.0;
    let weight = |axis: u64, feature: usize| {
        SCALE / axes * normal(seed, u64::from(variable), axis, feature as u64)
    };
    let mut weights: Vec<(u64, Vec<f64>)> = Vec::new();
    let mut mapped = Vec::with_capacity(distinct.len());
    for &value in &distinct {
        let mut sums: Vec<f64> = (0..FEATURES).map(|feature| weight(0, feature)).collect();
        for (axis, input) in inputs(value) {
            let at = weights.iter().position(|(have, _)| *have == axis);
            let at = at.unwrap_or_else(|| {
                weights.push((axis, (0..FEATURES).map(|f| weight(axis, f)).collect()));
                weights.len() - 1
            });
            for (sum, weight) in sums.iter_mut().zip(&weights[at].1) {
                *sum += weight * input;
            }
        }
        mapped.push(sums.into_iter().map(f64::sin).collect::<Vec<f64>>());
    }
    let place: Vec<usize> = values
        .iter()
        .map(|value| distinct.partition_point(|other| other < value))
        .collect();
    whiten(&mut mapped, &place)
}

/// Draws a standard normal variate (Box and Muller).
fn normal(seed: u64, variable: u64, axis: u64, feature: u64) -> f64 {
    let item = variable << 32 | axis;
    let mut draws = stream(seed, Purpose::SpnProjection, item, feature);
    let radius: f64 = 1.0 - draws.random::<f64>();
    let angle: f64 = draws.random();
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Centres the features of distinct values, rotates them to principal axes and scales these to
/// length 1 over all rows; `place` says which value a row has.
fn whiten(mapped: &mut [Vec<f64>], place: &[usize]) -> Vec<Vec<f64>> {
    let rows = place.len() as f64;
    let mut counts = vec![0.0; mapped.len()];
    for &at in place {
        counts[at] += 1.0;
    }
    for feature in 0..FEATURES {
        let total: f64 = mapped
            .iter()
            .zip(&counts)
            .map(|(m, c)| m[feature] * c)
            .sum();
        for values in mapped.iter_mut() {
            values[feature] -= total / rows;
        }
    }
    let mut covariance = [[0.0; FEATURES]; FEATURES];
    for (values, count) in mapped.iter().zip(&counts) {
        for a in 0..FEATURES {
            for b in 0..FEATURES {
                covariance[a][b] += count * values[a] * values[b];
            }
        }
    }
    let (variances, axes) = eigen(covariance);
    let largest = variances.iter().copied().fold(0.0, f64::max);
    let kept = (0..FEATURES).filter(|&at| variances[at] > VOID * largest && largest > 0.0);
    kept.map(|at| {
        let length = variances[at].sqrt();
        let projected: Vec<f64> = mapped
            .iter()
            .map(|values| (0..FEATURES).map(|f| values[f] * axes[f][at]).sum::<f64>() / length)
            .collect();
        place.iter().map(|&value| projected[value]).collect()
    })
    .collect()
}

/// Returns the largest canonical correlation of whitened features: the largest singular value of
/// their products.
fn coefficient(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let cross: Vec<Vec<f64>> = a
        .iter()
        .map(|x| b.iter().map(|y| product(x, y)).collect())
        .collect();
    largest_singular_value(&cross).min(1.0)
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Returns the root of the largest eigenvalue of `matrix` times its transpose; no more than
/// [`FEATURES`] rows.
fn largest_singular_value(matrix: &[Vec<f64>]) -> f64 {
    let mut gram = [[0.0; FEATURES]; FEATURES];
    for (i, x) in matrix.iter().enumerate() {
        for (j, y) in matrix.iter().enumerate() {
            gram[i][j] = product(x, y);
        }
    }
    let (squares, _) = eigen(gram);
    squares.iter().copied().fold(0.0, f64::max).sqrt()
}

type Square = [[f64; FEATURES]; FEATURES];

/// Computes eigenvalues and eigenvectors (in columns) of a symmetric matrix by cyclic Jacobi
/// rotations.
fn eigen(mut matrix: Square) -> ([f64; FEATURES], Square) {
    let mut vectors = [[0.0; FEATURES]; FEATURES];
    for (at, row) in vectors.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    for _ in 0..30 {
        let mut rotated = false;
        for p in 0..FEATURES {
            for q in p + 1..FEATURES {
                let (app, aqq, apq) = (matrix[p][p], matrix[q][q], matrix[p][q]);
                if apq.abs() <= 1e-15 * (app * aqq).abs().sqrt() || apq == 0.0 {
                    continue;
                }
                rotated = true;
                let ratio = (aqq - app) / (2.0 * apq);
                let tangent = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                rotate(&mut matrix, &mut vectors, p, q, cosine, tangent * cosine);
            }
        }
        if !rotated {
            break;
        }
    }
    (std::array::from_fn(|at| matrix[at][at]), vectors)
}

fn rotate(matrix: &mut Square, vectors: &mut Square, p: usize, q: usize, cosine: f64, sine: f64) {
    for row in matrix.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = cosine * x - sine * y;
        row[q] = sine * x + cosine * y;
    }
    let (upper, lower) = (matrix[p], matrix[q]);
    for (column, (x, y)) in upper.iter().zip(&lower).enumerate() {
        matrix[p][column] = cosine * x - sine * y;
        matrix[q][column] = sine * x + cosine * y;
    }
    for row in vectors.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = cosine * x - sine * y;
        row[q] = sine * x + cosine * y;
    }
}
