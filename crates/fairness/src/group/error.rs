//! Errors of the computation of group figures.

use thiserror::Error;

use probity_data::schema::SchemaError;
use probity_nn::ModelError;

/// A reason why group figures cannot be computed.
#[derive(Debug, Error)]
pub enum GroupError {
    /// A protected attribute does not exist.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The model cannot answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The model gives numbers instead of classes.
    #[error("the label '{label}' holds numbers, and rates of groups are of classes")]
    Numbers {
        /// The label of the model.
        label: String,
    },
    /// No attribute is protected.
    #[error("no attribute is protected; name some")]
    NothingProtected,
    /// An attribute is named twice.
    #[error("the attribute '{0}' is named twice as protected")]
    NamedTwice(String),
    /// The attributes have too many intersections.
    #[error(
        "{attributes} attributes have too many intersections, at most {most} are supported; protect fewer at a time"
    )]
    TooManyAttributes {
        /// Number of attributes.
        attributes: usize,
        /// Largest number of attributes that is supported.
        most: usize,
    },
    /// The favourable class does not exist.
    #[error("groups.favourable is '{class}', but the classes are {known}")]
    UnknownClass {
        /// The class that was asked for.
        class: String,
        /// The classes that exist.
        known: String,
    },
    /// The positive class does not exist.
    #[error("groups.positive is '{class}', but the classes are {known}")]
    UnknownPositive {
        /// The class that was asked for.
        class: String,
        /// The classes that exist.
        known: String,
    },
    /// The positive class of several is not given.
    #[error("groups.positive is needed: the model has the classes {known}")]
    PositiveNeeded {
        /// The classes that exist.
        known: String,
    },
    /// The bins of an attribute cannot be made.
    #[error("groups.edges for '{attribute}' {problem}")]
    Bins {
        /// The attribute.
        attribute: String,
        /// The problem with the bins.
        problem: String,
    },
    /// A value that was said to mean an unknown category does not exist.
    #[error("impact.unknown is '{value}', but neither {} nor {} has such a value", attributes[0], attributes[1])]
    NoCategory {
        /// The value.
        value: String,
        /// The attributes in which it was looked for.
        attributes: [String; 2],
    },
    /// An option has no meaning.
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        /// The name of the option.
        option: &'static str,
        /// The value that was given.
        value: u64,
        /// The values that are allowed.
        expected: &'static str,
    },
}
