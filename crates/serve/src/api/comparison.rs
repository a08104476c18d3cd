//! `/api/v1/comparison`, and histories of audits.

use axum::Json;
use serde::Deserialize;

use super::extract::{Access, One, QueryParams};
use crate::identifier::Id;
use crate::operations::history::{self, History, PairChanges};
use crate::operations::results::{self, Comparison};
use crate::problem::{Problem, ProblemDocument};

/// The query of a comparison: the identifiers of the jobs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComparisonQuery {
    jobs: String,
}

/// Jobs side by side.
#[utoipa::path(
    get, path = "/api/v1/comparison", tag = "results",
    params(("jobs" = String, Query, description = "Identifiers of up to 20 jobs, separated by commas")),
    responses((status = 200, description = "The jobs with their figures", body = Comparison), ProblemDocument)
)]
pub(super) async fn compare(
    access: Access,
    QueryParams(query): QueryParams<ComparisonQuery>,
) -> Result<Json<Comparison>, Problem> {
    let ids = query
        .jobs
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<Id>, _>>()
        .map_err(|_| Problem::invalid("'jobs' is a list of identifiers, separated by commas."))?;
    Ok(Json(
        results::compare(&access.service, &access.may, &ids).await?,
    ))
}

/// The history of the audits of a model.
#[utoipa::path(
    get, path = "/api/v1/models/{id}/history", tag = "results", params(One),
    responses((status = 200, description = "The audits that are done, the oldest first", body = History), ProblemDocument)
)]
pub(super) async fn of_model(one: One) -> Result<Json<History>, Problem> {
    let history = history::of_model(&one.service, &one.may, &one.id).await?;
    Ok(Json(history))
}

/// The history of the audits that have the same name as this one.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/history", tag = "results", params(One),
    responses((status = 200, description = "The audits that are done, the oldest first", body = History), ProblemDocument)
)]
pub(super) async fn of_name(one: One) -> Result<Json<History>, Problem> {
    let history = history::of_name(&one.service, &one.may, &one.id).await?;
    Ok(Json(history))
}

/// The query of the new pairs: the identifier of the earlier audit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SinceQuery {
    since: Id,
}

/// The pairs of an audit that an earlier one had not found.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/new-pairs", tag = "results",
    params(One, ("since" = Id, Query, description = "Identifier of the earlier audit")),
    responses((status = 200, description = "How many are new, and some of them", body = PairChanges), ProblemDocument)
)]
pub(super) async fn new_pairs(
    one: One,
    QueryParams(query): QueryParams<SinceQuery>,
) -> Result<Json<PairChanges>, Problem> {
    let changes = history::new_pairs(&one.service, &one.may, &one.id, &query.since).await?;
    Ok(Json(changes))
}
