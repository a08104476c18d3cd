//! Run specifications: what a user asks for, as one value.
//!
//! Every kind of run has one type that implements [`Specification`]: plain nested structs whose
//! fields have their defaults in `Default`, their help in their doc comments and their bounds in
//! their schema. Nothing else says any of this again: the command line, the forms and the OpenAPI
//! document of the service, `probity run` and the reports all read it from the type.
//!
//! ```text
//! arguments │ TOML file │ JSON body ──► Specification ── check() ──► Checked ──► run
//!                                            │
//!                      run.toml ◄────────────┴────────► identity of checkpoints
//! ```
//!
//! * [`Specification::fields`] lists what a specification can say, field by field, from its schema.
//! * [`Given`] makes a specification of single fields that somebody gave, by argument or by name.
//! * [`Specification::check`] gives a [`Checked`] specification, the only kind that is run: every
//!   number within the bounds of its field, and the rules between fields
//!   ([`Specification::rules`]). What is wrong is a [`FieldError`], which names the field:
//!   `search.seeds`.
//! * [`Specification::identity`] is the SHA-256 of a canonical form: the names on the wire, sorted,
//!   with kind and version, without the fields that change no result ([`Specification::FREE`]).
//!   Renaming a Rust field or moving it within its struct changes no identity; changing what a
//!   specification can say is a new [`Specification::VERSION`].
//! * [`mod@file`] is its form in `run.toml`, where a [`Record`](file::Record) of what was opened
//!   stands beside it.

mod bytes;
mod canonical;
pub mod dotted;
mod fields;
pub mod file;
mod given;
mod limits;
mod parse;
mod seconds;

use std::fmt::Debug;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use bytes::Bytes;
pub use canonical::canonical_json;
pub use fields::{Choice, Field, FieldError, FieldKind};
pub use given::{Given, GivenError};
pub use limits::Limits;
pub use seconds::{Seconds, TIME_SPAN};

/// Everything that determines a run of one kind.
pub trait Specification:
    Serialize + DeserializeOwned + JsonSchema + Clone + PartialEq + Debug
{
    /// The kind of run, such as `audit`.
    const KIND: &'static str;

    /// The version of the canonical form.
    const VERSION: u32 = 1;

    /// Fields, or whole tables, that change no result: limits of time, batch sizes, threads. They
    /// are no part of the identity, and a run may go on with others.
    const FREE: &'static [&'static str] = &[];

    /// Returns the free field that limits the time of a run, if there is one: without another limit
    /// a run that goes on goes on to its end.
    fn limit_of_time() -> Option<&'static str> {
        let is_it = |field: &&str| field.rsplit('.').next() == Some("time");
        Self::FREE.iter().copied().find(is_it)
    }

    /// Checks the rules between fields; bounds of single fields are checked before.
    ///
    /// # Errors
    /// The first field that contradicts another.
    fn rules(&self) -> Result<(), FieldError> {
        Ok(())
    }

    /// Returns the specification, if every field is within its bounds and no rule is broken.
    ///
    /// # Errors
    /// The first field that is not.
    fn check(self) -> Result<Checked<Self>, FieldError> {
        fields::check_bounds(&self)?;
        self.rules()?;
        Ok(Checked(self))
    }

    /// Returns the specification that `value` says, unchecked.
    ///
    /// # Errors
    /// The first field that is missing, that no specification of this kind has, or whose value has
    /// no meaning.
    fn from_json(value: &serde_json::Value) -> Result<Self, FieldError> {
        parse::parse(value, value)
    }

    /// Returns the SHA-256, in hex, of the canonical form: what a checkpoint must belong to, beside
    /// the hashes of what was opened.
    fn identity(&self) -> String {
        canonical::identity(self, (Self::KIND, Self::VERSION), Self::FREE)
    }

    /// Returns every field that a specification of this kind can have, in the order of the type.
    fn fields() -> Vec<Field> {
        fields::fields_of::<Self>()
    }

    /// Returns the JSON schema of a specification of this kind, with nothing referred to.
    fn schema() -> serde_json::Value {
        fields::schema_of::<Self>()
    }
}

/// A specification whose fields are within their bounds and agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<S>(S);

impl<S> Checked<S> {
    /// Returns the specification.
    pub fn into_inner(self) -> S {
        self.0
    }
}

impl<S> Deref for Checked<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

#[cfg(test)]
mod tests;
