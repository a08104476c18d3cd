//! What can be wrong with points, parameters and requests.

use probity_run::number::Written;
use thiserror::Error;

/// Why points cannot be clustered, or rows not deleted.
#[derive(Debug, Error, Clone, PartialEq)]
pub enum KMeansError {
    /// No cluster is asked for.
    #[error("at least one cluster is needed")]
    NoCluster,
    /// More clusters than can be counted.
    #[error("{clusters} clusters are more than the {limit} that are supported")]
    TooManyClusters {
        /// Clusters asked for.
        clusters: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// No restart, or too many.
    #[error("restarts are {restarts}, but must be from 1 to {limit}")]
    Restarts {
        /// Restarts asked for.
        restarts: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// More clusters than rows.
    #[error("{clusters} clusters need at least as many rows; there are {rows}")]
    TooFewRows {
        /// Clusters asked for.
        clusters: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A deletion would leave fewer rows than clusters.
    #[error(
        "deleting {deleted} of {rows} rows leaves fewer than the {clusters} that {clusters} clusters need; delete the model instead, or fit one with fewer clusters"
    )]
    TooFewRemain {
        /// Clusters of the model.
        clusters: usize,
        /// Rows there are.
        rows: usize,
        /// Rows to delete.
        deleted: usize,
    },
    /// Rows without columns.
    #[error("the rows have no columns")]
    NoColumns,
    /// More columns than exact distances allow.
    #[error("{columns} columns are more than the {limit} that are supported")]
    TooManyColumns {
        /// Columns there are.
        columns: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// More rows than exact sums allow.
    #[error("{rows} rows are more than the {limit} that are supported")]
    TooManyRows {
        /// Rows there are.
        rows: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// Values that do not fill the rows.
    #[error("{values} values do not make {rows} rows of {columns} columns")]
    Shape {
        /// Values given.
        values: usize,
        /// Rows, one for each id.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Two rows with one id.
    #[error("two rows have the id {id}")]
    DuplicateId {
        /// The id.
        id: u64,
    },
    /// A value outside of the bounds of its column.
    #[error("row {id}, column {column}: {value} is outside of the declared bounds")]
    OutOfBounds {
        /// Id of the row.
        id: u64,
        /// Position of the column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Bounds that enclose nothing, or more than a number can say.
    #[error(
        "column {column}: the bounds {min} to {max} cannot be scaled by; the first must be below the second, and their difference a finite number",
        min = Written(*min),
        max = Written(*max)
    )]
    EmptyBounds {
        /// Position of the column, from 0.
        column: usize,
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// The lattice has no width, or is wider than the data.
    #[error(
        "epsilon is {epsilon}; it must be above 0 and at most 1, the width of the scaled columns"
    )]
    Epsilon {
        /// What was given.
        epsilon: f64,
    },
    /// An imbalance outside of 0 … 1.
    #[error("gamma is {gamma}; it must be at least 0 and below 1")]
    Gamma {
        /// What was given.
        gamma: f64,
    },
    /// A tree that cannot be.
    #[error("the tree {tree} is not supported: {problem}")]
    Tree {
        /// As it is written: 1x16.
        tree: String,
        /// What is wrong.
        problem: String,
    },
    /// A row that is not there.
    #[error("there is no row {id}: it was never in the model, or has been deleted")]
    UnknownId {
        /// The id.
        id: u64,
    },
    /// A row of the model that is not among the rows to train on.
    #[error("row {id}, which the model has, is not there")]
    MissingRow {
        /// The id.
        id: u64,
    },
    /// One row twice in a request.
    #[error("row {id} is named twice")]
    RepeatedId {
        /// The id.
        id: u64,
    },
    /// Bytes that are no model of this version.
    #[error("these bytes are no k-means model of this version: {problem}")]
    Bytes {
        /// What is wrong.
        problem: String,
    },
    /// Parts of a model that do not fit together.
    #[error("the model is damaged: {problem}")]
    Damaged {
        /// What is wrong.
        problem: &'static str,
    },
}
