//! Text that is safe to show: what the renderers print, cleaned of characters that a reader cannot
//! see.
//!
//! Values and texts come from the analysed data, so anything may stand in them. Control characters,
//! and those that change the direction of text or have no width, would let a value look like
//! another one. They are shown by their number, as `⟨U+202E⟩`. Markup is escaped later, by the
//! renderer that knows its own.

mod numbers;

use std::fmt;

pub(super) use numbers::{
    brief, decimal, decimals_of, estimate, fixed, in_column, is_figure, number, seconds,
    seconds_in_column,
};
pub use numbers::{count, counted, interval, percent, signed};

/// Characters of a value that are shown at most.
const LONGEST: usize = 160;

/// Inputs that a share is of, of so many that are `there` where not all were asked about: `10,000
/// random inputs`, `9,000 of 32,561 rows of the data`.
pub(super) fn inputs_of(inputs: &str, asked: u64, there: Option<u64>) -> String {
    let inputs = inputs.strip_prefix("the ").unwrap_or(inputs);
    match there.filter(|&there| there > asked) {
        Some(there) => format!("{} of {} {inputs}", count(asked), count(there)),
        None => format!("{} {inputs}", count(asked)),
    }
}

/// Inputs that a share is of: as [`inputs_of`] says it where not all were asked about, and else the
/// `inputs` without their number.
pub(super) fn inputs_or_part(inputs: &str, asked: u64, there: Option<u64>) -> String {
    match there.is_some_and(|there| there > asked) {
        true => inputs_of(inputs, asked, there),
        false => inputs.to_owned(),
    }
}

/// What reading a table did to values and rows that are not in order: how many values it `mapped` to others,
/// how many rows it `skipped` for one, how many are `unlabelled` where an outcome is needed, and how many
/// have an `unknown` outcome where none is.
pub fn read_counts(mapped: u64, skipped: u64, unlabelled: u64, unknown: u64) -> Vec<String> {
    let mut said = Vec::new();
    if mapped > 0 {
        said.push(format!(
            "{} outside of the schema, or missing, {} to one that it has, as the policy for it says.",
            counted(mapped, "value", "values"),
            match mapped {
                1 => "was mapped",
                _ => "were mapped each",
            }
        ));
    }
    said.extend((skipped > 0).then(|| skipped_rows(skipped)));
    if unlabelled > 0 {
        said.push(format!(
            "{} left out because the outcome is missing.",
            counted(unlabelled, "row was", "rows were")
        ));
    }
    if unknown > 0 {
        said.push(format!(
            "{} an outcome that the schema does not know; it counts as missing, as none is needed here.",
            counted(unknown, "row has", "rows have")
        ));
    }
    said
}

/// That reading left rows out by the policy for a value that is not in order.
pub fn skipped_rows(rows: u64) -> String {
    format!(
        "{} left out because a value is missing or outside of the schema, as the policy for it says.",
        counted(rows, "row was", "rows were")
    )
}

/// That a model does not take some `attributes` of those `protected`, as it is said wherever it is;
/// nothing where it takes all.
pub fn not_taken(attributes: &[String], protected: &[String]) -> Option<String> {
    let names: Vec<String> = attributes.iter().map(|name| format!("'{name}'")).collect();
    let what = match attributes.len() == protected.len() {
        true => "nothing here can flip",
        false => "nothing here can flip by that alone",
    };
    (!names.is_empty()).then(|| {
        format!(
            "the model does not take {}; {what}, which says nothing about columns that stand for it",
            names.join(" or ")
        )
    })
}

/// Says as a sentence that a model does not take `attributes`.
pub(crate) fn not_taken_sentence(attributes: &[String], protected: &[String]) -> Option<String> {
    let said = not_taken(attributes, protected)?;
    Some(said[..1].to_uppercase() + &said[1..] + ".")
}

/// Text without invisible characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

impl Text {
    /// All of `text`.
    pub fn new(text: impl AsRef<str>) -> Text {
        let mut clean = String::with_capacity(text.as_ref().len());
        for character in text.as_ref().chars() {
            match character {
                '\n' | '\t' => clean.push(' '),
                hidden if is_hidden(hidden) => {
                    clean.push_str(&format!("⟨U+{:04X}⟩", u32::from(hidden)));
                }
                other => clean.push(other),
            }
        }
        Text(clean)
    }

    /// A value of the data: at most 160 characters, and a remark if there are more.
    pub fn value(text: &str) -> Text {
        match text.char_indices().nth(LONGEST) {
            None => Text::new(text),
            Some((end, _)) => {
                let characters = text.chars().count();
                let start = Text::new(&text[..end]);
                Text(format!("{start}… ({characters} characters)"))
            }
        }
    }

    /// The characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// At most `longest` characters, for a place in a chart.
    pub fn short(&self, longest: usize) -> String {
        if self.0.chars().count() <= longest {
            return self.0.clone();
        }
        let start: String = self.0.chars().take(longest.saturating_sub(1)).collect();
        format!("{start}…")
    }
}

/// Whether `character` is a control character, changes the direction of text, or has no width.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::new(text)
    }
}

/// Returns `a`, `a or b`, or `a, b or c` of `names`, with `last` before the last one.
pub fn listed(names: &[String], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_shown_by_number() {
        let text = Text::new("a\u{202e}b\u{200b}c\n\0é");
        assert_eq!(text.as_str(), "a⟨U+202E⟩b⟨U+200B⟩c ⟨U+0000⟩é");
        let long = Text::value(&"é".repeat(10_000));
        assert!(long.as_str().ends_with("… (10000 characters)"));
        assert!(long.as_str().chars().count() < 200);
        assert_eq!(Text::new("abcdef").short(4), "abc…");
    }

    #[test]
    fn it_is_said_of_how_many_inputs_a_share_is() {
        let rows = |asked| inputs_of("the rows of the data", asked, Some(32_561));
        assert_eq!(rows(9_000), "9,000 of 32,561 rows of the data");
        assert_eq!(rows(32_561), "32,561 rows of the data");
        let named = |asked| inputs_or_part("the rows of the data", asked, Some(32_561));
        assert_eq!(named(9_000), "9,000 of 32,561 rows of the data");
        assert_eq!(named(32_561), "the rows of the data");
        let drawn = inputs_of("random inputs", 10_000, None);
        assert_eq!(drawn, "10,000 random inputs");
    }

    #[test]
    fn names_are_listed() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names, "or"), "a, b or c");
    }
}
