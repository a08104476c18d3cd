//! The verdict on one test input, and the methods that reach it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How robustness is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Enumerates every removal set and learns anew each time (Algorithm 1).
    Baseline,
    /// Fixes K and analyses the prediction phase only (Jia et al. 2022): certifies for that K.
    Jia,
    /// Certifies by quick certificate and certified K set (Li et al. 2022); cannot falsify.
    Li,
    /// Quick certificate, certified K set, directed search, exhaustion of the space that is left.
    #[default]
    Auto,
}

/// The argument that proved robustness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certificate {
    /// Every candidate K votes alike and resists n removals.
    Quick,
    /// Every K that can be learnt votes alike and resists the removals that can go with it.
    KSet,
    /// Every removal set that was not excluded by proof was tried.
    Exhaustive,
}

/// A removal set that changes the prediction, and what the system does without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The rows of R, ascending.
    pub removal: Vec<usize>,
    /// The K learnt from T \ R.
    pub k: usize,
    /// The label predicted from T \ R.
    pub label: u16,
}

/// The verdict on one test input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No removal of at most n rows changes the label, as was proved.
    Certified(Certificate),
    /// This removal changes the label; it replays through [`crate::learn::replay`].
    Falsified(Violation),
    /// Neither was established before the deadline (or by a method that cannot).
    Unknown,
}

/// A verdict with the prediction that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The label predicted from T.
    pub label: u16,
    /// The K learnt from T.
    pub k: usize,
    /// Whether that label is robust.
    pub verdict: Verdict,
}
