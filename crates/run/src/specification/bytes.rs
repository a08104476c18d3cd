//! A number of bytes in a specification.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The most: 1 PiB.
const MOST: u64 = 1 << 50;

/// The units, the largest first.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A number of bytes above zero, of 1 PiB at most, written as `1000`, `64KiB`, `64MiB` or `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(u64);

impl Bytes {
    /// Returns the number of bytes.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit());
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let unit = match unit.trim() {
            "" | "B" => Some(1),
            unit => UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .map(|(_, size)| *size),
        };
        let bytes = number.parse::<u64>().ok().zip(unit);
        bytes
            .and_then(|(number, unit)| number.checked_mul(unit))
            .filter(|bytes| (1..=MOST).contains(bytes))
            .map(Bytes)
            .ok_or_else(|| {
                "a number of bytes such as 1000, 64KiB, 64MiB or 2GiB, at most 1048576GiB"
                    .to_owned()
            })
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Bytes, String> {
        text.parse()
    }
}

impl fmt::Display for Bytes {
    /// Writes the number in the largest unit of which it is a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, size)| self.0.is_multiple_of(*size)) {
            Some((name, size)) => write!(f, "{}{name}", self.0 / size),
            None => self.0.fmt(f),
        }
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        bytes.to_string()
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "bytes",
            "examples": ["64MiB", "2GiB"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes, shown) in [
            ("1000", 1000, "1000"),
            ("64KiB", 65_536, "64KiB"),
            ("1024 KiB", 1 << 20, "1MiB"),
            ("2 GiB", 2 << 30, "2GiB"),
            ("1048576GiB", MOST, "1048576GiB"),
        ] {
            let read: Bytes = text.parse().unwrap();
            assert_eq!((read.get(), read.to_string().as_str()), (bytes, shown));
            assert_eq!(shown.parse(), Ok(read));
        }
        for wrong in [
            "",
            "0",
            "MiB",
            "-1",
            "1.5MiB",
            "1MB",
            "1048577GiB",
            "99999999999GiB",
        ] {
            assert!(wrong.parse::<Bytes>().is_err(), "{wrong}");
        }
    }
}
