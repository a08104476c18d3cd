//! A mixture of Gaussians, for benchmarks.

use std::f64::consts::TAU;

use super::errors::KMeansError;
use super::points::{ONE, Points};
use probity_run::stream::{Purpose, Words};

/// The standard deviation of a component of [`mixture`]; a column is 1 wide.
const DEVIATION: f64 = 0.1;
/// The largest distance of the means of [`mixture`] from the middle, in each column.
const SPREAD: f64 = 0.08;

/// Draws rows of a mixture of Gaussians with equal weights, clipped to 0 … 1: means uniform within
/// 0.08 of the middle in each column, standard deviation 0.1. The components overlap about as much
/// as the paper's, by the silhouette of its Table 2.
///
/// # Errors
/// No columns, or too many.
pub fn mixture(
    rows: usize,
    columns: usize,
    components: usize,
    seed: u64,
) -> Result<(Points, Vec<u32>), KMeansError> {
    let uniform = |word: u64| ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let means: Vec<f64> = (0..components as u64)
        .flat_map(|component| {
            let words = Words::new(seed, Purpose::Mixture, &[0, component]);
            (0..columns as u64)
                .map(move |column| 0.5 + SPREAD * (2.0 * uniform(words.word(column)) - 1.0))
        })
        .collect();
    let mut values = Vec::with_capacity(rows * columns);
    let mut labels = Vec::with_capacity(rows);
    for row in 0..rows {
        let words = Words::new(seed, Purpose::Mixture, &[1, row as u64]);
        let component = row % components.max(1);
        labels.push(component as u32);
        for column in 0..columns {
            // Box, Muller 1958.
            let radius = (-2.0 * uniform(words.word(2 * column as u64)).ln()).sqrt();
            let normal = radius * (TAU * uniform(words.word(2 * column as u64 + 1))).cos();
            let value = means[component * columns + column] + DEVIATION * normal;
            values.push((value.clamp(0.0, 1.0) * f64::from(ONE)).round() as i32);
        }
    }
    let points = Points::new((1..=rows as u64).collect(), values, columns)?;
    Ok((points, labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixture_is_one_of_its_seed() {
        let (points, labels) = mixture(100, 3, 4, 1).unwrap();
        assert_eq!((points.len(), labels[5]), (100, 1));
        assert_ne!(points.row(7), mixture(100, 3, 4, 2).unwrap().0.row(7));
        assert_eq!(points.row(7), mixture(200, 3, 4, 1).unwrap().0.row(7));
    }
}
