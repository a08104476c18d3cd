//! The current views of the jobs that are not at an end, for those who watch them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::progress::Progress;
use crate::identifier::Id;
use crate::store::{Job, JobState};

/// A job, with its progress.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JobView {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// The progress of the job, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The number of jobs that come before the job, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
}

impl From<Job> for JobView {
    fn from(job: Job) -> JobView {
        let is_at_work = [JobState::Running, JobState::Stopping].contains(&job.state);
        JobView {
            progress: job.progress.clone().filter(|_| is_at_work),
            ahead: None,
            job,
        }
    }
}

/// The views of all jobs that are not at an end.
#[derive(Default)]
pub struct Board {
    views: Mutex<HashMap<Id, watch::Sender<JobView>>>,
}

impl Board {
    fn views(&self) -> MutexGuard<'_, HashMap<Id, watch::Sender<JobView>>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows `view` to all who watch its job. The last view of a job is final: the channel then
    /// ends.
    pub fn show(&self, view: JobView) {
        let mut views = self.views();
        let id = view.job.id.clone();
        let is_final = view.job.state.is_final();
        match views.get(&id) {
            Some(sender) => {
                sender.send_replace(view);
            }
            None if !is_final => {
                views.insert(id.clone(), watch::Sender::new(view));
            }
            None => {}
        }
        if is_final {
            views.remove(&id);
        }
    }

    /// Changes what is shown of the job `id`, if it is shown.
    pub fn change(&self, id: &Id, change: impl FnOnce(&mut JobView)) {
        if let Some(sender) = self.views().get(id) {
            sender.send_modify(change);
        }
    }

    /// Shows for each of the `jobs`, which wait and come in the order of their turns, how many jobs
    /// come before it.
    pub fn show_order(&self, jobs: &[Job]) {
        for (ahead, job) in (0..).zip(jobs) {
            self.change(&job.id, |view| {
                // The job may have begun since.
                if view.job.state == JobState::Queued {
                    view.ahead = Some(ahead);
                }
            });
        }
    }

    /// The present views of all jobs.
    pub(super) fn all(&self) -> HashMap<Id, JobView> {
        let views = self.views();
        let now = views
            .iter()
            .map(|(id, view)| (id.clone(), view.borrow().clone()));
        now.collect()
    }

    /// Shows `now` of the job `id` in place of the view `before`, if nothing else was shown since;
    /// nothing, if there is no such job any more.
    pub(super) fn replace(&self, id: &Id, before: Option<&JobView>, now: Option<JobView>) {
        if self.view(id).as_ref() != before {
            return;
        }
        match now {
            Some(now) => self.show(now),
            None => {
                self.views().remove(id);
            }
        }
    }

    /// The present view of the job `id`, if it is not at an end.
    pub fn view(&self, id: &Id) -> Option<JobView> {
        self.views().get(id).map(|sender| sender.borrow().clone())
    }

    /// Returns a channel with all views of the job `id` from now on, if it is not at an end.
    pub fn watch(&self, id: &Id) -> Option<watch::Receiver<JobView>> {
        self.views().get(id).map(watch::Sender::subscribe)
    }

    /// Ends all channels.
    pub fn close(&self) {
        self.views().clear();
    }
}
