//! The errors of points, parameters and requests.

use probity_run::number::Written;
use thiserror::Error;

/// The reason why points cannot be clustered, or rows not deleted.
#[derive(Debug, Error, Clone, PartialEq)]
pub enum KMeansError {
    /// The number of clusters asked for is 0.
    #[error("at least one cluster is needed")]
    NoCluster,
    /// There are more clusters than can be counted.
    #[error("{clusters} clusters are more than the {limit} that are supported")]
    TooManyClusters {
        /// The number of clusters asked for.
        clusters: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// The number of restarts is 0, or too large.
    #[error("restarts are {restarts}, but must be from 1 to {limit}")]
    Restarts {
        /// The number of restarts asked for.
        restarts: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// There are more clusters than rows.
    #[error("{clusters} clusters need at least as many rows; there are {rows}")]
    TooFewRows {
        /// The number of clusters asked for.
        clusters: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A deletion would leave fewer rows than clusters.
    #[error(
        "deleting {deleted} of {rows} rows leaves fewer than the {clusters} that {clusters} clusters need; delete the model instead, or fit one with fewer clusters"
    )]
    TooFewRemain {
        /// The number of clusters of the model.
        clusters: usize,
        /// The number of rows.
        rows: usize,
        /// The number of rows to delete.
        deleted: usize,
    },
    /// The rows have no columns.
    #[error("the rows have no columns")]
    NoColumns,
    /// There are more columns than exact distances allow.
    #[error("{columns} columns are more than the {limit} that are supported")]
    TooManyColumns {
        /// The number of columns.
        columns: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// There are more rows than exact sums allow.
    #[error("{rows} rows are more than the {limit} that are supported")]
    TooManyRows {
        /// The number of rows.
        rows: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// The values do not fill the rows.
    #[error("{values} values do not make {rows} rows of {columns} columns")]
    Shape {
        /// The number of values given.
        values: usize,
        /// The number of rows, one for each id.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// Two rows have the same id.
    #[error("two rows have the id {id}")]
    DuplicateId {
        /// The id.
        id: u64,
    },
    /// A value is outside of the bounds of its column.
    #[error("row {id}, column {column}: {value} is outside of the declared bounds")]
    OutOfBounds {
        /// The id of the row.
        id: u64,
        /// The position of the column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The bounds enclose nothing, or more than a number can say.
    #[error(
        "column {column}: the bounds {min} to {max} cannot be scaled by; the first must be below the second, and their difference a finite number",
        min = Written(*min),
        max = Written(*max)
    )]
    EmptyBounds {
        /// The position of the column, from 0.
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
        /// The value that was given.
        epsilon: f64,
    },
    /// The imbalance is outside of 0 … 1.
    #[error("gamma is {gamma}; it must be at least 0 and below 1")]
    Gamma {
        /// The value that was given.
        gamma: f64,
    },
    /// The tree has a shape that cannot be.
    #[error("the tree {tree} is not supported: {problem}")]
    Tree {
        /// The shape of the tree as it is written: 1x16.
        tree: String,
        /// The problem with the shape.
        problem: String,
    },
    /// A row is not there.
    #[error("there is no row {id}: it was never in the model, or has been deleted")]
    UnknownId {
        /// The id.
        id: u64,
    },
    /// A row of the model is not among the rows to train on.
    #[error("row {id}, which the model has, is not there")]
    MissingRow {
        /// The id.
        id: u64,
    },
    /// A row stands twice in a request.
    #[error("row {id} is named twice")]
    RepeatedId {
        /// The id.
        id: u64,
    },
    /// The bytes are no model of this version.
    #[error("these bytes are no k-means model of this version: {problem}")]
    Bytes {
        /// The problem with the bytes.
        problem: String,
    },
    /// The parts of a model do not fit together.
    #[error("the model is damaged: {problem}")]
    Damaged {
        /// The problem with the parts.
        problem: &'static str,
    },
}
