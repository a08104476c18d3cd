//! The errors of a schema.

use thiserror::Error;

/// The reason why a schema cannot be used.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// The text is not TOML of the expected form.
    #[error("the schema is not valid: {0}")]
    Toml(#[from] toml::de::Error),
    /// The schema cannot be written as TOML.
    #[error("the schema cannot be written: {0}")]
    Write(#[from] toml::ser::Error),
    /// Something about one attribute is wrong.
    #[error("schema attribute '{attribute}': {problem}")]
    Attribute {
        /// The name of the attribute.
        attribute: String,
        /// The problem with the attribute.
        problem: String,
    },
    /// Something about the label is wrong.
    #[error("schema label '{label}': {problem}")]
    Label {
        /// The label column.
        label: String,
        /// The problem with the label.
        problem: String,
    },
    /// Something about the file format is wrong.
    #[error("schema format: {0}")]
    Format(String),
    /// A named attribute does not exist.
    #[error("there is no attribute '{name}'; the attributes are {known}")]
    UnknownAttribute {
        /// The name asked for.
        name: String,
        /// The names of all attributes.
        known: String,
    },
}
