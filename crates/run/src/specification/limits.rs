//! Limits: tighter bounds on a specification than its type has, by which an operator limits what
//! others ask for.

use std::collections::BTreeMap;

use super::canonical::json_of;
use super::dotted;
use super::{FieldError, Specification};

/// The largest numbers that fields may be, by their dotted paths.
///
/// The limits come on top of the bounds of the type: a service that runs what strangers specify
/// allows less than a user may ask of their own machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    largest: BTreeMap<String, f64>,
}

impl Limits {
    /// Creates limits without a limit.
    pub fn new() -> Limits {
        Limits::default()
    }

    /// Lets `field` be at most `largest`.
    #[must_use]
    pub fn at_most(mut self, field: &str, largest: f64) -> Limits {
        self.largest.insert(field.to_owned(), largest);
        self
    }

    /// Returns the largest number that `field` may be, where there is a limit.
    pub fn largest(&self, field: &str) -> Option<f64> {
        self.largest.get(field).copied()
    }

    /// Refuses a specification with a number, or the length of a list, above its limit.
    ///
    /// # Errors
    /// The first field above its limit.
    pub fn check<S: Specification>(&self, specification: &S) -> Result<(), FieldError> {
        let value = json_of(specification);
        for (field, &largest) in &self.largest {
            let Some(found) = dotted::get(&value, field) else {
                continue;
            };
            let (number, what) = match found {
                serde_json::Value::Array(values) => (values.len() as f64, " of them here"),
                value => (value.as_f64().unwrap_or(0.0), " here"),
            };
            if number > largest {
                let expected = format!("at most {largest}{what}");
                return Err(FieldError::new(field, number, expected));
            }
        }
        Ok(())
    }
}
