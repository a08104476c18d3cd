//! Files and documents on their way out.

use std::path::PathBuf;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum_extra::response::file_stream::FileStream;
use serde::Deserialize;
use utoipa::ToSchema;

use super::problem::Problem;

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

impl ReportForm {
    /// All forms.
    pub const ALL: [ReportForm; 3] = [ReportForm::Html, ReportForm::Markdown, ReportForm::Json];

    /// As on the command line, how the names of such files end, and the type of their content.
    pub fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            ReportForm::Html => ("html", "html", "text/html; charset=utf-8"),
            ReportForm::Markdown => ("markdown", "md", "text/markdown; charset=utf-8"),
            ReportForm::Json => ("json", "json", "application/json"),
        }
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
