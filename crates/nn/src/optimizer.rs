//! The optimisers that there are, and their constants. All trainings move their parameters by
//! `flat_optimizer`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number added to the root of the mean of squares that Adam divides by.
pub(super) const EPSILON: f32 = 1e-8;
/// The share of its velocity that SGD keeps.
pub(super) const MOMENTUM: f32 = 0.9;

/// Which optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerName {
    /// Adam with decoupled weight decay (Loshchilov, Hutter 2019).
    #[default]
    Adamw,
    /// Stochastic gradient descent with Nesterov momentum 0.9.
    Sgd,
}
