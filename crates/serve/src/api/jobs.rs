//! `/api/v1/jobs`

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};
use utoipa::ToSchema;

use super::extract::{Access, Asked, Identifier, Sent};
use crate::Service;
use crate::download::{attach, send};
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobSpecification;
use crate::operations::results::ReportForm;
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
    get,
    path = "/api/v1/jobs",
    tag = "jobs",
    responses(
        (status = 200, description = "The jobs, the newest first", body = Vec<JobView>),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn list(
    State(service): State<Service>,
    _: Access,
) -> Result<Json<Vec<JobView>>, Problem> {
    Ok(Json(operations::list_jobs(&service).await?))
}

/// Start a training, an audit or a repair.
#[utoipa::path(
    post,
    path = "/api/v1/jobs",
    tag = "jobs",
    params(("label" = Option<String>, Query, description = "What the job shall be called; left out: after what it does")),
    request_body = JobSpecification,
    responses(
        (status = 201, description = "The job, in the queue", body = JobView),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 507, description = "Nothing more can be stored", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn start(
    State(service): State<Service>,
    access: Access,
    Asked(query): Asked<LabelQuery>,
    Sent(asked): Sent<Value>,
) -> Result<Response, Problem> {
    let specification = JobSpecification::try_from(asked)?;
    let job = operations::start_job(&service, &access.caller, &query.label, specification).await?;
    Ok((StatusCode::CREATED, Json(job)).into_response())
}

/// One job.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{id}",
    tag = "jobs",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "The job", body = JobView),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn get(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::job(&service, &id).await?))
}

/// Delete a job that is at an end, with its results and the model that it made.
#[utoipa::path(
    delete,
    path = "/api/v1/jobs/{id}",
    tag = "jobs",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 204, description = "It is gone"),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn delete(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<StatusCode, Problem> {
    operations::delete_job(&service, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ask a job to stop; what it has by then is kept.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{id}/stop",
    tag = "jobs",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "The job, stopping or stopped", body = JobView),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn stop(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::stop_job(&service, &id).await?))
}

/// Put a stopped training or audit back into the queue; it goes on where it was.
#[utoipa::path(
    post,
    path = "/api/v1/jobs/{id}/resume",
    tag = "jobs",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "The job, in the queue", body = JobView),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn resume(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<JobView>, Problem> {
    Ok(Json(operations::resume_job(&service, &id).await?))
}

/// Watch a job: an event `job` now and whenever something changes, until the job is at an end.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{id}/events",
    tag = "jobs",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "Server-sent events; the data of each is the job", content_type = "text/event-stream", body = String),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many streams", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn events(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    event_stream(&service, &id).await
}

/// The views of a job as server-sent events.
///
/// # Errors
/// When there is no job, or there are too many streams.
pub async fn event_stream(
    service: &Service,
    id: &Id,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Problem> {
    let place = service.gate().enter_stream()?;
    let views = operations::watch_job(service, id).await?;
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
    get,
    path = "/api/v1/jobs/{id}/summary",
    tag = "results",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "summary.json; docs/file-formats.md describes it", body = Object),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn summary(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<Value>, Problem> {
    Ok(Json(results::summary(&service, &id).await?))
}

/// The report on an audit or a repair.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{id}/report",
    tag = "results",
    params(
        ("id" = Id, Path, description = "The job"),
        ("form" = Option<ReportForm>, Query, description = "The form of the report; left out: a page")
    ),
    responses(
        (status = 200, description = "The report", content(
            (String = "text/html"), (String = "text/markdown"), (Object = "application/json")
        )),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn report(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
    Asked(query): Asked<ReportQuery>,
) -> Result<Response, Problem> {
    let document = results::report(&service, &id, query.form).await?;
    let mut response = document.text.into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(document.media_type),
    );
    attach(
        &mut response,
        &format!("report-{id}.{}", query.form.ending()),
    )?;
    Ok(response)
}

/// The samples that an audit found: CSV or Parquet, as was asked for.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{id}/samples",
    tag = "results",
    params(("id" = Id, Path, description = "The job")),
    responses(
        (status = 200, description = "The samples; docs/file-formats.md describes them", content(
            (String = "text/csv"), (String = "application/vnd.apache.parquet")
        )),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn samples(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Response, Problem> {
    let file = results::samples(&service, &id).await?;
    send(file).await
}
