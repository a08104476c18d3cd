//! Numbers in words and digits, the same ones in a terminal, on a page and in Markdown.

use probity_run::number::FIXED_SPACE;
pub use probity_run::number::{count, counted, interval, percent, signed};

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

/// Decimals that the numbers of a column have in common: as many as give the smallest of them two
/// digits that count, and four at most.
pub(crate) fn decimals_of(values: impl Iterator<Item = f64> + Clone) -> usize {
    if values.clone().all(|value| value.fract() == 0.0) {
        return 0;
    }
    let sizes = values.map(f64::abs);
    let sizes = sizes.filter(|size| size.is_finite() && *size > 0.0);
    let least = sizes.fold(f64::INFINITY, f64::min);
    (1.0 - least.log10().floor()).clamp(1.0, 4.0) as usize
}

/// A number with so many decimals, thousands set apart.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) = text.split_at(text.find('.').unwrap_or(text.len()));
    let whole = whole.parse().map_or(whole.to_owned(), count);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    format!("{sign}{whole}{part}")
}

/// Numbers of a column with the same decimals.
pub(crate) fn in_column(values: &[f64]) -> Vec<String> {
    let decimals = decimals_of(values.iter().copied());
    values.iter().map(|&value| fixed(value, decimals)).collect()
}

/// Seconds of a column in one unit, that of the longest, with the same decimals.
pub(crate) fn seconds_in_column(values: &[f64]) -> Vec<String> {
    let longest = values.iter().copied().fold(0.0, f64::max);
    let (unit, name) = match longest {
        longest if longest < 1e-3 => (1e-6, "µs"),
        longest if longest < 1.0 => (1e-3, "ms"),
        longest if longest < 120.0 => (1.0, "s"),
        _ => (60.0, "min"),
    };
    let scaled: Vec<f64> = values.iter().map(|value| value / unit).collect();
    let shown = in_column(&scaled).into_iter();
    shown
        .map(|value| format!("{value}{FIXED_SPACE}{name}"))
        .collect()
}

/// Whether `text` is a figure, an interval of figures or both, with their units.
pub(crate) fn is_figure(text: &str) -> bool {
    const UNITS: [&str; 8] = ["", "e", "s", "ms", "µs", "min", "k", "M"];
    text.split(|c: char| !c.is_alphabetic())
        .all(|word| UNITS.contains(&word))
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

    #[test]
    fn columns_have_one_precision() {
        assert_eq!(
            in_column(&[1234.5, 0.5, -7.25]),
            ["1,234.50", "0.50", "-7.25"]
        );
        assert_eq!(in_column(&[3.0, 12_000.0]), ["3", "12,000"]);
        assert_eq!(
            in_column(&[0.0, f64::NAN, 0.000_01]),
            ["0.0000", "–", "0.0000"]
        );
        let times = seconds_in_column(&[0.0101, 0.12, 2.0]);
        assert_eq!(
            times,
            ["0.010", "0.120", "2.000"].map(|time| format!("{time}\u{a0}s"))
        );
        assert_eq!(seconds_in_column(&[3.125e-4]), ["312.5\u{a0}µs"]);
        for text in [
            "12,345",
            "0.31 % (0.20 % – 0.40 %)",
            "1.5 ± 0.3",
            "12 ms",
            "1.00e-7",
        ] {
            assert!(is_figure(text), "{text}");
        }
        for text in ["row 3", "17–30 years", "3 after 5"] {
            assert!(!is_figure(text), "{text}");
        }
    }
}
