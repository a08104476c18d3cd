//! Figures of several runs: their mean, and how far they scatter.

use serde::Serialize;

/// The mean and the standard deviation of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; of a single value it is not known.
    pub sd: Option<f64>,
}

impl Spread {
    /// Returns the spread of `values`; `None` if there are none.
    pub fn from_values(values: &[f64]) -> Option<Spread> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        Some(Spread { mean, sd })
    }

    /// Returns the mean ± the standard deviation, as far as it is known, with so many decimals.
    pub fn shown(self, decimals: usize) -> String {
        let mean = format!("{:.decimals$}", self.mean);
        match self.sd {
            Some(sd) => format!("{mean} ± {sd:.decimals$}"),
            None => mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread::from_values(&[1.0, 3.0]).unwrap();
        assert_eq!((spread.mean, spread.sd), (2.0, Some(2_f64.sqrt())));
        assert_eq!(Spread::from_values(&[5.0]).unwrap().sd, None);
        assert_eq!(Spread::from_values(&[]), None);
    }
}
