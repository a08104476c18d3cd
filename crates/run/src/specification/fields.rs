//! The fields of a specification, read from its schema, and the bounds that they declare.

use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::canonical::json_of;
use super::dotted;
use super::seconds::TIME_SPAN;

/// The error that a field of a specification cannot have a value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {expected}")]
pub struct FieldError {
    /// The field, with the tables that it is in: `search.seeds`.
    pub field: String,
    /// The value of the field.
    pub value: String,
    /// The values that the field may have, in words.
    pub expected: String,
}

impl FieldError {
    /// Creates the error that `field` is `value`, but must be `expected`.
    pub fn new(
        field: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> FieldError {
        FieldError {
            field: field.into(),
            value: value.to_string(),
            expected: expected.into(),
        }
    }
}

/// A word that a field may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub word: String,
    /// The meaning of the word.
    pub help: String,
}

/// The kind of values that a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// A truth value.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text of any form.
    Text,
    /// A span of time, written as `90s` or `5m`.
    Time,
    /// A path of a file or directory.
    Path,
    /// A word out of some words.
    Choice(Vec<Choice>),
    /// Several values of a kind.
    List(Box<FieldKind>),
    /// A value of another shape, which only a file can hold.
    Other,
}

/// The largest whole number: TOML has no larger one.
const MOST: u64 = i64::MAX.unsigned_abs();

/// A field of a specification.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The place of the field, as a dotted path: `search.seeds`.
    pub path: String,
    /// The kind of values that the field holds.
    pub kind: FieldKind,
    /// The purpose of the field: its doc comment.
    pub help: String,
    /// The value of the field where it is left out; absent where nothing is assumed.
    pub default: Option<Value>,
    /// Whether the field must be given.
    pub is_required: bool,
    /// The least number that the field may be.
    pub minimum: Option<f64>,
    /// The largest number that the field may be.
    pub maximum: Option<f64>,
    /// The number that the field must be above.
    pub above: Option<f64>,
    /// The number that the field must be below.
    pub below: Option<f64>,
    /// The option of the command line that gives the field, where that is not its name;
    /// `Some(None)`: none.
    pub flag: Option<Option<String>>,
    /// The words that stand for something else than a file of that name, for a path.
    pub names: Vec<String>,
    /// The word in front of a path that says what it is of, such as `spn:`.
    pub prefix: String,
}

impl Field {
    /// Returns whether the field holds a number, or several.
    pub fn is_number(&self) -> bool {
        let is_number = |kind: &FieldKind| matches!(kind, FieldKind::Integer | FieldKind::Number);
        match &self.kind {
            FieldKind::List(kind) => is_number(kind),
            kind => is_number(kind),
        }
    }

    /// Returns whether the field holds a path, or several.
    pub fn is_path(&self) -> bool {
        match &self.kind {
            FieldKind::List(kind) => **kind == FieldKind::Path,
            kind => *kind == FieldKind::Path,
        }
    }

    /// Makes the paths in `value`, which this field holds, absolute: from `folder`, unless they are
    /// words that stand for something else. Nothing happens to a value that is no path.
    pub fn locate(&self, value: &mut Value, folder: &Path) {
        match value {
            _ if !self.is_path() => {}
            Value::String(path) if !path.is_empty() && !self.names.contains(path) => {
                // What lacks the word is refused by a rule of its specification.
                let Some(own) = path.strip_prefix(&self.prefix) else {
                    return;
                };
                let whole = folder.join(own);
                // A path without needless parts.
                let whole = std::path::absolute(&whole).unwrap_or(whole);
                if let Some(whole) = whole.to_str() {
                    *path = format!("{}{whole}", self.prefix);
                }
            }
            Value::Array(paths) => paths.iter_mut().for_each(|path| self.locate(path, folder)),
            _ => {}
        }
    }

    /// Returns the last part of the field's path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    /// Returns the table that the field stands in, if it stands in one.
    pub fn table(&self) -> Option<&str> {
        self.path.rsplit_once('.').map(|(table, _)| table)
    }

    /// Returns the option of the command line that gives the field, without dashes in front; `None`
    /// where only a file can.
    pub fn flag(&self) -> Option<String> {
        match &self.flag {
            Some(flag) => flag.clone(),
            None if self.kind == FieldKind::Other => None,
            None => Some(self.name().replace('_', "-")),
        }
    }

    /// Describes what the field may be, in words.
    pub fn expected(&self) -> String {
        let (least, most) = (self.minimum.map(in_words), self.maximum.map(in_words));
        let (above, below) = (self.above.map(in_words), self.below.map(in_words));
        match (least, above, most, below) {
            (Some(least), _, Some(most), _) => format!("from {least} to {most}"),
            (Some(least), _, None, Some(below)) => format!("from {least} to below {below}"),
            (None, Some(above), Some(most), _) => format!("above {above} and at most {most}"),
            (None, Some(above), None, Some(below)) => format!("above {above} and below {below}"),
            (Some(least), _, None, None) => format!("at least {least}"),
            (None, Some(above), None, None) => format!("above {above}"),
            (None, None, Some(most), _) => format!("at most {most}"),
            (None, None, None, Some(below)) => format!("below {below}"),
            (None, None, None, None) => "a number".to_owned(),
        }
    }

    /// Returns whether `specification`, in JSON, says anything else here than the default.
    pub fn is_changed_in(&self, specification: &Value) -> bool {
        let said = dotted::get(specification, &self.path).filter(|value| !value.is_null());
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        match (said, &self.default) {
            (None, _) => false,
            (Some(said), None) => !is_empty(said),
            (Some(said), Some(default)) => said != default,
        }
    }

    fn is_within(&self, value: f64) -> bool {
        value.is_finite()
            && self.minimum.is_none_or(|least| value >= least)
            && self.maximum.is_none_or(|most| value <= most)
            && self.above.is_none_or(|above| value > above)
            && self.below.is_none_or(|below| value < below)
    }

    /// Refuses a number, or one in a list, outside the bounds of the field.
    pub(super) fn check(&self, value: &Value) -> Result<(), FieldError> {
        match value {
            Value::Array(values) => values.iter().try_for_each(|value| self.check(value)),
            Value::Number(number) if number.as_u64().is_some_and(|n| n > MOST) => {
                let expected = match self.maximum {
                    None => format!("at most {MOST}"),
                    Some(_) => self.expected(),
                };
                Err(FieldError::new(&self.path, number, expected))
            }
            Value::Number(number) => match number.as_f64() {
                Some(value) if self.is_within(value) => Ok(()),
                Some(value) if number.is_f64() => Err(FieldError::new(
                    &self.path,
                    in_words(value),
                    self.expected(),
                )),
                _ => Err(FieldError::new(&self.path, number, self.expected())),
            },
            Value::String(path)
                if path.is_empty() && self.is_required && self.kind == FieldKind::Path =>
            {
                Err(FieldError::new(&self.path, "missing", "given"))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a number as people do: 0, not 0.0, and 1e308, not 309 digits.
fn in_words(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-6..1e15).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Returns the schema of `T` with everything in one place.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

pub(super) fn fields_of<T: JsonSchema>() -> Vec<Field> {
    let mut fields = Vec::new();
    collect("", &schema_of::<T>(), None, &mut fields);
    fields
}

pub(super) fn check_bounds<T: Serialize + JsonSchema>(specification: &T) -> Result<(), FieldError> {
    let (value, fields) = (json_of(specification), fields_of::<T>());
    // JSON has no form for NaN and infinities, and would take them for absent values.
    if let Ok(written) = toml::Value::try_from(specification) {
        finite("", &written, &fields)?;
    }
    fields
        .iter()
        .try_for_each(|field| match dotted::get(&value, &field.path) {
            Some(value) => field.check(value),
            None => Ok(()),
        })
}

/// Refuses numbers that are not finite, wherever they stand in `value`, which stands at `path`.
fn finite(path: &str, value: &toml::Value, fields: &[Field]) -> Result<(), FieldError> {
    match value {
        toml::Value::Float(number) if !number.is_finite() => {
            let field = fields.iter().find(|field| field.path == path);
            let expected = field.map_or("a number".to_owned(), Field::expected);
            Err(FieldError::new(path, number, expected))
        }
        toml::Value::Array(values) => values
            .iter()
            .try_for_each(|value| finite(path, value, fields)),
        toml::Value::Table(table) => table.iter().try_for_each(|(key, value)| match path {
            "" => finite(key, value, fields),
            _ => finite(&format!("{path}.{key}"), value, fields),
        }),
        _ => Ok(()),
    }
}

/// Returns the fields of `specification` that are not as their defaults.
pub(super) fn changed_of<T: Serialize + JsonSchema>(specification: &T) -> Vec<String> {
    let value = json_of(specification);
    let fields = fields_of::<T>().into_iter();
    fields
        .filter(|field| field.is_changed_in(&value))
        .map(|field| field.path)
        .collect()
}

fn collect(path: &str, schema: &Value, default: Option<&Value>, fields: &mut Vec<Field>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, property) in properties {
        let inner = without_null(property);
        let path = match path {
            "" => name.clone(),
            table => format!("{table}.{name}"),
        };
        let default = property
            .get("default")
            .or_else(|| default.and_then(|table| table.get(name)))
            .filter(|value| !value.is_null());
        if inner.get("properties").is_some() {
            collect(&path, inner, default, fields);
            continue;
        }
        let text = |key: &str| property.get(key).or_else(|| inner.get(key));
        let kind = kind_of(inner);
        // The bounds of a list are those of its elements.
        let bounded = inner.get("items").unwrap_or(inner);
        let bound = |key: &str| {
            let found = bounded.get(key).or_else(|| property.get(key));
            found.and_then(Value::as_f64)
        };
        fields.push(Field {
            is_required: required.contains(&name.as_str()),
            help: text("description")
                .and_then(Value::as_str)
                .map(first_paragraph)
                .unwrap_or_default(),
            default: default.cloned(),
            minimum: bound("minimum"),
            maximum: bound("maximum"),
            above: bound("exclusiveMinimum"),
            below: bound("exclusiveMaximum"),
            flag: text("x-flag").map(|flag| flag.as_str().map(str::to_owned)),
            names: text("x-names")
                .and_then(Value::as_array)
                .map(|names| {
                    names
                        .iter()
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect()
                })
                .unwrap_or_default(),
            prefix: text("x-prefix")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            kind,
            path,
        });
    }
}

fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the schema that an optional schema has for a value that is there.
fn without_null(schema: &Value) -> &Value {
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(options) if options.len() == 2 && options.iter().any(|option| is_null(&option)) => {
            options
                .iter()
                .find(|option| !is_null(option))
                .unwrap_or(schema)
        }
        _ => schema,
    }
}

fn kind_of(schema: &Value) -> FieldKind {
    if let Some(choices) = choices_of(schema) {
        return FieldKind::Choice(choices);
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let named: Vec<&str> = types.into_iter().filter(|&name| name != "null").collect();
    match named[..] {
        ["boolean"] => FieldKind::Bool,
        ["integer"] => FieldKind::Integer,
        ["number"] => FieldKind::Number,
        ["string"] => match schema.get("format").and_then(Value::as_str) {
            Some("path") => FieldKind::Path,
            Some(TIME_SPAN) => FieldKind::Time,
            _ => FieldKind::Text,
        },
        ["array"] => match schema.get("items").map(kind_of) {
            Some(FieldKind::Other) | None => FieldKind::Other,
            // A list of paths is marked as a whole.
            Some(FieldKind::Text)
                if schema.get("format").and_then(Value::as_str) == Some("path") =>
            {
                FieldKind::List(Box::new(FieldKind::Path))
            }
            Some(kind) => FieldKind::List(Box::new(kind)),
        },
        _ => FieldKind::Other,
    }
}

/// Returns the words of an enumeration: `enum` where they have no help, else `oneOf` constants.
fn choices_of(schema: &Value) -> Option<Vec<Choice>> {
    let mut choices = Vec::new();
    let plain = |value: &Value, help: &str| {
        value.as_str().map(|word| Choice {
            word: word.to_owned(),
            help: first_paragraph(help),
        })
    };
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        choices.extend(words.iter().filter_map(|word| plain(word, "")));
    }
    let options = schema.get("oneOf").and_then(Value::as_array);
    for option in options.into_iter().flatten() {
        let help = option.get("description").and_then(Value::as_str);
        let help = help.unwrap_or_default();
        match (
            option.get("const"),
            option.get("enum").and_then(Value::as_array),
        ) {
            (Some(word), _) => choices.extend(plain(word, help)),
            (None, Some(words)) => {
                choices.extend(words.iter().filter_map(|word| plain(word, help)))
            }
            (None, None) => return None,
        }
    }
    (!choices.is_empty()).then_some(choices)
}
