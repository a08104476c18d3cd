//! The values of parameters and columns.

use std::borrow::Cow;
use std::fmt::Display;

use super::super::StoreError;
use crate::identifier::Id;
use crate::moment::Moment;

/// The value of a parameter.
#[derive(Debug, Clone)]
pub(crate) enum Value<'v> {
    /// A text.
    Text(Cow<'v, str>),
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Bytes.
    Bytes(&'v [u8]),
    /// No value, where one of this kind could be.
    Null(Kind),
}

/// The kind of a value that may be missing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// Bytes.
    Bytes,
}

/// The value of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'c> {
    /// A text.
    Text(&'c str),
    /// A whole number; of truth, 0 or 1.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Bytes.
    Bytes(&'c [u8]),
    /// No value.
    Null,
}

/// What can be the value of a parameter.
pub(crate) trait Parameter {
    /// The value.
    fn value(&self) -> Result<Value<'_>, StoreError>;
}

/// What can be the value of a parameter that may be missing.
pub(crate) trait Typed: Parameter {
    /// The kind of the value.
    const KIND: Kind;
}

/// What a column can hold.
pub(crate) trait FromColumn: Sized {
    /// Reads the value of a column.
    fn from_column(column: Column<'_>) -> Result<Self, StoreError>;
}

/// The error that a column holds what it should not.
pub(crate) fn wrong(what: impl Display) -> StoreError {
    StoreError::Value(what.to_string())
}

fn unexpected<T>(column: Column<'_>, expected: &str) -> Result<T, StoreError> {
    let found = match column {
        Column::Text(_) => "a text",
        Column::Integer(_) => "a whole number",
        Column::Real(_) => "a number",
        Column::Bytes(_) => "bytes",
        Column::Null => "no value",
    };
    Err(wrong(format_args!(
        "a column holds {found} in place of {expected}"
    )))
}

impl<T: Parameter + ?Sized> Parameter for &T {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        (**self).value()
    }
}

impl<T: Typed + ?Sized> Typed for &T {
    const KIND: Kind = T::KIND;
}

impl<T: Typed> Parameter for Option<T> {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        match self {
            Some(value) => value.value(),
            None => Ok(Value::Null(T::KIND)),
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(column: Column<'_>) -> Result<Option<T>, StoreError> {
        match column {
            Column::Null => Ok(None),
            column => T::from_column(column).map(Some),
        }
    }
}

impl Parameter for str {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Text(self.into()))
    }
}

impl Typed for str {
    const KIND: Kind = Kind::Text;
}

impl Parameter for String {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        self.as_str().value()
    }
}

impl FromColumn for String {
    fn from_column(column: Column<'_>) -> Result<String, StoreError> {
        text(column).map(str::to_owned)
    }
}

/// The text in a column.
pub(crate) fn text(column: Column<'_>) -> Result<&str, StoreError> {
    match column {
        Column::Text(text) => Ok(text),
        column => unexpected(column, "a text"),
    }
}

impl Parameter for i64 {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Integer(*self))
    }
}

impl FromColumn for i64 {
    fn from_column(column: Column<'_>) -> Result<i64, StoreError> {
        match column {
            Column::Integer(number) => Ok(number),
            column => unexpected(column, "a whole number"),
        }
    }
}

impl Parameter for u32 {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Integer((*self).into()))
    }
}

impl Typed for u32 {
    const KIND: Kind = Kind::Integer;
}

impl FromColumn for u32 {
    fn from_column(column: Column<'_>) -> Result<u32, StoreError> {
        u32::try_from(i64::from_column(column)?).map_err(wrong)
    }
}

impl Parameter for bool {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Integer((*self).into()))
    }
}

impl FromColumn for bool {
    fn from_column(column: Column<'_>) -> Result<bool, StoreError> {
        i64::from_column(column).map(|number| number != 0)
    }
}

impl Parameter for f64 {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Real(*self))
    }
}

impl FromColumn for f64 {
    fn from_column(column: Column<'_>) -> Result<f64, StoreError> {
        match column {
            Column::Real(number) => Ok(number),
            column => unexpected(column, "a number"),
        }
    }
}

impl<const N: usize> Parameter for [u8; N] {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        Ok(Value::Bytes(self))
    }
}

impl<const N: usize> Typed for [u8; N] {
    const KIND: Kind = Kind::Bytes;
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(column: Column<'_>) -> Result<[u8; N], StoreError> {
        match column {
            Column::Bytes(bytes) => bytes.try_into().map_err(wrong),
            column => unexpected(column, "bytes"),
        }
    }
}

impl Parameter for Id {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        self.as_str().value()
    }
}

impl Typed for Id {
    const KIND: Kind = Kind::Text;
}

impl FromColumn for Id {
    fn from_column(column: Column<'_>) -> Result<Id, StoreError> {
        text(column)?.parse().map_err(wrong)
    }
}

/// A count as the value of a column; the integers of databases are signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count(pub u64);

impl Parameter for Count {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        i64::try_from(self.0).map(Value::Integer).map_err(wrong)
    }
}

impl Typed for Count {
    const KIND: Kind = Kind::Integer;
}

impl FromColumn for Count {
    fn from_column(column: Column<'_>) -> Result<Count, StoreError> {
        let number = i64::from_column(column)?;
        u64::try_from(number).map(Count).map_err(wrong)
    }
}

impl Parameter for Moment {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        i64::try_from(self.0).map(Value::Integer).map_err(wrong)
    }
}

impl Typed for Moment {
    const KIND: Kind = Kind::Integer;
}

impl FromColumn for Moment {
    fn from_column(column: Column<'_>) -> Result<Moment, StoreError> {
        Count::from_column(column).map(|count| Moment(count.0))
    }
}

/// A value that a column of text holds as JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InJson<T>(pub T);

impl<T: serde::Serialize> Parameter for InJson<T> {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        let text = serde_json::to_string(&self.0).map_err(wrong)?;
        Ok(Value::Text(text.into()))
    }
}

impl<T: serde::de::DeserializeOwned> FromColumn for InJson<T> {
    fn from_column(column: Column<'_>) -> Result<InJson<T>, StoreError> {
        serde_json::from_str(text(column)?)
            .map(InJson)
            .map_err(wrong)
    }
}
