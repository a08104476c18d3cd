//! Parsing of what was written into a value of a type: an error names the field.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::fields::{Field, FieldError, FieldKind, fields_of};

/// Returns the value that `written` says; `shown` is the same in JSON, of which the error shows a
/// part.
pub(super) fn parse<'de, T, D>(written: D, shown: &Value) -> Result<T, FieldError>
where
    T: DeserializeOwned + JsonSchema,
    D: Deserializer<'de>,
{
    serde_path_to_error::deserialize(written)
        .map_err(|error| wrong::<T>(error.path(), &error.inner().to_string(), shown))
}

/// Returns the error of the field at `place` in `shown`, of which serde says `problem`.
fn wrong<T: JsonSchema>(place: &Path, problem: &str, shown: &Value) -> FieldError {
    let path = dotted(place);
    // What TOML says of a value goes on with the place on a line of its own.
    let problem = problem.lines().next().unwrap_or(problem);
    let inner = |name: &str| match path.as_str() {
        "" => name.to_owned(),
        table => format!("{table}.{name}"),
    };
    if let Some(name) = between(problem, "missing field `") {
        return FieldError::new(inner(name), "missing", "given");
    }
    if between(problem, "unknown field `").is_some() {
        // The place of an unknown field is its own.
        return FieldError::new(path, "unknown", expected_of(problem));
    }
    let fields = fields_of::<T>();
    let field = fields.iter().find(|field| field.path == path);
    let value = value_at(place, shown).map_or("wrong".to_owned(), in_words);
    let is_element = matches!(place.iter().next_back(), Some(Segment::Seq { .. }));
    let expected = match field {
        Some(field) => expected(&field.kind, field, is_element, problem),
        None => expected_of(problem),
    };
    let path = match path.as_str() {
        "" => "the specification".to_owned(),
        _ => path,
    };
    FieldError::new(path, value, expected)
}

/// Returns the names of the tables and of the field, without places in lists.
fn dotted(place: &Path) -> String {
    let names = place.iter().filter_map(|segment| match segment {
        Segment::Map { key } => Some(key.as_str()),
        _ => None,
    });
    names.collect::<Vec<_>>().join(".")
}

fn value_at<'v>(place: &Path, shown: &'v Value) -> Option<&'v Value> {
    place
        .iter()
        .try_fold(shown, |value, segment| match segment {
            Segment::Map { key } => value.get(key),
            Segment::Seq { index } => value.get(index),
            _ => Some(value),
        })
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.escape_debug()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Describes what a field of some kind, or an element of it, may be.
fn expected(kind: &FieldKind, field: &Field, is_element: bool, problem: &str) -> String {
    match kind {
        FieldKind::List(kind) if is_element => expected(kind, field, false, problem),
        FieldKind::List(_) => "a list".to_owned(),
        FieldKind::Bool => "true or false".to_owned(),
        FieldKind::Integer => match field.expected().as_str() {
            "a number" => "a whole number".to_owned(),
            bounds => format!("a whole number, {bounds}"),
        },
        FieldKind::Number => match field.expected().as_str() {
            "a number" => "a number".to_owned(),
            bounds => format!("a number, {bounds}"),
        },
        FieldKind::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|choice| choice.word.as_str()).collect();
            format!("one of {}", words.join(", "))
        }
        FieldKind::Text | FieldKind::Time | FieldKind::Path | FieldKind::Other => {
            expected_of(problem)
        }
    }
}

/// Returns what serde expected; where a type of this program refuses a text, its whole message says
/// what it expected.
fn expected_of(problem: &str) -> String {
    let expected = problem.split_once(", expected ");
    let expected = expected.map_or(problem, |(_, expected)| expected);
    match expected {
        "a string" | "path string" => "a text".to_owned(),
        other if other.starts_with("struct ") || other == "a map" => "a table".to_owned(),
        other => other.replace('`', ""),
    }
}

/// Returns the text between `start`, with which `text` begins, and the next backtick.
fn between<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.strip_prefix(start)?.split('`').next()
}
