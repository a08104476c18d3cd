//! Leases: whoever runs a job takes it, holds it by a number, and ends it by that number.
//!
//! The database says which jobs run, at which worker, which service holds them or knows the worker,
//! and by which number each is held; everything else lies in memory. The service holds its own jobs
//! for as long as it runs, a worker for as long as it reports in time, by a clock that nobody sets.
//! A job that is given back gets its old place in the queue, and a larger number when it is taken the
//! next time: a holder that comes back with an old number is refused, whatever it brings. So is a
//! service from which another one took its jobs, since it was not heard of.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Itself;
use super::around::{Neighbours, PACE};
use super::handed::AtWorker;
use super::queue::Held;
use super::wire::{Call, Ended, Ending};
use crate::identifier::Id;
use crate::log;
use crate::operations::models::register_model;
use crate::problem::{Problem, ProblemKind};
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
        let _taking = self.queue.taking();
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
                // Once it is back, a look around finds that nobody holds the job.
                Err(problem) if problem.kind == ProblemKind::DatabaseAway => return Err(problem),
                // Whoever asked may ask again.
                Err(problem) if problem.kind == ProblemKind::StorageAway => {
                    self.write_end(&job, JobState::Queued, None).await?;
                    return Err(problem);
                }
                Err(problem) => {
                    let ended = Ended::saying(Ending::Failed, problem.detail);
                    self.finish(&job, &ended).await?;
                }
            }
        }
    }

    /// Records that `job` runs, at a `worker` or here.
    /// Fails when the files for the worker cannot be read.
    pub(super) async fn hold(
        &self,
        job: &Job,
        worker: Option<&Id>,
    ) -> Result<watch::Receiver<Call>, Problem> {
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
        let now: Result<Job, _> = self.find(&job.scope(ITSELF), &job.id).await;
        let now = now.inspect_err(|_| self.queue.forget(job))?;
        if now.state == JobState::Stopping {
            sender.send_replace(Call::Stop);
        }
        Ok(calls)
    }

    /// Stores what `job` left, and writes how it ended; its holder no longer holds it then. Returns
    /// whether it still did: where it did not, nothing is stored or written. Fails when it cannot be
    /// written. A job that pauses needs no storage that answers: it goes on where it was stored the
    /// last time, or here.
    pub(super) async fn finish(&self, job: &Job, ended: &Ended) -> Result<bool, Problem> {
        if !self.is_confirmed(job).await? {
            self.let_go(job, None).await;
            return Ok(false);
        }
        let scope = job.scope(ITSELF);
        let mut ended = ended.clone();
        if let Err(problem) = self.publish_run(job).await
            && (problem.kind != ProblemKind::StorageAway || ended.ending != Ending::Paused)
        {
            return Err(problem);
        }
        if ended.ending == Ending::Done
            && job.kind.makes_model()
            && let Err(problem) = register_model(self, ITSELF, &scope, job).await
        {
            // The model is as good as before once the database is back.
            if problem.kind.is_away() {
                return Err(problem);
            }
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
        self.write_end(job, state, message).await
    }

    /// Whether the database says that this service holds `job`: then no other one takes the job for
    /// the time that a service may be silent.
    pub(super) async fn is_confirmed(&self, job: &Job) -> Result<bool, Problem> {
        let row = job.clone();
        self.store(move |store| store.confirm(ITSELF, &row)).await
    }

    /// Writes the `state` in which `job` is now that its holder no longer holds it. Returns whether
    /// it still did.
    async fn write_end(
        &self,
        job: &Job,
        state: JobState,
        message: Option<String>,
    ) -> Result<bool, Problem> {
        let (row, seconds) = (job.clone(), self.seconds_of(job));
        let scope = job.scope(ITSELF);
        let (is_written, now) = self
            .store(move |store| {
                let is_written = match state {
                    JobState::Queued => store.requeue_job(ITSELF, &row, seconds, false)?,
                    state => store.end_job(ITSELF, &row, state, message.as_deref(), seconds)?,
                };
                Ok((is_written, store.find::<Job>(&scope, &row.id)?))
            })
            .await?;
        self.let_go(job, now.filter(|_| is_written)).await;
        Ok(is_written)
    }

    /// Puts `job`, whose holder is gone, back into the queue; or ends it, if a user has stopped it
    /// or it has begun often enough. What its holder left is stored, if this service still knows
    /// the holder. Fails when that cannot be written.
    pub(super) async fn give_back(&self, job: &Job) -> Result<(), Problem> {
        let _taking = self.queue.taking();
        if self.is_confirmed(job).await? {
            self.publish_run(job).await?;
        }
        let (row, seconds) = (job.clone(), self.seconds_of(job));
        let written = self
            .store(move |store| {
                let scope = row.scope(ITSELF);
                let now = store.find::<Job>(&scope, &row.id)?;
                let state = now
                    .filter(|now| now.lease() == row.lease() && store.holds(now))
                    .map(|now| now.state);
                let is_written = match state {
                    Some(JobState::Stopping) => {
                        store.end_job(ITSELF, &row, JobState::Stopped, None, seconds)?
                    }
                    Some(JobState::Running) if row.attempts >= ATTEMPTS => {
                        let message = "The service or its worker ended each time that it ran.";
                        let failed = JobState::Failed;
                        store.end_job(ITSELF, &row, failed, Some(message), seconds)?
                    }
                    Some(JobState::Running) => store.requeue_job(ITSELF, &row, seconds, true)?,
                    _ => false,
                };
                let now = store.find::<Job>(&scope, &row.id)?;
                Ok(now.filter(|_| is_written))
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

    /// Records that this service no longer holds `job`, and shows what is written of it: `now`.
    async fn let_go(&self, job: &Job, now: Option<Job>) {
        self.queue.forget(job);
        if let Some(now) = now.filter(|now| now.lease() == job.lease()) {
            log::job(&now.id, now.kind, now.state.name());
            self.board.show(now.into());
        }
        self.show_queue().await;
        self.queue.wake();
    }

    /// Shows the jobs that are not at an end, and takes up those that nobody holds, of the service
    /// that ended; where there may be several, looks around do. Those at workers stay there, if the
    /// workers report in time; the others go back into the queue.
    pub(crate) async fn take_up(&self) -> Result<(), ServiceError> {
        let failed = |problem: Problem| ServiceError::Queue(problem.detail);
        let unfinished = || self.store(|store| store.unfinished_jobs_of_all(ITSELF));
        for job in unfinished().await.map_err(failed)? {
            self.board.show(job.clone().into());
            if job.state != JobState::Queued && !self.is_shared() {
                self.take_up_one(&job).await.map_err(failed)?;
            }
        }
        self.show_queue().await;
        Ok(())
    }

    /// Takes up a job that nobody holds, unless another service does so first.
    pub(super) async fn take_up_one(&self, job: &Job) -> Result<(), Problem> {
        let _taking = self.queue.taking();
        let row = job.clone();
        let is_taken = self
            .store(move |store| store.take_up(ITSELF, &row, None))
            .await?;
        if !is_taken {
            return Ok(());
        }
        let worker = job.worker.as_ref();
        if worker.is_some() && self.hold(job, worker).await.is_ok() {
            log::job(&job.id, job.kind, "is at a worker");
            return Ok(());
        }
        self.give_back(job).await
    }

    /// Takes up the job `id`, which a worker that turned to this service holds by the number
    /// `lease`: another service that knew the worker is gone, or the worker has changed over.
    /// Returns what is held; none if the worker does not hold the job.
    pub(super) async fn turned_to(
        &self,
        worker: &Id,
        id: &Id,
        lease: u64,
    ) -> Result<Option<Held>, Problem> {
        let _turn = self.queue.turning.lock().await;
        let _taking = self.queue.taking();
        let here = |held: &Held| held.job.lease() == lease;
        let held = self.queue.running().get(id).cloned();
        if let Some(held) = held.filter(here) {
            return Ok(Some(held));
        }
        let (token, row) = (worker.clone(), id.clone());
        let taken = self.store(move |store| {
            let job = store.held_at(ITSELF, &token, &row, lease)?;
            match job {
                Some(job) if store.take_up(ITSELF, &job, Some(&token))? => Ok(Some(job)),
                _ => Ok(None),
            }
        });
        let Some(job) = taken.await? else {
            return Ok(None);
        };
        log::job(
            &job.id,
            job.kind,
            "is at a worker that turned to this service",
        );
        self.board.show(job.clone().into());
        if let Err(problem) = self.hold(&job, Some(worker)).await {
            self.give_back(&job).await?;
            return Err(problem);
        }
        Ok(self.queue.running().get(id).cloned())
    }

    /// Gives back the jobs of workers that are silent for too long, and looks around at the other
    /// services of the database, if there may be any; until `ended`. The one does not wait for the
    /// other: what is given back may have to be stored first, and a service that does not look around
    /// is taken for gone.
    pub(crate) async fn watch_leases(&self, ended: watch::Receiver<bool>) {
        tokio::join!(
            self.watch_workers(ended.clone()),
            self.watch_services(ended)
        );
    }

    async fn watch_workers(&self, mut ended: watch::Receiver<bool>) {
        let pace = (self.limits.lease / LOOKS).max(Duration::from_millis(50));
        loop {
            self.give_back_silent().await;
            tokio::select! {
                () = tokio::time::sleep(pace) => {}
                _ = ended.changed() => return,
            }
        }
    }

    async fn watch_services(&self, mut ended: watch::Receiver<bool>) {
        if !self.is_shared() {
            return;
        }
        let mut neighbours = Neighbours::new(self.limits.lease);
        loop {
            // A fault is in the log; the next look may find more.
            let _ = self.look_around(&mut neighbours).await;
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                _ = ended.changed() => return,
            }
        }
    }

    /// Records that this service ends: the jobs that it leaves at workers may be taken up by others.
    pub(crate) async fn leave(&self) {
        // A fault is in the log; to others the service is then one that was killed.
        let _ = self.store(|store| store.end(ITSELF)).await;
    }

    async fn give_back_silent(&self) {
        // No report is heard while the database does not say whose it is.
        if self.was_away_within(self.limits.lease) {
            return;
        }
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
