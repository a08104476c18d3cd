//! Values at the dotted paths by which fields of specifications are named, such as `search.seeds`.

use serde_json::{Map, Value};

/// Returns the value at `path`.
pub fn get<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// Returns the value at `path`, to be changed.
pub fn get_mut<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.')
        .try_fold(value, |value, key| value.get_mut(key))
}

/// Puts `leaf` at `path`, and makes the tables that are missing on the way.
pub fn insert(value: &mut Value, path: &str, leaf: Value) {
    let (key, rest) = match path.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(map) = value {
        let inner = map.entry(key).or_insert(Value::Null);
        match rest {
            Some(rest) => insert(inner, rest, leaf),
            None => *inner = leaf,
        }
    }
}

/// Removes what stands at `path`, and the tables that hold nothing else.
pub fn remove(value: &mut Value, path: &str) {
    let Value::Object(map) = value else { return };
    match path.split_once('.') {
        None => {
            map.remove(path);
        }
        Some((table, rest)) => {
            if let Some(inner) = map.get_mut(table) {
                remove(inner, rest);
                // A table that says nothing else is as good as none.
                if inner.as_object().is_some_and(Map::is_empty) {
                    map.remove(table);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_put_and_removed_by_their_paths() {
        let mut value = json!({ "a": { "b": 1 } });
        assert_eq!(get(&value, "a.b"), Some(&json!(1)));
        assert_eq!(get(&value, "a.c"), None);
        insert(&mut value, "a.c.d", json!(2));
        assert_eq!(value, json!({ "a": { "b": 1, "c": { "d": 2 } } }));
        *get_mut(&mut value, "a.b").unwrap() = json!(3);
        remove(&mut value, "a.c.d");
        assert_eq!(value, json!({ "a": { "b": 3 } }));
        remove(&mut value, "a.b");
        assert_eq!(value, json!({}));
    }
}
