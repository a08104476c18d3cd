//! Rounded cosines as matrix products on a device.
//!
//! **Error bound.** Let u = 2^-24 and d the width. A unit vector is rounded from f64 to f32, number by number:
//! a relative error of at most u + 2^-52 each. Each of the d products of two such numbers passes through at most
//! d + 1 roundings of f32, in whatever order the device sums: together at most (d + 4) u (to first order) of
//! the sum of the products' absolute values, which is at most 1 by Cauchy and Schwarz. The bound used takes twice that, which covers terms of second
//! order, numbers too small for f32 (2^-126 each), and the f64 rounding of the true score. A GPU
//! may shorten both factors to 8 significant bits: 2 x 2^-9 more, of which twice is taken, too.

use burn::tensor::{Device, Tensor, TensorData};

use super::{NearestOptions, Neighbours, ScoreProducts, UnitVectors, nearest_by};
use probity_tensor::device::ComputeDevice;

/// The nearest rows of `queries` (rows of `vectors`, row-major `[rows, width]`), with matrix products on
/// `device`, which has no influence on the result.
///
/// Rows are excluded by [`NearestOptions::excluded`]; the row of the unknown word has a vector like
/// others and is to be excluded by the caller. Numbers of rows that there are not get no neighbours.
pub fn nearest(
    vectors: &[f32],
    width: usize,
    queries: &[u32],
    options: NearestOptions<'_>,
    device: &ComputeDevice,
) -> Neighbours {
    let unit = UnitVectors::of(vectors, width.max(1));
    let mut products = TensorProducts::new(&unit, width.max(1), device);
    nearest_by(
        vectors,
        width.max(1),
        &unit,
        queries,
        options,
        &mut products,
    )
}

/// Products of blocks of queries and all unit vectors.
struct TensorProducts {
    device: Device,
    width: usize,
    bound: f64,
    /// `[width, rows]`
    right: Tensor<2>,
}

impl TensorProducts {
    fn new(unit: &UnitVectors, width: usize, device: &ComputeDevice) -> TensorProducts {
        let rounding = 2.0 * (width + 4) as f64 * 2_f64.powi(-24);
        let shortening = if device.is_gpu() { 2_f64.powi(-7) } else { 0.0 };
        let shape = [unit.rows(), width];
        let device = device.burn().clone();
        let right = TensorData::new(unit.values.clone(), shape);
        TensorProducts {
            right: Tensor::<2>::from_data(right, &device).transpose(),
            bound: rounding + shortening,
            width,
            device,
        }
    }
}

impl ScoreProducts for TensorProducts {
    fn fill(&mut self, queries: &[f32], scores: &mut [f32]) -> bool {
        let shape = [queries.len() / self.width, self.width];
        let left = TensorData::new(queries.to_vec(), shape);
        let left = Tensor::<2>::from_data(left, &self.device);
        let Ok(data) = left.matmul(self.right.clone()).try_into_data() else {
            return false;
        };
        match data.as_slice::<f32>() {
            Ok(values) if values.len() == scores.len() => scores.copy_from_slice(values),
            _ => return false,
        }
        scores.iter().all(|score| score.is_finite())
    }

    fn bound(&self) -> f64 {
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{coarse, slowly};
    use super::*;

    #[test]
    fn tensor_products_give_the_naive_sort() {
        for item in 0..40 {
            let (rows, width) = (1 + item as usize * 17, 1 + item as usize % 60);
            let vectors = coarse(item, rows, width);
            let excluded: Vec<bool> = (0..rows).map(|row| row % 7 == 3).collect();
            let options = NearestOptions {
                k: 9,
                excluded: &excluded,
            };
            let queries: Vec<u32> = (0..rows as u32).rev().step_by(3).collect();
            let found = nearest(&vectors, width, &queries, options, &ComputeDevice::flex());
            for (at, &query) in queries.iter().enumerate() {
                assert_eq!(
                    found.of(at),
                    slowly(&vectors, width, query as usize, options)
                );
            }
        }
    }

    #[test]
    fn rows_that_there_are_not_and_empty_tables_have_no_neighbours() {
        let options = NearestOptions {
            k: 3,
            excluded: &[],
        };
        let device = ComputeDevice::flex();
        let found = nearest(&[1.0, 2.0, 3.0], 1, &[7, 0], options, &device);
        assert_eq!((found.of(0), found.of(1)), (&[][..], &[1, 2][..]));
        assert_eq!(nearest(&[], 4, &[0], options, &device).of(0), [0_u32; 0]);
        assert_eq!(nearest(&[1.0], 1, &[], options, &device).queries(), 0);
    }
}
