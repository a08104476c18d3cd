//! Options that only some strategies have.

use serde::{Deserialize, Serialize};

use crate::audit::AuditError;

/// Options that only some strategies have; the others leave theirs at the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// `eidig`: successful local steps after which a gradient is computed anew; 0: never.
    pub refresh: u32,
    /// `sg`: inputs around an input that its surrogate tree is learnt from.
    pub surrogate_samples: usize,
    /// `themis`: confidence of the score's interval.
    pub confidence: f64,
    /// `themis`: half the width that the interval may have.
    pub error_bound: f64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            refresh: 5,
            surrogate_samples: 25,
            confidence: 0.95,
            error_bound: 0.005,
        }
    }
}

impl Tuning {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`AuditError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), AuditError> {
        let refuse = |option, value: String, expected| {
            Err(AuditError::Option {
                option,
                value,
                expected,
            })
        };
        if !(10..=10_000).contains(&self.surrogate_samples) {
            let given = self.surrogate_samples.to_string();
            return refuse("--surrogate-samples", given, "from 10 to 10,000");
        }
        for (option, value) in [
            ("--confidence", self.confidence),
            ("--error-bound", self.error_bound),
        ] {
            if !(value > 0.0 && value < 1.0) {
                return refuse(option, value.to_string(), "above 0 and below 1");
            }
        }
        Ok(())
    }
}
