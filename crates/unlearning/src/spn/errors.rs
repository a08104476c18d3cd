//! The errors of rows, parameters, deletions and questions: one sentence each.

use thiserror::Error;

/// The reason why a sum-product network cannot be learnt, changed or asked.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpnError {
    /// There are no rows to learn from.
    #[error("there are no rows to learn from")]
    NoRows,
    /// There is only one row, so that none can be deleted.
    #[error("at least two rows are needed, so that one can be deleted")]
    OneRow,
    /// There are no columns to model.
    #[error("there are no columns to model")]
    NoVariables,
    /// There are too many rows: they are numbered in 32 bits and counted in exact tables.
    #[error("{rows} rows are more than the {limit} that can be counted")]
    TooManyRows {
        /// The number of rows.
        rows: usize,
        /// The largest number allowed.
        limit: usize,
    },
    /// The numbers of values and of row ids disagree.
    #[error("{values} values do not make {rows} rows of {columns} columns")]
    Ragged {
        /// The number of values.
        values: usize,
        /// The number of ids.
        rows: usize,
        /// The number of variables.
        columns: usize,
    },
    /// Two rows have the same id.
    #[error("two rows have the id {id}; ids must be distinct")]
    DuplicateId {
        /// The id.
        id: u64,
    },
    /// A value lies outside what was declared.
    #[error(
        "row {id}, column '{column}': {value} is not {expected}; correct the value or widen the declared domain"
    )]
    OutsideDomain {
        /// The id of the row.
        id: u64,
        /// The variable.
        column: String,
        /// The value.
        value: f64,
        /// The declared values.
        expected: String,
    },
    /// A parameter is out of its range.
    #[error("{name} = {value} is not {expected}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The value.
        value: String,
        /// The values that are expected.
        expected: &'static str,
    },
    /// A variable cannot have this kind of leaf.
    #[error("column '{column}' cannot have {family} leaves: {reason}")]
    Family {
        /// The variable.
        column: String,
        /// The kind of leaf.
        family: &'static str,
        /// The reason why not.
        reason: &'static str,
    },
    /// A declared domain is empty, unordered or too large.
    #[error("column '{column}': {problem}")]
    Domain {
        /// The variable.
        column: String,
        /// The problem with the domain.
        problem: String,
    },
    /// A row that is to be deleted is not in the model.
    #[error("there is no row {id} in the model; it was never there or is deleted already")]
    UnknownRow {
        /// The id.
        id: u64,
    },
    /// A row of the model is not among the rows to learn from.
    #[error("row {id}, which the model has, is not there")]
    MissingRow {
        /// The id.
        id: u64,
    },
    /// A row is to be deleted twice.
    #[error("row {id} is named twice among the rows to delete")]
    RepeatedRow {
        /// The id.
        id: u64,
    },
    /// The deletion would leave no rows.
    #[error(
        "deleting all {rows} rows leaves nothing to learn from; remove the model itself instead"
    )]
    LastRow {
        /// The number of rows.
        rows: usize,
    },
    /// A group that is to be deleted is not in the model.
    #[error("no row of the model belongs to the group '{group}'")]
    UnknownGroup {
        /// The group.
        group: String,
    },
    /// A named variable does not exist.
    #[error("there is no column '{name}'; the columns are {known}")]
    UnknownVariable {
        /// The name asked for.
        name: String,
        /// The names of all variables.
        known: String,
    },
    /// A value is not in the domain of its column.
    #[error("'{value}' for column '{name}' is not {expected}")]
    NoSuchValue {
        /// The column.
        name: String,
        /// The value.
        value: String,
        /// The values that the column may have.
        expected: String,
    },
    /// A column is named twice.
    #[error("column '{name}' is named twice")]
    NamedTwice {
        /// The column.
        name: String,
    },
    /// The evidence has probability zero.
    #[error(
        "the evidence has probability zero under the model, so nothing can be said given it; smoothing above 0 avoids this"
    )]
    ImpossibleEvidence,
    /// A question about classes is asked of a variable that has none.
    #[error("column '{column}' is not categorical, so it has no classes")]
    NotCategorical {
        /// The variable.
        column: String,
    },
    /// The bytes are no model of this version.
    #[error("these bytes are no sum-product network of this version: {problem}")]
    Bytes {
        /// The problem with the bytes.
        problem: String,
    },
}
