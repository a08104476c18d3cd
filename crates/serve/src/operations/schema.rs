//! Schemas of tables as users see and change them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;
use probity_data::schema::{Format, Label, Missing, OutOfDomain, Schema};

/// A user's request to draft the schema of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftRequest {
    /// The column to predict.
    pub label: String,
    /// The protected columns.
    #[serde(default)]
    pub protected: Vec<String>,
    /// The columns to leave out.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The marks of missing values of columns, by their names, in place of the marks that are
    /// found.
    #[serde(default)]
    pub missing: BTreeMap<String, Vec<String>>,
    /// The words of columns, by their names, that are levels, or classes, although they look like
    /// marks of missing values.
    #[serde(default)]
    pub level: BTreeMap<String, Vec<String>>,
    /// The columns whose levels are one level where they differ only in how they are written.
    #[serde(default)]
    pub merge: Vec<String>,
    /// The class that is good to get, which becomes the last one.
    #[serde(default)]
    pub favourable: Option<String>,
    /// The mark before decimals, `.` or `,`, where the file does not tell.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = ",")]
    pub decimal: Option<char>,
    /// The mark between thousands, where the file does not tell.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = ".")]
    pub thousands: Option<char>,
    /// The threshold of a label that holds numbers, such as shares: those below it are one class.
    #[serde(default)]
    pub label_threshold: Option<f64>,
    /// Whether the label holds numbers that are predicted as numbers.
    #[serde(default)]
    pub number: bool,
    /// The most different words a category may have.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub max_words: Option<NonZeroU32>,
}

/// The schema of a table: what each column means, and which values it has. It is unchecked, so that
/// its columns can be half filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// The name of the table.
    pub name: String,
    /// The layout of the table's text.
    #[serde(default)]
    pub format: Format,
    /// The column to predict.
    pub label: Label,
    /// The input columns, in the order of the model's inputs.
    #[serde(rename = "attribute")]
    pub attributes: Vec<AttributeColumn>,
}

/// The kind of an input column: what it measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttributeKind {
    /// Whole numbers from `min` to `max`.
    Integer,
    /// One of the words in `levels`.
    Categorical,
    /// Any number, sorted into `bins`.
    Numeric,
}

/// An input column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttributeColumn {
    /// The name of the column.
    pub name: String,
    /// The kind of the column: what it measures.
    pub kind: AttributeKind,
    /// The smallest value, of integers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i32>,
    /// The largest value, of integers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i32>,
    /// The words of a category, or words that may stand in place of a number, in the order of their
    /// codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// Whether neighbouring levels of a category are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
    /// The ascending edges of the bins of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<f64>>,
    /// A number for each bin, in it, that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// Whether decisions must not depend on the column.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// The marks that stand for "not known": a string, or a list of several.
    #[serde(default, skip_serializing_if = "Missing::is_none")]
    #[schema(required = false)]
    pub missing: Missing,
    /// The other spellings of the words of a category.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub merge: BTreeMap<String, String>,
    /// The treatment of missing values, and of values outside the domain.
    #[serde(default)]
    pub outside: OutOfDomain,
}

impl TableSchema {
    /// Turns `schema` into the form that users see.
    pub fn from_schema(schema: &Schema) -> Result<TableSchema, Problem> {
        serde_json::to_value(schema)
            .and_then(serde_json::from_value)
            .map_err(|error| Problem::internal(&error))
    }

    /// Checks the schema, and returns it in the form of the library.
    pub fn check(&self) -> Result<Schema, Problem> {
        let schema: Schema = serde_json::to_value(self)
            .and_then(serde_json::from_value)
            .map_err(|error| Problem::invalid(error.to_string()))?;
        schema
            .check()
            .map_err(|error| Problem::invalid(error.to_string()))?;
        Ok(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;

    #[test]
    fn both_forms_say_the_same() {
        for name in builtin::names() {
            let schema = builtin::schema(name).unwrap().unwrap();
            let seen = TableSchema::from_schema(&schema).unwrap();
            assert_eq!(seen.check().unwrap(), schema, "{name}");
        }
    }

    #[test]
    fn a_wrong_schema_is_refused() {
        let schema = builtin::schema("census").unwrap().unwrap();
        let mut seen = TableSchema::from_schema(&schema).unwrap();
        seen.label.classes.truncate(1);
        let problem = seen.check().unwrap_err();
        assert!(problem.detail.contains("two classes"), "{problem:?}");
    }
}
