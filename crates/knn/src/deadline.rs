//! When a search has to give up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When a search has to give up; never, unless stated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline<'f> {
    end: Option<Instant>,
    stop: Option<&'f AtomicBool>,
}

impl<'f> Deadline<'f> {
    /// No limit.
    pub fn never() -> Self {
        Self::default()
    }

    /// Gives up as well once `stop` is set.
    pub fn or_when(self, stop: &'f AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// `limit` from now; a limit beyond what the clock can express is none.
    pub fn after(limit: Duration) -> Self {
        Self {
            end: Instant::now().checked_add(limit),
            stop: None,
        }
    }

    /// Whether the time is over.
    pub fn passed(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
