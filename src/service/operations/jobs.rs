//! Jobs: start, list, watch, stop, go on, delete.

use tokio::sync::watch;

use crate::service::Service;
use crate::service::identifier::Id;
use crate::service::jobs::board::JobView;
use crate::service::jobs::request::JobRequest;
use crate::service::problem::Problem;
use crate::service::store::Caller;

/// Puts a training, an audit or a repair into the queue.
///
/// # Errors
/// When the request makes no sense, or the queue is full.
pub async fn start_job(
    service: &Service,
    caller: &Caller,
    label: &str,
    request: JobRequest,
) -> Result<JobView, Problem> {
    todo!()
}

/// All jobs, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn list_jobs(service: &Service) -> Result<Vec<JobView>, Problem> {
    todo!()
}

/// One job.
///
/// # Errors
/// When there is none with this identifier.
pub async fn job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    todo!()
}

/// A channel that shows the job now and whenever something about it changes; it ends with the job.
///
/// # Errors
/// When there is none with this identifier.
pub async fn watch_job(service: &Service, id: &Id) -> Result<watch::Receiver<JobView>, Problem> {
    todo!()
}

/// Asks a job to stop. What an audit has found by then is kept.
///
/// # Errors
/// When there is none, or it is at an end.
pub async fn stop_job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    todo!()
}

/// Puts a stopped training or audit back into the queue; it goes on where it was.
///
/// # Errors
/// When there is none, it was not stopped, or cannot go on.
pub async fn resume_job(service: &Service, id: &Id) -> Result<JobView, Problem> {
    todo!()
}

/// Deletes a job that is at an end, with its run directory and the model that it made.
///
/// # Errors
/// When there is none, it is not at an end, or another job needs it.
pub async fn delete_job(service: &Service, id: &Id) -> Result<(), Problem> {
    todo!()
}
