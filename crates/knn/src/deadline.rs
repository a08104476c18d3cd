//! The time at which a search has to give up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time at which a search has to give up; never, unless stated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline<'f> {
    end: Option<Instant>,
    stop: Option<&'f AtomicBool>,
}

impl<'f> Deadline<'f> {
    /// Returns a deadline that never passes.
    pub fn never() -> Self {
        Self::default()
    }

    /// Returns the deadline that also passes once `stop` is set.
    pub fn or_when(self, stop: &'f AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// Returns the deadline that passes after `limit` from now; a limit beyond what the clock can
    /// express is none.
    pub fn after(limit: Duration) -> Self {
        Self {
            end: Instant::now().checked_add(limit),
            stop: None,
        }
    }

    /// Returns whether the deadline has passed.
    pub fn passed(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
