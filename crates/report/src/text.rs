//! Text that is safe to show: what the renderers print, cleaned of characters that a reader cannot see.
//!
//! Values and texts come from the analysed data, so anything may stand in them. Control characters, and those that change
//! the direction of text or have no width, would let a value look like another one. They are shown by their number, as `⟨U+202E⟩`.
//! Markup is escaped later, by the renderer that knows its own.

use std::fmt;

/// Characters of a value that are shown at most.
const LONGEST: usize = 160;

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

/// 1234567 as `1,234,567`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 pair`, `2 pairs`.
pub(super) fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// 0.0312 as `3.1 %`, in one piece; two significant digits where one decimal would say zero.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if !percent.is_finite() {
        return "–".to_owned();
    }
    // What is short of all must not be rounded to all.
    if (99.0..100.0).contains(&percent) {
        let decimals = (-(100.0 - percent).log10().floor()).clamp(1.0, 6.0) as usize;
        return format!("{percent:.decimals$}\u{a0}%");
    }
    if percent == 0.0 || percent.abs() >= 0.995 {
        return format!("{percent:.1}\u{a0}%");
    }
    let decimals = (1.0 - percent.abs().log10().floor()).clamp(1.0, 12.0) as usize;
    format!("{percent:.decimals$}\u{a0}%")
}

/// An interval of shares.
pub(super) fn interval([low, high]: [f64; 2]) -> String {
    format!("{} – {}", percent(low), percent(high))
}

/// A number with four significant digits at most.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if magnitude >= 4.0 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", count(value.abs().round() as u64));
    }
    if magnitude < -4.0 {
        return format!("{value:.2e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Seconds in a unit that reads well.
pub(super) fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{} µs", number(1e6 * value)),
        value if value < 1.0 => format!("{} ms", number(1e3 * value)),
        value if value < 120.0 => format!("{} s", number(value)),
        value => format!("{} min", number(value / 60.0)),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn listed(names: &[String], last: &str) -> String {
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
    fn numbers_read_well() {
        for (share, text) in [
            (0.0, "0.0 %"),
            (1.0, "100.0 %"),
            (0.99985, "99.98 %"),
            (0.995, "99.5 %"),
            (0.1901, "19.0 %"),
            (0.00312, "0.31 %"),
            (3.689e-6, "0.00037 %"),
        ] {
            assert_eq!(percent(share), text.replace(' ', "\u{a0}"));
        }
        for (value, text) in [
            (0.0, "0"),
            (1234567.4, "1,234,567"),
            (0.25, "0.25"),
            (110.21476, "110.2"),
            (1e-7, "1.00e-7"),
            (3.0, "3"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(seconds(0.0341), "34.1 ms");
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names, "or"), "a, b or c");
        assert_eq!(counted(1, "pair", "pairs"), "1 pair");
    }
}
