//! Fields of a specification as inputs of a form, and back.
//!
//! The names, explanations, bounds and defaults of fields come from the specification's type. A
//! page says only which fields it shows, and in which order.

use serde_json::{Map, Value};

use super::form::{Choice, Field as Input, Form};
use crate::jobs::specification::{JobKind, JobSpecification, fields};

use probity_run::specification::{Field, FieldKind};

/// Some fields of the specifications of a kind, as a page shows them.
pub(super) struct Options {
    fields: Vec<Field>,
}

impl Options {
    /// The fields at `paths` of a specification of `kind`.
    pub fn new(kind: JobKind, paths: &[&str]) -> Options {
        let all = fields(kind);
        let found = paths
            .iter()
            .filter_map(|path| all.iter().find(|field| field.path == *path));
        Options {
            fields: found.cloned().collect(),
        }
    }

    /// Restricts the field at `path` to the given words to choose from.
    #[must_use]
    pub fn only(mut self, path: &str, words: &[&str]) -> Options {
        for field in &mut self.fields {
            if let (true, FieldKind::Choice(choices)) = (field.path == path, &mut field.kind) {
                choices.retain(|choice| words.contains(&choice.word.as_str()));
            }
        }
        self
    }

    /// The inputs of all fields.
    pub fn inputs(&self) -> Vec<Input> {
        self.fields.iter().map(input).collect()
    }

    /// The input of the field at `path`.
    pub fn input(&self, path: &str) -> Input {
        let field = self.fields.iter().find(|field| field.path == path);
        field.map(input).unwrap_or_default()
    }

    /// Fills the inputs of `form` in with the defaults.
    pub fn fill(&self, form: &mut Form) {
        for field in &self.fields {
            if let Some(default) = &field.default {
                form.set(field.path.as_str(), shown(default));
            }
        }
    }

    /// Puts the values that were entered in `form` into `specification`; a field that is left empty
    /// keeps its default.
    pub fn read(&self, form: &mut Form, specification: &mut Value) {
        for field in &self.fields {
            let Some(entered) = form.filled(&field.path).map(str::to_owned) else {
                continue;
            };
            match value(&field.kind, &entered) {
                Some(value) => insert(specification, &field.path, value),
                None => {
                    let expected = expected(&field.kind);
                    form.refuse(
                        field.path.as_str(),
                        format!("“{entered}” is not {expected}."),
                    );
                }
            }
        }
    }
}

/// The names of `inputs`, joined with commas.
pub(super) fn names(inputs: &[Input]) -> String {
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    names.join(",")
}

/// Puts `value` into `specification` at the dotted `path`.
pub(super) fn insert(specification: &mut Value, path: &str, value: Value) {
    if !specification.is_object() {
        *specification = Value::Object(Map::new());
    }
    let Some(map) = specification.as_object_mut() else {
        return;
    };
    match path.split_once('.') {
        Some((table, rest)) => insert(map.entry(table).or_insert(Value::Null), rest, value),
        None => drop(map.insert(path.to_owned(), value)),
    }
}

/// Reads the specification in `asked`, unless something is wrong with it or was entered wrongly:
/// then `form` says so.
pub(super) fn specified(form: &mut Form, asked: Value) -> Option<JobSpecification> {
    if form.has_errors() {
        return None;
    }
    match JobSpecification::try_from(asked) {
        Ok(specification) => Some(specification),
        Err(error) => {
            form.refuse(error.field.clone(), format!("{error}."));
            None
        }
    }
}

fn input(field: &Field) -> Input {
    let mut hint = field.help.clone();
    let is_bounded = [field.minimum, field.maximum, field.above, field.below]
        .iter()
        .any(Option::is_some);
    if is_bounded {
        hint.push_str(&format!(" It is {}.", field.expected()));
    }
    let mut choices = match &field.kind {
        FieldKind::Bool => Choice::list(&[("false", "No"), ("true", "Yes")]),
        FieldKind::Choice(choices) => choices.iter().map(labelled).collect(),
        _ => Vec::new(),
    };
    if !choices.is_empty() && field.default.is_none() {
        choices.insert(0, Choice::new("", "As is best known"));
    }
    Input {
        name: field.path.clone(),
        label: label(field.name()),
        hint,
        kind: match field.kind {
            FieldKind::Integer | FieldKind::Number => "number",
            _ => "text",
        },
        choices,
    }
}

fn labelled(choice: &probity_run::specification::Choice) -> Choice {
    let label = match choice.help.as_str() {
        "" => choice.word.clone(),
        help => format!("{}: {}", choice.word, help.trim_end_matches('.')),
    };
    Choice::new(choice.word.clone(), label)
}

/// Writes `learning_rate` as `Learning rate`.
fn label(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Writes a value as a user would enter it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            // A number of 32 bits has digits in 64 bits that nobody wrote.
            Some(wide) if number.is_f64() => (wide as f32).to_string(),
            _ => number.to_string(),
        },
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(","),
        Value::Bool(is_so) => is_so.to_string(),
        Value::Null | Value::Object(_) => String::new(),
    }
}

fn value(kind: &FieldKind, entered: &str) -> Option<Value> {
    match kind {
        FieldKind::Bool => entered.parse::<bool>().ok().map(Value::from),
        FieldKind::Integer => entered
            .parse::<u64>()
            .map(Value::from)
            .or_else(|_| entered.parse::<i64>().map(Value::from))
            .ok(),
        FieldKind::Number => {
            let number = entered.parse::<f64>().ok()?;
            number.is_finite().then(|| Value::from(number))
        }
        FieldKind::List(kind) => entered
            .split(',')
            .map(|part| value(kind, part.trim()))
            .collect::<Option<Vec<_>>>()
            .map(Value::from),
        FieldKind::Text | FieldKind::Time | FieldKind::Path | FieldKind::Choice(_) => {
            Some(entered.into())
        }
        FieldKind::Other => None,
    }
}

fn expected(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Integer => "a whole number",
        FieldKind::List(kind) if **kind == FieldKind::Integer => {
            "a list of whole numbers such as 64,32"
        }
        FieldKind::List(_) => "a list of numbers such as 0.01,0.05",
        FieldKind::Number => "a number",
        _ => "one of the answers",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_say_what_the_type_says_and_are_read_back() {
        let paths = ["training.epochs", "training.test", "network.hidden"];
        let options = Options::new(JobKind::Train, &paths);
        let inputs = options.inputs();
        assert_eq!(names(&inputs), paths.join(","));
        assert_eq!(inputs[0].label, "Epochs");
        assert!(
            inputs[0].hint.contains("It is from 1 to"),
            "{}",
            inputs[0].hint
        );
        let mut form = Form::default();
        options.fill(&mut form);
        assert_eq!(form.value("training.epochs"), "");
        assert_eq!(form.value("training.test"), "0.2");
        assert_eq!(form.value("network.hidden"), "100");
        form.set("training.epochs", "7");
        let mut specification = json!({ "kind": "train" });
        options.read(&mut form, &mut specification);
        assert_eq!(
            specification,
            json!({
                "kind": "train", "training": { "epochs": 7, "test": 0.2 },
                "network": { "hidden": [100] }
            })
        );
        form.set("training.epochs", "many");
        options.read(&mut form, &mut specification);
        assert_eq!(
            form.error("training.epochs"),
            Some("“many” is not a whole number.")
        );
    }
}
