//! `/api/v1/comparison`

use axum::Json;
use serde::Deserialize;

use super::extract::{Access, Asked};
use crate::identifier::Id;
use crate::operations::results::{self, Comparison};
use crate::problem::{Problem, ProblemDocument};

/// Which jobs.
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
    Asked(query): Asked<ComparisonQuery>,
) -> Result<Json<Comparison>, Problem> {
    let ids = query
        .jobs
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<Id>, _>>()
        .map_err(|_| Problem::invalid("'jobs' is a list of identifiers, separated by commas."))?;
    Ok(Json(results::compare(&access.service, &ids).await?))
}
