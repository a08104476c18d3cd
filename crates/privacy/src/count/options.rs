//! The options of counting outliers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::sensitivity::{Bound, WORK_LIMIT};

/// Which sensitivity scales the noise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// The one that has the least noise on records without dense groups, judged by public numbers.
    #[default]
    Auto,
    /// Bounds of the local sensitivity near the records, in the inverse sensitivity mechanism.
    Inverse,
    /// The smooth bound, which depends on the records too, with normal noise.
    Smooth,
    /// The upper bound on the global sensitivity, which does not, with normal noise.
    Global,
}

/// The smallest share of an ε that something is bought with: so that a part is never rounded to
/// nothing.
pub(in super::super) const LEAST_SHARE: f64 = 1e-6;

/// The largest share of an ε that something is bought with.
pub(in super::super) const MOST_SHARE: f64 = 0.999_999;

/// How a count is made private.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CountOptions {
    /// Which sensitivity scales the noise.
    pub sensitivity: Sensitivity,
    /// Constants of normal noise: the least that are proved enough, or those of the paper's
    /// theorems.
    pub calibration: Calibration,
    /// How bounds of the local sensitivity are computed.
    pub bound: Bound,
    /// Most steps that an exact bound in three and more dimensions may take on any records of that
    /// number.
    #[schemars(range(max = 1_000_000_000_000_000_u64))]
    pub work_limit: u64,
    /// Spend this share of epsilon on a private bound on the noise of a smooth bound, and give an
    /// interval; a global sensitivity needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_SHARE, max = MOST_SHARE))]
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
            work_limit: WORK_LIMIT,
            interval_share: None,
            confidence: 0.95,
        }
    }
}

impl CountOptions {
    /// Sets the sensitivity that scales the noise.
    #[must_use]
    pub fn sensitivity(mut self, sensitivity: Sensitivity) -> CountOptions {
        self.sensitivity = sensitivity;
        self
    }

    /// Sets the calibration, whose constants scale the noise.
    #[must_use]
    pub fn calibration(mut self, calibration: Calibration) -> CountOptions {
        self.calibration = calibration;
        self
    }

    /// Sets the way to compute the smooth bound.
    #[must_use]
    pub fn bound(mut self, bound: Bound) -> CountOptions {
        self.bound = bound;
        self
    }

    /// Sets the largest number of steps of an exact bound.
    #[must_use]
    pub fn work_limit(mut self, work_limit: u64) -> CountOptions {
        self.work_limit = work_limit;
        self
    }

    /// Sets the share of ε for a private upper bound on the noise, and so for an interval.
    #[must_use]
    pub fn interval_share(mut self, share: f64) -> CountOptions {
        self.interval_share = Some(share);
        self
    }

    /// Sets the confidence of an interval.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> CountOptions {
        self.confidence = confidence;
        self
    }
}
