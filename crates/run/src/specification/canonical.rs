//! The canonical form of a specification, and its hash.

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::dotted;
use crate::hash::hex;

/// Writes `value` as JSON with sorted keys, no blanks and no absent fields: equal values have equal
/// bytes.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            // The order of the map depends on features of serde_json that other crates turn on.
            let mut entries: Vec<(&String, &Value)> =
                map.iter().filter(|(_, value)| !value.is_null()).collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (place, (key, value)) in entries.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(value, out);
            }
            out.push(']');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

/// Returns the specification as JSON, as far as JSON can say it. A number that JSON has no form for
/// (NaN) is null, which the bounds of its field have refused before.
pub(super) fn json_of<T: Serialize>(specification: &T) -> Value {
    serde_json::to_value(specification).unwrap_or(Value::Null)
}

/// Returns the hash of `specification` as one of `kind` and `version`, without the fields that are
/// `free`.
pub(super) fn identity<T: Serialize>(
    specification: &T,
    (kind, version): (&str, u32),
    free: &[&str],
) -> String {
    let mut value = json_of(specification);
    for field in free {
        dotted::remove(&mut value, field);
    }
    let mut whole = Map::new();
    whole.insert("kind".to_owned(), kind.into());
    whole.insert("version".to_owned(), version.into());
    whole.insert("specification".to_owned(), value);
    let canonical = canonical_json(&Value::Object(whole));
    hex(&Sha256::digest(canonical.as_bytes()))
}
