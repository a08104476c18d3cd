//! A specification from the fields that somebody gave, by argument or by name; other fields are
//! left to their defaults.

use std::marker::PhantomData;

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Checked, Field, FieldError, FieldKind, Seconds, Specification, dotted};

/// The reason why the fields that were given make no specification.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GivenError {
    /// A field that must be given is not.
    #[error("{} is needed: {}", .0.path, .0.help.strip_suffix('.').unwrap_or(&.0.help))]
    Missing(Box<Field>),
    /// A field is given to a run that goes on, which has it already.
    #[error("{} cannot be given where a run goes on: it comes from that run", .0.path)]
    NotFree(Box<Field>),
    /// A name is that of no field.
    #[error("there is no option '{name}'{}", hint(.near))]
    Unknown {
        /// The name.
        name: String,
        /// The names that resemble it.
        near: Vec<String>,
    },
    /// A name could be that of several fields.
    #[error("'{name}' may be {}; give one of these", .paths.join(" or "))]
    Ambiguous {
        /// The name.
        name: String,
        /// The fields.
        paths: Vec<String>,
    },
    /// A field has no such value, is out of bounds, or contradicts another.
    #[error("{0}")]
    Field(#[from] FieldError),
}

fn hint(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; is {} meant?", near.join(" or ")),
    }
}

/// The fields of a specification that were given.
#[derive(Debug, Clone)]
pub struct Given<S> {
    fields: Vec<(Field, Value)>,
    kind: PhantomData<S>,
}

impl<S: Specification> Given<S> {
    /// Creates the given fields from fields with their values.
    pub fn new(fields: Vec<(Field, Value)>) -> Given<S> {
        Given {
            fields,
            kind: PhantomData,
        }
    }

    /// Finds the fields that are named in `options`: by the path of a field (`search.seeds`), by a
    /// table of fields (`search` with `seeds` in it), by the name that a field has on the command
    /// line, with low lines, or by the last part of a path (`seeds`). A null is as if it were not
    /// given, and a number for a span of time is one of seconds.
    ///
    /// # Errors
    /// When a name is that of no field, or of two, or a number is no span of time.
    pub fn named(options: Map<String, Value>) -> Result<Given<S>, GivenError> {
        let fields = S::fields();
        let mut given = Given::new(Vec::new());
        for (name, value) in options {
            given.name(&fields, &name, value)?;
        }
        Ok(given)
    }

    fn name(&mut self, fields: &[Field], name: &str, value: Value) -> Result<(), GivenError> {
        if value.is_null() {
            return Ok(());
        }
        if let Some(field) = fields.iter().find(|field| field.path == name) {
            return self.push(field, value);
        }
        let is_table = |field: &Field| {
            let rest = field.path.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        if fields.iter().any(is_table) {
            let Value::Object(table) = value else {
                let expected = "a table of fields";
                return Err(FieldError::new(name, value, expected).into());
            };
            for (key, value) in table {
                self.name(fields, &format!("{name}.{key}"), value)?;
            }
            return Ok(());
        }
        // No two fields share a name of the command line, so it goes first.
        let flag = |field: &&Field| {
            let flag = field.flag().map(|flag| flag.replace('-', "_"));
            flag.as_deref() == Some(name)
        };
        let mut found: Vec<&Field> = fields.iter().filter(flag).collect();
        if found.is_empty() {
            found = fields.iter().filter(|field| field.name() == name).collect();
        }
        match found.as_slice() {
            [field] => self.push(field, value),
            [] => Err(GivenError::Unknown {
                name: name.to_owned(),
                near: near(fields, name),
            }),
            several => Err(GivenError::Ambiguous {
                name: name.to_owned(),
                paths: several.iter().map(|field| field.path.clone()).collect(),
            }),
        }
    }

    fn push(&mut self, field: &Field, value: Value) -> Result<(), GivenError> {
        let value = match (&field.kind, &value) {
            (FieldKind::Time, Value::Number(number)) => {
                let seconds = Seconds::try_from(number.as_f64().unwrap_or(f64::NAN));
                let refused = |expected| FieldError::new(&field.path, number, expected);
                Value::String(seconds.map_err(refused)?.to_string())
            }
            _ => value,
        };
        self.fields.push((field.clone(), value));
        Ok(())
    }

    /// Returns the value that was given for the field at `path`.
    pub fn get(&self, path: &str) -> Option<&Value> {
        let given = self
            .fields
            .iter()
            .rev()
            .find(|(field, _)| field.path == path);
        given.map(|(_, value)| value)
    }

    /// Returns whether the field at `path` was given.
    pub fn is_given(&self, path: &str) -> bool {
        self.fields.iter().any(|(field, _)| field.path == path)
    }

    /// Sets the field at `path` to a value that was given otherwise.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) {
        let value = value.into();
        self.fields.retain(|(field, _)| field.path != path);
        let fields = S::fields().into_iter();
        self.fields.extend(
            fields
                .filter(|field| field.path == path)
                .map(|field| (field, value.clone())),
        );
    }

    /// Returns those of the fields that say something else than `began`.
    #[must_use]
    pub fn changes(&self, began: &S) -> Given<S> {
        let began = serde_json::to_value(began).unwrap_or_default();
        let differs =
            |(field, value): &&(Field, Value)| dotted::get(&began, &field.path) != Some(value);
        let fields = self.fields.iter().filter(differs);
        Given::new(fields.cloned().collect())
    }

    /// Returns the specification of a new run.
    ///
    /// # Errors
    /// When a field that must be given is not, is out of bounds, or contradicts another one.
    pub fn specification(&self) -> Result<Checked<S>, GivenError> {
        let missing = S::fields()
            .into_iter()
            .find(|field| field.is_required && !self.is_given(&field.path));
        if let Some(field) = missing {
            return Err(GivenError::Missing(Box::new(field)));
        }
        self.over(Value::Object(Map::new()))
    }

    /// Returns the specification of a run that goes on: `began`, with what may change while it
    /// does.
    ///
    /// # Errors
    /// When a field is given that may not change.
    pub fn resumed(&self, began: &S) -> Result<Checked<S>, GivenError> {
        self.expect_free()?;
        let began = serde_json::to_value(began);
        self.over(began.map_err(|error| FieldError::new("run.toml", error, "a specification"))?)
    }

    /// Refuses fields that a run which goes on takes from its directory.
    ///
    /// # Errors
    /// When one is given.
    pub fn expect_free(&self) -> Result<(), GivenError> {
        let is_free = |path: &str| {
            S::FREE.iter().any(|free| {
                let rest = path.strip_prefix(*free);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        match self.fields.iter().find(|(field, _)| !is_free(&field.path)) {
            None => Ok(()),
            Some((field, _)) => Err(GivenError::NotFree(Box::new(field.clone()))),
        }
    }

    fn over(&self, mut value: Value) -> Result<Checked<S>, GivenError> {
        for (field, given) in &self.fields {
            dotted::insert(&mut value, &field.path, given.clone());
        }
        let specification = S::from_json(&value).and_then(S::check)?;
        self.expect_used(&value)?;
        Ok(specification)
    }

    /// Refuses an option that has no meaning beside the others though it says what is so by default
    /// anyway: with another value the specification `value` would be refused for it.
    fn expect_used(&self, value: &Value) -> Result<(), FieldError> {
        for (field, given) in &self.fields {
            if field.default.as_ref() != Some(given) {
                continue;
            }
            for other in others(field).into_iter().filter(|other| other != given) {
                let mut value = value.clone();
                dotted::insert(&mut value, &field.path, other);
                let Err(error) = S::from_json(&value).and_then(S::check) else {
                    continue;
                };
                let rest = field.path.strip_prefix(&error.field);
                let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
                if is_own && error.expected.starts_with("left out") {
                    return Err(FieldError::new(&field.path, "given", error.expected));
                }
            }
        }
        Ok(())
    }
}

/// Returns the names of fields that begin or end like `name`, or hold it.
fn near(fields: &[Field], name: &str) -> Vec<String> {
    let start: String = name.chars().take(3).collect();
    let is_near = |field: &&Field| {
        let own = field.name();
        own.contains(name) || name.contains(own) || own.starts_with(&start)
    };
    let near = fields.iter().filter(is_near).take(3);
    near.map(|field| field.path.clone()).collect()
}

/// Returns some other values that `field` may have.
fn others(field: &Field) -> Vec<Value> {
    let ends = field.minimum.into_iter().chain(field.maximum);
    match &field.kind {
        FieldKind::Integer => ends.map(|end| Value::from(end as u64)).collect(),
        FieldKind::Number => {
            let inside = field.above.into_iter().chain(field.below);
            let inside = inside.map(|bound| (bound + 0.5) / 2.0);
            ends.chain(inside).map(Value::from).collect()
        }
        FieldKind::Choice(choices) => choices
            .iter()
            .map(|choice| Value::from(choice.word.clone()))
            .collect(),
        _ => Vec::new(),
    }
}
