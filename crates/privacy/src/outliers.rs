//! The private outlier count in one value: what an outlier is, the price, and how the count is made
//! private.
//!
//! Every answer costs ε and δ. Who asks more than once adds up with [`super::composition`], or
//! keeps a [`super::ledger`].

use serde::{Deserialize, Serialize};

use super::calibration::Guarantee;
use super::count::{CountAnswer, CountOptions, CountPlan, Outliers};
use super::error::PrivacyError;
use super::noise::SystemBits;
use super::records::{Grid, Records};

/// A private count of the records with fewer than `k` others within `radius`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OutlierCount {
    /// The threshold: an outlier has fewer neighbours than this.
    pub k: usize,
    /// The radius: neighbours are within this distance, in the columns' units.
    pub radius: f64,
    /// The ε of the answer.
    pub epsilon: f64,
    /// The δ of the answer.
    pub delta: f64,
    /// The options that say how the count is made private.
    #[serde(default)]
    pub options: CountOptions,
}

impl OutlierCount {
    /// Creates the count of outliers with fewer than `k` others within `radius`, at a price of
    /// `epsilon` and `delta`.
    pub fn new(k: usize, radius: f64, epsilon: f64, delta: f64) -> OutlierCount {
        OutlierCount {
            k,
            radius,
            epsilon,
            delta,
            options: CountOptions::default(),
        }
    }

    /// Sets the options that say how the count is made private.
    #[must_use]
    pub fn options(mut self, options: CountOptions) -> OutlierCount {
        self.options = options;
        self
    }

    /// Returns the plan for `rows` records on `grid`, which states its cost and has seen no record.
    ///
    /// # Errors
    /// Any parameter that does not fit.
    pub fn plan(&self, grid: &Grid, rows: usize) -> Result<CountPlan, PrivacyError> {
        let dimension = grid.columns().len();
        let outliers = Outliers {
            k: self.k,
            squared_radius: grid.squared_radius(self.radius, dimension)?,
        };
        let guarantee = Guarantee::new(self.epsilon, self.delta)?;
        CountPlan::new(outliers, guarantee, self.options, rows, dimension)
    }

    /// Returns the private answer on `records` of `grid`, with noise from the operating system's
    /// generator.
    ///
    /// # Errors
    /// Any parameter that does not fit, or no random bits.
    pub fn answer(&self, grid: &Grid, records: &Records) -> Result<CountAnswer, PrivacyError> {
        let plan = self.plan(grid, records.rows())?;
        plan.answer(records, &mut SystemBits::new())
    }
}
