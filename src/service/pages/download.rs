//! Files of a run on their way out: streamed, never held whole.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::answer::Failure;
use crate::service::operations::results::RunFile;
use crate::service::problem::Problem;

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// Sends a file.
pub(super) async fn send(file: RunFile) -> Result<Response, Failure> {
    let opened = tokio::fs::File::open(&file.path).await;
    let mut opened = opened.map_err(|error| Problem::internal(&error))?;
    let length = opened
        .metadata()
        .await
        .map_err(|error| Problem::internal(&error))?;
    let length = length.len();
    // A slow reader lets two chunks wait, and no more.
    let (sender, chunks) = mpsc::channel(2);
    tokio::spawn(async move {
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let read = opened.read_buf(&mut chunk).await;
            let is_end = !matches!(read, Ok(bytes) if bytes > 0);
            let item = match read {
                Ok(0) => break,
                Ok(_) => Ok(Bytes::from(chunk)),
                Err(error) => Err(error),
            };
            // A reader that has gone wants nothing more.
            if sender.send(item).await.is_err() || is_end {
                break;
            }
        }
    });
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(file.media_type),
        ),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(chunks))).into_response())
}
