//! `/api/v1/jobs/{id}/links`

use axum::Json;
use axum::http::StatusCode;

use super::extract::{Created, Inner, One, Sent};
use crate::operations::links as operations;
use crate::operations::links::{LinkRequest, LinkView};
use crate::problem::{Problem, ProblemDocument};
use crate::store::{Change, Link};

/// The links to the report of a job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/links", tag = "results", params(One),
    responses((status = 200, description = "The links, the newest first", body = Vec<Link>), ProblemDocument)
)]
pub(super) async fn list(one: One<Change>) -> Result<Json<Vec<Link>>, Problem> {
    let links = operations::links(&one.service, &one.may, &one.id).await?;
    Ok(Json(links))
}

/// Make a link to the report of a job, for people without a token.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/links", tag = "results", params(One), request_body = LinkRequest,
    responses((status = 201, description = "The link; its address is shown this once", body = LinkView), ProblemDocument)
)]
pub(super) async fn make(
    one: One<Change>,
    Sent(request): Sent<LinkRequest>,
) -> Result<Created<LinkView>, Problem> {
    let made = operations::make_link(&one.service, &one.may, &one.id, &request).await?;
    Ok(Created(made))
}

/// Revoke a link to the report of a job.
#[utoipa::path(
    delete, path = "/api/v1/jobs/{id}/links/{part}", tag = "results", params(Inner<Change>),
    responses((status = 204, description = "It leads nowhere any more"), ProblemDocument)
)]
pub(super) async fn revoke(inner: Inner<Change>) -> Result<StatusCode, Problem> {
    operations::revoke_link(&inner.service, &inner.may, &inner.id, &inner.part).await?;
    Ok(StatusCode::NO_CONTENT)
}
