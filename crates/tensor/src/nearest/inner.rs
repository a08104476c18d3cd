//! Inner products of all pairs of some vectors, as matrix products on a device.
//!
//! Vectors are cut into blocks of coordinates; each block is a product of its own, and the products
//! are added in f64 here. A GPU gets numbers in pieces, as in [`super::euclidean`].
//!
//! **Error bound.** With u = 2^-24, w terms to a block's product and l the largest length, |rounded -
//! true| <= ((w + 8) 2 u + s) l^2 with s = 0, or s = 2^-14 for pieces. *Proof.* The absolute values of
//! the terms of a product of pieces sum up to at most 1.02 times that of the product, hence over all
//! coordinates to at most 1.02 l^2, by Cauchy and Schwarz. Each passes through at most w roundings
//! of f32: 1.02 w u l^2. Rounding the coordinates to f32 adds 2 u l^2. Terms of second order, the
//! sums of f64, and numbers too small for f32 (2^-126 each, of fewer than 2^64, where l^2 is at least
//! 2^-20) are less than the rest. What pieces leave out of a product is at most 3.1 v^2 of it, v =
//! 2^-8. ∎

use burn::tensor::{Tensor, TensorData};

use super::euclidean::{rest, short};
use super::products::asked;
use crate::device::ComputeDevice;

/// The number of coordinates of a block.
const BLOCK: usize = 512;
/// The largest squared length must be in this range, so that nothing over- or underflows in f32.
const SQUARES: (f64, f64) = (1.0 / (1_u64 << 20) as f64, (1_u64 << 20) as f64);
/// The most numbers that are brought to a device at once.
const NUMBERS: usize = 1 << 26;

/// Rounded inner products, with a bound on their error.
#[derive(Debug, Clone)]
pub struct InnerProducts {
    count: usize,
    values: Vec<f64>,
    bound: f64,
}

impl InnerProducts {
    /// Computes the inner products of all pairs of `vectors`, which have `coordinates` numbers
    /// each. Returns nothing if they are too long or too short for f32, or if the device failed.
    pub fn new(
        vectors: &[&[f64]],
        coordinates: usize,
        device: &ComputeDevice,
    ) -> Option<InnerProducts> {
        Self::in_pieces(vectors, coordinates, device.is_gpu(), device)
    }

    fn in_pieces(
        vectors: &[&[f64]],
        coordinates: usize,
        in_pieces: bool,
        device: &ComputeDevice,
    ) -> Option<InnerProducts> {
        let square = |vector: &&[f64]| vector.iter().map(|x| x * x).sum::<f64>();
        let longest = vectors.iter().map(square).fold(0.0, f64::max);
        if !(SQUARES.0..=SQUARES.1).contains(&longest) {
            return None;
        }
        let count = vectors.len();
        let pieces = if in_pieces { 3 } else { 1 };
        let width = BLOCK * pieces;
        let mut values = vec![0.0; count * count];
        let together = (NUMBERS / (count.max(1) * width)).max(1);
        for start in (0..coordinates).step_by(BLOCK * together) {
            let blocks = (coordinates - start).div_ceil(BLOCK).min(together);
            let shape = [blocks, count, width];
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for block in 0..blocks {
                let from = start + block * BLOCK;
                let span = from..coordinates.min(from + BLOCK);
                for vector in vectors {
                    let part = &vector[span.clone()];
                    let padded = || {
                        let zeros = std::iter::repeat_n(0.0, BLOCK - part.len());
                        part.iter().map(|&x| x as f32).chain(zeros)
                    };
                    if in_pieces {
                        left.extend(padded().map(short));
                        left.extend(padded().map(short));
                        left.extend(padded().map(rest));
                        right.extend(padded().map(short));
                        right.extend(padded().map(rest));
                        right.extend(padded().map(short));
                    } else {
                        left.extend(padded());
                    }
                }
            }
            let found = asked(|| {
                let factor = |numbers| {
                    Tensor::<3>::from_data(TensorData::new(numbers, shape), device.burn())
                };
                let left = factor(left);
                let right = match in_pieces {
                    true => factor(right),
                    false => left.clone(),
                };
                let products = left.matmul(right.swap_dims(1, 2));
                products.try_into_vec_as::<f32>().ok()
            })?;
            if found.len() != blocks * values.len() {
                return None;
            }
            for product in found.chunks_exact(values.len().max(1)) {
                for (value, &part) in values.iter_mut().zip(product) {
                    *value += f64::from(part);
                }
            }
        }
        let pieces = if in_pieces { 2_f64.powi(-14) } else { 0.0 };
        let bound = ((width + 8) as f64 * 2_f64.powi(-23) + pieces) * longest;
        let finite = values.iter().all(|value| value.is_finite());
        finite.then_some(InnerProducts {
            count,
            values,
            bound,
        })
    }

    /// Returns the rounded inner product of two vectors.
    pub fn product(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.count + b]
    }

    /// A bound on |rounded - true|, for all pairs.
    pub fn bound(&self) -> f64 {
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::tests::answering_devices;

    #[test]
    fn products_keep_their_bound() {
        for length in [1, 511, 1025, 3000] {
            let vectors: Vec<Vec<f64>> = (0..9)
                .map(|vector| {
                    let wave = |at: usize| ((at * (vector + 3) + vector) as f64 * 0.37).sin() + 0.2;
                    let vector: Vec<f64> = (0..length).map(wave).collect();
                    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                    vector.iter().map(|x| x / norm).collect()
                })
                .collect();
            let rows: Vec<&[f64]> = vectors.iter().map(Vec::as_slice).collect();
            for device in answering_devices() {
                for in_pieces in [true, false] {
                    if !in_pieces && device.is_gpu() {
                        continue;
                    }
                    let found = InnerProducts::in_pieces(&rows, length, in_pieces, &device);
                    let found = found.unwrap();
                    assert!(found.bound() < 3e-4);
                    for a in 0..9 {
                        for b in 0..9 {
                            let terms = rows[a].iter().zip(rows[b]);
                            let exact: f64 = terms.map(|(x, y)| x * y).sum();
                            assert!((found.product(a, b) - exact).abs() <= found.bound());
                        }
                    }
                }
            }
        }
    }
}
