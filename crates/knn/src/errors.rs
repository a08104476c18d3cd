//! The errors of a training set, of the parameters or of a query: one sentence each.

use thiserror::Error;

/// The most folds: errors are counted for each K and fold, and more folds would only cost memory.
pub(crate) const MOST_FOLDS: usize = 1000;

/// Why a robustness question was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PoisoningError {
    /// The training set has no rows.
    #[error("the training set has no rows")]
    NoRows,
    /// Learning was asked to stop and has no result.
    #[error("learning was stopped before it was complete")]
    Stopped,
    /// Neighbours were ranked for fewer removals than the poisoning threshold asks for.
    #[error("{poison} removals are asked about, but neighbours were ranked for at most {learnt}")]
    PoisonBeyondLearnt {
        /// The poisoning threshold asked for.
        poison: usize,
        /// The poisoning threshold that the system was learnt for.
        learnt: usize,
    },
    /// The rows have no features, and so no distance to anything.
    #[error("the training rows have no feature columns")]
    NoFeatures,
    /// Features and labels disagree about the number of rows.
    #[error("{values} feature values do not make {rows} rows of {columns} columns")]
    RaggedFeatures {
        /// The number of values given.
        values: usize,
        /// The number of labels, that is of rows.
        rows: usize,
        /// The number of columns stated.
        columns: usize,
    },
    /// A feature is not a finite number, so a distance to it has no order.
    #[error("row {row}, column {column} holds {value}, which is not a finite number")]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A query holds a value that is not finite.
    #[error("the test input holds {value} in column {column}, which is not a finite number")]
    QueryNotFinite {
        /// The column, counted from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A query and the training rows differ in their number of columns.
    #[error("the test input has {found} columns, but the training rows have {expected}")]
    QueryColumns {
        /// The number of columns of the training rows.
        expected: usize,
        /// The number of columns of the query.
        found: usize,
    },
    /// All rows have the same label: every prediction is robust, and nothing can be learnt.
    #[error("every training row has label {label}; at least two classes are needed")]
    OneClass {
        /// The only label.
        label: u16,
    },
    /// There are more rows than a number of 32 bits can count, and row numbers are stored in 32
    /// bits.
    #[error("{rows} training rows are more than the 4,294,967,295 that can be numbered")]
    TooManyRows {
        /// The number of rows.
        rows: usize,
    },
    /// The poisoning threshold lets all rows be poisoned.
    #[error(
        "a poisoning threshold of {poison} leaves no row of the {rows} training rows; give a smaller one"
    )]
    PoisonTooLarge {
        /// The poisoning threshold n.
        poison: usize,
        /// The number of training rows |T|.
        rows: usize,
    },
    /// The numbers of ids and of rows differ.
    #[error("{ids} ids do not name {rows} training rows")]
    IdsAndRows {
        /// The number of ids given.
        ids: usize,
        /// The number of training rows |T|.
        rows: usize,
    },
    /// The number of folds is below two, which cross-validation needs, or too large: errors are
    /// counted for each fold.
    #[error("{folds} folds are not between 2 and {MOST_FOLDS}")]
    BadFolds {
        /// The number of folds asked for.
        folds: usize,
    },
    /// The candidate range holds no K that is at least 1.
    #[error(
        "the candidate range {first} to {last} for K holds no value that is at least 1; give a larger learning.largest_k"
    )]
    NoCandidates {
        /// The smallest candidate asked for.
        first: usize,
        /// The largest candidate asked for.
        last: usize,
    },
    /// The smallest candidate K exceeds the number of rows that are left once n rows are gone.
    #[error(
        "the smallest candidate K = {first} exceeds the {left} rows left after {poison} removals; give a smaller learning.smallest_k"
    )]
    CandidatesBeyondRows {
        /// The smallest candidate.
        first: usize,
        /// The number of rows left, |T| - n.
        left: usize,
        /// The poisoning threshold n.
        poison: usize,
    },
    /// A removal set names a row that does not exist or names one twice.
    #[error("the removal set names row {row}, which is repeated or not among the {rows} rows")]
    BadRemoval {
        /// The offending row.
        row: usize,
        /// The number of training rows |T|.
        rows: usize,
    },
    /// A removal set is larger than what the system was prepared for.
    #[error("{removed} rows are removed, but the poisoning threshold is {poison}")]
    RemovalTooLarge {
        /// The size of the removal set.
        removed: usize,
        /// The poisoning threshold n.
        poison: usize,
    },
}
