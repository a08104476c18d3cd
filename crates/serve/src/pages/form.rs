//! A form between two answers: the values that were entered, and the errors in them.
//!
//! A page shows a form with its first values. When something that was entered is wrong the same
//! page comes back with what was entered, an error beside each field, and a summary above that
//! links to the fields.

use std::collections::BTreeMap;

/// An error in a field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldError {
    /// The identifier of the field; empty when the error concerns the whole form.
    pub field: String,
    /// What is wrong, and what to enter.
    pub message: String,
}

/// One of several answers to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The value that is sent.
    pub value: String,
    /// The text that the user reads.
    pub label: String,
}

impl Choice {
    /// Makes an answer.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Choice {
        Choice {
            value: value.into(),
            label: label.into(),
        }
    }

    /// Makes several answers.
    pub fn list(answers: &[(&str, &str)]) -> Vec<Choice> {
        let choice = |&(value, label): &(&str, &str)| Choice::new(value, label);
        answers.iter().map(choice).collect()
    }
}

/// An input for a field of a specification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// The name of the field in the form.
    pub name: String,
    /// The label of the field on the page.
    pub label: String,
    /// The explanation of the field, in a sentence or two.
    pub hint: String,
    /// The type of the field's input element.
    pub kind: &'static str,
    /// The answers to choose from; empty for an input element.
    pub choices: Vec<Choice>,
}

/// The values that were entered into a form, and the errors in them.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    values: BTreeMap<String, Vec<String>>,
    errors: Vec<FieldError>,
}

impl Form {
    /// Makes the form that was sent.
    pub fn sent(pairs: Vec<(String, String)>) -> Form {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in pairs {
            values.entry(name).or_default().push(value);
        }
        Form {
            values,
            errors: Vec::new(),
        }
    }

    /// Fills a field in.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), vec![value.into()]);
    }

    /// Adds a value to those of a field that may have several.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values
            .entry(name.into())
            .or_default()
            .push(value.into());
    }

    /// The form with a field filled in.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Form {
        self.set(name, value);
        self
    }

    /// The value of a field, without blanks around it; empty when there is none.
    pub fn value(&self, name: &str) -> &str {
        self.all(name).first().map_or("", |value| value.trim())
    }

    /// The value of a field, unless it is empty.
    pub fn filled(&self, name: &str) -> Option<&str> {
        Some(self.value(name)).filter(|value| !value.is_empty())
    }

    /// All values that were entered under a name.
    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether `value` is among the values of a field.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).iter().any(|have| have == value)
    }

    /// The number in a field, if the field is filled in; anything else is recorded as an error.
    pub fn number<T: std::str::FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        let value = self.filled(name)?.to_owned();
        let number = value.parse().ok();
        if number.is_none() {
            self.refuse(name, format!("“{value}” is not {expected}."));
        }
        number
    }

    /// Records an error in a field.
    pub fn refuse(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.errors.push(FieldError {
            field: field.into(),
            message: message.into(),
        });
    }

    /// Whether the form has errors.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// All errors in the form.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// The error in a field, if it has one.
    pub fn error(&self, name: &str) -> Option<&str> {
        let error = self.errors.iter().find(|error| error.field == name);
        error.map(|error| error.message.as_str())
    }

    /// The identifiers of the elements that explain a field.
    pub fn described_by(&self, name: &str, hint: &str) -> String {
        let mut described = String::new();
        if !hint.is_empty() {
            described.push_str(&format!("{name}-hint"));
        }
        if self.error(name).is_some() {
            described.push_str(&format!(" {name}-wrong"));
        }
        described.trim_start().to_owned()
    }

    /// Whether a field among `names`, separated by commas, has an error, so that their fold must be
    /// open.
    pub fn opens(&self, names: &str) -> bool {
        names.split(',').any(|name| self.error(name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Form {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Form::sent(pairs.iter().map(owned).collect())
    }

    #[test]
    fn fields_may_have_several_values() {
        let form = sent(&[
            ("protected", "sex"),
            ("protected", "race"),
            ("label", " a "),
        ]);
        assert_eq!(form.all("protected"), ["sex", "race"]);
        assert!(form.has("protected", "race") && !form.has("protected", "age"));
        assert_eq!(form.value("label"), "a");
        assert_eq!(form.filled("nothing"), None);
    }

    #[test]
    fn what_is_wrong_is_noted_at_its_field() {
        let mut form = sent(&[("epochs", "many"), ("other", "5")]);
        assert_eq!(form.number::<u32>("epochs", "a whole number"), None);
        assert_eq!(form.number::<u32>("other", "a whole number"), Some(5));
        assert_eq!(form.number::<u32>("missing", "a whole number"), None);
        assert_eq!(form.errors().len(), 1);
        assert_eq!(form.error("epochs"), Some("“many” is not a whole number."));
        assert!(form.opens("seed,epochs") && !form.opens("seed,other"));
        assert_eq!(
            form.described_by("epochs", "why"),
            "epochs-hint epochs-wrong"
        );
    }
}
