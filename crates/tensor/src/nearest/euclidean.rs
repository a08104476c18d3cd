//! Squared Euclidean distances of many rows at a time, as one matrix product on a device.
//!
//! With c the mean row, x' = x - c rounded to f32, and norms rounded to f32 as well, the product of
//! `[-2 x', |x'|^2, 1]` and `[y', 1, |y'|^2]` is |x'|^2 - 2 x'.y' + |y'|^2. It is not exact; rows
//! whose products are too close to tell apart are compared by their true distance
//! ([`super::settle`]), so the order of neighbours does not depend on the device.
//!
//! **Error bound.** Let u be the unit roundoff of the product's inputs and sums, d the number of
//! columns, a = |x'| and b = |y'|. Then |product - true| <= (d + 12) u (a + b)^2, to first order.
//! *Proof.* The absolute values of the d + 2 terms of the product sum up to at most a^2 + 2 a b +
//! b^2 = (a + b)^2. Each term passes through at most d + 2 roundings, in whatever order the device
//! sums: (d + 2) u (a + b)^2. A device that shortens its inputs adds 2 u, the rounded norms u.
//! Rounding x - c to x' moves x by at most u a, y by u b, so the distance |x' - y'| <= a + b by at
//! most u (a + b), and its square by 2 u (a + b)^2. The true value is an f64 sum, off by (d + 2)
//! 2^-53 (a + b)^2, less than u (a + b)^2. That makes d + 8; the rest covers terms of second order,
//! and values too small for f32: those lose 2^-126 each, and the largest norm is at least 2^-40. ∎
//! The bound that is used takes twice the unit roundoff of f32 for u on a CPU, and 2^-9 on a GPU,
//! whose matrix units may shorten f32 to 11 significant bits.

use super::Approximation;
use super::products::Products;
use crate::device::ComputeDevice;

/// The largest norm must be in this range, so that nothing over- or underflows in f32.
const NORMS: (f64, f64) = (1.0 / (1_u64 << 40) as f64, (1_u64 << 40) as f64);

/// Squared Euclidean distances between the rows of a table, from products on a device.
pub struct SquaredDistances {
    unit: f64,
    left: Vec<f32>,
    products: Products,
    norms: Vec<f64>,
    columns: usize,
    largest: f64,
}

impl SquaredDistances {
    /// Prepares the products of the rows of `features` (row-major, `columns` numbers a row); `None`
    /// if the rows are too far apart, or too close, for f32.
    pub fn new(features: &[f64], columns: usize, device: &ComputeDevice) -> Option<Self> {
        let columns = columns.max(1);
        let rows = features.len() / columns;
        let row = |row: usize| &features[row * columns..(row + 1) * columns];
        let centre: Vec<f64> = (0..columns)
            .map(|column| (0..rows).map(|at| row(at)[column]).sum::<f64>() / rows as f64)
            .collect();
        let width = columns + 2;
        let mut left = Vec::with_capacity(rows * width);
        let mut right = Vec::with_capacity(rows * width);
        let mut norms = Vec::with_capacity(rows);
        for at in 0..rows {
            let shifted = row(at).iter().zip(&centre);
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
        Some(Self {
            unit,
            left,
            products: Products::with(right, width, device),
            norms,
            columns,
            largest,
        })
    }
}

impl Approximation for SquaredDistances {
    fn fill(&mut self, queries: &[u32], distances: &mut [f32]) -> Option<f64> {
        let width = self.columns + 2;
        let mut block = Vec::with_capacity(queries.len() * width);
        let mut reach = 0.0_f64;
        for &query in queries {
            let query = query as usize;
            block.extend(self.left.get(query * width..(query + 1) * width)?);
            reach = reach.max(*self.norms.get(query)?);
        }
        self.products.fill(block, distances)?;
        reach += self.largest;
        Some((self.columns + 12) as f64 * self.unit * reach * reach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows on a coarse grid, some moved by far less than f32 can tell: ties and near-ties all
    /// over.
    fn features(rows: usize, columns: usize, scale: f64) -> Vec<f64> {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        (0..rows * columns)
            .map(|_| (draw(6) as f64 + draw(3) as f64 * 1e-9) * scale + 1000.0 * scale)
            .collect()
    }

    #[test]
    fn products_keep_their_bound() {
        for (columns, scale) in [(1, 1.0), (3, 1e-6), (17, 1e6)] {
            let features = features(300, columns, scale);
            let row = |row: usize| &features[row * columns..(row + 1) * columns];
            let mut distances =
                SquaredDistances::new(&features, columns, &ComputeDevice::flex()).unwrap();
            let mut filled = vec![0.0; 40 * 300];
            let queries: Vec<u32> = (100..140).collect();
            let bound = distances.fill(&queries, &mut filled).unwrap();
            for (at, &value) in filled.iter().enumerate() {
                let differences = row(100 + at / 300).iter().zip(row(at % 300));
                let exact = differences.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
                assert!((f64::from(value) - exact).abs() <= bound);
            }
            assert_eq!(distances.fill(&[300], &mut filled[..300]), None);
        }
    }

    #[test]
    fn equal_rows_are_too_close_for_products() {
        assert!(SquaredDistances::new(&[5.0; 6], 1, &ComputeDevice::flex()).is_none());
    }
}
