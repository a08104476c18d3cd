//! Numbers in words and digits, the same ones in a terminal, on a page and in Markdown.

/// A space that no line breaks at.
const FIXED_SPACE: char = '\u{a0}';

/// 1234567 as `1,234,567`.
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

/// -1234 as `-1,234`.
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// `1 pair`, `2 pairs`, in one piece.
pub fn counted(number: u64, one: &str, more: &str) -> String {
    let noun = if number == 1 { one } else { more };
    format!("{}{FIXED_SPACE}{noun}", count(number))
}

/// 0.0312 as `3.12 %`, in one piece; more decimals where two would say nothing or all.
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

/// An interval of shares.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("{} – {}", percent(low), percent(high))
}

/// So many decimals at most, thousands set apart.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match text.parse() {
        Ok(whole) => count(whole),
        Err(_) if text == "-0" => "0".to_owned(),
        Err(_) => text.to_owned(),
    }
}

/// A count that is short enough for a cell: 12,345 as `12k`.
pub(crate) fn brief(number: u64) -> String {
    match number as f64 {
        number if number >= 9_999_500.0 => format!("{:.0}M", number / 1e6),
        number if number >= 999_500.0 => format!("{:.1}M", number / 1e6),
        number if number >= 9_999.5 => format!("{:.0}k", number / 1e3),
        _ => count(number),
    }
}

/// A number with four significant digits at most.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if magnitude >= 4.0 {
        return signed(value.round() as i64);
    }
    if magnitude < -4.0 {
        return format!("{value:.2e}");
    }
    decimal(value, (3.0 - magnitude).max(0.0) as usize)
}

/// Seconds in a unit that reads well.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{} µs", number(1e6 * value)),
        value if value < 1.0 => format!("{} ms", number(1e3 * value)),
        value if value < 120.0 => format!("{} s", number(value)),
        value => format!("{} min", number(value / 60.0)),
    }
}

/// A share with its interval in brackets.
pub(crate) fn estimate(share: f64, ends: [f64; 2]) -> String {
    format!("{} ({})", percent(share), interval(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (share, text) in [
            (0.0, "0.00 %"),
            (1.0, "100.00 %"),
            (0.99985, "99.98 %"),
            (0.999_957, "99.996 %"),
            (0.995, "99.50 %"),
            (0.1901, "19.01 %"),
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
        assert_eq!(counted(1, "pair", "pairs"), "1\u{a0}pair");
        assert_eq!(signed(-12_345), "-12,345");
        assert_eq!([0, 999, 1_234_567].map(count), ["0", "999", "1,234,567"]);
        assert_eq!([999, 12_345, 1_200_000].map(brief), ["999", "12k", "1.2M"]);
        assert_eq!(decimal(1234.0, 2), "1,234");
    }
}
