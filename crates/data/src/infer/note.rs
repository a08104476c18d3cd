//! Notes for a person on a draft, and how to have it otherwise.

use serde::Serialize;

use probity_run::list::line;

/// The beginning of notes on columns that are left out.
const LEFT_OUT: &str = "left out: ";

/// A note for a person on a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The column.
    pub column: String,
    /// The decision about the column, and its reason.
    pub said: String,
    /// The options that would change the decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Way>,
}

/// An option that changes a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Way {
    /// The name of the option, as a field of [`super::InferOptions`].
    pub option: &'static str,
    /// The column that the option is about, for options that say something for each of several
    /// columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The values of the option.
    pub values: Vec<String>,
    /// The effect of the option, or the case in which to give it.
    pub effect: &'static str,
}

impl Note {
    /// Creates a note that says something and asks nothing.
    pub(super) fn new(column: &str, said: impl Into<String>) -> Note {
        Note {
            column: column.to_owned(),
            said: said.into(),
            ways: Vec::new(),
        }
    }

    /// Creates the note that a column is left out, and why.
    pub(super) fn of_left_out(column: &str, why: &str) -> Note {
        Note::new(column, format!("{LEFT_OUT}{why}"))
    }

    /// Returns why the column is left out, where the note says that.
    pub fn left_out(&self) -> Option<&str> {
        self.said.strip_prefix(LEFT_OUT)
    }

    /// Returns the note with `way` as a further way to have it otherwise.
    #[must_use]
    pub(super) fn or(mut self, way: Way) -> Note {
        self.ways.push(way);
        self
    }

    /// Returns what the note says, and the ways, each as `written` has it.
    pub fn text(&self, written: fn(&Way) -> String) -> String {
        let mut text = self.said.clone();
        for (at, way) in self.ways.iter().enumerate() {
            text += if at == 0 { "; " } else { ", " };
            text += &format!("{} {}", written(way), way.effect);
        }
        text
    }
}

impl Way {
    /// Creates an option that holds `values`.
    pub(super) fn of_all<T: AsRef<str>>(
        option: &'static str,
        values: impl IntoIterator<Item = T>,
        effect: &'static str,
    ) -> Way {
        let values = values.into_iter().map(|value| value.as_ref().to_owned());
        Way {
            option,
            column: None,
            values: values.collect(),
            effect,
        }
    }

    /// Creates an option that holds `values` for `column`.
    pub(super) fn of_column<T: AsRef<str>>(
        option: &'static str,
        column: &str,
        values: impl IntoIterator<Item = T>,
        effect: &'static str,
    ) -> Way {
        Way {
            column: Some(column.to_owned()),
            ..Way::of_all(option, values, effect)
        }
    }

    /// Returns the option as it is given to the command: `--level race=NA`.
    pub fn command(&self) -> String {
        let values = match (self.option, &self.values[..]) {
            // One word, not a list of them.
            ("favourable" | "decimal" | "thousands" | "encoding", [word]) => word.clone(),
            _ => line(&self.values),
        };
        let argument = match &self.column {
            Some(column) if column.contains(['=', '"']) => {
                format!("\"{}\"={values}", column.replace('"', "\"\""))
            }
            Some(column) => format!("{column}={values}"),
            None => values,
        };
        if self.option == "number" {
            return "--label-number".to_owned();
        }
        let option = self.option.replace('_', "-");
        let is_plain = |c: char| c.is_alphanumeric() || "_=,.:/@%+-".contains(c);
        match argument.chars().all(is_plain) && !argument.is_empty() {
            true => format!("--{option} {argument}"),
            false => format!("--{option} '{}'", argument.replace('\'', "'\\''")),
        }
    }

    /// Returns the option as an argument of a function, or a field of a request: `level={"race":
    /// ["NA"]}`.
    pub fn field(&self) -> String {
        let list = || format!("{:?}", self.values);
        let value = match (&self.column, self.option, &self.values[..]) {
            (Some(column), ..) => format!("{{{column:?}: {}}}", list()),
            (None, "favourable" | "decimal" | "thousands" | "encoding", [word]) => {
                format!("{word:?}")
            }
            (None, "max_words" | "label_threshold", [number]) => number.clone(),
            (None, "number", _) => "True".to_owned(),
            (None, ..) => list(),
        };
        format!("{}={value}", self.option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_written_for_a_shell_and_for_a_program() {
        for (way, command, field) in [
            (
                Way::of_column("level", "race", ["NA"], ""),
                "--level race=NA",
                r#"level={"race": ["NA"]}"#,
            ),
            (
                Way::of_column::<&str>("missing", "race", [], ""),
                "--missing race=",
                r#"missing={"race": []}"#,
            ),
            (
                Way::of_column("missing", "sex (m=1)", ["", "N/A"], ""),
                r#"--missing '"sex (m=1)"="",N/A'"#,
                r#"missing={"sex (m=1)": ["", "N/A"]}"#,
            ),
            (
                Way::of_all("favourable", ["no, never"], ""),
                "--favourable 'no, never'",
                r#"favourable="no, never""#,
            ),
            (
                Way::of_all("ignore", ["a, b", "c's"], ""),
                r#"--ignore '"a, b",c'\''s'"#,
                r#"ignore=["a, b", "c's"]"#,
            ),
        ] {
            assert_eq!(
                (way.command().as_str(), way.field().as_str()),
                (command, field)
            );
        }
        let note = Note::new("race", "said").or(Way::of_all("merge", ["race"], "joins them"));
        assert_eq!(note.text(Way::command), "said; --merge race joins them");
    }
}
