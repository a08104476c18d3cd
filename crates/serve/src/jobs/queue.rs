//! The jobs that run: who holds them, what the holders are told, and when to look for the next
//! jobs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, watch};

use super::Itself;
use super::handed::AtWorker;
use super::wire::Call;
use crate::identifier::Id;
use crate::service::Service;
use crate::store::Job;

/// A job that runs.
#[derive(Clone)]
pub(super) struct Held {
    /// The job, as it was taken.
    pub job: Job,
    /// The channel of the calls to whoever runs the job.
    pub calls: watch::Sender<Call>,
    /// The time at which the job was taken.
    pub began: Instant,
    /// The worker that holds the job; none: the service itself.
    pub worker: Option<Arc<AtWorker>>,
}

impl Held {
    /// Asks whoever runs the job to pause, unless they were asked something else before.
    pub(super) fn pause(&self) {
        self.calls.send_if_modified(|call| {
            let goes_on = *call == Call::GoOn;
            if goes_on {
                *call = Call::Pause;
            }
            goes_on
        });
    }
}

/// The queue of a service.
#[derive(Default)]
pub struct Queue {
    pub(super) changed: Notify,
    running: Mutex<HashMap<Id, Held>>,
    taking: AtomicUsize,
    /// A lock held while a job is taken up whose worker turned to this service.
    pub(super) turning: tokio::sync::Mutex<()>,
}

/// A job is being taken or given back: the database may say that this service holds it before it does,
/// or when it no longer does.
pub(super) struct Taking<'q>(&'q AtomicUsize);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Queue {
    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<Id, Held>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a job is being taken or given back, until the result is dropped.
    pub(super) fn taking(&self) -> Taking<'_> {
        self.taking.fetch_add(1, Ordering::SeqCst);
        Taking(&self.taking)
    }

    /// Whether a job is being taken or given back.
    pub(super) fn is_taking(&self) -> bool {
        self.taking.load(Ordering::SeqCst) > 0
    }

    /// Signals that there may be something to do: a job was added, or another one freed its place.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Records that `job` is no longer held.
    pub(super) fn forget(&self, job: &Job) {
        let mut running = self.running();
        let is_same = |held: &Held| held.job.lease() == job.lease();
        if running.get(&job.id).is_some_and(is_same) {
            running.remove(&job.id);
        }
    }

    /// Asks a job to stop, if it runs.
    pub fn stop(&self, id: &Id) {
        if let Some(held) = self.running().get(id) {
            held.calls.send_replace(Call::Stop);
        }
    }

    /// Asks all jobs that run at the service itself to pause; those at workers go on there.
    pub(super) fn pause_all(&self) {
        let running = self.running();
        let own = running.values().filter(|held| held.worker.is_none());
        own.for_each(Held::pause);
    }
}

impl Service {
    /// Shows for every waiting job how many jobs have their turns before it.
    pub(crate) async fn show_queue(&self) {
        if let Ok(jobs) = self.store(|store| store.queue(Itself::at_work())).await {
            self.board.show_order(&jobs);
        }
    }
}
