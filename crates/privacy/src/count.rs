//! The private outlier count (Section 4): a plan made of public numbers, then one answer.
//!
//! [`CountPlan::new`] sees declared parameters, N and the dimension. It checks them, chooses the
//! method of the bound and the constants of the noise, and states the cost. [`CountPlan::answer`]
//! sees the records. Between the two the cost has to be entered into a ledger.
//!
//! The answer is the count plus normal noise of standard deviation c S(X), rounded to an integer
//! ([`super::noise::normal`]); c and β are derived in [`super::calibration`], S in
//! [`super::smooth`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, Guarantee, Noise};
use super::composition::Cost;
use super::degrees::degrees;
use super::error::PrivacyError;
use super::interval::{Interval, interval, private_upper_bound};
use super::kissing::{global_sensitivity_at_least, global_sensitivity_at_most};
use super::noise::Bits;
use super::noise::normal::rounded_sum;
use super::records::Records;
use super::sensitivity::{Bound, Method};
use super::smooth::{Horizon, local_bound, smooth_bound};

/// Which sensitivity scales the noise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// The smooth bound, which depends on the records.
    #[default]
    Smooth,
    /// The upper bound on the global sensitivity, which does not.
    Global,
}

/// What defines an outlier: fewer than k other records within the radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outliers {
    /// k.
    pub k: usize,
    /// Squared radius on the grid, from [`super::records::Grid::squared_radius`].
    pub squared_radius: f64,
}

/// How a count is made private.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CountOptions {
    /// Which sensitivity scales the noise.
    pub sensitivity: Sensitivity,
    /// Constants of the noise: the least that are proved enough, or those of the paper's theorems.
    pub calibration: Calibration,
    /// How the smooth bound is computed.
    pub bound: Bound,
    /// Most steps of an exact bound in three and more dimensions.
    pub work_limit: u64,
    /// Spend this share of epsilon on a private bound on the noise, and give an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub interval_share: Option<f64>,
    /// Confidence of intervals.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub confidence: f64,
}

impl Default for CountOptions {
    fn default() -> Self {
        CountOptions {
            sensitivity: Sensitivity::default(),
            calibration: Calibration::default(),
            bound: Bound::default(),
            work_limit: super::sensitivity::WORK_LIMIT,
            interval_share: None,
            confidence: 0.95,
        }
    }
}

impl CountOptions {
    /// With this sensitivity to scale the noise.
    #[must_use]
    pub fn sensitivity(mut self, sensitivity: Sensitivity) -> CountOptions {
        self.sensitivity = sensitivity;
        self
    }

    /// With these constants to scale the noise.
    #[must_use]
    pub fn calibration(mut self, calibration: Calibration) -> CountOptions {
        self.calibration = calibration;
        self
    }

    /// With this way to compute the smooth bound.
    #[must_use]
    pub fn bound(mut self, bound: Bound) -> CountOptions {
        self.bound = bound;
        self
    }

    /// With so many steps of an exact bound at most.
    #[must_use]
    pub fn work_limit(mut self, work_limit: u64) -> CountOptions {
        self.work_limit = work_limit;
        self
    }

    /// With this share of ε for a private upper bound on the noise, and so an interval.
    #[must_use]
    pub fn interval_share(mut self, share: f64) -> CountOptions {
        self.interval_share = Some(share);
        self
    }

    /// With this confidence of an interval.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> CountOptions {
        self.confidence = confidence;
        self
    }
}

/// Checked parameters of one count. Nothing in it depends on the records but their number.
#[derive(Debug, Clone, PartialEq)]
pub struct CountPlan {
    outliers: Outliers,
    options: CountOptions,
    rows: usize,
    dimension: usize,
    guarantee: Guarantee,
    /// ε of the bound on the noise.
    interval_epsilon: f64,
    method: Method,
    noise: Noise,
    cap: u64,
}

/// What an answer is made from. **Not private.**
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The true count.
    pub count: i64,
    /// The sensitivity that scales the noise.
    pub sensitivity: f64,
}

/// A private answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CountAnswer {
    /// The noisy count.
    pub count: i64,
    /// An interval for the true count, if it was paid for or costs nothing.
    pub interval: Option<Interval>,
}

impl CountPlan {
    /// Makes the plan for `rows` records in `dimension` dimensions at a total price of `guarantee`.
    ///
    /// # Errors
    /// Any parameter that does not fit.
    pub fn new(
        outliers: Outliers,
        guarantee: Guarantee,
        options: CountOptions,
        rows: usize,
        dimension: usize,
    ) -> Result<CountPlan, PrivacyError> {
        check_threshold(outliers.k, rows)?;
        let share = options.interval_share.unwrap_or(0.0);
        if options.interval_share.is_some() && !(share > 0.0 && share < 1.0) {
            return Err(PrivacyError::Share { share });
        }
        if !(options.confidence > 0.0 && options.confidence < 1.0) {
            return Err(PrivacyError::Share {
                share: options.confidence,
            });
        }
        let count = Guarantee {
            epsilon: guarantee.epsilon * (1.0 - share),
            ..guarantee
        };
        let cap = global_sensitivity_at_most(rows, dimension, outliers.k);
        let noise = match options.sensitivity {
            Sensitivity::Smooth => options.calibration.smooth(count, cap as f64)?,
            Sensitivity::Global => options.calibration.global(count)?,
        };
        Ok(CountPlan {
            outliers,
            options,
            rows,
            dimension,
            guarantee: count,
            interval_epsilon: guarantee.epsilon * share,
            method: options.bound.resolve(rows, dimension)?,
            noise,
            cap,
        })
    }

    /// The price.
    pub fn cost(&self) -> Cost {
        let Guarantee { epsilon, delta } = self.guarantee;
        Cost::approximate(epsilon, delta).and(Cost::approximate(self.interval_epsilon, 0.0))
    }

    /// The method of the smooth bound; none for a global sensitivity.
    pub fn method(&self) -> Option<Method> {
        (self.options.sensitivity == Sensitivity::Smooth).then_some(self.method)
    }

    /// The noise: public constants.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Answers on `records`, which must be those that the plan was made for.
    ///
    /// # Errors
    /// A work limit, or no random bits.
    pub fn answer(
        &self,
        records: &Records,
        bits: &mut dyn Bits,
    ) -> Result<CountAnswer, PrivacyError> {
        self.release(self.measure(records)?, bits)
    }

    /// The private answer for what was measured.
    ///
    /// # Errors
    /// No random bits.
    pub fn release(
        &self,
        measured: Measured,
        bits: &mut dyn Bits,
    ) -> Result<CountAnswer, PrivacyError> {
        let Measured { count, sensitivity } = measured;
        let answer = rounded_sum(count, self.noise.scale * sensitivity, bits)?;
        let failure = 1.0 - self.options.confidence;
        let around = |bound: f64, failure: f64| {
            let deviation = self.noise.scale * bound;
            interval(
                answer,
                deviation,
                failure,
                self.options.confidence,
                self.rows,
            )
        };
        let interval = match self.options.sensitivity {
            Sensitivity::Global => Some(around(sensitivity, failure)),
            Sensitivity::Smooth if self.interval_epsilon > 0.0 => {
                let bound = private_upper_bound(
                    sensitivity,
                    self.cap as f64,
                    self.noise,
                    self.interval_epsilon,
                    failure / 2.0,
                    bits,
                )?;
                Some(around(bound, failure / 2.0))
            }
            Sensitivity::Smooth => None,
        };
        Ok(CountAnswer {
            count: answer,
            interval,
        })
    }

    /// The true count and the sensitivity that scales the noise. **Not private.**
    ///
    /// # Errors
    /// A work limit.
    pub fn measure(&self, records: &Records) -> Result<Measured, PrivacyError> {
        let Outliers { k, squared_radius } = self.outliers;
        match self.options.sensitivity {
            Sensitivity::Global => {
                let found = degrees(records, squared_radius, k as u32);
                Ok(Measured {
                    count: count_below(&found, k),
                    sensitivity: self.cap as f64,
                })
            }
            Sensitivity::Smooth => {
                let horizon = Horizon::new(self.noise.beta, self.cap);
                let found = degrees(records, squared_radius, horizon.degree_cap(k));
                let ball = self
                    .method
                    .on(records, squared_radius, self.options.work_limit);
                let bound = smooth_bound(&found, k, horizon, &*ball)?;
                Ok(Measured {
                    count: count_below(&found, k),
                    sensitivity: bound.value,
                })
            }
        }
    }

    /// Everything about the answer that is not private, for the owner of the data.
    ///
    /// # Errors
    /// A work limit.
    pub fn reveal(&self, records: &Records) -> Result<Revealed, PrivacyError> {
        let Measured { count, sensitivity } = self.measure(records)?;
        let Outliers { k, squared_radius } = self.outliers;
        let found = degrees(records, squared_radius, k as u32 + 1);
        let ball = self
            .method
            .on(records, squared_radius, self.options.work_limit);
        Ok(Revealed {
            count,
            local_sensitivity_at_most: local_bound(&found, k, self.cap, &*ball)?,
            sensitivity,
            standard_deviation: self.noise.scale * sensitivity,
            global_sensitivity_at_least: global_sensitivity_at_least(self.rows, self.dimension, k),
            global_sensitivity_at_most: self.cap,
        })
    }
}

/// What only the owner of the data may see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Revealed {
    /// The true count.
    pub count: i64,
    /// A_0: the bound on the local sensitivity (Theorem 5).
    pub local_sensitivity_at_most: u64,
    /// The sensitivity that scales the noise.
    pub sensitivity: f64,
    /// The standard deviation of the noise.
    pub standard_deviation: f64,
    /// Equation 18, left.
    pub global_sensitivity_at_least: u64,
    /// Equation 18, right.
    pub global_sensitivity_at_most: u64,
}

/// Checks 1 ≤ k < N.
///
/// # Errors
/// When it is not so.
pub fn check_threshold(k: usize, rows: usize) -> Result<(), PrivacyError> {
    if k >= 1 && k < rows && rows < u32::MAX as usize / 2 {
        Ok(())
    } else {
        Err(PrivacyError::Threshold { k, rows })
    }
}

/// The number of outliers. **Not private.**
pub fn count_outliers(records: &Records, outliers: Outliers) -> i64 {
    let found = degrees(records, outliers.squared_radius, outliers.k as u32);
    count_below(&found, outliers.k)
}

fn count_below(degrees: &[u32], k: usize) -> i64 {
    degrees
        .iter()
        .filter(|&&degree| (degree as usize) < k)
        .count() as i64
}
