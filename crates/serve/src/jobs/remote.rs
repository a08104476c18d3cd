//! Workers on other machines: the answers to their requests.

use std::path::PathBuf;

use axum::body::Body;

use super::Itself;
use super::handed::{Announced, AtWorker, lost};
use super::queue::Held;
use super::state_of_run::{StateOfRun, state_of_run};
use super::wire::{Asks, Ended, Ending, Heard, Leased, Report};
use crate::identifier::Id;
use crate::problem::{Problem, ProblemKind};
use crate::service::{Service, unhindered};
use crate::store::{Job, Work};

/// The permission of the service itself, which works here.
const ITSELF: Itself = Itself::at_work();

/// The number of characters of a worker's message that are kept.
const MESSAGE: usize = 2000;

impl Service {
    /// Hands the job whose turn it is to a worker, if one waits.
    /// Fails when the worker is of another version.
    pub(crate) async fn hand_out(
        &self,
        work: &Work,
        asks: &Asks,
    ) -> Result<Option<Leased>, Problem> {
        let version = env!("CARGO_PKG_VERSION");
        if asks.version != version {
            return Err(Problem::conflict(format!(
                "The worker is probity {}, the service probity {version}; checkpoints belong to one version, so both must be the same.",
                asks.version.escape_debug()
            )));
        }
        let (service, worker) = (self.clone(), work.worker().clone());
        // A worker that goes away meanwhile must not leave a job that nobody holds.
        unhindered(async move {
            match service.take(Some(&worker)).await? {
                Some((job, _)) => service.leased(&job).await.map(Some),
                None => Ok(None),
            }
        })
        .await
    }

    async fn leased(&self, job: &Job) -> Result<Leased, Problem> {
        let held = self.queue.running().get(&job.id).cloned();
        let worker = held.and_then(|held| held.worker).ok_or_else(lost)?;
        let names: Vec<String> = worker.arrived.lock().await.kept.keys().cloned().collect();
        let (places, directory) = (self.places.clone(), self.places.run(&job.id));
        let run = self.blocking(move || {
            let files = names.iter().map(|name| directory.join(name));
            files
                .map(|file| super::handed::work_file(&places, &file))
                .collect()
        });
        Ok(Leased {
            job: job.id.clone(),
            lease: job.lease(),
            lease_seconds: self.limits.lease.as_secs_f64(),
            kind: job.kind,
            specification: self.toml_of(job).await?,
            seconds: self.time_of(job).as_secs_f64(),
            memory: self.limits.job_memory,
            reads: worker.reads.clone(),
            run: run.await?,
        })
    }

    /// Finds the job `id` that a worker holds by the number `lease`.
    /// Fails when the worker does not hold it, or no longer does.
    async fn held_by(
        &self,
        work: &Work,
        id: &Id,
        lease: u64,
    ) -> Result<(Held, std::sync::Arc<AtWorker>), Problem> {
        let held = self.queue.running().get(id).cloned();
        let held = match held.filter(|held| held.job.lease() == lease) {
            Some(held) => held,
            None => {
                let found = self.turned_to(work.worker(), id, lease).await?;
                found.ok_or_else(lost)?
            }
        };
        let worker = held.worker.clone();
        let worker = worker.filter(|worker| worker.token == *work.worker());
        Ok((held, worker.ok_or_else(lost)?))
    }

    /// The path of the file `path` in the data directory, if a job that the worker holds reads it,
    /// or the job's run directory holds it.
    pub(crate) async fn file_for(
        &self,
        work: &Work,
        id: &Id,
        lease: u64,
        path: &str,
    ) -> Result<PathBuf, Problem> {
        let (held, worker) = self.held_by(work, id, lease).await?;
        if worker.reads.iter().any(|file| file.path == path) {
            let file = self.places.root().join(path);
            let looked_at = file.clone();
            let is_here = self.blocking(move || Ok(looked_at.is_file())).await?;
            // The cache may have been emptied since the job was taken.
            if !is_here {
                let scope = held.job.scope(ITSELF);
                self.read_at_hand(&scope, &held.job.specification).await?;
            }
            return Ok(file);
        }
        let run = self.places.run(id);
        let arrived = worker.arrived.lock().await;
        let mut of_run = arrived.kept.keys().map(|name| run.join(name));
        of_run
            .find(|file| self.places.name_of(file) == path)
            .ok_or_else(|| Problem::missing("file that this job reads"))
    }

    /// Receives a file of the run of a job that the worker holds.
    /// Fails when the worker does not hold the job, and as [`Service::receive`] does.
    pub(crate) async fn receive_from(
        &self,
        work: &Work,
        id: &Id,
        lease: u64,
        announced: Announced,
        body: Body,
    ) -> Result<(), Problem> {
        let (held, worker) = self.held_by(work, id, lease).await?;
        self.receive(&held.job, &worker, announced, body).await?;
        worker.heard(self.limits.lease);
        Ok(())
    }

    /// Records the report of a worker about a job that it holds.
    /// Fails when the worker does not hold the job, or its report is impossible.
    pub(crate) async fn hear(
        &self,
        work: &Work,
        id: &Id,
        report: Report,
    ) -> Result<Heard, Problem> {
        let (held, worker) = self.held_by(work, id, report.lease).await?;
        worker.heard(self.limits.lease);
        let call = *held.calls.borrow();
        if let Some(mut progress) = report.progress.clone() {
            progress.phase = bounded(&progress.phase);
            progress.message = bounded(&progress.message);
            self.board.change(id, |view| view.progress = Some(progress));
        }
        let missing = match report.files.is_some() || report.ended.is_some() {
            true => {
                let service = self.clone();
                // This work runs to its end once begun, even if the worker goes away.
                unhindered(async move { service.settle(&held, &worker, report).await }).await?
            }
            false => Vec::new(),
        };
        Ok(Heard { call, missing })
    }

    /// Puts the arrived files in their places, and ends the job if the worker has ended it.
    async fn settle(
        &self,
        held: &Held,
        worker: &AtWorker,
        report: Report,
    ) -> Result<Vec<String>, Problem> {
        let mut arrived = worker.arrived.lock().await;
        arrived.expect_held()?;
        let (job, run) = (&held.job, self.places.run(&held.job.id));
        if let Some(files) = report.files {
            // A service that was taken for gone must not write into the directory of another's job.
            if !self.is_confirmed(job).await? {
                arrived.is_over = true;
                self.queue.forget(job);
                return Err(elsewhere());
            }
            let missing = arrived.missing(&files)?;
            if !missing.is_empty() {
                return Ok(missing);
            }
            let (mut taken, directory) = (std::mem::take(&mut *arrived), run.clone());
            let (outcome, back) = self
                .blocking(move || {
                    let outcome = taken.put(&directory, &files);
                    Ok((outcome, taken))
                })
                .await?;
            *arrived = back;
            outcome?;
        }
        if let Some(ended) = report.ended {
            let kind = job.kind;
            let state = self.blocking(move || Ok(state_of_run(&run, kind))).await?;
            if ended.ending == Ending::Done && state != StateOfRun::Finished {
                return Err(Problem::invalid("The run is said to be done, and is not."));
            }
            let message = ended.message.as_deref().map(bounded);
            let ending = ended.ending;
            let is_written = self.finish(job, &Ended { ending, message }).await?;
            arrived.is_over = true;
            if !is_written {
                return Err(elsewhere());
            }
        }
        worker.heard(self.limits.lease);
        Ok(Vec::new())
    }
}

/// The problem that another service took a job up whose worker still turns to this one. When the
/// worker asks again, this one takes it up, unless it was given back meanwhile.
fn elsewhere() -> Problem {
    Problem::new(
        ProblemKind::Busy,
        "Another service has taken the job up meanwhile; say it again.",
    )
}

/// A worker's text as far as it is shown.
fn bounded(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(MESSAGE).collect()
}
