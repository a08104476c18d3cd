//! The values of a row as a predictor sees them: the values that its codes stand for, as they would
//! stand in the data file.
//!
//! | kind          | value                                                        |
//! |---------------|--------------------------------------------------------------|
//! | `integer`     | the number                                                   |
//! | `categorical` | the word                                                     |
//! | `numeric`     | the number that stands for the bin: the schema's value for it, which is a number that rows of the data have where `probity schema infer` or an audit has filled it in; else its lower edge |
//!
//! A level beside the numbers of an attribute, such as `Exempt` or 8888, is that word or number.
//!
//! The level of missing and outside values (`outside = "level"`) is the missing marker: a word for
//! a categorical attribute, the number that the marker is for the others, and nothing
//! ([`Value::Missing`]) where the marker is no number. Without a marker it is what
//! [`Attribute::decode`] says, a number above the domain.

use probity_data::schema::{Attribute, Kind};

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i32),
    /// A finite number of any kind.
    Number(f64),
    /// A word.
    Text(String),
    /// A missing value where numbers are expected.
    Missing,
}

/// Returns the value that `code` of `attribute` stands for.
pub fn value(attribute: &Attribute, code: i32) -> Value {
    let text = attribute.decode(code);
    match attribute.kind {
        Kind::Categorical { .. } => Value::Text(text),
        _ if is_word_beside(attribute, &text) => Value::Text(text),
        Kind::Integer { .. } => match text.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => number(&text),
        },
        Kind::Numeric { .. } => number(&text),
    }
}

/// Returns whether `text` is a word among the levels beside the numbers of `attribute`.
fn is_word_beside(attribute: &Attribute, text: &str) -> bool {
    attribute.named.iter().any(|level| level == text) && number(text) == Value::Missing
}

/// Returns the first word among the levels beside the numbers of `attribute`.
pub(crate) fn word_beside(attribute: &Attribute) -> Option<&str> {
    let mut levels = attribute.named.iter().map(String::as_str);
    levels.find(|level| is_word_beside(attribute, level))
}

fn number(text: &str) -> Value {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Value::Number(number),
        _ => Value::Missing,
    }
}

impl Value {
    /// Returns the value as a number, NaN where it is missing; `None` for a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(f64::from(*number)),
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
            Value::Missing => Some(f64::NAN),
        }
    }

    /// Returns the value as JSON; `null` where it is missing.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Value::Integer(number) => (*number).into(),
            Value::Number(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Missing => serde_json::Value::Null,
        }
    }
}

/// Describes a row in words, for messages: `the row age = 40, sex = Male`.
pub fn describe(attributes: &[Attribute], row: &[i32]) -> String {
    let cells: Vec<String> = attributes
        .iter()
        .zip(row)
        .map(|(attribute, &code)| format!("{} = {}", attribute.name, attribute.decode(code)))
        .collect();
    format!("the row {}", cells.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::schema::Schema;

    #[test]
    fn every_kind_and_the_level_of_missing_values() {
        let schema = Schema::from_toml(
            r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
missing = "?"
outside = "level"
[[attribute]]
name = "work"
kind = "integer"
min = 0
max = 6
missing = "100"
outside = "level"
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
missing = "?"
outside = "level"
[[attribute]]
name = "gain"
kind = "numeric"
bins = [0.5, 1.0, 1000.0]
outside = "level"
"#,
        )
        .unwrap();
        let [age, work, sex, gain] = [0, 1, 2, 3].map(|at| &schema.attributes[at]);
        assert_eq!(value(age, 40), Value::Integer(40));
        assert_eq!(value(age, 91), Value::Missing);
        assert!(value(age, 91).number().is_some_and(f64::is_nan));
        assert_eq!(value(work, 7), Value::Integer(100));
        assert_eq!(value(sex, 1), Value::Text("Male".into()));
        assert_eq!(value(sex, 2), Value::Text("?".into()));
        assert_eq!(value(sex, 2).number(), None);
        assert_eq!(value(gain, 0), Value::Number(0.5));
        assert_eq!(value(gain, 2), Value::Number(2000.0));
        assert_eq!(value(age, 91).json(), serde_json::Value::Null);
        assert_eq!(
            describe(&schema.attributes, &[40, 7, 1, 0]),
            "the row age = 40, work = 100, sex = Male, gain = 0.5"
        );
    }

    #[test]
    fn levels_beside_numbers_are_what_they_say() {
        let schema = Schema::from_toml(
            r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "score"
kind = "integer"
min = 0
max = 6
levels = ["Exempt", "8888", "-1.5"]
missing = "NA"
outside = "level"
[[attribute]]
name = "rate"
kind = "numeric"
bins = [0.5, 1.0, 1000.0]
levels = ["9999"]
"#,
        )
        .unwrap();
        let [score, rate] = [0, 1].map(|at| &schema.attributes[at]);
        assert_eq!(value(score, 6), Value::Integer(6));
        assert_eq!(value(score, 7), Value::Text("Exempt".into()));
        assert_eq!(value(score, 8), Value::Integer(8888));
        assert_eq!(value(score, 9), Value::Number(-1.5));
        assert_eq!(value(score, 10), Value::Missing);
        assert_eq!(value(rate, 2), Value::Number(9999.0));
        assert_eq!(word_beside(score), Some("Exempt"));
        assert_eq!(word_beside(rate), None);
    }
}
