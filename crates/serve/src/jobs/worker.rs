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

/// How long a job waits before it tries again whether the storage of artefacts answers.
const AWAY: Duration = Duration::from_secs(5);

/// How often the service tries to write the end of a job.
const TRIES: usize = 3;

/// How long to wait before another try, after a problem of this kind.
fn pause(kind: ProblemKind) -> Duration {
    match kind {
        ProblemKind::StorageAway => AWAY,
        _ => AFTER_FAULT,
    }
}

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
                    let (service, ends) = (self.clone(), ends.clone());
                    running.spawn(async move { service.work_on(job, calls, ends).await });
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

    /// Runs a job until it ends, and writes how it ended. Waits for a database or a storage of
    /// artefacts that is away, before and after the run.
    async fn work_on(
        &self,
        job: Job,
        mut calls: watch::Receiver<Call>,
        mut ends: watch::Receiver<bool>,
    ) {
        let ended = match self.prepared(&job, &mut calls).await {
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
            Err(ended) => ended,
        };
        let mut faults = 0;
        // The fault is in the log. A job whose end cannot be written is taken up at the next start,
        // or by another service.
        while let Err(problem) = self.finish(&job, &ended).await {
            let is_ending = *ends.borrow();
            match problem.kind {
                // Each request to it was sent several times.
                ProblemKind::StorageAway if is_ending => return,
                // It comes back, unless the service ends before.
                kind if kind.is_away() && !is_ending => {}
                _ => {
                    faults += 1;
                    if faults == TRIES {
                        return;
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause(problem.kind)) => {}
                _ = ends.changed() => {}
            }
        }
    }

    /// Has everything here that `job` needs, and returns its specification as the process runs it.
    /// Fails with the end of the job.
    async fn prepared(
        &self,
        job: &Job,
        calls: &mut watch::Receiver<Call>,
    ) -> Result<String, Ended> {
        loop {
            let scope = job.scope(super::Itself::at_work());
            let specification = async {
                self.read_at_hand(&scope, &job.specification).await?;
                self.under_way(job).await?;
                self.toml_of(job).await
            };
            let kind = match specification.await {
                Ok(specification) => return Ok(specification),
                Err(problem) if problem.kind.is_away() => problem.kind,
                Err(problem) => return Err(Ended::saying(Ending::Failed, problem.detail)),
            };
            let call = *calls.borrow_and_update();
            match call {
                Call::GoOn => {}
                Call::Stop => return Err(Ending::Stopped.into()),
                Call::Pause => return Err(Ending::Paused.into()),
            }
            tokio::select! {
                () = tokio::time::sleep(pause(kind)) => {}
                _ = calls.changed() => {}
            }
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
