//! What the jobs that run are told, and when to look for the next ones.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::identifier::Id;

/// What a running job is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Nothing.
    GoOn,
    /// A user wants it to stop.
    Stop,
    /// The service ends.
    Pause,
}

/// The queue of a service.
#[derive(Default)]
pub struct Queue {
    pub(super) changed: Notify,
    running: Mutex<HashMap<Id, watch::Sender<Call>>>,
}

impl Queue {
    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<Id, watch::Sender<Call>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a job was added.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Asks a job to stop, if it runs.
    pub fn stop(&self, id: &Id) {
        if let Some(calls) = self.running().get(id) {
            calls.send_replace(Call::Stop);
        }
    }

    /// Asks all running jobs to pause.
    pub(super) fn pause_all(&self) {
        for calls in self.running().values() {
            calls.send_if_modified(|call| {
                let goes_on = *call == Call::GoOn;
                if goes_on {
                    *call = Call::Pause;
                }
                goes_on
            });
        }
    }
}
