//! What jobs left behind: reports, summaries, samples; and several of them side by side.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::service::Service;
use crate::service::identifier::Id;
use crate::service::jobs::board::JobView;
use crate::service::problem::Problem;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportForm {
    /// One self-contained page.
    #[default]
    Html,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

/// A text that was made for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Type of its content.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

/// A file of a run, to be sent as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Type of its content.
    pub media_type: &'static str,
    /// What it shall be called at the user's.
    pub name: String,
}

/// The discriminatory share of random inputs, for some protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ShareFigure {
    /// The attributes.
    pub protected: Vec<String>,
    /// The share.
    pub share: f64,
    /// The 95 % confidence interval.
    pub ci95: [f64; 2],
}

/// The main figures of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditFigures {
    /// How the search ended: `complete`, `max_found`, `time` or `interrupted`.
    pub ending: String,
    /// Search strategy.
    pub strategy: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Search time in seconds.
    pub seconds: f64,
    /// Discriminatory share, per attribute and jointly.
    pub shares: Vec<ShareFigure>,
}

/// A job in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ComparedJob {
    /// The job.
    pub job: JobView,
    /// What its data set is called, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_label: Option<String>,
    /// What its model is called, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_label: Option<String>,
    /// Its figures, for an audit that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditFigures>,
}

/// Jobs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// The jobs, in the order asked for.
    pub jobs: Vec<ComparedJob>,
}

/// The report of a job's run.
///
/// # Errors
/// When there is no job, or nothing to report on yet.
pub async fn report(service: &Service, id: &Id, form: ReportForm) -> Result<Document, Problem> {
    todo!()
}

/// The summary of a job's run, as the command line writes it.
///
/// # Errors
/// When there is no job, or no summary yet.
pub async fn summary(service: &Service, id: &Id) -> Result<serde_json::Value, Problem> {
    todo!()
}

/// The samples that an audit found.
///
/// # Errors
/// When there is no job, it is no audit, or it has found nothing yet.
pub async fn samples(service: &Service, id: &Id) -> Result<RunFile, Problem> {
    todo!()
}

/// Jobs side by side.
///
/// # Errors
/// When one of them does not exist, or too many are asked for.
pub async fn compare(service: &Service, ids: &[Id]) -> Result<Comparison, Problem> {
    todo!()
}
