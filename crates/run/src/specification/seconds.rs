//! A span of time in a specification.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The longest span of time: a year.
const MOST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The format of a span of time in a schema.
pub const TIME_SPAN: &str = "time-span";

/// A span of time above zero, of a year at most, written as `90s`, `5m` or `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seconds(Duration);

impl Seconds {
    /// Returns the span as a duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

/// So many seconds.
impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Seconds, String> {
        bounded(match seconds > MOST.as_secs_f64() {
            true => Some(Duration::MAX),
            false => Duration::try_from_secs_f64(seconds).ok(),
        })
    }
}

/// The span of a `duration` that may be one; there is none where nothing could be made of what was
/// given.
fn bounded(duration: Option<Duration>) -> Result<Seconds, String> {
    match duration {
        Some(duration) if duration > MOST => Err("a time of at most 366 days".to_owned()),
        Some(duration) if !duration.is_zero() => Ok(Seconds(duration)),
        _ => Err("a time above 0 such as 90s, 5m or 1h".to_owned()),
    }
}

impl From<Duration> for Seconds {
    fn from(duration: Duration) -> Seconds {
        Seconds(duration)
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seconds, String> {
        bounded(humantime::parse_duration(text).ok())
    }
}

impl TryFrom<String> for Seconds {
    type Error = String;

    fn try_from(text: String) -> Result<Seconds, String> {
        text.parse()
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl From<Seconds> for String {
    fn from(seconds: Seconds) -> String {
        seconds.to_string()
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": TIME_SPAN,
            "examples": ["90s", "5m", "1h"],
        })
    }
}
