//! The common interface of all methods that compute the bound.

use crate::error::PrivacyError;

/// A method to compute h′.
pub trait LargestBall {
    /// Returns h′ of the records `members`. Once it is known to be at least `enough`, any number of
    /// at least `enough` may be returned instead.
    ///
    /// # Errors
    /// [`PrivacyError::WorkLimit`] for exact methods with a limit.
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError>;
}
