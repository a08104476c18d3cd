//! Why group figures cannot be computed.

use thiserror::Error;

use probity_data::schema::SchemaError;
use probity_nn::ModelError;

/// Why group figures cannot be computed.
#[derive(Debug, Error)]
pub enum GroupError {
    /// A protected attribute does not exist.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The model cannot answer.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The model gives numbers.
    #[error("the label '{label}' holds numbers, and rates of groups are of classes")]
    Numbers {
        /// The label.
        label: String,
    },
    /// No attribute is protected.
    #[error("no attribute is protected; name some")]
    NothingProtected,
    /// An attribute is named twice.
    #[error("the attribute '{0}' is named twice as protected")]
    NamedTwice(String),
    /// Too many intersections.
    #[error(
        "{attributes} attributes have too many intersections, at most {most} are supported; protect fewer at a time"
    )]
    TooManyAttributes {
        /// Attributes.
        attributes: usize,
        /// What is supported.
        most: usize,
    },
    /// The favourable class does not exist.
    #[error("groups.favourable is '{class}', but the classes are {known}")]
    UnknownClass {
        /// The class asked for.
        class: String,
        /// The classes there are.
        known: String,
    },
    /// The positive class does not exist.
    #[error("groups.positive is '{class}', but the classes are {known}")]
    UnknownPositive {
        /// The class asked for.
        class: String,
        /// The classes there are.
        known: String,
    },
    /// It is not said which of several classes is positive.
    #[error("groups.positive is needed: the model has the classes {known}")]
    PositiveNeeded {
        /// The classes there are.
        known: String,
    },
    /// Bins that cannot be made.
    #[error("groups.edges for '{attribute}' {problem}")]
    Bins {
        /// The attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
    /// A value that means that a category is not known is no value.
    #[error("impact.unknown is '{value}', but neither {} nor {} has such a value", attributes[0], attributes[1])]
    NoCategory {
        /// The value.
        value: String,
        /// Where it was looked for.
        attributes: [String; 2],
    },
    /// An option has no meaning.
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What was given.
        value: u64,
        /// What is allowed.
        expected: &'static str,
    },
}
