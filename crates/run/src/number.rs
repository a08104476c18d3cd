//! Forms of numbers in messages.

use std::fmt;

/// A space at which no line breaks.
pub const FIXED_SPACE: char = '\u{a0}';

/// A number as people write it: `21`, `0.5`, and in scientific form where that would be digits
/// without end, `1e300`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written(pub f64);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Written(value) = *self;
        match value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs()) {
            true => write!(f, "{value}"),
            false => write!(f, "{value:e}"),
        }
    }
}

/// Writes a number with as many digits as say something: 0.30000000000000004 as `0.3`.
pub fn readable(value: f64) -> String {
    let rounded = format!("{value:.9e}").parse().unwrap_or(value);
    Written(rounded).to_string()
}

/// Writes a count with commas between thousands: 1234567 as `1,234,567`.
pub fn count(number: u64) -> String {
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

/// Writes a signed number with commas between thousands: -1234 as `-1,234`.
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// Writes a count with its noun, `1 pair`, `2 pairs`, with a space that does not break.
pub fn counted(number: u64, one: &str, more: &str) -> String {
    let noun = if number == 1 { one } else { more };
    format!("{}{FIXED_SPACE}{noun}", count(number))
}

/// Writes a share in percent, 0.0312 as `3.12 %`, with a space that does not break; more decimals
/// where two would say nothing or all.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if !percent.is_finite() {
        return "–".to_owned();
    }
    let size = percent.abs();
    let decimals = match size {
        size if size > 0.0 && size < 0.01 => 1.0 - size.log10().floor(),
        size if size > 99.99 && size < 100.0 => -(100.0 - size).log10().floor(),
        _ => 2.0,
    };
    let decimals = decimals.clamp(2.0, 12.0) as usize;
    format!("{percent:.decimals$}{FIXED_SPACE}%")
}

/// Writes an interval of shares in percent.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("{} – {}", percent(low), percent(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_has_digits_without_end() {
        for (value, written) in [
            (21.0, "21"),
            (-0.5, "-0.5"),
            (0.0, "0"),
            (1e300, "1e300"),
            (-1.5e-9, "-1.5e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Written(value).to_string(), written);
        }
    }

    #[test]
    fn only_digits_that_say_something_are_readable() {
        for (value, said) in [
            (0.1 + 0.2, "0.3"),
            (1e-9, "1e-9"),
            (-1e300, "-1e300"),
            (999_999_999_999_999.9, "1e15"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(readable(value), said);
        }
    }
}
