//! The worker within the service: takes jobs from the queue and runs them, as many at a time as the
//! limits allow; none where the limits leave all of them to workers elsewhere.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::run::Attempt;
use super::wire::{Call, Ended, Ending};
use crate::operations::specifications::files;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::Job;

/// How long the queue waits after a fault of the database.
const AFTER_FAULT: Duration = Duration::from_secs(1);

/// How often the service tries to write the end of a job.
const TRIES: usize = 3;

impl Service {
    /// Runs the jobs of the queue until `ends`, which also pauses the jobs that run here.
    pub(crate) async fn work_off(&self, mut ends: watch::Receiver<bool>) {
        let mut running = JoinSet::new();
        loop {
            let is_full = running.len() >= self.limits.jobs;
            let taken = match is_full || *ends.borrow() {
                true => Ok(None),
                false => self.take(None).await,
            };
            match taken {
                Ok(Some((job, calls))) => {
                    let service = self.clone();
                    running.spawn(async move { service.work_on(job, calls).await });
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

    /// Runs a job until it ends, and writes how it ended.
    async fn work_on(&self, job: Job, calls: watch::Receiver<Call>) {
        let told = calls.clone();
        let ended = match self.toml_of(&job).await {
            Ok(specification) => {
                let attempt = Attempt {
                    program: &self.program,
                    places: &self.places,
                    job: &job.id,
                    kind: job.kind,
                    specification,
                    memory: self.limits.job_memory,
                    threads: self.limits.job_threads,
                    time: self.time_of(&job),
                };
                let show = |progress| {
                    let board = &self.board;
                    board.change(&job.id, |view| view.progress = Some(progress));
                };
                attempt.run(calls, show).await
            }
            Err(problem) => Ended::saying(Ending::Failed, problem.detail),
        };
        let mut tries = 0;
        while tries < TRIES {
            let is_ending = *told.borrow() == Call::Pause;
            match self.finish(&job, &ended).await {
                Ok(_) => return,
                // It comes back, unless the service ends before.
                Err(problem) if problem.kind == ProblemKind::DatabaseAway && !is_ending => {}
                Err(_) => tries += 1,
            }
            // The fault is in the log. A job whose end cannot be written is taken up at the next
            // start.
            tokio::time::sleep(AFTER_FAULT).await;
        }
    }

    /// The specification that the process of `job` runs, with paths as seen from its run directory.
    pub(super) async fn toml_of(&self, job: &Job) -> Result<String, Problem> {
        let scope = job.scope(super::Itself::at_work());
        let files = files(self, &scope, &job.specification).await?;
        let text = job.specification.of_files(&files).to_toml();
        text.map_err(|error| Problem::internal(&error))
    }

    /// The time that `job` may still run.
    pub(super) fn time_of(&self, job: &Job) -> Duration {
        let spent = Duration::try_from_secs_f64(job.seconds).unwrap_or_default();
        self.limits.job_time.saturating_sub(spent)
    }
}
