//! Leases: whoever runs a job takes it, holds it by a number, and ends it by that number.
//!
//! The database says which jobs run, at which worker, and by which number each is held; everything
//! else lies in memory. The service holds its own jobs for as long as it runs, a worker for as long
//! as it reports in time, by a clock that nobody sets. A job that is given back gets its old place
//! in the queue, and a larger number when it is taken the next time: a holder that comes back with
//! an old number is refused, whatever it brings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Itself;
use super::handed::AtWorker;
use super::queue::Held;
use super::wire::{Call, Ended, Ending};
use crate::identifier::Id;
use crate::log;
use crate::operations::models::register_model;
use crate::problem::Problem;
use crate::service::{Service, ServiceError};
use crate::store::{Job, JobState};

/// The number of attempts of a job during which the service or a worker may be killed; after that
/// the job is taken for the cause.
const ATTEMPTS: u32 = 5;

/// The permission of the service itself, which works here.
const ITSELF: Itself = Itself::at_work();

/// How often silent workers are looked for, in parts of the time that they may be silent.
const LOOKS: u32 = 8;

impl Service {
    /// Takes the job whose turn it is, for a `worker` or for the service itself, and returns the
    /// job with the channel of the calls to it.
    pub(super) async fn take(
        &self,
        worker: Option<&Id>,
    ) -> Result<Option<(Job, watch::Receiver<Call>)>, Problem> {
        loop {
            let token = worker.cloned();
            let claimed = self
                .store(move |store| store.claim_job(ITSELF, token.as_ref()))
                .await?;
            let Some(job) = claimed else {
                return Ok(None);
            };
            let where_to = match worker {
                Some(worker) => format!("begins at worker {worker}"),
                None => "begins".to_owned(),
            };
            log::job(&job.id, job.kind, &where_to);
            self.board.show(job.clone().into());
            self.show_queue().await;
            match self.hold(&job, worker).await {
                Ok(calls) => return Ok(Some((job, calls))),
                Err(problem) => {
                    let ended = Ended::saying(Ending::Failed, problem.detail);
                    self.finish(&job, &ended).await?;
                }
            }
        }
    }

    /// Records that `job` runs, at a `worker` or here.
    /// Fails when the files for the worker cannot be read.
    async fn hold(&self, job: &Job, worker: Option<&Id>) -> Result<watch::Receiver<Call>, Problem> {
        let worker = match worker {
            Some(token) => Some(Arc::new(AtWorker::new(self, job, token).await?)),
            None => None,
        };
        let (sender, calls) = watch::channel(Call::GoOn);
        let held = Held {
            job: job.clone(),
            calls: sender.clone(),
            began: Instant::now(),
            worker,
        };
        self.queue.running().insert(job.id.clone(), held);
        // A user may have stopped the job before it was held.
        let now: Job = self.find(&job.scope(ITSELF), &job.id).await?;
        if now.state == JobState::Stopping {
            sender.send_replace(Call::Stop);
        }
        Ok(calls)
    }

    /// Writes how `job` ended; its holder no longer holds it then. Fails when it cannot be written.
    pub(super) async fn finish(&self, job: &Job, ended: &Ended) -> Result<(), Problem> {
        let scope = job.scope(ITSELF);
        let mut ended = ended.clone();
        if ended.ending == Ending::Done
            && job.kind.makes_model()
            && let Err(problem) = register_model(self, ITSELF, &scope, job).await
        {
            ended = Ended::saying(Ending::Failed, problem.detail);
        }
        let (state, message) = match ended.ending {
            Ending::Done => (JobState::Done, ended.message),
            Ending::Stopped => (JobState::Stopped, None),
            Ending::OutOfTime => {
                let limit = humantime::format_duration(self.limits.job_time);
                let message = format!("It reached the time limit of {limit}.");
                (JobState::Stopped, Some(message))
            }
            Ending::OutOfSpace => {
                let message =
                    "There was no room left on the disk; delete something, and let it go on.";
                (
                    JobState::Stopped,
                    ended.message.or(Some(message.to_owned())),
                )
            }
            Ending::Paused => (JobState::Queued, None),
            Ending::Failed => (JobState::Failed, ended.message),
        };
        let (row, seconds) = (job.clone(), self.seconds_of(job));
        let written = self
            .store(move |store| {
                match state {
                    JobState::Queued => store.requeue_job(ITSELF, &row, seconds, false)?,
                    state => store.end_job(ITSELF, &row, state, message.as_deref(), seconds)?,
                }
                store.find::<Job>(&scope, &row.id)
            })
            .await?;
        self.let_go(job, written).await;
        Ok(())
    }

    /// Puts `job`, whose holder is gone, back into the queue; or ends it, if a user has stopped it
    /// or it has begun often enough. Fails when that cannot be written.
    async fn give_back(&self, job: &Job) -> Result<(), Problem> {
        let (row, seconds) = (job.clone(), self.seconds_of(job));
        let written = self
            .store(move |store| {
                let scope = row.scope(ITSELF);
                let now = store.find::<Job>(&scope, &row.id)?;
                let state = now
                    .filter(|now| now.lease() == row.lease())
                    .map(|now| now.state);
                match state {
                    Some(JobState::Stopping) => {
                        store.end_job(ITSELF, &row, JobState::Stopped, None, seconds)?;
                    }
                    Some(JobState::Running) if row.attempts >= ATTEMPTS => {
                        let message = "The service or its worker ended each time that it ran.";
                        let failed = JobState::Failed;
                        store.end_job(ITSELF, &row, failed, Some(message), seconds)?;
                    }
                    Some(JobState::Running) => store.requeue_job(ITSELF, &row, seconds, true)?,
                    _ => {}
                }
                store.find::<Job>(&scope, &row.id)
            })
            .await?;
        self.let_go(job, written).await;
        Ok(())
    }

    /// The number of seconds that `job` has run since it was taken.
    fn seconds_of(&self, job: &Job) -> f64 {
        let running = self.queue.running();
        let held = running.get(&job.id);
        let held = held.filter(|held| held.job.lease() == job.lease());
        held.map_or(0.0, |held| held.began.elapsed().as_secs_f64())
    }

    /// Records that nobody holds `job` any more, and shows its present state `now`.
    async fn let_go(&self, job: &Job, now: Option<Job>) {
        {
            let mut running = self.queue.running();
            let is_same = |held: &Held| held.job.lease() == job.lease();
            if running.get(&job.id).is_some_and(is_same) {
                running.remove(&job.id);
            }
        }
        if let Some(now) = now.filter(|now| now.lease() == job.lease()) {
            log::job(&now.id, now.kind, now.state.name());
            self.board.show(now.into());
        }
        self.show_queue().await;
        self.queue.wake();
    }

    /// Takes up the jobs that ran when the service ended. Those at workers stay there, if the
    /// workers report in time; the others go back into the queue.
    pub(crate) async fn take_up(&self) -> Result<(), ServiceError> {
        let failed = |problem: Problem| ServiceError::Queue(problem.detail);
        let unfinished = || self.store(|store| store.unfinished_jobs_of_all(ITSELF));
        for job in unfinished().await.map_err(failed)? {
            self.board.show(job.clone().into());
            if job.state == JobState::Queued {
                continue;
            }
            let worker = job.worker.clone();
            if worker.is_some() && self.hold(&job, worker.as_ref()).await.is_ok() {
                log::job(&job.id, job.kind, "is at a worker");
                continue;
            }
            self.give_back(&job).await.map_err(failed)?;
        }
        self.show_queue().await;
        Ok(())
    }

    /// Gives back the jobs of workers that are silent for too long, until `ended`.
    pub(crate) async fn watch_leases(&self, mut ended: watch::Receiver<bool>) {
        let pace = (self.limits.lease / LOOKS).max(Duration::from_millis(50));
        loop {
            self.give_back_silent().await;
            tokio::select! {
                () = tokio::time::sleep(pace) => {}
                _ = ended.changed() => return,
            }
        }
    }

    async fn give_back_silent(&self) {
        let held: Vec<Held> = self.queue.running().values().cloned().collect();
        for held in held {
            let Some(worker) = &held.worker else { continue };
            // Arrived files are being put in their places: that counts as a report of the worker.
            let Ok(mut arrived) = worker.arrived.try_lock() else {
                continue;
            };
            if worker.is_silent() {
                arrived.is_over = true;
                log::job(
                    &held.job.id,
                    held.job.kind,
                    "is given back: its worker is silent",
                );
                // A fault is in the log; the next look tries again.
                let _ = self.give_back(&held.job).await;
            }
        }
    }
}
