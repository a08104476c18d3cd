//! Works off the queue: which job runs when, and what is written about it.
//!
//! One task takes jobs in the order in which they were asked for, as many at a time as the limits allow. The database says
//! where a job stands; the [`Board`](super::board::Board) shows it to whoever watches.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::queue::Call;
use super::run::{Ending, run};
use super::specification::JobKind;
use crate::identifier::Id;
use crate::log;
use crate::operations::jobs::show_queue;
use crate::operations::models::register_model;
use crate::service::{Service, ServiceError};
use crate::store::{Job, JobState};

/// Attempts of a job that the service may be killed in; then the job is taken for the cause.
const ATTEMPTS: u32 = 5;

/// How long the queue waits after a fault of the database.
const AFTER_FAULT: Duration = Duration::from_secs(1);

impl Service {
    /// Works off the queue until `ends`, which also pauses the jobs that run.
    pub(crate) async fn work_off(&self, mut ends: watch::Receiver<bool>) {
        let mut running = JoinSet::new();
        loop {
            let is_full = running.len() >= self.limits.jobs;
            let claimed = match is_full || *ends.borrow() {
                true => Ok(None),
                false => self.store(|store| store.claim_job()).await,
            };
            match claimed {
                Ok(Some(job)) => {
                    let (sender, calls) = watch::channel(Call::GoOn);
                    self.queue.running().insert(job.id.clone(), sender);
                    let service = self.clone();
                    running.spawn(async move { service.work_on(job, calls).await });
                    show_queue(self).await;
                    continue;
                }
                Ok(None) => {}
                Err(_) => tokio::time::sleep(AFTER_FAULT).await,
            }
            if *ends.borrow() {
                break;
            }
            tokio::select! {
                () = self.queue.changed.notified() => {}
                Some(_) = running.join_next() => {}
                _ = ends.changed() => {}
            }
        }
        self.queue.pause_all();
        while running.join_next().await.is_some() {}
    }

    /// Puts the jobs that ran when the service ended back into the queue.
    pub(crate) async fn take_up(&self) -> Result<(), ServiceError> {
        let jobs = self
            .store(|store| {
                for job in store.unfinished_jobs()? {
                    match job.state {
                        JobState::Stopping => {
                            store.end_job(&job.id, JobState::Stopped, None, 0.0)?;
                        }
                        JobState::Running if job.attempts >= ATTEMPTS => {
                            let message = "The service ended each time that it ran.";
                            store.end_job(&job.id, JobState::Failed, Some(message), 0.0)?;
                        }
                        JobState::Running => store.requeue_job(&job.id, 0.0, true)?,
                        _ => {}
                    }
                }
                store.unfinished_jobs()
            })
            .await
            .map_err(|problem| ServiceError::Queue(problem.detail))?;
        for job in &jobs {
            log::job(&job.id, job.kind, "waits");
            self.board.show(job.clone().into());
        }
        self.board.show_order(&jobs);
        Ok(())
    }

    /// Whether a user stopped a job between its turn and its beginning.
    async fn was_stopped(&self, id: &Id) -> bool {
        let job: Result<Job, _> = self.find(id).await;
        job.is_ok_and(|job| job.state == JobState::Stopping)
    }

    /// Runs a job to an end and writes what became of it.
    async fn work_on(&self, job: Job, calls: watch::Receiver<Call>) {
        log::job(&job.id, job.kind, "begins");
        self.board.show(job.clone().into());
        let began = Instant::now();
        let mut ending = match self.was_stopped(&job.id).await {
            true => Ending::Stopped,
            false => run(self, &job, calls).await,
        };
        if matches!(ending, Ending::Done(_))
            && job.kind != JobKind::Audit
            && let Err(problem) = register_model(self, &job).await
        {
            ending = Ending::Failed(problem.detail);
        }
        self.queue.running().remove(&job.id);
        let seconds = began.elapsed().as_secs_f64();
        let (state, message) = match ending {
            Ending::Done(message) => (JobState::Done, message),
            Ending::Stopped => (JobState::Stopped, None),
            Ending::OutOfTime => {
                let limit = humantime::format_duration(self.limits.job_time);
                let message = format!("It reached the time limit of {limit}.");
                (JobState::Stopped, Some(message))
            }
            Ending::Paused => (JobState::Queued, None),
            Ending::Failed(message) => (JobState::Failed, Some(message)),
        };
        log::job(&job.id, job.kind, state.name());
        let id = job.id.clone();
        let written = self
            .store(move |store| {
                match state {
                    JobState::Queued => store.requeue_job(&id, seconds, false)?,
                    state => store.end_job(&id, state, message.as_deref(), seconds)?,
                }
                store.find::<Job>(&id)
            })
            .await;
        if let Ok(Some(job)) = written {
            self.board.show(job.into());
        }
    }
}
