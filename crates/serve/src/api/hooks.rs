//! `/api/v1/projects/{id}/webhook`

use axum::Json;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{Managed, One, Sent};
use crate::operations::hooks as operations;
use crate::operations::hooks::{HookRequest, HookView};
use crate::problem::{Problem, ProblemDocument};
use crate::store::Hook;

/// The webhook of a project.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HookAnswer {
    /// The webhook, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<Hook>,
}

/// The webhook of a project: the address at which it hears that its jobs are at an end.
#[utoipa::path(
    get, path = "/api/v1/projects/{id}/webhook", tag = "projects", params(One),
    responses((status = 200, description = "The webhook, if there is one", body = HookAnswer), ProblemDocument)
)]
pub(super) async fn get(Managed(service, manage): Managed) -> Result<Json<HookAnswer>, Problem> {
    let webhook = operations::hook(&service, &manage).await?;
    Ok(Json(HookAnswer { webhook }))
}

/// Set the webhook of a project.
#[utoipa::path(
    put, path = "/api/v1/projects/{id}/webhook", tag = "projects", params(One), request_body = HookRequest,
    responses((status = 200, description = "The webhook; its secret is shown this once", body = HookView), ProblemDocument)
)]
pub(super) async fn set(
    Managed(service, manage): Managed,
    Sent(request): Sent<HookRequest>,
) -> Result<Json<HookView>, Problem> {
    let set = operations::set_hook(&service, &manage, &request).await?;
    Ok(Json(set))
}

/// Remove the webhook of a project.
#[utoipa::path(
    delete, path = "/api/v1/projects/{id}/webhook", tag = "projects", params(One),
    responses((status = 204, description = "There is none any more"), ProblemDocument)
)]
pub(super) async fn remove(Managed(service, manage): Managed) -> Result<StatusCode, Problem> {
    operations::remove_hook(&service, &manage).await?;
    Ok(StatusCode::NO_CONTENT)
}
