//! `/api/v1/projects` and `/api/v1/log`

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Access, Created, Inner, Managed, One, QueryParams, Sent};
use crate::operations::projects as operations;
use crate::operations::projects::{LogOf, ProjectRequest, ProjectView, TokenRequest, TokenView};
use crate::problem::{Problem, ProblemDocument};
use crate::service::Service;
use crate::store::{Administer, Caller, LogEntry, Project, TokenRecord};

/// The projects that the token has to do with: its own, or all for an administrator.
#[utoipa::path(
    get, path = "/api/v1/projects", tag = "projects",
    responses((status = 200, description = "The projects, by their names", body = Vec<Project>), ProblemDocument)
)]
pub(super) async fn list(access: Access<Caller>) -> Result<Json<Vec<Project>>, Problem> {
    let projects = operations::projects(&access.service, &access.may).await?;
    Ok(Json(projects))
}

/// Make a project.
#[utoipa::path(
    post, path = "/api/v1/projects", tag = "projects", request_body = ProjectRequest,
    responses((status = 201, description = "The project", body = Project), ProblemDocument)
)]
pub(super) async fn make(
    access: Access<Administer>,
    Sent(request): Sent<ProjectRequest>,
) -> Result<Created<Project>, Problem> {
    let made = operations::make_project(&access.service, &access.may, request).await?;
    Ok(Created(made))
}

/// One project.
#[utoipa::path(
    get, path = "/api/v1/projects/{id}", tag = "projects", params(One),
    responses((status = 200, description = "The project", body = ProjectView), ProblemDocument)
)]
pub(super) async fn get(one: One<Caller>) -> Result<Json<ProjectView>, Problem> {
    let project = operations::project(&one.service, &one.may, &one.id).await?;
    Ok(Json(project))
}

/// Give a project another name and other quotas.
#[utoipa::path(
    put, path = "/api/v1/projects/{id}", tag = "projects", params(One), request_body = ProjectRequest,
    responses((status = 200, description = "The project as it is now", body = Project), ProblemDocument)
)]
pub(super) async fn change(
    one: One<Administer>,
    Sent(request): Sent<ProjectRequest>,
) -> Result<Json<Project>, Problem> {
    let project = operations::change_project(&one.service, &one.may, &one.id, request).await?;
    Ok(Json(project))
}

/// Delete a project with its tokens and everything in it, once all of its jobs are at an end.
#[utoipa::path(
    delete, path = "/api/v1/projects/{id}", tag = "projects", params(One),
    responses((status = 204, description = "It is gone"), ProblemDocument)
)]
pub(super) async fn delete(one: One<Administer>) -> Result<StatusCode, Problem> {
    operations::delete_project(&one.service, &one.may, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The tokens of a project.
#[utoipa::path(
    get, path = "/api/v1/projects/{id}/tokens", tag = "projects", params(One),
    responses((status = 200, description = "The tokens, the oldest first", body = Vec<TokenRecord>), ProblemDocument)
)]
pub(super) async fn tokens(
    Managed(service, manage): Managed,
) -> Result<Json<Vec<TokenRecord>>, Problem> {
    Ok(Json(operations::tokens(&service, &manage).await?))
}

/// Make a token of a project, or give a person access who logs in by the identity provider.
#[utoipa::path(
    post, path = "/api/v1/projects/{id}/tokens", tag = "projects", params(One), request_body = TokenRequest,
    responses((status = 201, description = "The token; it is shown this once", body = TokenView), ProblemDocument)
)]
pub(super) async fn make_token(
    Managed(service, manage): Managed,
    Sent(request): Sent<TokenRequest>,
) -> Result<Created<TokenView>, Problem> {
    let made = operations::make_token(&service, &manage, request).await?;
    Ok(Created(made))
}

/// Revoke a token of a project, and end its sessions, streams and downloads.
#[utoipa::path(
    delete, path = "/api/v1/projects/{id}/tokens/{part}", tag = "projects", params(Inner<Caller>),
    responses((status = 204, description = "It is not valid any more"), ProblemDocument)
)]
pub(super) async fn revoke_token(inner: Inner<Caller>) -> Result<StatusCode, Problem> {
    let manage = operations::manage(&inner.service, &inner.may, &inner.id).await?;
    operations::revoke_token(&inner.service, &manage, &inner.part).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The form of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum LogForm {
    /// A part of the log, as JSON.
    #[default]
    Json,
    /// The whole log, as CSV.
    Csv,
}

/// The query of a log.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// `json`: the newest 500 entries; `csv`: all of them. Left out: `json`
    #[serde(default)]
    #[param(inline)]
    form: LogForm,
    /// The number of the last entry of the part before: the list goes on after that entry
    before: Option<i64>,
}

impl LogQuery {
    async fn answer(self, service: Service, of: LogOf) -> Result<Response, Problem> {
        Ok(match self.form {
            LogForm::Json => {
                Json(operations::log(&service, &of, self.before).await?).into_response()
            }
            LogForm::Csv => operations::log_file(service, of),
        })
    }
}

/// The log of a project: who did what in it.
#[utoipa::path(
    get, path = "/api/v1/projects/{id}/log", tag = "projects", params(One, LogQuery),
    responses(
        (status = 200, description = "The entries, the newest first", content(
            (Vec<LogEntry> = "application/json"), (String = "text/csv")
        )),
        ProblemDocument
    )
)]
pub(super) async fn log(
    Managed(service, manage): Managed,
    QueryParams(query): QueryParams<LogQuery>,
) -> Result<Response, Problem> {
    query.answer(service, LogOf::Project(manage)).await
}

/// The whole log: who did what in all projects, and outside them.
#[utoipa::path(
    get, path = "/api/v1/log", tag = "projects", params(LogQuery),
    responses(
        (status = 200, description = "The entries, the newest first", content(
            (Vec<LogEntry> = "application/json"), (String = "text/csv")
        )),
        ProblemDocument
    )
)]
pub(super) async fn whole_log(
    access: Access<Administer>,
    QueryParams(query): QueryParams<LogQuery>,
) -> Result<Response, Problem> {
    let of = LogOf::Everything(access.may);
    query.answer(access.service, of).await
}
