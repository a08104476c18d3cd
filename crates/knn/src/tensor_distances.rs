//! Distances of many rows at a time, as one matrix product on the tensor backend.
//!
//! With c the mean row, x' = x - c rounded to f32, and norms rounded to f32 as well, the product of
//! `[-2 x', |x'|^2, 1]` and `[y', 1, |y'|^2]` is |x'|^2 - 2 x'.y' + |y'|^2. It is not exact; rows whose
//! products are too close to tell apart are compared by their true distance (`rank_approximately`), so
//! the order of neighbours does not depend on the device.
//!
//! **Error bound.** Let u be the unit roundoff of the product's inputs and sums, d the number of columns, a = |x'|
//! and b = |y'|. Then |product - true| <= (d + 12) u (a + b)^2, to first order. *Proof.* The absolute
//! values of the d + 2 terms of the product sum up to at most a^2 + 2 a b + b^2 = (a + b)^2. Each term
//! passes through at most d + 2 roundings, in whatever order the device sums: (d + 2) u (a + b)^2. A
//! device that shortens its inputs adds 2 u, the rounded norms u. Rounding x - c to x' moves x by at
//! most u a, y by u b, so the distance |x' - y'| <= a + b by at most u (a + b), and its
//! square by 2 u (a + b)^2. The true value is an f64 sum, off by (d + 2) 2^-53 (a + b)^2, less than u (a + b)^2. That
//! makes d + 8; the rest covers terms of second order, and values too small for f32: those lose
//! 2^-126 each, and the largest norm is at least 2^-40. ∎ The bound that is used takes twice the unit roundoff of f32 for u
//! on a CPU, and 2^-9 on a GPU, whose matrix units may shorten f32 to 11 significant bits.

use std::ops::Range;

use burn::tensor::{Device, Tensor, TensorData};

use super::analysis::Deadline;
use super::dataset::TrainingSet;
use super::errors::PoisoningError;
use super::neighbours::{ApproximateDistances, Metric};
use super::system::{KnnSystem, Setup};
use probity_tensor::device::ComputeDevice;

/// Fewer training rows than this are ranked by their true distances at once.
const LARGE: usize = 4096;
/// So are rows of fewer columns than this on a CPU, where a product saves little (see `benches/knn.rs`).
const WIDE: usize = 32;
/// Values of one block of distances.
const BLOCK_VALUES: usize = 1 << 24;
/// The largest norm must be in this range, so that nothing over- or underflows in f32.
const NORMS: (f64, f64) = (1.0 / (1_u64 << 40) as f64, (1_u64 << 40) as f64);

/// Learns like [`KnnSystem::learn`], and to the same result, with products on `device` where they help:
/// for the Euclidean distance of many rows.
///
/// # Errors
/// A deadline that has passed. What a device cannot do is done without it.
pub fn learn_on(
    setup: Setup,
    device: &ComputeDevice,
    deadline: Deadline<'_>,
) -> Result<KnnSystem, PoisoningError> {
    let training = setup.training();
    let worth = training.rows() >= LARGE && (device.is_gpu() || training.columns() >= WIDE);
    if worth
        && setup.parameters().metric == Metric::Euclidean
        && let Some(mut distances) = TensorDistances::new(setup.training(), device)
    {
        let block = (BLOCK_VALUES / setup.training().rows()).max(1);
        let learned =
            KnnSystem::learn_approximately(setup.clone(), block, &mut distances, deadline);
        if learned.is_ok() || deadline.passed() {
            return learned;
        }
    }
    KnnSystem::learn_until(setup, deadline)
}

/// Squared Euclidean distances between training rows, from products on a device.
pub struct TensorDistances {
    device: Device,
    unit: f64,
    left: Vec<f32>,
    right: Tensor<2>,
    norms: Vec<f64>,
    columns: usize,
    largest: f64,
}

impl TensorDistances {
    /// Prepares the products; `None` if the rows are too far apart, or too close, for f32.
    pub fn new(training: &TrainingSet, device: &ComputeDevice) -> Option<Self> {
        let (rows, columns) = (training.rows(), training.columns());
        let centre: Vec<f64> = (0..columns)
            .map(|column| (0..rows).map(|row| training.row(row)[column]).sum::<f64>() / rows as f64)
            .collect();
        let width = columns + 2;
        let mut left = Vec::with_capacity(rows * width);
        let mut right = Vec::with_capacity(rows * width);
        let mut norms = Vec::with_capacity(rows);
        for row in 0..rows {
            let shifted = training.row(row).iter().zip(&centre);
            let near: Vec<f32> = shifted.map(|(&x, &c)| (x - c) as f32).collect();
            let square: f64 = near.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            left.extend(near.iter().map(|&x| -2.0 * x));
            left.extend([square as f32, 1.0]);
            right.extend(&near);
            right.extend([1.0, square as f32]);
            norms.push(square.sqrt());
        }
        let largest = norms.iter().copied().fold(0.0, f64::max);
        if !(NORMS.0..=NORMS.1).contains(&largest) {
            return None;
        }
        let unit = if device.is_gpu() {
            2_f64.powi(-9)
        } else {
            2_f64.powi(-23)
        };
        let device = device.burn().clone();
        let right =
            Tensor::<2>::from_data(TensorData::new(right, [rows, width]), &device).transpose();
        Some(Self {
            device,
            unit,
            left,
            right,
            norms,
            columns,
            largest,
        })
    }
}

impl ApproximateDistances for TensorDistances {
    fn fill(&mut self, queries: Range<usize>, distances: &mut [f32]) -> f64 {
        let width = self.columns + 2;
        let block = self.left[queries.start * width..queries.end * width].to_vec();
        let shape = [queries.len(), width];
        let block = Tensor::<2>::from_data(TensorData::new(block, shape), &self.device);
        let product = block.matmul(self.right.clone());
        let Ok(data) = product.try_into_data() else {
            return f64::NAN;
        };
        let Ok(values) = data.as_slice::<f32>() else {
            return f64::NAN;
        };
        if values.len() != distances.len() {
            return f64::NAN;
        }
        distances.copy_from_slice(values);
        let norms = &self.norms[queries];
        let reach = norms.iter().copied().fold(0.0, f64::max) + self.largest;
        (self.columns + 12) as f64 * self.unit * reach * reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candidates, Parameters};

    /// Rows on a coarse grid, some moved by far less than f32 can tell: ties and near-ties all over.
    fn training(rows: usize, columns: usize, scale: f64) -> TrainingSet {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let features = (0..rows * columns)
            .map(|_| (draw(6) as f64 + draw(3) as f64 * 1e-9) * scale + 1000.0 * scale)
            .collect();
        let labels = (0..rows).map(|_| draw(3) as u16).collect();
        TrainingSet::new(features, columns, labels).unwrap()
    }

    #[test]
    fn products_give_the_true_order_and_keep_their_bound() {
        for (columns, scale) in [(1, 1.0), (3, 1e-6), (17, 1e6)] {
            let training = training(300, columns, scale);
            let device = ComputeDevice::flex();
            let mut distances = TensorDistances::new(&training, &device).unwrap();
            let mut filled = vec![0.0; 40 * 300];
            let bound = distances.fill(100..140, &mut filled);
            for (at, &value) in filled.iter().enumerate() {
                let (query, row) = (100 + at / 300, at % 300);
                let exact = Metric::Euclidean.between(training.row(query), training.row(row));
                assert!((f64::from(value) - exact).abs() <= bound);
            }
            let parameters = Parameters {
                folds: 5,
                seed: 3,
                candidates: Candidates { first: 1, last: 30 },
                poison: 4,
                metric: Metric::Euclidean,
            };
            let setup = parameters.check(training).unwrap();
            let exact = KnnSystem::learn(setup.clone());
            let ranked =
                KnnSystem::learn_approximately(setup, 64, &mut distances, Deadline::never())
                    .unwrap();
            for row in 0..300 {
                assert_eq!(exact.neighbours().of(row), ranked.neighbours().of(row));
            }
            assert_eq!(exact.k(), ranked.k());
        }
    }

    #[test]
    fn equal_rows_are_ranked_without_products() {
        let equal = TrainingSet::new(vec![5.0; 6], 1, vec![0, 1, 0, 1, 0, 1]).unwrap();
        assert!(TensorDistances::new(&equal, &ComputeDevice::flex()).is_none());
    }
}
