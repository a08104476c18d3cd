//! Files and documents on their way out.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum_extra::response::file_stream::FileStream;

use super::operations::results::RunFile;
use super::problem::Problem;

/// Sends a file as a download, piece by piece.
///
/// # Errors
/// When it cannot be opened.
pub async fn send(file: RunFile) -> Result<Response, Problem> {
    let stream = FileStream::from_path(file.path)
        .await
        .map_err(|error| Problem::internal(&error))?;
    let mut response = stream.file_name(file.name).into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(file.media_type),
    );
    Ok(response)
}

/// Has `response` saved as a file called `name`, one of the service's own names.
///
/// # Errors
/// When the name has no place in a header.
pub fn attach(response: &mut Response, name: &str) -> Result<(), Problem> {
    let value = HeaderValue::try_from(format!("attachment; filename=\"{name}\""))
        .map_err(|error| Problem::internal(&error))?;
    response
        .headers_mut()
        .insert(header::CONTENT_DISPOSITION, value);
    Ok(())
}
