//! Numbers in messages.

use std::fmt;

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

/// A number with as many digits as say something: 0.30000000000000004 as `0.3`.
pub fn readable(value: f64) -> String {
    let rounded = format!("{value:.9e}").parse().unwrap_or(value);
    Written(rounded).to_string()
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
