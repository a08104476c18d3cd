//! Files and documents on their way out.

use std::fs::File;
use std::io::Read;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Service;
use super::operations::results::RunFile;
use super::problem::Problem;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// Pieces that wait for a slow receiver.
const PIECES: usize = 4;

/// Sends a file as a download, piece by piece.
///
/// # Errors
/// When it cannot be opened.
pub async fn send(service: &Service, file: RunFile) -> Result<Response, Problem> {
    let path = file.path;
    let (mut open, length) = service
        .blocking(move || {
            File::open(path)
                .and_then(|open| Ok((open.metadata()?.len(), open)))
                .map(|(length, open)| (open, length))
                .map_err(|error| Problem::internal(&error))
        })
        .await?;
    let (sender, pieces) = mpsc::channel(PIECES);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let next = match open.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    piece.truncate(read);
                    Ok(Bytes::from(piece))
                }
                Err(error) => Err(error),
            };
            let is_last = next.is_err();
            // A receiver that has gone wants no more.
            if sender.blocking_send(next).is_err() || is_last {
                return;
            }
        }
    });
    let mut response = Body::from_stream(ReceiverStream::new(pieces)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(file.media_type),
    );
    attach(&mut response, &file.name)?;
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
