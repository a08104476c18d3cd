//! The errors of private queries, and the bounds of their ε and δ.

use probity_run::number::{Written, readable};
use thiserror::Error;

/// The smallest ε of a query or a budget. Noise for less has more digits than a count can be told
/// apart by.
pub const LEAST_EPSILON: f64 = 1e-9;
/// The largest ε of a query or a budget, beyond which nothing is private. Its square, on which ρ of
/// zCDP depends, is a number that sums are exact with.
pub const LARGEST_EPSILON: f64 = 1e6;
/// The smallest δ of a query.
pub const LEAST_DELTA: f64 = 1e-100;

/// The reason why a query is refused. Every variant but the last two depends on declared numbers,
/// on N or on the form of the input alone; of the last two, a query can meet the first only.
#[derive(Debug, Error)]
pub enum PrivacyError {
    /// ε is out of bounds.
    #[error("epsilon {epsilon} is not from {LEAST_EPSILON:e} to {LARGEST_EPSILON}")]
    Epsilon {
        /// The ε that was given.
        epsilon: f64,
    },
    /// δ is outside (0, 1).
    #[error("delta {delta} is outside (0, 1)")]
    Delta {
        /// The δ that was given.
        delta: f64,
    },
    /// The part of δ that is set aside is larger than δ.
    #[error("a slack of {slack} cannot be set aside from a delta of {delta}")]
    Slack {
        /// The part that was given.
        slack: f64,
        /// The δ of the budget.
        delta: f64,
    },
    /// A share of ε is outside (0, 1).
    #[error(
        "a share of {share} of epsilon leaves nothing for one of the two parts; give a number between 0 and 1"
    )]
    Share {
        /// The share that was given.
        share: f64,
    },
    /// The threshold k is not between 1 and N − 1.
    #[error(
        "k = {k} does not fit {rows} records; it must be at least 1 and below the number of records"
    )]
    Threshold {
        /// The threshold.
        k: usize,
        /// The number N of records.
        rows: usize,
    },
    /// The radius is not above zero.
    #[error(
        "the radius {radius} is not a finite number above 0",
        radius = Written(*radius)
    )]
    Radius {
        /// The radius that was given.
        radius: f64,
    },
    /// The radius is blurred by the grid.
    #[error(
        "the radius {radius} is too small for the declared ranges (at least {least:.3e}); declare narrower ranges",
        radius = Written(*radius)
    )]
    SmallRadius {
        /// The radius that was given.
        radius: f64,
        /// The smallest radius.
        least: f64,
    },
    /// There are too few or too many columns.
    #[error("{given} columns; at least 1 and at most {most} are possible")]
    Columns {
        /// The number of columns that were given.
        given: usize,
        /// The largest number of columns.
        most: usize,
    },
    /// The subspaces have more dimensions than there are columns.
    #[error("subspaces of {dimensions} dimensions cannot be taken from {columns} columns")]
    Dimensions {
        /// The number of dimensions of a subspace.
        dimensions: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The query asks for more subspaces than there are.
    #[error(
        "the top {top} of {subspaces} subspaces cannot be chosen; at least 1 and at most {subspaces} are possible"
    )]
    Top {
        /// The number of subspaces that were asked for.
        top: usize,
        /// The number of subspaces that there are.
        subspaces: u64,
    },
    /// There are more subspaces than are enumerated.
    #[error(
        "there are {subspaces} subspaces of {dimensions} dimensions, more than {most}; choose fewer columns or dimensions"
    )]
    ManySubspaces {
        /// The number of subspaces that there are.
        subspaces: u64,
        /// The number of dimensions of a subspace.
        dimensions: usize,
        /// The largest number of subspaces.
        most: u64,
    },
    /// A declared range encloses nothing, or more than a number can say.
    #[error(
        "the declared range of column '{column}', {min} to {max}, is none; the first must be below the second, and their difference a finite number",
        min = Written(*min),
        max = Written(*max)
    )]
    Range {
        /// The column.
        column: String,
        /// The lower end of the range.
        min: f64,
        /// The upper end of the range.
        max: f64,
    },
    /// A declared unit is not above zero.
    #[error(
        "the declared unit of column '{column}', {unit}, is not a finite number above 0 that fits its range",
        unit = Written(*unit)
    )]
    Unit {
        /// The column.
        column: String,
        /// The unit.
        unit: f64,
    },
    /// A value is not finite.
    #[error("column '{column}': not every value is a finite number")]
    NotFinite {
        /// The column.
        column: String,
    },
    /// A grid point is not on the grid.
    #[error("{value} is no point of the grid")]
    OffGrid {
        /// The value.
        value: f64,
    },
    /// The values do not fill rows.
    #[error("{values} values do not fill rows of {columns} columns")]
    Shape {
        /// The number of values.
        values: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The reference algorithm is exponential, and there are too many records for it.
    #[error(
        "the reference algorithm tries every subset and is for at most {most} records, not for {rows}"
    )]
    TooManyForReference {
        /// The number N of records.
        rows: usize,
        /// The largest number of records that it takes.
        most: usize,
    },
    /// The parameters of Theorem 2 do not hold.
    #[error(
        "the parameters of Theorem 2 do not give ({}, {})-differential privacy (they are proved for epsilon below 1); use the tight calibration",
        readable(*epsilon),
        readable(*delta)
    )]
    Theorem {
        /// The parameter ε.
        epsilon: f64,
        /// The parameter δ.
        delta: f64,
    },
    /// The declared guarantee is reached by no noise scale in floating point.
    #[error(
        "no noise scale was found for epsilon {}, delta {}; they are too extreme",
        readable(*epsilon),
        readable(*delta)
    )]
    Calibration {
        /// The parameter ε.
        epsilon: f64,
        /// The parameter δ.
        delta: f64,
    },
    /// The exact method could exceed its work limit on some records of that number.
    #[error(
        "an exact bound on {rows} records in {dimension} dimensions may take up to {steps:.3e} steps, which is more than the work_limit of {limit}; raise it, or choose the bound cover"
    )]
    Unaffordable {
        /// The number N of records.
        rows: usize,
        /// The number of dimensions.
        dimension: usize,
        /// The largest number of steps that any records take.
        steps: f64,
        /// The declared limit.
        limit: u64,
    },
    /// The measurement was made for one plan and is released by another.
    #[error("what was measured is of another plan")]
    OtherPlan,
    /// The operating system gives no random bits.
    #[error("the operating system's random generator failed: {0}")]
    Entropy(String),
    /// The exact method met its work limit. This error depends on the records, so that no query has
    /// one.
    #[error("the exact bound needs more than the work limit of {limit} steps")]
    WorkLimit {
        /// The limit.
        limit: u64,
    },
}
