//! The JSON schema of a specification as the service takes it: that of its type, with identifiers
//! in place of paths.

use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::kind::{JobKind, of_kind};
use super::specification::{IDENTIFIERS, REFUSED, named, refused};

/// The regular expression of an identifier.
const PATTERN: &str = "^[0-9a-f]{16}$";

/// Makes the JSON schema of a specification as the service takes it, from the schemas of the types.
pub fn schema() -> Value {
    let schemas = JobKind::ALL.iter();
    let schemas = schemas.map(|kind| of_kind!(kind, S => schema_of::<S>()));
    json!({
        "description": "A job: the specification of the run, with identifiers for its files.",
        "oneOf": schemas.collect::<Vec<_>>(),
    })
}

fn schema_of<S: Asked>() -> Value {
    let mut schema = S::schema();
    without_flags(&mut schema);
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        map.remove("default");
    }
    for path in refused::<S>().chain(REFUSED.map(str::to_owned)) {
        without(&mut schema, &path);
    }
    for field in named::<S>() {
        if let Some(property) = property(&mut schema, &field.path)
            && let Some(map) = property.as_object_mut()
        {
            map.remove("format");
            map.insert("enum".to_owned(), json!(field.names));
        }
    }
    if let Some(properties) = schema["properties"].as_object_mut() {
        let required = identify(properties, S::NEEDS_MODEL);
        properties.insert(
            "kind".to_owned(),
            json!({ "type": "string", "enum": [S::KIND] }),
        );
        schema["required"] = required.into();
    }
    schema
}

/// Removes the property at the dotted `path`, through tables that may be left out too.
fn without(schema: &mut Value, path: &str) {
    let options = schema.get_mut("anyOf").and_then(Value::as_array_mut);
    for option in options.into_iter().flatten() {
        without(option, path);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    match path.split_once('.') {
        None => drop(properties.remove(path)),
        Some((table, rest)) => {
            if let Some(inner) = properties.get_mut(table) {
                without(inner, rest);
            }
        }
    }
}

/// The property at the dotted `path`, through tables that may be left out too.
fn property<'s>(schema: &'s mut Value, path: &str) -> Option<&'s mut Value> {
    let (name, rest) = match path.split_once('.') {
        Some((table, rest)) => (table, Some(rest)),
        None => (path, None),
    };
    let has = |table: &Value| {
        let properties = table.get("properties");
        properties.is_some_and(|properties| properties.get(name).is_some())
    };
    let table = match has(&*schema) {
        true => schema,
        false => {
            let tables = schema.get_mut("anyOf")?.as_array_mut()?;
            tables.iter_mut().find(|table| has(table))?
        }
    };
    let inner = table.get_mut("properties")?.get_mut(name)?;
    match rest {
        Some(rest) => property(inner, rest),
        None => Some(inner),
    }
}

/// Turns the properties for paths into identifiers; returns the properties that a request must
/// have.
fn identify(properties: &mut Map<String, Value>, needs_model: bool) -> Vec<&'static str> {
    let mut required = vec!["kind"];
    for name in IDENTIFIERS {
        let Some(property) = properties.get_mut(name) else {
            continue;
        };
        let identifier = json!({ "type": "string", "pattern": PATTERN });
        let of = match name {
            "data" => "data set",
            "counterfactuals" => {
                "data set of what the same people would have been outside of the group, row by row"
            }
            name => name,
        };
        *property = match name {
            "runs" => json!({
                "type": "array",
                "items": identifier,
                "description": "Audits of the model: the identifiers of their jobs.",
            }),
            _ => json!({
                "type": "string",
                "pattern": PATTERN,
                "description": format!("Identifier of the {of}."),
            }),
        };
        if name == "data" || (name == "model" && needs_model) {
            required.push(name);
        }
    }
    required
}

/// Removes the parts of a schema that only the command line needs.
fn without_flags(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("x-flag");
            map.remove("x-names");
            map.remove("x-prefix");
            map.values_mut().for_each(without_flags);
        }
        Value::Array(values) => values.iter_mut().for_each(without_flags),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::specification::fields;

    #[test]
    fn the_schema_has_every_field_that_can_be_given_and_no_other() {
        let schema = schema();
        for &kind in JobKind::ALL {
            let is_of_kind = |one: &&Value| one["properties"]["kind"]["enum"][0] == kind.name();
            let all = schema["oneOf"].as_array().unwrap();
            let one = all.iter().find(is_of_kind).unwrap();
            for field in fields(kind) {
                assert!(found(one, &field.path).is_some(), "{}", field.path);
            }
            for path in ["predictor", "schema", "out", "transformer.encoder"] {
                assert!(found(one, path).is_none(), "{path}");
            }
            let required = one["required"].as_array().unwrap();
            let needs_model = matches!(kind, JobKind::Audit | JobKind::Repair);
            assert_eq!(required.contains(&json!("model")), needs_model, "{kind:?}");
            assert!(required.contains(&json!("data")), "{kind:?}");
        }
        assert!(!schema.to_string().contains("x-flag"));
        let train = &schema["oneOf"][0];
        let vectors = found(train, "recurrent.embeddings").unwrap();
        assert_eq!(vectors["enum"], json!(["shipped", "own"]));
    }

    fn found<'s>(schema: &'s Value, path: &str) -> Option<&'s Value> {
        path.split('.').try_fold(schema, |schema, name| {
            let options = schema["anyOf"].as_array().into_iter().flatten();
            let mut tables = std::iter::once(schema).chain(options);
            tables.find_map(|table| table["properties"].get(name))
        })
    }
}
