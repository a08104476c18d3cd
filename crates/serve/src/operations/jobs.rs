//! Jobs: start, list, watch, stop, go on, delete.

use std::fs;
use std::path::PathBuf;

use tokio::sync::watch;

use super::specifications::check;
use super::texts::label;
use crate::download::ReportForm;
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobSpecification;
use crate::places::gone;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{Caller, Job, JobState, Model, NewJob};

/// Puts a training, an audit or a repair into the queue.
/// Fails when the specification makes no sense, or the queue is full.
pub async fn start_job(
    service: &Service,
    caller: &Caller,
    name: &str,
    specification: JobSpecification,
) -> Result<JobView, Problem> {
    let default_name = check(service, &specification).await?;
    let new = NewJob {
        owner: caller.token.clone(),
        label: label(name, &default_name)?,
        specification,
    };
    service.check_storage().await?;
    let queue = service.limits.queue;
    let added = service
        .store(move |store| store.add_job(new, queue))
        .await?;
    let Some(job) = added else {
        return Err(queue_full(queue));
    };
    service.board.show(job.clone().into());
    queued(service, &job.id).await
}

fn queue_full(queue: usize) -> Problem {
    Problem::new(
        ProblemKind::QueueFull,
        format!("{queue} jobs wait already; try again when some of them are done."),
    )
}

/// Shows every waiting job how many are before it.
pub async fn show_queue(service: &Service) {
    if let Ok(jobs) = service.store(|store| store.unfinished_jobs()).await {
        service.board.show_order(&jobs);
    }
}

/// Shows that a job waits, and has the queue look.
async fn queued(service: &Service, id: &Id) -> Result<JobView, Problem> {
    show_queue(service).await;
    let view = job(service, id).await;
    service.queue.wake();
    view
}

/// All jobs, the newest first.
pub async fn list_jobs(service: &Service) -> Result<Vec<JobView>, Problem> {
    let jobs = service.all().await?;
    Ok(jobs.into_iter().map(|job| view(service, job)).collect())
}

/// What is shown of `job` at present.
fn view(service: &Service, job: Job) -> JobView {
    match service.board.view(&job.id) {
        Some(shown) if !job.state.is_final() => JobView {
            progress: shown.progress.filter(|_| job.state != JobState::Queued),
            ahead: shown.ahead.filter(|_| job.state == JobState::Queued),
            job,
        },
        _ => job.into(),
    }
}

/// One job.
pub async fn job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    Ok(view(service, service.find(id).await?))
}

/// A channel that shows the job now and whenever something about it changes; it ends with the job.
pub async fn watch_job(service: &Service, id: &Id) -> Result<watch::Receiver<JobView>, Problem> {
    if let Some(channel) = service.board.watch(id) {
        return Ok(channel);
    }
    let (_, channel) = watch::channel(job(service, id).await?);
    Ok(channel)
}

/// Asks a job to stop. What an audit has found by then is kept.
/// Fails when there is none, or it is at an end.
pub async fn stop_job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    job(service, id).await?;
    let row = id.clone();
    let stopped = service
        .store(move |store| {
            if store.move_job(&row, JobState::Queued, JobState::Stopped)? {
                store.end_job(&row, JobState::Stopped, None, 0.0)?;
                return Ok(Some(JobState::Stopped));
            }
            let is_stopping = store.move_job(&row, JobState::Running, JobState::Stopping)?;
            Ok(is_stopping.then_some(JobState::Stopping))
        })
        .await?;
    match stopped {
        Some(JobState::Stopping) => {
            service
                .board
                .change(id, |view| view.job.state = JobState::Stopping);
            service.queue.stop(id);
        }
        Some(_) => {
            service.board.show(job(service, id).await?);
            show_queue(service).await;
        }
        None => {
            let state = job(service, id).await?.job.state;
            return Err(Problem::conflict(format!(
                "The job cannot be stopped: it is {}.",
                state.name()
            )));
        }
    }
    job(service, id).await
}

/// Puts a stopped job back into the queue; it goes on where it was.
/// Fails when there is none, it was not stopped, or its time is used up.
pub async fn resume_job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    let stopped = job(service, id).await?.job;
    if stopped.seconds >= service.limits.job_time.as_secs_f64() {
        return Err(Problem::conflict("The job has used up its run time."));
    }
    check(service, &stopped.specification).await?;
    let (row, queue) = (id.clone(), service.limits.queue);
    let moved = service
        .store(move |store| store.resume_job(&row, queue))
        .await?;
    match moved {
        None => return Err(queue_full(queue)),
        Some(false) => {
            return Err(Problem::conflict(format!(
                "Only a stopped job can go on; this one is {}.",
                stopped.state.name()
            )));
        }
        Some(true) => forget_reports(service, id).await?,
    }
    let waiting = job(service, id).await?;
    service.board.show(waiting);
    queued(service, id).await
}

/// Deletes a job that is at an end, with its run directory and the model that it made.
/// Fails when there is none, it is not at an end, or another job needs it.
pub async fn delete_job(service: &Service, id: &Id) -> Result<(), Problem> {
    if !job(service, id).await?.job.state.is_final() {
        return Err(Problem::conflict(
            "The job is not at an end; stop it first.",
        ));
    }
    let wanted = id.clone();
    refuse_if_needed(service, move |job| {
        job.model() == Some(&wanted) || job.runs().contains(&wanted)
    })
    .await?;
    let row = id.clone();
    service
        .store(move |store| {
            store.remove::<Model>(&row)?;
            store.remove::<Job>(&row)
        })
        .await?;
    let places = &service.places;
    let (directory, files) = (places.run(id), [places.specification(id), places.lock(id)]);
    service
        .blocking(move || {
            gone(fs::remove_dir_all(directory))?;
            remove_files(&files)
        })
        .await?;
    forget_reports(service, id).await
}

/// Removes the reports on a run, which is about to change.
async fn forget_reports(service: &Service, id: &Id) -> Result<(), Problem> {
    let files = ReportForm::ALL.map(|form| service.places.report(id, form));
    service.blocking(move || remove_files(&files)).await
}

fn remove_files(files: &[PathBuf]) -> Result<(), Problem> {
    for file in files {
        gone(fs::remove_file(file))?;
    }
    Ok(())
}

/// Refuses to delete what an unfinished job reads.
pub(super) async fn refuse_if_needed(
    service: &Service,
    reads: impl Fn(&JobSpecification) -> bool + Send + 'static,
) -> Result<(), Problem> {
    let jobs = service.store(|store| store.unfinished_jobs()).await?;
    match jobs.iter().find(|job| reads(&job.specification)) {
        Some(job) => Err(Problem::conflict(format!(
            "The job {} needs it; stop it first.",
            job.id
        ))),
        None => Ok(()),
    }
}
