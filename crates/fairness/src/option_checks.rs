//! What the types of audit options cannot say, checked alike for tables and texts.

use std::time::Duration;

use super::audit::AuditError;

fn refuse(option: &'static str, value: String, expected: &'static str) -> Result<(), AuditError> {
    Err(AuditError::Option {
        option,
        value,
        expected,
    })
}

/// Refuses the first option that is 0.
pub(super) fn at_least_one(options: &[(&'static str, u64)]) -> Result<(), AuditError> {
    match options.iter().find(|(_, value)| *value == 0) {
        Some((option, _)) => refuse(option, "0".into(), "at least 1"),
        None => Ok(()),
    }
}

/// Refuses the first number of steps that is 2^31 or more.
pub(super) fn countable(options: &[(&'static str, u32)]) -> Result<(), AuditError> {
    match options.iter().find(|(_, value)| *value >= 1 << 31) {
        Some((option, value)) => refuse(option, value.to_string(), "below 2147483648"),
        None => Ok(()),
    }
}

/// Refuses a `--time` that is negative, not a number or beyond 10^9 seconds.
pub(super) fn search_seconds(seconds: Option<f64>) -> Result<(), AuditError> {
    match seconds {
        Some(seconds) if !(0.0..1e9).contains(&seconds) => {
            refuse("--time", format!("{seconds} s"), "below 1,000,000,000 s")
        }
        _ => Ok(()),
    }
}

/// The budget that `--time` sets.
pub(super) fn budget(seconds: Option<f64>) -> Option<Duration> {
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// Refuses a share outside [0, 1].
pub(super) fn share(option: &'static str, share: Option<f64>) -> Result<(), AuditError> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            refuse(option, share.to_string(), "a share from 0 to 1")
        }
        _ => Ok(()),
    }
}
