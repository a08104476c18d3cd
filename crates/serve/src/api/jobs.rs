//! `/api/v1/jobs`

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Deserialize;
use serde_json::Value;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};
use utoipa::ToSchema;

use super::extract::{Access, Asked, Created, One, Sent};
use crate::download::ReportForm;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobSpecification;
use crate::operations::{jobs as operations, results};
use crate::problem::{Problem, ProblemDocument};

/// How often a stream without news shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// What a job shall be called.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelQuery {
    #[serde(default)]
    label: String,
}

/// Which report.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportQuery {
    #[serde(default)]
    form: ReportForm,
}

/// All jobs.
#[utoipa::path(
    get, path = "/api/v1/jobs", tag = "jobs",
    responses((status = 200, description = "The jobs, the newest first", body = Vec<JobView>), ProblemDocument)
)]
pub(super) async fn list(access: Access) -> Result<Json<Vec<JobView>>, Problem> {
    Ok(Json(operations::list_jobs(&access.service).await?))
}

/// Start a training, an audit or a repair.
#[utoipa::path(
    post, path = "/api/v1/jobs", tag = "jobs",
    params(("label" = Option<String>, Query, description = "What the job shall be called; left out: after what it does")),
    request_body = JobSpecification,
    responses((status = 201, description = "The job, in the queue", body = JobView), ProblemDocument)
)]
pub(super) async fn start(
    access: Access,
    Asked(query): Asked<LabelQuery>,
    Sent(asked): Sent<Value>,
) -> Result<Created<JobView>, Problem> {
    let asked = JobSpecification::try_from(asked)?;
    let (service, caller) = (&access.service, &access.caller);
    let job = operations::start_job(service, caller, &query.label, asked).await?;
    Ok(Created(job))
}

/// One job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}", tag = "jobs", params(One),
    responses((status = 200, description = "The job", body = JobView), ProblemDocument)
)]
pub(super) async fn get(one: One) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::job(&one.service, &one.id).await?))
}

/// Delete a job that is at an end, with its results and the model that it made.
#[utoipa::path(
    delete, path = "/api/v1/jobs/{id}", tag = "jobs", params(One),
    responses((status = 204, description = "It is gone"), ProblemDocument)
)]
pub(super) async fn delete(one: One) -> Result<StatusCode, Problem> {
    operations::delete_job(&one.service, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ask a job to stop; what it has by then is kept.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/stop", tag = "jobs", params(One),
    responses((status = 200, description = "The job, stopping or stopped", body = JobView), ProblemDocument)
)]
pub(super) async fn stop(one: One) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::stop_job(&one.service, &one.id).await?))
}

/// Put a stopped training or audit back into the queue; it goes on where it was.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/resume", tag = "jobs", params(One),
    responses((status = 200, description = "The job, in the queue", body = JobView), ProblemDocument)
)]
pub(super) async fn resume(one: One) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::resume_job(&one.service, &one.id).await?))
}

/// Watch a job: an event `job` now and whenever something changes, until the job is at an end.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/events", tag = "jobs", params(One),
    responses(
        (status = 200, description = "Server-sent events; the data of each is the job", content_type = "text/event-stream", body = String),
        ProblemDocument
    )
)]
pub(super) async fn events(
    one: One,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let place = one.service.gate.enter_stream()?;
    let views = operations::watch_job(&one.service, &one.id).await?;
    let events = WatchStream::new(views).map(move |view| {
        // The stream has its place as long as it lasts.
        let _ = &place;
        // A view has a JSON form by construction.
        let json = serde_json::to_string(&view).unwrap_or_default();
        Ok(Event::default().event("job").data(json))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)))
}

/// The summary of a job's run, as the command line writes it.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/summary", tag = "results", params(One),
    responses((status = 200, description = "summary.json; docs/file-formats.md describes it", body = Object), ProblemDocument)
)]
pub(super) async fn summary(one: One) -> Result<Json<Value>, Problem> {
    Ok(Json(results::summary(&one.service, &one.id).await?))
}

/// The report on an audit or a repair.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/report", tag = "results",
    params(One, ("form" = Option<ReportForm>, Query, description = "The form of the report; left out: a page")),
    responses(
        (status = 200, description = "The report", content(
            (String = "text/html"), (String = "text/markdown"), (Object = "application/json")
        )),
        ProblemDocument
    )
)]
pub(super) async fn report(
    one: One,
    Asked(query): Asked<ReportQuery>,
) -> Result<Response, Problem> {
    let document = results::report(&one.service, &one.id, query.form).await?;
    document.attached()
}

/// The samples that an audit found: CSV or Parquet, as was asked for.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/samples", tag = "results", params(One),
    responses(
        (status = 200, description = "The samples; docs/file-formats.md describes them", content(
            (String = "text/csv"), (String = "application/vnd.apache.parquet")
        )),
        ProblemDocument
    )
)]
pub(super) async fn samples(one: One) -> Result<Response, Problem> {
    let file = results::samples(&one.service, &one.id).await?;
    file.send().await
}
