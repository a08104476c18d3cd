//! The course by which the worst case comes into a certified training, of tables and of texts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How κ and the hull grow, in shares of the epochs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Course {
    /// Weight of the worst case in the end.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub kappa: f64,
    /// Share of the epochs before the worst case counts.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-flag" = false))]
    pub warm_up: f64,
    /// Share of the epochs by which it counts in full.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-flag" = false))]
    pub full_by: f64,
}

impl Default for Course {
    fn default() -> Self {
        Course {
            kappa: 0.8,
            warm_up: 0.1,
            full_by: 0.6,
        }
    }
}

impl Course {
    /// Returns κ and the radius of the hull after a share of the epochs.
    pub fn at(&self, share: f64) -> (f64, f64) {
        let ramp = (self.full_by - self.warm_up).max(f64::MIN_POSITIVE);
        let grown = ((share - self.warm_up) / ramp).clamp(0.0, 1.0);
        (self.kappa * grown, grown)
    }
}
