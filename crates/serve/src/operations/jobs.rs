//! Operations on jobs: start, list, watch, stop, resume, delete.

use tokio::sync::watch;

use super::removed;
use super::specifications::check;
use super::texts::label;
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobSpecification;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{
    Added, Bounds, Change, Contents, Job, JobState, NewJob, Record, Resumed, Scope,
};

/// Puts a job into the queue.
/// Fails when the specification makes no sense, or the queue is full.
pub async fn start_job(
    service: &Service,
    change: &Change,
    name: &str,
    specification: JobSpecification,
) -> Result<JobView, Problem> {
    let default_name = check(service, change, &specification).await?;
    let new = NewJob {
        label: label(name, &default_name)?,
        specification,
    };
    service.check_storage(change, 0).await?;
    let (changed, bounds) = (change.clone(), bounds(service));
    let added = service
        .store(move |store| store.add_job(&changed, &new, bounds))
        .await?;
    let job = match added {
        Added::Waits(job) => *job,
        Added::Full(waiting) => return Err(queue_full(waiting)),
        Added::Gone => return Err(gone_meanwhile()),
    };
    service.board.show(job.clone().into());
    queued(service, change, &job.id).await
}

fn bounds(service: &Service) -> Bounds {
    Bounds {
        queue: service.limits.queue,
        of_a_project: service.limits.queue_per_project,
    }
}

fn queue_full(waiting: u64) -> Problem {
    Problem::new(
        ProblemKind::QueueFull,
        format!("{waiting} jobs wait already; try again when some of them are done."),
    )
}

fn gone_meanwhile() -> Problem {
    Problem::conflict("Something that the job reads was deleted.")
}

/// Shows that a job waits, and has the queue look for the next job.
async fn queued(service: &Service, scope: &Scope, id: &Id) -> Result<JobView, Problem> {
    service.show_queue().await;
    let view = job(service, scope, id).await;
    service.queue.wake();
    view
}

/// The present views of `jobs`.
pub fn views(service: &Service, jobs: Vec<Job>) -> Vec<JobView> {
    jobs.into_iter().map(|job| view(service, job)).collect()
}

/// The present view of `job`.
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

/// Returns the view of a job.
pub async fn job(service: &Service, scope: &Scope, id: &Id) -> Result<JobView, Problem> {
    Ok(view(service, service.find(scope, id).await?))
}

/// Returns a channel that shows the job now and whenever something about it changes; it ends with
/// the job.
pub async fn watch_job(
    service: &Service,
    scope: &Scope,
    id: &Id,
) -> Result<watch::Receiver<JobView>, Problem> {
    // The board shows the jobs of all projects: the database decides whether this job may be seen.
    let view = job(service, scope, id).await?;
    if let Some(channel) = service.board.watch(id) {
        return Ok(channel);
    }
    let view = match view.job.state.is_final() {
        true => view,
        // The job came to its end between the two looks.
        false => job(service, scope, id).await?,
    };
    if !view.job.state.is_final() {
        // Another service was told of the job, just now.
        service.board.show(view.clone());
        if let Some(channel) = service.board.watch(id) {
            return Ok(channel);
        }
    }
    let (_, channel) = watch::channel(view);
    Ok(channel)
}

/// Asks a job to stop. What an audit has found by then is kept, and what a training or a repair has
/// learnt.
/// Fails when there is no such job, or it is at an end.
pub async fn stop_job(service: &Service, change: &Change, id: &Id) -> Result<JobView, Problem> {
    job(service, change, id).await?;
    let (changed, row) = (change.clone(), id.clone());
    let stopped = service
        .store(move |store| store.stop_job(&changed, &row))
        .await?;
    match stopped {
        Some(JobState::Stopping) => {
            service
                .board
                .change(id, |view| view.job.state = JobState::Stopping);
            service.queue.stop(id);
        }
        Some(_) => {
            service.board.show(job(service, change, id).await?);
            service.show_queue().await;
        }
        None => {
            let state = job(service, change, id).await?.job.state;
            return Err(Problem::conflict(format!(
                "The job cannot be stopped: it is {}.",
                state.name()
            )));
        }
    }
    job(service, change, id).await
}

/// Puts a stopped job back into the queue; it goes on where it was, if its kind can.
/// Fails when there is no such job, it was not stopped, or its time is used up.
pub async fn resume_job(service: &Service, change: &Change, id: &Id) -> Result<JobView, Problem> {
    let stopped = job(service, change, id).await?.job;
    if stopped.seconds >= service.limits.job_time.as_secs_f64() {
        return Err(Problem::conflict("The job has used up its run time."));
    }
    check(service, change, &stopped.specification).await?;
    let (changed, row, bounds) = (change.clone(), id.clone(), bounds(service));
    let moved = service
        .store(move |store| store.resume_job(&changed, &row, bounds))
        .await?;
    match moved {
        Resumed::Waits => forget_reports(service, id).await?,
        Resumed::Full(waiting) => return Err(queue_full(waiting)),
        Resumed::Gone => return Err(gone_meanwhile()),
        Resumed::NotStopped => {
            return Err(Problem::conflict(format!(
                "Only a stopped job can go on; this one is {}.",
                stopped.state.name()
            )));
        }
    }
    let waiting = job(service, change, id).await?;
    service.board.show(waiting);
    queued(service, change, id).await
}

/// Deletes a job that is at an end, with its run directory and the model that it made.
/// Fails when there is no such job, it is not at an end, or another job needs it.
pub async fn delete_job(service: &Service, change: &Change, id: &Id) -> Result<(), Problem> {
    let (changed, row) = (change.clone(), id.clone());
    let removal = service
        .store(move |store| store.remove_job(&changed, &row))
        .await?;
    removed(removal, Job::NAME)?;
    service.discard(Contents::of_job(id)).await
}

/// Removes the reports on a run, which is about to change.
async fn forget_reports(service: &Service, id: &Id) -> Result<(), Problem> {
    let (places, id) = (service.places.clone(), id.clone());
    service
        .blocking(move || Ok(places.remove_reports(&id)?))
        .await
}
