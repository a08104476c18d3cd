//! Files and documents that are sent to users as downloads.

use std::path::PathBuf;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum_extra::response::file_stream::FileStream;
use probity_report::Form;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;

/// The form of a report: the forms of `probity report` that are made of what jobs find.
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

    /// The name of the form on the command line, the ending of the names of such files, and their
    /// media type.
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

    /// The ending of the names of files of this form.
    pub fn ending(self) -> &'static str {
        self.facts().1
    }
}

/// A text that was made for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The media type of the content.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
    /// The name under which the file is saved: letters, digits, dots and hyphens.
    pub name: String,
}

impl Document {
    /// Makes the answer that has the browser save the document as a file.
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

/// A file of a run that is sent unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The media type of the content.
    pub media_type: &'static str,
    /// The name under which the user saves the file.
    pub name: String,
}

impl RunFile {
    /// Makes the answer that sends the file as a download, piece by piece.
    pub async fn send(self) -> Result<Response, Problem> {
        let stream = FileStream::from_path(self.path).await?;
        Ok((
            [(header::CONTENT_TYPE, self.media_type)],
            stream.file_name(self.name),
        )
            .into_response())
    }
}
