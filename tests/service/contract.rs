//! Checks answers against the service's own OpenAPI document, strictly: a field that the document
//! does not name is an error.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Map, Value};

use super::http::Answer;

/// The document, and what was seen of it.
pub struct Contract {
    document: Value,
    seen: Mutex<BTreeSet<String>>,
}

impl Contract {
    /// From the document.
    pub fn new(document: Value) -> Contract {
        Contract {
            document,
            seen: Mutex::default(),
        }
    }

    /// Fails unless `answer` is what the document says about `method` on `path`.
    pub fn check(&self, method: &str, path: &str, answer: &Answer) {
        let path = path.split('?').next().expect("a path");
        let Some((template, operation)) = self.operation(method, path) else {
            assert!(
                matches!(answer.status, 404 | 405 | 414),
                "{method} {path} is not in the document and gives {}",
                answer.status
            );
            return;
        };
        let responses = operation["responses"].as_object().expect("responses");
        let exact = answer.status.to_string();
        let range = format!("{}XX", answer.status / 100);
        let response = responses
            .get(&exact)
            .or_else(|| responses.get(&range))
            .unwrap_or_else(|| panic!("{method} {template}: {exact} is not in the document"));
        if answer.status < 300 {
            let seen = format!("{method} {template}");
            self.seen.lock().expect("no panic").insert(seen);
        }
        let Some(content) = response.get("content").and_then(Value::as_object) else {
            assert!(answer.body.is_empty(), "{method} {template} has a body");
            return;
        };
        let media = answer.header("content-type");
        let media = media.split(';').next().expect("a type");
        let expected = content
            .get(media)
            .unwrap_or_else(|| panic!("{method} {template}: {media} is not in the document"));
        if media.ends_with("json") {
            let place = format!("{method} {template} {exact}");
            if let Err(problem) = self.conforms(&answer.json(), &expected["schema"], &place) {
                panic!("{problem}");
            }
        }
    }

    /// The operations of the document that no answer of success was seen for.
    pub fn unseen(&self) -> Vec<String> {
        let seen = self.seen.lock().expect("no panic");
        let all = self.all();
        all.into_iter().filter(|one| !seen.contains(one)).collect()
    }

    /// All operations of the document.
    pub fn all(&self) -> Vec<String> {
        let paths = self.document["paths"].as_object().expect("paths");
        paths
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().expect("operations").keys();
                methods.map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect()
    }

    fn operation(&self, method: &str, path: &str) -> Option<(&str, &Value)> {
        let paths = self.document["paths"].as_object().expect("paths");
        let (template, item) = paths.iter().find(|(template, _)| matches(template, path))?;
        let operation = item.get(method.to_ascii_lowercase())?;
        Some((template.as_str(), operation))
    }

    fn conforms(&self, value: &Value, schema: &Value, place: &str) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.conforms(value, self.target(reference), place);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            if value.is_object() {
                return self.conforms(value, &self.merged(schema), place);
            }
            return parts
                .iter()
                .try_for_each(|part| self.conforms(value, part, place));
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
                return self.fits_one(value, choices, place);
            }
        }
        has_type(value, schema, place)?;
        if let Some(words) = schema.get("enum").and_then(Value::as_array)
            && !words.contains(value)
        {
            return Err(format!("{place}: {value} is not in {words:?}"));
        }
        if let (Some(items), Some(item)) = (value.as_array(), schema.get("items")) {
            for value in items {
                self.conforms(value, item, &format!("{place}[]"))?;
            }
        }
        match (
            value.as_object(),
            schema.get("properties").and_then(Value::as_object),
        ) {
            (Some(fields), Some(properties)) => self.has_fields(fields, properties, schema, place),
            _ => Ok(()),
        }
    }

    fn fits_one(&self, value: &Value, choices: &[Value], place: &str) -> Result<(), String> {
        let mut why = Vec::new();
        for choice in choices {
            match self.conforms(value, choice, place) {
                Ok(()) => return Ok(()),
                Err(problem) => why.push(problem),
            }
        }
        Err(format!("{place} fits none: {}", why.join("; ")))
    }

    fn has_fields(
        &self,
        fields: &Map<String, Value>,
        properties: &Map<String, Value>,
        schema: &Value,
        place: &str,
    ) -> Result<(), String> {
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            if !fields.contains_key(name) {
                return Err(format!("{place}: no {name}"));
            }
        }
        for (name, value) in fields {
            let Some(property) = properties.get(name) else {
                return Err(format!("{place}: {name} is not in the document"));
            };
            self.conforms(value, property, &format!("{place}.{name}"))?;
        }
        Ok(())
    }

    fn target(&self, reference: &str) -> &Value {
        let pointer = reference.trim_start_matches('#');
        self.document.pointer(pointer).expect("a reference")
    }

    /// The parts of an `allOf` as one schema of an object.
    fn merged(&self, schema: &Value) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let own = std::iter::once(schema);
        for part in schema["allOf"].as_array().into_iter().flatten().chain(own) {
            let part = match part["$ref"].as_str() {
                Some(reference) => self.target(reference),
                None => part,
            };
            let part = match part.get("allOf") {
                Some(_) if !std::ptr::eq(part, schema) => &self.merged(part),
                _ => part,
            };
            for (name, property) in part["properties"].as_object().into_iter().flatten() {
                properties.insert(name.clone(), property.clone());
            }
            required.extend(part["required"].as_array().into_iter().flatten().cloned());
        }
        serde_json::json!({ "type": "object", "properties": properties, "required": required })
    }
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template
            .iter()
            .zip(&path)
            .all(|(expected, part)| expected.starts_with('{') || expected == part)
}

fn has_type(value: &Value, schema: &Value, place: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: the document has the type {other}"),
    };
    let fits = match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    match fits {
        true => Ok(()),
        false => Err(format!("{place}: {value} is no {}", schema["type"])),
    }
}
