//! Files and documents on their way out.

use std::path::PathBuf;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum_extra::response::file_stream::FileStream;
use probity_report::Form;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;

/// The form of a report: those of `probity report` that are made of audits and repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReportForm {
    /// One self-contained page.
    #[default]
    Html,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
    /// Annex of technical documentation by the AI Act, as a page.
    AiAct,
    /// Bill of materials in CycloneDX.
    Cyclonedx,
}

impl ReportForm {
    /// All forms.
    pub const ALL: [ReportForm; 5] = [
        ReportForm::Html,
        ReportForm::Markdown,
        ReportForm::Json,
        ReportForm::AiAct,
        ReportForm::Cyclonedx,
    ];

    /// As on the command line, how the names of such files end, and the type of their content.
    pub fn facts(self) -> (&'static str, &'static str, &'static str) {
        let page = "text/html; charset=utf-8";
        let (form, ending, media_type) = match self {
            ReportForm::Html => (Form::Html, "html", page),
            ReportForm::Markdown => (Form::Markdown, "md", "text/markdown; charset=utf-8"),
            ReportForm::Json => (Form::Json, "json", "application/json"),
            ReportForm::AiAct => (Form::AiAct, "annex.html", page),
            ReportForm::Cyclonedx => (Form::Cyclonedx, "cdx.json", "application/json"),
        };
        (form.name(), ending, media_type)
    }

    /// How the names of such files end.
    pub fn ending(self) -> &'static str {
        self.facts().1
    }
}

/// A text that was made for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Type of its content.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
    /// What it is called when it is kept: letters, digits, dots and hyphens.
    pub name: String,
}

impl Document {
    /// As a file to be kept.
    pub fn attached(self) -> Result<Response, Problem> {
        let value = format!("attachment; filename=\"{}\"", self.name);
        let value = HeaderValue::try_from(value)?;
        Ok(([(header::CONTENT_DISPOSITION, value)], self).into_response())
    }
}

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.media_type)], self.text).into_response()
    }
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

impl RunFile {
    /// Sends it as a download, piece by piece.
    pub async fn send(self) -> Result<Response, Problem> {
        let stream = FileStream::from_path(self.path).await?;
        Ok((
            [(header::CONTENT_TYPE, self.media_type)],
            stream.file_name(self.name),
        )
            .into_response())
    }
}
