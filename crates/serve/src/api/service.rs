//! What can be known about the service itself.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::Access;
use crate::operations::specifications::lexicon_attributes;
use crate::problem::ProblemDocument;

/// The service: its version, what the token is called, and its limits.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct About {
    /// Version of probity.
    version: &'static str,
    /// What the token of this request is called.
    token_label: String,
    /// Protected attributes that there are terms for, in texts.
    text_attributes: Vec<String>,
    /// What is refused.
    limits: AboutLimits,
}

/// What is refused.
#[derive(Debug, Serialize, ToSchema)]
struct AboutLimits {
    /// Bytes of one uploaded file.
    upload_bytes: u64,
    /// Bytes of an uploaded model, unpacked.
    model_bytes: u64,
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
    /// Requests at the same time with one token.
    requests_per_token: usize,
}

/// The service and its limits.
#[utoipa::path(
    get, path = "/api/v1/service", tag = "service",
    responses((status = 200, description = "The service", body = About), ProblemDocument)
)]
pub(super) async fn about(access: Access) -> Json<About> {
    let limits = &access.service.limits;
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        token_label: access.caller.label,
        text_attributes: lexicon_attributes(),
        limits: AboutLimits {
            upload_bytes: limits.upload_bytes,
            model_bytes: limits.model_bytes,
            rows: limits.rows,
            cell_bytes: limits.cell_bytes,
            job_seconds: limits.job_time.as_secs(),
            job_memory: limits.job_memory,
            jobs: limits.jobs,
            queue: limits.queue,
            requests_per_token: limits.requests_per_token,
        },
    })
}
