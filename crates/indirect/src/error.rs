//! The reasons why people cannot be compared.

use std::path::PathBuf;

use thiserror::Error;

use crate::transport::TransportError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_fairness::audit::AuditError;
use probity_fairness::group::GroupError;
use probity_fairness::population::DensityError;
use probity_run::run_directory::RunError;
use probity_run::specification::FieldError;

/// A reason why people cannot be compared.
#[derive(Debug, Error)]
pub enum IndirectError {
    /// The model cannot be opened, or cannot answer.
    #[error("{0}")]
    Model(#[source] Box<AuditError>),
    /// The schema cannot be read.
    #[error("{0}")]
    NamedSchema(#[from] NamedSchemaError),
    /// An attribute does not exist.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The data cannot be read.
    #[error("{0}")]
    Read(#[source] ReadError),
    /// Everybody has the same outcome.
    #[error(
        "{}: all {rows} rows have the outcome '{outcome}', so nobody was decided otherwise than anybody else", file.display()
    )]
    OneOutcome {
        /// The file.
        file: PathBuf,
        /// The number of rows.
        rows: usize,
        /// The outcome.
        outcome: String,
    },
    /// The groups of an attribute cannot be told.
    #[error("{0}")]
    Groups(#[from] GroupError),
    /// A field of the specification has no meaning.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// The run directory cannot be written.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The outcome is a number.
    #[error(
        "the label '{label}' holds numbers: counterparts compare them where gap says which difference counts, in the unit of the label; situations and proxies compare people by classes"
    )]
    Numbers {
        /// The name of the label.
        label: String,
    },
    /// Nobody is left to compare.
    #[error("{}: no row is left to compare", file.display())]
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// No attribute is protected.
    #[error(
        "no attribute is protected: name one with its value, such as sex=female, or mark it in the schema"
    )]
    NothingProtected,
    /// No attribute is left by which people could be compared.
    #[error("every attribute is protected or has no weight, so people cannot be compared")]
    NothingCompared,
    /// The model's schema does not know an attribute, and no other schema was named.
    #[error(
        "the model's schema does not know '{attribute}': give schema, which describes the people with all of their columns; the model may know fewer of them"
    )]
    UnseenAttribute {
        /// The attribute.
        attribute: String,
    },
    /// Nobody is in a group.
    #[error("there is nobody with {group}")]
    NoMembers {
        /// The group, as it is named.
        group: String,
    },
    /// Everybody has one value.
    #[error("everybody has {attribute}={value}: there is nobody to compare them with")]
    OneGroup {
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
    /// A group has too few people for so many neighbours.
    #[error(
        "{group} has {people} people, too few for {k} neighbours beside the person; give a smaller k"
    )]
    TooFew {
        /// The group, in words.
        group: String,
        /// The number of people in it.
        people: usize,
        /// The number of neighbours that were asked for.
        k: u32,
    },
    /// More pairs of people would have to be looked at than can be matched.
    #[error(
        "{group}: {members} people beside {others} others make more than {most} pairs, and no more are matched; give a part of the rows, drawn at random"
    )]
    TooManyPairs {
        /// The name of the group.
        group: String,
        /// The number of members.
        members: usize,
        /// The number of those with whom they would be matched.
        others: usize,
        /// The largest number of pairs.
        most: usize,
    },
    /// Counterfactuals are not those of the people.
    #[error(
        "{}: its {rows} rows are not counterfactuals of the {people} people, row by row", file.display()
    )]
    OtherPeople {
        /// The file of counterfactuals.
        file: PathBuf,
        /// The number of its rows.
        rows: usize,
        /// The number of people.
        people: usize,
    },
    /// No density can be learnt.
    #[error("{0}")]
    Density(#[from] DensityError),
    /// The density gives no counterpart of a person.
    #[error(
        "no counterpart of row {row} can be drawn outside of {group}: nobody there is like it in what is unaffected; declare less unaffected"
    )]
    Undrawable {
        /// The row in the file, from 1.
        row: u64,
        /// The group.
        group: String,
    },
    /// A value that was drawn is another one when it is read again.
    #[error(
        "counterparts cannot be drawn by this schema: its value '{value}' of the attribute '{attribute}' is another one when it is read from a table"
    )]
    Unwritable {
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
    /// The model reads a column of which nothing can be drawn.
    #[error(
        "the model reads '{attribute}', which the schema of the people does not describe, so that nobody can be drawn whom it could decide about"
    )]
    Undescribed {
        /// The attribute.
        attribute: String,
    },
    /// A table cannot be kept in memory.
    #[error("a table in memory: {0}")]
    Table(#[source] std::io::Error),
    /// Counterfactuals leave people in their group.
    #[error(
        "{}: {rows} of the {members} people with {group} have it there too; counterfactuals say what people would have been without it (name the groups that they are of with protected)", file.display()
    )]
    StillMembers {
        /// The file of counterfactuals.
        file: PathBuf,
        /// The group.
        group: String,
        /// The number of members who are members still.
        rows: usize,
        /// The number of all members.
        members: usize,
    },
    /// People cannot be matched.
    #[error("{0}")]
    Transport(#[source] TransportError),
    /// Whoever asked has stopped the work.
    #[error("interrupted: nothing is written, since a part of the people says nothing about all")]
    Interrupted,
}

impl From<TransportError> for IndirectError {
    fn from(error: TransportError) -> IndirectError {
        match error {
            TransportError::Interrupted => IndirectError::Interrupted,
            other => IndirectError::Transport(other),
        }
    }
}

impl From<AuditError> for IndirectError {
    fn from(error: AuditError) -> IndirectError {
        IndirectError::Model(Box::new(error))
    }
}

impl From<ReadError> for IndirectError {
    fn from(error: ReadError) -> IndirectError {
        match error {
            ReadError::OneClass { file, rows, class } => IndirectError::OneOutcome {
                file,
                rows,
                outcome: class,
            },
            other => IndirectError::Read(other),
        }
    }
}
