//! `/api/v1/work`: the requests of workers.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Access, One, QueryParams, Sent};
use crate::download::RunFile;
use crate::jobs::handed::Announced;
use crate::jobs::wire::{Asks, Heard, Leased, Report};
use crate::problem::{Problem, ProblemDocument};
use crate::store::Work;

/// The query that asks for a file of a job.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FileQuery {
    /// The number by which the worker holds the job
    lease: u64,
    /// The path of the file, as the job says it
    path: String,
}

/// The query that announces a file which a worker sends.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SentQuery {
    /// The number by which the worker holds the job
    lease: u64,
    /// The name of the file in the run directory
    name: String,
    /// The number of bytes of the file
    bytes: u64,
    /// The SHA-256 of the file, in hexadecimal digits
    sha256: String,
}

/// Take the job whose turn it is.
#[utoipa::path(
    post, path = "/api/v1/work", tag = "work", request_body = Asks,
    responses(
        (status = 200, description = "The job, which the worker has from now on", body = Leased),
        (status = 204, description = "No job waits"),
        ProblemDocument
    )
)]
pub(super) async fn take(
    access: Access<Work>,
    Sent(asks): Sent<Asks>,
) -> Result<Response, Problem> {
    Ok(match access.service.hand_out(&access.may, &asks).await? {
        Some(leased) => Json(leased).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Report on a job: that it is still worked on, its progress, the content of its run directory, and
/// how it ended.
#[utoipa::path(
    post, path = "/api/v1/work/{id}", tag = "work", params(One), request_body = Report,
    responses((status = 200, description = "What the worker is told", body = Heard), ProblemDocument)
)]
pub(super) async fn report(
    one: One<Work>,
    Sent(report): Sent<Report>,
) -> Result<Json<Heard>, Problem> {
    let heard = one.service.hear(&one.may, &one.id, report).await?;
    Ok(Json(heard))
}

/// Fetch a file that the job reads, or a file of its run so far.
#[utoipa::path(
    get, path = "/api/v1/work/{id}/file", tag = "work", params(One, FileQuery),
    responses(
        (status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>),
        ProblemDocument
    )
)]
pub(super) async fn file(
    one: One<Work>,
    QueryParams(query): QueryParams<FileQuery>,
) -> Result<Response, Problem> {
    let found = one
        .service
        .file_for(&one.may, &one.id, query.lease, &query.path);
    let file = RunFile {
        path: found.await?,
        media_type: "application/octet-stream",
        name: "file".to_owned(),
    };
    file.send().await
}

/// Send a file of the run. The file is put in its place by a later report that names it.
#[utoipa::path(
    put, path = "/api/v1/work/{id}/file", tag = "work", params(One, SentQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 204, description = "It is there"), ProblemDocument)
)]
pub(super) async fn receive(
    one: One<Work>,
    QueryParams(query): QueryParams<SentQuery>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let announced = Announced {
        name: query.name,
        bytes: query.bytes,
        sha256: query.sha256,
    };
    let (service, body) = (&one.service, request.into_body());
    service
        .receive_from(&one.may, &one.id, query.lease, announced, body)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
