//! The parts of specifications that say how rows are read.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::{JsonSchema, Schema as JsonForm, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::idx::Reduction;
use super::named_schema::{NamedSchemaError, named_schema};
use super::numbers::NumbersOptions;
use super::schema::{Format, OutOfDomain, Schema};
use probity_run::pipe::is_readable;
use probity_run::specification::file::Record;
use probity_run::specification::{FieldError, Specification};

/// Returns `name` so that it means the same wherever it is read: a file by its absolute path.
#[must_use]
pub fn located_schema(name: &str) -> String {
    let file = Path::new(name);
    let place = is_readable(file).then(|| std::path::absolute(file).ok());
    let place: Option<PathBuf> = place.flatten();
    let text = place.and_then(|place| place.into_os_string().into_string().ok());
    text.unwrap_or_else(|| name.to_owned())
}

/// Returns `record` with the schema called `name`, if one is named.
///
/// # Errors
/// When the schema cannot be read.
pub fn record_schema(record: Record, name: Option<&str>) -> Result<Record, NamedSchemaError> {
    Ok(match name {
        Some(name) => record.opened("schema", named_schema(name)?.sha256),
        None => record,
    })
}

/// The separator of fields: one ASCII character, on the wire also `tab` or `space`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Separator(char);

impl Separator {
    /// Returns the character.
    pub fn character(self) -> char {
        self.0
    }
}

impl Default for Separator {
    fn default() -> Separator {
        Separator(Format::default().separator)
    }
}

impl FromStr for Separator {
    type Err = String;

    fn from_str(text: &str) -> Result<Separator, String> {
        let mut characters = text.chars();
        match (text, characters.next(), characters.next()) {
            ("tab" | "\\t", _, _) => Ok(Separator('\t')),
            ("space", _, _) => Ok(Separator(' ')),
            (_, Some(character), None) if character.is_ascii() => Ok(Separator(character)),
            _ => Err("one ASCII character, 'tab' or 'space'".to_owned()),
        }
    }
}

impl TryFrom<String> for Separator {
    type Error = String;

    fn try_from(text: String) -> Result<Separator, String> {
        text.parse()
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            '\t' => f.write_str("tab"),
            ' ' => f.write_str("space"),
            other => write!(f, "{other}"),
        }
    }
}

impl From<Separator> for String {
    fn from(separator: Separator) -> String {
        separator.to_string()
    }
}

impl JsonSchema for Separator {
    fn schema_name() -> Cow<'static, str> {
        "Separator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> JsonForm {
        json_schema!({ "type": "string", "examples": [",", "tab", "space"] })
    }
}

/// What a file is checked against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CheckSpecification {
    /// Schema file, or the name of a built-in schema.
    pub schema: String,
    /// Missing and outside values, where the schema expects any.
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(default)]
    pub skip_bad_rows: bool,
}

impl Specification for CheckSpecification {
    const KIND: &'static str = "schema check";
}

/// How the rows of a table become numbers, and images fewer of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadingSpecification {
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Schema file, or the name of a built-in schema: columns, words, and bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Column names by position, for files without a header.
    pub columns: Vec<String>,
    /// Field separator: one character, 'tab' or 'space'.
    pub separator: Separator,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    pub skip_bad_rows: bool,
    /// Average blocks of so many pixels a side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub image_blocks: Option<u32>,
    /// Keep so many central blocks a side; by default all that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub image_crop: Option<u32>,
}

impl ReadingSpecification {
    /// The rules between these fields, which stand in `table`.
    ///
    /// # Errors
    /// The first field that contradicts another.
    pub fn rules(&self, table: &str) -> Result<(), FieldError> {
        let refuse = |field: &str, expected: &str| {
            Err(FieldError::new(
                format!("{table}.{field}"),
                "given",
                expected,
            ))
        };
        if self.schema.is_some() && !self.columns.is_empty() {
            return refuse("columns", "left out where a schema names the columns");
        }
        if self.image_crop.is_some() && self.image_blocks.is_none() {
            return refuse("image_crop", "given with image_blocks");
        }
        Ok(())
    }

    /// Returns the options with the schema found, without bounds and labels.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn options(&self) -> Result<NumbersOptions, NamedSchemaError> {
        Ok(NumbersOptions {
            ignore: self.ignore.clone(),
            reduction: self.image_blocks.map(|block| Reduction {
                block,
                crop: self.image_crop,
            }),
            format: Format {
                skip_bad_rows: self.skip_bad_rows,
                ..layout(self.separator, &self.columns)
            },
            schema: schema_named(self.schema.as_deref())?
                .map(|schema| schema.skipping_bad_rows(self.skip_bad_rows)),
            ..NumbersOptions::default()
        })
    }
}

/// Returns the schema called `name`, if one is named.
///
/// # Errors
/// When the schema cannot be read.
pub fn schema_named(name: Option<&str>) -> Result<Option<Schema>, NamedSchemaError> {
    Ok(name
        .map(named_schema)
        .transpose()?
        .map(|named| named.schema))
}

/// Returns the layout of a file without a schema: `columns` names its columns where it has no
/// header.
pub fn layout(separator: Separator, columns: &[String]) -> Format {
    Format {
        separator: separator.character(),
        header: columns.is_empty(),
        columns: columns.to_vec(),
        ..Format::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_read_and_written() {
        for (text, character) in [(",", ','), ("tab", '\t'), ("space", ' '), (";", ';')] {
            let separator: Separator = text.parse().unwrap();
            assert_eq!(separator.character(), character);
            assert_eq!(separator.to_string(), text);
        }
        assert_eq!("\\t".parse::<Separator>().unwrap().character(), '\t');
        assert!("".parse::<Separator>().is_err() && "ab".parse::<Separator>().is_err());
    }

    #[test]
    fn a_built_in_schema_is_where_it_was() {
        assert_eq!(located_schema("census"), "census");
        let census = schema_named(Some("census")).unwrap().unwrap();
        assert_eq!(census.name, "census");
        assert!(schema_named(None).unwrap().is_none());
    }
}
