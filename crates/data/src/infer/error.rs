//! Why no schema can be inferred.

use thiserror::Error;

use crate::read::ReadError;
use crate::schema::SchemaError;

/// Why no schema can be inferred.
#[derive(Debug, Error)]
pub enum InferError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The draft would not be a valid schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A column holds too many different words to be a category.
    #[error(
        "column '{column}' holds more than {limit} different words (such as '{example}'); name it in ignore to leave it out"
    )]
    TooManyWords {
        /// The column.
        column: String,
        /// The limit.
        limit: usize,
        /// One of its words.
        example: String,
    },
    /// A column spells "missing" in two ways.
    #[error(
        "column '{column}' marks missing values both as '{first}' and as '{second}'; use one of them"
    )]
    TwoMarkers {
        /// The column.
        column: String,
        /// One spelling.
        first: String,
        /// Another.
        second: String,
    },
    /// A column has two roles that exclude each other.
    #[error("column '{column}' is {first} and {second} at once")]
    TwoRoles {
        /// The column.
        column: String,
        /// One role.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A protected column says nothing.
    #[error("column '{column}' is protected, but {why}; name another one, or change the file")]
    UselessProtected {
        /// The column.
        column: String,
        /// Why it would be left out.
        why: String,
    },
    /// Classes are named of a label of numbers.
    #[error("{field} is given, but the label holds numbers; leave it out")]
    Numbers {
        /// What names classes.
        field: &'static str,
    },
    /// The favourable class is none of the label.
    #[error("favourable is '{class}', but the classes are {known}")]
    NoSuchClass {
        /// The class.
        class: String,
        /// Those that there are.
        known: String,
    },
}
