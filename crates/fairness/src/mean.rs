//! Means over repeats, with intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and the 95 % interval of what it estimates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// 95 % interval by Student's t; absent for a single value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
}

impl Mean {
    /// The mean of `values`; 0 of none.
    pub fn of(values: &[f64]) -> Mean {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        if values.len() < 2 {
            return Mean { mean, ci95: None };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let ci95 = StudentsT::new(0.0, 1.0, count - 1.0).ok().map(|t| {
            let half = t.inverse_cdf(0.975) * error;
            [mean - half, mean + half]
        });
        Mean { mean, ci95 }
    }

    /// The mean of `values` that are shares. Its interval is cut to [0, 1]: the mean that is estimated lies
    /// there, so the part that is cut off cannot hold it, and the interval covers it as often as before.
    pub fn of_shares(values: &[f64]) -> Mean {
        let Mean { mean, ci95 } = Mean::of(values);
        Mean {
            mean,
            ci95: ci95.map(|[low, high]| [low.max(0.0), high.min(1.0)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_against_the_table_of_students_t() {
        // t(0.975, 4) = 2.776; the standard error of 1 … 5 is √(2.5 / 5).
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let [low, high] = mean.ci95.unwrap();
        assert_eq!(mean.mean, 3.0);
        assert!((3.0 - low - 2.776 * 0.5f64.sqrt()).abs() < 1e-3, "{low}");
        assert!((high - 3.0 - 2.776 * 0.5f64.sqrt()).abs() < 1e-3, "{high}");
        assert_eq!(Mean::of(&[7.0]).ci95, None);
        assert_eq!(Mean::of(&[]).mean, 0.0);
    }

    #[test]
    fn intervals_of_shares_stay_among_shares() {
        for values in [[0.0, 0.3], [0.9, 1.0], [0.0, 1.0], [0.4, 0.41]] {
            let [low, high] = Mean::of(&values).ci95.unwrap();
            let cut = Mean::of_shares(&values);
            assert_eq!(cut.ci95, Some([low.max(0.0), high.min(1.0)]));
            assert_eq!(cut.mean, Mean::of(&values).mean);
        }
        assert!(
            Mean::of(&[0.0, 0.3]).ci95.unwrap()[0] < 0.0,
            "there is something to cut"
        );
        assert_eq!(Mean::of_shares(&[0.5]).ci95, None);
    }
}
