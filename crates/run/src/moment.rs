//! Points in time as results name them: in UTC, to the second, as RFC 3339 writes them.
//!
//! A calendar may say anything, and no result may fail for it: what is before 1970 is written as
//! the beginning of 1970, what is after 9999 as the end of 9999.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The number of seconds from 1970 to the end of 9999, beyond which RFC 3339 has no years.
const END: u64 = 253_402_300_799;

/// Returns the present time, by this machine's clock.
pub fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    rfc3339(since.map_or(0, |since| since.as_secs()))
}

/// Returns the point in time so many seconds after the beginning of 1970.
pub fn rfc3339(seconds: u64) -> String {
    let since = Duration::from_secs(seconds.min(END));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
}

/// Returns whether `text` is a day of the calendar such as 2026-05-04.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_seconds_is_a_point_in_time() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_777_887_000), "2026-05-04T09:30:00Z");
        for beyond in [END, END + 1, u64::MAX] {
            assert_eq!(rfc3339(beyond), "9999-12-31T23:59:59Z");
        }
        assert_eq!(now().len(), rfc3339(0).len());
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        assert!(is_date("2024-02-29") && is_date("2026-12-31"));
        for other in [
            "2026-02-30",
            "2026-13-01",
            "2026-1-01",
            "",
            "01.02.2026",
            "2026-02-01T",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }
}
