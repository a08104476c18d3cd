//! Options that only some strategies have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options that only some strategies have; the others leave theirs at the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// eidig: successful local steps after which the gradient is computed anew; 0 is never.
    #[schemars(range(max = 1_000_000), extend("x-flag" = false))]
    pub refresh: u32,
    /// sg: inputs around an input that its surrogate tree is learnt from.
    #[schemars(range(min = 10, max = 10_000))]
    pub surrogate_rows: usize,
    /// themis: confidence of the causal discrimination score.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub confidence: f64,
    /// themis: half the width that the score's interval may have.
    ///
    /// The inputs that have to be drawn grow with its inverse square: about 100 million for 0.0001.
    #[schemars(range(min = 0.0001), extend("exclusiveMaximum" = 1))]
    pub error_bound: f64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            refresh: 5,
            surrogate_rows: 25,
            confidence: 0.95,
            error_bound: 0.005,
        }
    }
}
