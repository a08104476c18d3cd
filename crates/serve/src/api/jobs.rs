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
use utoipa::{IntoParams, ToSchema};

use super::extract::{Access, Created, One, QueryParams, Sent, part};
use crate::download::ReportForm;
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::operations::names::{self, NameRequest};
use crate::operations::{jobs as operations, results};
use crate::problem::{Problem, ProblemDocument};
use crate::store::{Change, Job, JobState, Which, WhichJobs};

/// How often a stream without news sends a sign that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The query with the name of a new job.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelQuery {
    #[serde(default)]
    label: String,
}

/// The query with the form of a report.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportQuery {
    #[serde(default)]
    form: ReportForm,
}

/// The query of the list of jobs: which jobs are listed, and which part of the list is asked for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobsPart {
    /// The greatest number of jobs; left out: 100
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// The identifier of the last job of the part before: the list goes on after it
    before: Option<String>,
    /// A part of the jobs' names; letters of English may be large or small
    #[serde(default)]
    name: String,
    /// The name of the token that the jobs were asked for with
    #[serde(default)]
    by: String,
    /// The kind of the jobs
    #[param(inline)]
    kind: Option<JobKind>,
    /// The state of the jobs
    #[param(inline)]
    state: Option<JobState>,
    /// The identifier of the model that the jobs read
    model: Option<Id>,
}

/// The jobs, a hundred at a time.
#[utoipa::path(
    get, path = "/api/v1/jobs", tag = "jobs", params(JobsPart),
    responses((status = 200, description = "The jobs, the newest first", body = Vec<JobView>), ProblemDocument)
)]
pub(super) async fn list(
    access: Access,
    QueryParams(asked): QueryParams<JobsPart>,
) -> Result<Json<Vec<JobView>>, Problem> {
    let (name, by) = (asked.name, asked.by);
    let which = WhichJobs {
        which: Which { name, by },
        kind: asked.kind,
        states: asked.state.into_iter().collect(),
        model: asked.model,
    };
    let jobs = part(&access, which, asked.before, asked.limit).await?;
    Ok(Json(operations::views(&access.service, jobs)))
}

/// Start a job: a training, an audit, a repair, or a comparison of people.
#[utoipa::path(
    post, path = "/api/v1/jobs", tag = "jobs",
    params(("label" = Option<String>, Query, description = "What the job shall be called; left out: after what it does")),
    request_body = JobSpecification,
    responses((status = 201, description = "The job, in the queue", body = JobView), ProblemDocument)
)]
pub(super) async fn start(
    access: Access<Change>,
    QueryParams(query): QueryParams<LabelQuery>,
    Sent(asked): Sent<Value>,
) -> Result<Created<JobView>, Problem> {
    let asked = JobSpecification::try_from(asked)?;
    let (service, change) = (&access.service, &access.may);
    let job = operations::start_job(service, change, &query.label, asked).await?;
    Ok(Created(job))
}

/// One job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}", tag = "jobs", params(One),
    responses((status = 200, description = "The job", body = JobView), ProblemDocument)
)]
pub(super) async fn get(one: One) -> Result<Json<JobView>, Problem> {
    Ok(Json(
        operations::job(&one.service, &one.may, &one.id).await?,
    ))
}

/// Give a job, and the model that it made, another name.
#[utoipa::path(
    patch, path = "/api/v1/jobs/{id}", tag = "jobs", params(One), request_body = NameRequest,
    responses((status = 200, description = "The job", body = JobView), ProblemDocument)
)]
pub(super) async fn rename(
    one: One<Change>,
    Sent(request): Sent<NameRequest>,
) -> Result<Json<JobView>, Problem> {
    names::rename::<Job>(&one.service, &one.may, &one.id, &request.label).await?;
    let job = operations::job(&one.service, &one.may, &one.id).await?;
    Ok(Json(job))
}

/// Delete a job that is at an end, with its results and the model that it made.
#[utoipa::path(
    delete, path = "/api/v1/jobs/{id}", tag = "jobs", params(One),
    responses((status = 204, description = "It is gone"), ProblemDocument)
)]
pub(super) async fn delete(one: One<Change>) -> Result<StatusCode, Problem> {
    operations::delete_job(&one.service, &one.may, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ask a job to stop; its results up to then are kept.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/stop", tag = "jobs", params(One),
    responses((status = 200, description = "The job, stopping or stopped", body = JobView), ProblemDocument)
)]
pub(super) async fn stop(one: One<Change>) -> Result<Json<JobView>, Problem> {
    let job = operations::stop_job(&one.service, &one.may, &one.id).await?;
    Ok(Json(job))
}

/// Put a stopped job back into the queue; it goes on where it was, a comparison of people anew.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/resume", tag = "jobs", params(One),
    responses((status = 200, description = "The job, in the queue", body = JobView), ProblemDocument)
)]
pub(super) async fn resume(one: One<Change>) -> Result<Json<JobView>, Problem> {
    let job = operations::resume_job(&one.service, &one.may, &one.id).await?;
    Ok(Json(job))
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
    let place = one.service.gate.enter_stream(&one.caller)?;
    let views = operations::watch_job(&one.service, &one.may, &one.id).await?;
    let events = WatchStream::new(views).map(move |view| {
        // The stream holds its place as long as it lasts.
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
    Ok(Json(
        results::summary(&one.service, &one.may, &one.id).await?,
    ))
}

/// The report on what a job found.
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
    QueryParams(query): QueryParams<ReportQuery>,
) -> Result<Response, Problem> {
    let document = results::report(&one.service, &one.may, &one.id, query.form).await?;
    document.attached()
}

/// All that was found, one by one: the samples of an audit, CSV or Parquet as was asked for; the
/// pairs of counterparts, or the people of a situation test.
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
    let file = results::samples(&one.service, &one.may, &one.id).await?;
    file.send().await
}
