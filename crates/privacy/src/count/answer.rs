//! The results of a count: what the public sees, and what the owner of the data alone may see.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::inverse::Steps;

/// The standard deviation of an answer's noise, as far as it is public: bounds that hold for any N
/// records. The place between the bounds depends on the records, but for a global sensitivity, and
/// is not said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PublicNoise {
    /// The lower bound: no N records have a smaller standard deviation.
    pub standard_deviation_at_least: f64,
    /// The upper bound: no N records have a larger standard deviation.
    pub standard_deviation_at_most: f64,
    /// The standard deviation that the global sensitivity gives at the same price, for whatever
    /// records.
    pub global_standard_deviation: f64,
}

impl PublicNoise {
    /// Returns whether the global sensitivity has less noise on all N records.
    pub fn global_is_less(&self) -> bool {
        self.global_standard_deviation < self.standard_deviation_at_least
    }
}

/// The measurement that an answer is made from. **Not private.**
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The true count.
    pub count: i64,
    /// The quantity that scales the noise.
    pub scale: Scale,
}

/// The quantity that scales the noise.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// A sensitivity.
    Sensitivity(f64),
    /// The steps of the inverse sensitivity mechanism.
    Steps(Steps),
}

impl Measured {
    /// Returns the sensitivity that scales the noise; the width of the first step.
    pub fn sensitivity(&self) -> f64 {
        match &self.scale {
            Scale::Sensitivity(sensitivity) => *sensitivity,
            Scale::Steps(steps) => steps.first(),
        }
    }
}

/// A private answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CountAnswer {
    /// The noisy count.
    pub count: i64,
    /// An interval for the true count, if it was paid for or costs nothing.
    pub interval: Option<Interval>,
    /// The public part of the noise.
    pub noise: PublicNoise,
}

/// The figures that only the owner of the data may see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Revealed {
    /// The true count.
    pub count: i64,
    /// The bound A_0 on the local sensitivity (Theorem 5).
    pub local_sensitivity_at_most: u64,
    /// The sensitivity that scales the noise; the width of its first step.
    pub sensitivity: f64,
    /// The standard deviation of the noise.
    pub standard_deviation: f64,
    /// The lower bound on the global sensitivity (equation 18, left).
    pub global_sensitivity_at_least: u64,
    /// The upper bound on the global sensitivity (equation 18, right).
    pub global_sensitivity_at_most: u64,
}
