//! Fields of options that stand in a fold, and how they are read.

use clap::ValueEnum;

use super::form::{Choice, Field};

/// A field for a number.
pub(super) fn number(name: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field {
        name,
        label,
        hint,
        kind: "number",
        choices: Vec::new(),
    }
}

/// A field for a text.
pub(super) fn text(name: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field {
        kind: "text",
        ..number(name, label, hint)
    }
}

/// A field with answers to choose from.
pub(super) fn choice(
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    choices: Vec<Choice>,
) -> Field {
    Field {
        choices,
        ..number(name, label, hint)
    }
}

/// The names of `fields`, separated by commas.
pub(super) fn names(fields: &[Field]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    names.join(",")
}

/// The values of `T` to choose from, each with what it means.
pub(super) fn choices<T: ValueEnum>() -> Vec<Choice> {
    choices_of(T::value_variants())
}

/// `values` to choose from, each with what it means.
pub(super) fn choices_of<T: ValueEnum>(values: &[T]) -> Vec<Choice> {
    let possible = values.iter().filter_map(T::to_possible_value);
    possible
        .map(|value| {
            let name = value.get_name().to_owned();
            let label = match value.get_help() {
                Some(help) => format!("{name}: {help}"),
                None => name.clone(),
            };
            Choice::new(name, label)
        })
        .collect()
}

/// The value of `T` that the word stands for.
pub(super) fn value<T: ValueEnum>(word: &str) -> Option<T> {
    T::from_str(word, false).ok()
}
