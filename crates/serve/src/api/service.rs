//! `/api/v1/service`: the description of the service itself.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::Access;
use crate::identifier::Id;
use crate::operations::specifications::lexicon_attributes;
use crate::problem::ProblemDocument;
use crate::store::{Caller, Role};

/// The service: its version, the name and the role of the token, and the limits.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct About {
    /// The version of probity.
    version: &'static str,
    /// The name of the token of this request.
    token_label: String,
    /// The role of the token: what its holder may do.
    role: Role,
    /// The project of the token; none for an administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<OwnProject>,
    /// The protected attributes in texts that there are terms for.
    text_attributes: Vec<String>,
    /// The limits beyond which requests are refused.
    limits: AboutLimits,
}

/// The project of a token.
#[derive(Debug, Serialize, ToSchema)]
struct OwnProject {
    /// The identifier of the project.
    id: Id,
    /// The name of the project.
    name: String,
}

/// The limits beyond which requests are refused.
#[derive(Debug, Serialize, ToSchema)]
struct AboutLimits {
    /// The greatest number of bytes of an uploaded file.
    upload_bytes: u64,
    /// The greatest number of bytes of an uploaded model, unpacked.
    model_bytes: u64,
    /// The greatest number of bytes of a file of data, unpacked.
    unpacked_bytes: u64,
    /// The greatest number of rows of a table, or of texts of a file.
    rows: u64,
    /// The greatest number of bytes of a cell or a text.
    cell_bytes: usize,
    /// The seconds that a job may run.
    job_seconds: u64,
    /// The bytes of memory that a job may take.
    job_memory: u64,
    /// The greatest number of jobs that run at the same time.
    jobs: usize,
    /// The greatest number of jobs that wait.
    queue: usize,
    /// The greatest number of jobs of one project that wait, unless it has a quota of its own.
    queue_per_project: usize,
    /// The number of days after their end after which jobs are deleted, unless their project keeps
    /// them for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_days: Option<u32>,
    /// The greatest number of requests at the same time with one token.
    requests_per_token: usize,
    /// The greatest number of requests at the same time with one token that bring a body.
    bodies_per_token: usize,
    /// The greatest number of streams of events at the same time with one token.
    streams_per_token: usize,
}

/// The service and its limits.
#[utoipa::path(
    get, path = "/api/v1/service", tag = "service",
    responses((status = 200, description = "The service", body = About), ProblemDocument)
)]
pub(super) async fn about(access: Access<Caller>) -> Json<About> {
    let limits = &access.service.limits;
    let project = access.caller.project();
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        token_label: access.caller.label().to_owned(),
        role: access.caller.role(),
        project: project.map(|(id, name)| OwnProject {
            id: id.clone(),
            name: name.to_owned(),
        }),
        text_attributes: lexicon_attributes(),
        limits: AboutLimits {
            upload_bytes: limits.upload_bytes,
            model_bytes: limits.model_bytes,
            unpacked_bytes: limits.unpacked_bytes,
            rows: limits.rows,
            cell_bytes: limits.cell_bytes,
            job_seconds: limits.job_time.as_secs(),
            job_memory: limits.job_memory,
            jobs: limits.jobs,
            queue: limits.queue,
            queue_per_project: limits.queue_per_project,
            kept_days: limits.kept_days,
            requests_per_token: limits.requests_per_token,
            bodies_per_token: limits.bodies_per_token,
            streams_per_token: limits.streams_per_token,
        },
    })
}
