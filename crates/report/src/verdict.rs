//! What comes of a bound that a run declared or a promise that it makes.

use serde::Serialize;

/// What came of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The bound holds.
    Within,
    /// The bound does not hold.
    Exceeds,
    /// The bound is not shown to hold.
    Inconclusive,
    /// The model does not take what is protected: nothing is shown by a share of 0.
    #[serde(rename = "not_applicable")]
    NotApplicable,
}

impl Verdict {
    /// Whether the bound is shown to hold.
    pub fn holds(self) -> bool {
        self == Verdict::Within
    }

    /// As files say it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::Exceeds => "exceeds",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotApplicable => "not_applicable",
        }
    }
}
