//! Points in time, to the second.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use probity_run::moment::rfc3339;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// A point in time, in seconds since 1970 (UTC). Written as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-05-04T09:30:00Z")]
pub struct Moment(pub u64);

impl Moment {
    /// The present moment.
    pub fn now() -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Moment(since.map_or(0, |since| since.as_secs()))
    }

    /// The moment that is `duration` later.
    pub fn after(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_add(duration.as_secs()))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rfc3339(self.0))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
