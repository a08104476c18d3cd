//! The ground that a walk goes over.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::measure::{Measure, Place};
use crate::domain::Domain;
use probity_nn::{Classifier, ModelError};

/// Inputs whose parts can become something else, one at a time: the attributes of a row, or the words
/// of a text. A part is a place in the row.
pub(crate) trait Ground: Sync {
    /// The knowledge about how both values change by steps from a place.
    type Slopes: Clone + Send + Sync + Serialize + DeserializeOwned;

    /// Largest number of variants of a start that are all asked about, to find the two that are
    /// farthest apart: where rows that are variants of each other have the same variants.
    const MOST_VARIANTS: usize;

    /// The model that is asked.
    fn model(&self) -> &dyn Classifier;

    /// The domain of the model's inputs.
    fn domain(&self) -> &dyn Domain;

    /// Whether slopes can be asked for.
    fn has_gradients(&self) -> bool;

    /// Slopes that say nothing yet.
    fn flat(&self) -> Self::Slopes;

    /// The slopes at `places`, each with its measure: two calls each.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn slopes_at(&self, places: &[(&Place, Measure<'_>)]) -> Result<Vec<Self::Slopes>, ModelError>;

    /// Whether `slopes`, which a checkpoint holds, can be of this ground.
    fn are_slopes(&self, slopes: &Self::Slopes) -> bool;

    /// The changes of both values when a part of `row` becomes `to`.
    fn effect(&self, slopes: &Self::Slopes, row: &[i32], part: usize, to: i32) -> [f32; 2];

    /// Takes `changes` as the changes of the values in that step: the secant.
    fn learn(&self, slopes: &mut Self::Slopes, row: &[i32], step: (usize, i32), changes: [f32; 2]);

    /// Calls `visit` with the steps from `row`, which the walker `id` stands at, that have this
    /// reach, and the changes of both values that are expected of them. Whether there are any of a
    /// longer reach.
    fn each_step(
        &self,
        slopes: &Self::Slopes,
        id: u64,
        row: &[i32],
        reach: u32,
        visit: impl FnMut(usize, i32, [f32; 2]),
    ) -> bool;

    /// Whether a part of `row` may become `to`, so far as a checkpoint says.
    fn is_step(&self, row: &[i32], part: usize, to: i32) -> bool;

    /// Whether the input that the walker `id` comes to, when a part of `row` becomes `to`, may be
    /// asked about.
    ///
    /// # Errors
    /// When the model that decides that cannot answer.
    fn allows(&self, _id: u64, _row: &[i32], _part: usize, _to: i32) -> Result<bool, ModelError> {
        Ok(true)
    }

    /// The fingerprint of the individual of `row`.
    fn fingerprint(&self, row: &[i32]) -> u64;

    /// The amount that is added to a fingerprint when a part goes from one code to another.
    fn fingerprint_change(&self, part: usize, from: i32, to: i32) -> u64;
}
