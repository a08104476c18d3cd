//! Certified training on tables: the loss of a row is also that of the worst of its protected
//! variants.
//!
//! The loss is (1 − κ)·CE + κ·CE of the worst case (Gowal et al. 2018), where interval bounds are
//! propagated over all combinations of the protected attributes' codes: the hull of what each
//! attribute's codes add to the first layer, shrunk towards the row's own sums while the radius is
//! below 1, then middle and radius of every layer. The bounds are those of [`crate::interval::fnn`]
//! without their slack. With m_c the least lead of the true class over class c, the worst case's
//! loss is ln(1 + Σ_c e^(−m_c)); the worst case's loss of a number is the larger squared error of
//! its two bounds.
//!
//! A training makes the protected attributes' weights small, and no weight exactly 0, so that of the
//! whole domain some points at the decision boundary stay open to any proof. At the end the network
//! is therefore held against the one that these attributes tell nothing, where what they add is
//! their mean over the training rows: its bounds have no width, its worst case is the row itself. If
//! its loss is no larger it is the better answer to the same question, and no substitution changes a
//! bit of its logits.

use crate::train::course::Course;
use crate::train::options::TableOptions;
use probity_run::specification::FieldError;

/// The worst case that a training on a table learns from.
#[derive(Debug, Clone, PartialEq)]
pub struct TableWorstCase {
    /// The positions of the protected attributes.
    pub protected: Vec<usize>,
    /// The course by which the worst case comes in.
    pub course: Course,
}

impl TableWorstCase {
    /// Checks that `options` fit a training with a worst case.
    ///
    /// # Errors
    /// The first field that does not fit.
    pub(super) fn check(&self, options: &TableOptions) -> Result<(), FieldError> {
        if options.network.dropout > 0.0 {
            let expected = "0: certified training bounds whole networks";
            let dropout = options.network.dropout;
            return Err(FieldError::new("network.dropout", dropout, expected));
        }
        if options.learning.patience > 0 {
            let expected = "0: certified training runs all epochs";
            let patience = options.learning.patience;
            return Err(FieldError::new("training.patience", patience, expected));
        }
        Ok(())
    }
}
