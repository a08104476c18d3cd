//! What every method of the bound computes.

use crate::error::PrivacyError;

/// A way to compute h′.
pub trait LargestBall {
    /// h′ of the records `members`. Once it is known to be at least `enough`, any number of at
    /// least `enough` may be returned instead.
    ///
    /// # Errors
    /// [`PrivacyError::WorkLimit`] for exact methods with a limit.
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError>;
}
