//! What can be known about the service itself.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::Access;
use crate::identifier::Id;
use crate::operations::specifications::lexicon_attributes;
use crate::problem::ProblemDocument;
use crate::store::{Caller, Role};

/// The service: its version, what the token is and may, and its limits.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct About {
    /// Version of probity.
    version: &'static str,
    /// What the token of this request is called.
    token_label: String,
    /// What it lets its holder do.
    role: Role,
    /// The project of the token; none of an administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<OwnProject>,
    /// Protected attributes that there are terms for, in texts.
    text_attributes: Vec<String>,
    /// What is refused.
    limits: AboutLimits,
}

/// The project of a token.
#[derive(Debug, Serialize, ToSchema)]
struct OwnProject {
    /// Identifier.
    id: Id,
    /// What it is called.
    name: String,
}

/// What is refused.
#[derive(Debug, Serialize, ToSchema)]
struct AboutLimits {
    /// Bytes of one uploaded file.
    upload_bytes: u64,
    /// Bytes of an uploaded model, unpacked.
    model_bytes: u64,
    /// Bytes of a file of data, unpacked.
    unpacked_bytes: u64,
    /// Rows of a table, or texts of a file.
    rows: u64,
    /// Bytes of one cell or text.
    cell_bytes: usize,
    /// Seconds that a job may run.
    job_seconds: u64,
    /// Bytes of memory that a job may take.
    job_memory: u64,
    /// Jobs that run at the same time.
    jobs: usize,
    /// Jobs that wait.
    queue: usize,
    /// Jobs that wait of one project, unless it has a quota of its own.
    queue_per_project: usize,
    /// Days after their end that jobs are deleted, unless their project keeps them for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_days: Option<u32>,
    /// Requests at the same time with one token.
    requests_per_token: usize,
    /// Requests at the same time with one token that bring a body.
    bodies_per_token: usize,
    /// Streams of events at the same time with one token.
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
