//! Sums of products of small whole numbers on a device: exact, whatever the device.
//!
//! **Theorem.** Let all factors be whole numbers from -64 to 64, and let a sum have at most 2^12
//! products. Then a device that sums in f32 gives it exactly, in whatever order it sums, fused or
//! not, and also if it shortens its factors to 8 significant bits. *Proof.* Factors have at most 7
//! bits: nothing is shortened. Every product, and every sum of some of the products, is a whole
//! number of at most 2^12 2^12 = 2^24, which f32 holds: nothing is rounded. ∎
//!
//! So the error bound is 0, and nothing is left to decide. Larger numbers come as digits of base 64
//! ([`digits`]), sums of more products in parts; both are put together in integers.

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::device::ComputeDevice;
use crate::nearest::asked;

/// The base of the digits.
pub const BASE: i64 = 64;
/// The most products of one sum on a device.
const MOST_TERMS: usize = 1 << 12;
/// The most sums that are added on the device, in integers of 32 bits.
const MOST_SUMS: usize = 64;
/// The most values that a matrix, or a result, may have on a device.
const MOST_VALUES: usize = 1 << 28;

/// Returns `count` digits of a number that is not negative, the lowest first; the last one is what
/// is left over, which may be 64.
pub fn digits<const COUNT: usize>(number: i64) -> [i8; COUNT] {
    let mut left = number;
    std::array::from_fn(|at| {
        let digit = if at + 1 == COUNT { left } else { left % BASE };
        left /= BASE;
        digit as i8
    })
}

/// A matrix of whole numbers from -64 to 64 on a device.
#[derive(Debug, Clone)]
pub struct WholeMatrix {
    device: Device,
    width: usize,
    /// The matrix as `[rows, width]`.
    values: Tensor<2>,
}

impl WholeMatrix {
    /// Brings `values`, `[rows, width]`, to `device`; `None` if a value is larger than 64, if there
    /// are too many values for a device, or if the device fails.
    pub fn new(values: &[i8], width: usize, device: &ComputeDevice) -> Option<WholeMatrix> {
        let rows = values.len() / width.max(1);
        let is_small = |&value: &i8| i64::from(value).abs() <= BASE;
        if rows == 0 || values.len() > MOST_VALUES || !values.iter().all(is_small) {
            return None;
        }
        let floats: Vec<f32> = values.iter().map(|&value| f32::from(value)).collect();
        let device = device.burn().clone();
        asked(|| {
            let data = TensorData::new(floats, [rows, width]);
            Some(WholeMatrix {
                values: Tensor::<2>::from_data(data, &device),
                device,
                width,
            })
        })
    }

    /// Returns some rows and columns of the matrix. Must be called within [`asked`].
    fn part(&self, rows: &[u32], columns: &[u32]) -> Tensor<2> {
        let numbers = |of: &[u32]| {
            let numbers: Vec<i32> = of.iter().map(|&at| at as i32).collect();
            let shape = [of.len()];
            Tensor::<1, Int>::from_data(TensorData::new(numbers, shape), &self.device)
        };
        let rows = self.values.clone().select(0, numbers(rows));
        rows.select(1, numbers(columns))
    }

    /// Whether all of `rows` are rows, and all of `columns` columns, of the matrix.
    fn has(&self, rows: &[u32], columns: &[u32]) -> bool {
        let within = |of: &[u32], end: usize| of.iter().all(|&at| (at as usize) < end);
        !rows.is_empty()
            && !columns.is_empty()
            && within(rows, self.values.dims()[0])
            && within(columns, self.width)
    }

    /// Returns the products of some rows, of which `columns` are looked at, with `vectors`
    /// (`[vectors, columns]`): `[rows, vectors]`. `None` where the theorem does not hold, or if the
    /// device failed.
    pub fn times(&self, rows: &[u32], columns: &[u32], vectors: &[i8]) -> Option<Vec<i32>> {
        let count = vectors.len() / columns.len().max(1);
        let is_small = |&value: &i8| i64::from(value).abs() <= BASE;
        let fits = columns.len() <= MOST_TERMS && rows.len() * count <= MOST_VALUES;
        if count == 0 || !fits || !self.has(rows, columns) || !vectors.iter().all(is_small) {
            return None;
        }
        let floats: Vec<f32> = vectors.iter().map(|&value| f32::from(value)).collect();
        let values = asked(|| {
            let data = TensorData::new(floats, [count, columns.len()]);
            let vectors = Tensor::<2>::from_data(data, &self.device).transpose();
            let product = self.part(rows, columns).matmul(vectors);
            product.try_into_vec_as::<f32>().ok()
        })?;
        let whole = values.iter().all(|value| value.fract() == 0.0);
        (whole && values.len() == rows.len() * count)
            .then(|| values.into_iter().map(|value| value as i32).collect())
    }

    /// Returns for each pair of `columns` the sum of their products over some rows, `[columns,
    /// columns]`. `None` if there are too many columns for a device, or if the device failed.
    pub fn gram(&self, rows: &[u32], columns: &[u32]) -> Option<Vec<i64>> {
        let width = columns.len();
        if width > MOST_TERMS || !self.has(rows, columns) {
            return None;
        }
        let mut totals = vec![0_i64; width * width];
        let together = (MOST_VALUES / (16 * width * width)).clamp(1, MOST_SUMS);
        let mut left = rows;
        while !left.is_empty() {
            // As many whole sums as may be, or what is left over from them.
            let sums = (left.len() / MOST_TERMS).clamp(1, together);
            let terms = left.len().min(MOST_TERMS);
            let (now, later) = left.split_at(sums * terms);
            let found = asked(|| {
                let factors = self.part(now, columns).reshape([sums, terms, width]);
                let products = factors.clone().swap_dims(1, 2).matmul(factors);
                products.int().sum_dim(0).try_into_vec_as::<i64>().ok()
            })?;
            if found.len() != totals.len() {
                return None;
            }
            for (total, sum) in totals.iter_mut().zip(found) {
                *total += sum;
            }
            left = later;
        }
        Some(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::tests::answering_devices;

    fn values(rows: usize, width: usize) -> Vec<i8> {
        let value = |at: usize| match (at * 7919 + at / 13) % 11 {
            0 => 64,
            1 => -64,
            small => small as i8,
        };
        (0..rows * width).map(value).collect()
    }

    #[test]
    fn digits_are_those_of_the_number() {
        for number in [0, 1, 63, 64, 4095, 4096, 64 * 64 * 64 * 64] {
            let of: [i8; 4] = digits(number);
            let sum = of.iter().rev().fold(0, |sum, &d| sum * BASE + i64::from(d));
            assert_eq!(sum, number);
        }
        assert_eq!(digits::<2>(4096), [0, 64]);
    }

    #[test]
    fn products_and_sums_are_exact() {
        let values = values(9001, 7);
        let columns = [6_u32, 0, 3];
        let at = |row: u32, column: u32| i64::from(values[row as usize * 7 + column as usize]);
        for device in answering_devices() {
            let matrix = WholeMatrix::new(&values, 7, &device).unwrap();
            for count in [1, 5, 4096, 4097, 8192, 9001] {
                let rows: Vec<u32> = (0..count).map(|row| (row * 31) % 9001).collect();
                let found = matrix.gram(&rows, &columns).unwrap();
                for (place, &sum) in found.iter().enumerate() {
                    let (a, b) = (columns[place / 3], columns[place % 3]);
                    let expected: i64 = rows.iter().map(|&row| at(row, a) * at(row, b)).sum();
                    assert_eq!(sum, expected);
                }
            }
            let vectors = [64, -64, 1, 0, 5, 7_i8];
            let found = matrix.times(&[8, 1, 1], &columns, &vectors).unwrap();
            for (place, &product) in found.iter().enumerate() {
                let row = [8, 1, 1][place / 2];
                let vector = &vectors[place % 2 * 3..][..3];
                let terms = columns.iter().zip(vector);
                let expected: i64 = terms.map(|(&c, &x)| at(row, c) * i64::from(x)).sum();
                assert_eq!(i64::from(product), expected);
            }
        }
    }

    #[test]
    fn the_largest_sum_of_the_theorem_is_exact() {
        let values = vec![64_i8; 4096];
        let rows: Vec<u32> = (0..4096).collect();
        for device in answering_devices() {
            let tall = WholeMatrix::new(&values, 1, &device).unwrap();
            assert_eq!(tall.gram(&rows, &[0]), Some(vec![1 << 24]));
            let wide = WholeMatrix::new(&values, 4096, &device).unwrap();
            assert_eq!(wide.times(&[0], &rows, &values), Some(vec![1 << 24]));
        }
    }

    #[test]
    fn what_the_theorem_does_not_cover_is_refused() {
        let flex = ComputeDevice::flex();
        assert!(WholeMatrix::new(&[65], 1, &flex).is_none());
        assert!(WholeMatrix::new(&[], 1, &flex).is_none());
        let matrix = WholeMatrix::new(&values(3, 2), 2, &flex).unwrap();
        assert!(matrix.times(&[3], &[0], &[1]).is_none());
        assert!(matrix.times(&[0], &[2], &[1]).is_none());
        assert!(matrix.times(&[0], &[0], &[65]).is_none());
        assert!(matrix.gram(&[], &[0]).is_none() && matrix.gram(&[0], &[]).is_none());
    }
}
