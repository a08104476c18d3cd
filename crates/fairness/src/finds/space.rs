//! What is measured of a find by itself, and of two.

use std::borrow::Cow;

use probity_nn::ModelError;

/// Where the finds of a case lie.
pub trait FindSpace: Sync {
    /// Clusters of the data.
    fn clusters(&self) -> u64;

    /// Where `row` lies.
    fn place(&self, row: &[i32]) -> Place;

    /// What [`FindSpace::distances`] looks at of `row`.
    fn compared<'r>(&self, row: &'r [i32]) -> Cow<'r, [i32]>;

    /// How far two finds differ, by what is [compared](FindSpace::compared) of them.
    fn distances(&self, find: &[i32], other: &[i32]) -> Distances;

    /// Finds that are graded at most; none where nothing grades them.
    fn most_graded(&self) -> u64;

    /// The plausibility of each of `rows`, from 0 to 1.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    fn grade(&self, rows: &[&[i32]]) -> Result<Vec<f32>, ModelError>;
}

/// Where a find lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// A key of its cell.
    pub cell: u128,
    /// The cluster of the data that it covers.
    pub cluster: Option<u8>,
}

/// How far two finds differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distances {
    /// The share of what both are made of.
    pub hamming: f64,
    /// How far, where that can be said.
    pub l1: Option<f64>,
}
