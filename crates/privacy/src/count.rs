//! The private outlier count (Section 4): a plan made of public numbers, then one answer.
//!
//! [`CountPlan::new`] sees declared parameters, N and the dimension. It checks them, chooses the
//! method of the bound and the constants of the noise, and states the cost. [`CountPlan::answer`]
//! sees the records. Between the two the cost has to be entered into a ledger.
//!
//! The answer is the count plus noise, rounded to an integer: that of the inverse sensitivity
//! mechanism ([`super::inverse`]), or normal noise ([`super::noise::normal`]) of standard deviation
//! c S(X) or c G, where c and β are derived in [`super::calibration`] and S in [`super::smooth`].
//! Between them the plan chooses by public constants alone, unless it is told which to take. Every
//! answer carries what is public of its noise ([`PublicNoise`]); what depends on the records is
//! not.
//!
//! Once there is a plan, every set of N records gets an answer. A refusal that depended on them
//! would tell about them.

mod answer;
mod options;

pub use self::answer::{CountAnswer, Measured, PublicNoise, Revealed, Scale};
pub use self::options::{CountOptions, Sensitivity};
pub(super) use self::options::{LEAST_SHARE, MOST_SHARE};
use super::calibration::{Calibration, EXPECTED, Guarantee, Noise, spendable};
use super::composition::{Cost, split};
use super::degrees::degrees;
use super::error::PrivacyError;
use super::horizon::{Horizon, growing_bound};
use super::interval::{interval, private_upper_bound};
use super::inverse::InverseNoise;
use super::kissing::{global_sensitivity_at_least, global_sensitivity_at_most};
use super::noise::Bits;
use super::noise::normal::rounded_sum;
use super::records::Records;
use super::sensitivity::{Bound, Method, WORK_LIMIT};
use super::smooth::{inverse_steps, local_bound, smooth_bound};

/// The definition of an outlier: a record with fewer than k other records within the radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outliers {
    /// The threshold k.
    pub k: usize,
    /// The squared radius on the grid, from [`super::records::Grid::squared_radius`].
    pub squared_radius: f64,
}

/// The checked parameters of one count. Nothing in the plan depends on the records but their
/// number.
#[derive(Debug, Clone, PartialEq)]
pub struct CountPlan {
    outliers: Outliers,
    options: CountOptions,
    rows: usize,
    dimension: usize,
    cost: Cost,
    mechanism: Mechanism,
    public_noise: PublicNoise,
    cap: u64,
}

/// The mechanism that scales the noise, with its constants.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mechanism {
    Inverse {
        noise: InverseNoise,
        method: Method,
    },
    Smooth {
        noise: Noise,
        method: Method,
        /// The ε of the bound on the noise; 0 where none is asked for.
        interval_epsilon: f64,
    },
    Global {
        noise: Noise,
    },
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
        let cap = global_sensitivity_at_most(rows, dimension, outliers.k);
        let of = |epsilon: f64| Guarantee {
            epsilon: spendable(epsilon),
            ..guarantee
        };
        let (interval_epsilon, count_epsilon) = split(guarantee.epsilon, share);
        let whole = of(guarantee.epsilon);
        let global = options.calibration.global(whole)?;
        let global_standard_deviation = global.scale * cap as f64;
        let method = |horizon: Horizon| {
            (options.bound).resolve(rows, dimension, horizon.calls(), options.work_limit)
        };
        let deviation =
            |noise: Noise, held: f64| noise.scale * growing_bound(noise.beta, cap as f64, held);
        let public = |least: f64, most: f64| PublicNoise {
            standard_deviation_at_least: least,
            standard_deviation_at_most: most,
            global_standard_deviation,
        };
        let sensitivity = match options.sensitivity {
            Sensitivity::Auto if options.calibration == Calibration::Theorem || share > 0.0 => {
                let smooth = options.calibration.smooth(of(count_epsilon), cap as f64)?;
                match deviation(smooth, EXPECTED) < global_standard_deviation {
                    true => Sensitivity::Smooth,
                    false => Sensitivity::Global,
                }
            }
            Sensitivity::Auto => {
                let inverse = InverseNoise::new(whole, cap)?;
                let expected = inverse.standard_deviation(&inverse.expected());
                match expected < global_standard_deviation {
                    true => Sensitivity::Inverse,
                    false => Sensitivity::Global,
                }
            }
            chosen => chosen,
        };
        let price = |epsilon: f64| Cost::approximate(epsilon, guarantee.delta);
        let (mechanism, cost, public_noise) = match sensitivity {
            Sensitivity::Inverse => {
                let noise = InverseNoise::new(whole, cap)?;
                let method = method(noise.horizon())?;
                (
                    Mechanism::Inverse { noise, method },
                    price(guarantee.epsilon),
                    public(
                        noise.standard_deviation_at_least(),
                        noise.standard_deviation_at_most(),
                    ),
                )
            }
            Sensitivity::Smooth => {
                let noise = options.calibration.smooth(of(count_epsilon), cap as f64)?;
                let mechanism = Mechanism::Smooth {
                    noise,
                    method: method(Horizon::new(noise.beta, cap))?,
                    interval_epsilon,
                };
                let interval = Cost::approximate(interval_epsilon, 0.0);
                (
                    mechanism,
                    price(count_epsilon).and(interval),
                    public(deviation(noise, 0.0), noise.scale * cap as f64),
                )
            }
            Sensitivity::Global | Sensitivity::Auto => (
                Mechanism::Global { noise: global },
                price(guarantee.epsilon),
                public(global_standard_deviation, global_standard_deviation),
            ),
        };
        Ok(CountPlan {
            outliers,
            options,
            rows,
            dimension,
            cost,
            mechanism,
            public_noise,
            cap,
        })
    }

    /// Returns the price.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns which sensitivity scales the noise: never [`Sensitivity::Auto`].
    pub fn sensitivity(&self) -> Sensitivity {
        match self.mechanism {
            Mechanism::Inverse { .. } => Sensitivity::Inverse,
            Mechanism::Smooth { .. } => Sensitivity::Smooth,
            Mechanism::Global { .. } => Sensitivity::Global,
        }
    }

    /// Returns the method by which bounds of the local sensitivity are computed; none for a global
    /// sensitivity.
    pub fn method(&self) -> Option<Method> {
        match self.mechanism {
            Mechanism::Inverse { method, .. } | Mechanism::Smooth { method, .. } => Some(method),
            Mechanism::Global { .. } => None,
        }
    }

    /// Returns the public constants of normal noise; none for the inverse sensitivity mechanism.
    pub fn noise(&self) -> Option<Noise> {
        match self.mechanism {
            Mechanism::Inverse { .. } => None,
            Mechanism::Smooth { noise, .. } | Mechanism::Global { noise } => Some(noise),
        }
    }

    /// Returns the public constants of the inverse sensitivity mechanism; none for normal noise.
    pub fn inverse(&self) -> Option<InverseNoise> {
        match self.mechanism {
            Mechanism::Inverse { noise, .. } => Some(noise),
            Mechanism::Smooth { .. } | Mechanism::Global { .. } => None,
        }
    }

    /// Returns the public part of the noise of an answer.
    pub fn public_noise(&self) -> PublicNoise {
        self.public_noise
    }

    /// Answers the count on `records`, which must be those that the plan was made for.
    ///
    /// # Errors
    /// No random bits.
    pub fn answer(
        &self,
        records: &Records,
        bits: &mut dyn Bits,
    ) -> Result<CountAnswer, PrivacyError> {
        self.release(&self.measure(records)?, bits)
    }

    /// Returns the private answer for what was measured.
    ///
    /// # Errors
    /// No random bits.
    pub fn release(
        &self,
        measured: &Measured,
        bits: &mut dyn Bits,
    ) -> Result<CountAnswer, PrivacyError> {
        let sensitivity = measured.sensitivity();
        let count = match (self.mechanism, &measured.scale) {
            (Mechanism::Inverse { noise, .. }, Scale::Steps(steps)) => {
                noise.draw(measured.count, steps, bits)?
            }
            (Mechanism::Inverse { .. }, Scale::Sensitivity(_)) | (_, Scale::Steps(_)) => {
                return Err(PrivacyError::OtherPlan);
            }
            (Mechanism::Smooth { noise, .. } | Mechanism::Global { noise }, _) => {
                rounded_sum(measured.count, noise.scale * sensitivity, bits)?
            }
        };
        let confidence = self.options.confidence;
        let around = |deviation: f64, failure: f64| {
            interval(count, deviation, failure, confidence, self.rows)
        };
        let failure = 1.0 - confidence;
        let interval = match self.mechanism {
            Mechanism::Global { noise } => Some(around(noise.scale * sensitivity, failure)),
            Mechanism::Smooth {
                noise,
                interval_epsilon,
                ..
            } if interval_epsilon > 0.0 => {
                let bound = private_upper_bound(
                    sensitivity,
                    self.cap as f64,
                    noise,
                    spendable(interval_epsilon),
                    failure / 2.0,
                    bits,
                )?;
                Some(around(noise.scale * bound, failure / 2.0))
            }
            Mechanism::Smooth { .. } | Mechanism::Inverse { .. } => None,
        };
        Ok(CountAnswer {
            count,
            interval,
            noise: self.public_noise,
        })
    }

    /// Measures the true count and the sensitivity that scales the noise. **Not private.**
    ///
    /// # Errors
    /// None but those of a method that the plan was not made with.
    pub fn measure(&self, records: &Records) -> Result<Measured, PrivacyError> {
        match self.method() {
            // The plan has been found affordable for any records: nothing may end it on these.
            Some(method) => self.measure_by(method, u64::MAX, records),
            None => Ok(Measured {
                count: count_outliers(records, self.outliers),
                scale: Scale::Sensitivity(self.cap as f64),
            }),
        }
    }

    /// Measures the same as [`CountPlan::measure`], by `method`.
    fn measure_by(
        &self,
        method: Method,
        work_limit: u64,
        records: &Records,
    ) -> Result<Measured, PrivacyError> {
        let Outliers { k, squared_radius } = self.outliers;
        let ball = method.on(records, squared_radius, work_limit);
        let found = |horizon: Horizon| degrees(records, squared_radius, horizon.degree_cap(k));
        let (found, scale) = match self.mechanism {
            Mechanism::Inverse { noise, .. } => {
                let found = found(noise.horizon());
                let steps = inverse_steps(&found, k, &noise, &*ball)?;
                (found, Scale::Steps(steps))
            }
            Mechanism::Smooth { noise, .. } | Mechanism::Global { noise } => {
                let horizon = Horizon::new(noise.beta, self.cap);
                let found = found(horizon);
                let bound = smooth_bound(&found, k, horizon, &*ball)?;
                (found, Scale::Sensitivity(bound.value))
            }
        };
        Ok(Measured {
            count: count_below(&found, k),
            scale,
        })
    }

    /// Measures the same as [`CountPlan::measure`] by an exact method, where another one answers
    /// and the work limit allows it on these records. **Not private**, not even whether there is a
    /// figure.
    ///
    /// # Errors
    /// None but those of a method that the plan was not made with.
    pub fn measure_exactly(&self, records: &Records) -> Result<Option<Measured>, PrivacyError> {
        if self.method().is_none_or(Method::is_exact) {
            return Ok(None);
        }
        let exact = Method::exact(self.dimension);
        match self.measure_by(exact, self.options.work_limit, records) {
            Ok(measured) => Ok(Some(measured)),
            Err(PrivacyError::WorkLimit { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Returns the standard deviation of the noise for what was measured. **Not private.**
    pub fn standard_deviation(&self, measured: &Measured) -> f64 {
        match (self.mechanism, &measured.scale) {
            (Mechanism::Inverse { noise, .. }, Scale::Steps(steps)) => {
                noise.standard_deviation(steps)
            }
            (_, _) => self.noise().map_or(0.0, |noise| noise.scale) * measured.sensitivity(),
        }
    }

    /// Returns everything about the answer that is not private, for the owner of the data.
    ///
    /// # Errors
    /// None but those of a method that the plan was not made with.
    pub fn reveal(&self, records: &Records) -> Result<Revealed, PrivacyError> {
        let measured = self.measure(records)?;
        let Outliers { k, squared_radius } = self.outliers;
        let found = degrees(records, squared_radius, k as u32 + 1);
        let method = match self.method() {
            Some(method) => method,
            None => Bound::Auto.resolve(self.rows, self.dimension, 2, WORK_LIMIT)?,
        };
        let ball = method.on(records, squared_radius, u64::MAX);
        Ok(Revealed {
            count: measured.count,
            local_sensitivity_at_most: local_bound(&found, k, self.cap, &*ball)?,
            sensitivity: measured.sensitivity(),
            standard_deviation: self.standard_deviation(&measured),
            global_sensitivity_at_least: global_sensitivity_at_least(self.rows, self.dimension, k),
            global_sensitivity_at_most: self.cap,
        })
    }
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

/// Counts the outliers. **Not private.**
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
