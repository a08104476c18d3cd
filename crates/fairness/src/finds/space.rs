//! The measures of a find by itself, and of two finds.

use std::borrow::Cow;

use probity_nn::ModelError;

/// The space in which the finds of a case lie.
pub trait FindSpace: Sync {
    /// Number of clusters of the data.
    fn clusters(&self) -> u64;

    /// The place where `row` lies.
    fn place(&self, row: &[i32]) -> Place;

    /// The codes of `row` that [`FindSpace::distances`] compares.
    fn compared<'r>(&self, row: &'r [i32]) -> Cow<'r, [i32]>;

    /// The distances between two finds, by what is [compared](FindSpace::compared) of them.
    fn distances(&self, find: &[i32], other: &[i32]) -> Distances;

    /// Largest number of finds that are graded; none where nothing grades them.
    fn most_graded(&self) -> u64;

    /// The plausibility of each of `rows`, from 0 to 1.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    fn grade(&self, rows: &[&[i32]]) -> Result<Vec<f32>, ModelError>;
}

/// The place where a find lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// A key of its cell.
    pub cell: u128,
    /// The cluster of the data that the find covers.
    pub cluster: Option<u8>,
}

/// The distances between two finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distances {
    /// The share of attributes or words in which the two differ.
    pub hamming: f64,
    /// The mean distance of their values, where there is one.
    pub l1: Option<f64>,
}
