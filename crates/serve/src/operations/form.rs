//! Forms with a file in them, as browsers and `curl --form` send them.
//!
//! The file is streamed to disk as it arrives. The other fields are short texts.

use std::collections::BTreeMap;
use std::io::Write;

use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use tempfile::NamedTempFile;

use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::stall::Pace;
use crate::store::Change;

/// The name of the field with the file.
const FILE: &str = "file";
/// The greatest number of bytes of a short text.
const TEXT: usize = 64 << 10;
/// The greatest number of fields.
const FIELDS: usize = 20;
/// How much of a file that is refused is still read, as a multiple of the limit, so that its sender
/// hears why.
const LINGER: u64 = 2;

/// A file that has arrived completely. It is deleted when dropped.
pub struct ReceivedFile {
    pub(super) file: NamedTempFile,
    pub(super) bytes: u64,
}

/// A form that has arrived.
pub struct Form {
    /// The short texts by the names of their fields.
    pub texts: BTreeMap<String, String>,
    /// The name of the file on the user's machine; it is no path, and must not become one.
    pub file_name: String,
    /// The file, or the problem with it.
    pub file: Option<Result<ReceivedFile, Problem>>,
}

impl Form {
    /// Reads the form in `request`.
    /// Fails when it is no form, is cut off, is too large, or comes too slowly.
    pub async fn receive(
        service: &Service,
        change: &Change,
        request: Request,
    ) -> Result<Form, Problem> {
        Form::receive_if(service, change, request, |_| Ok(())).await
    }

    /// Reads the form in `request`, with its file only if `may_store` accepts the texts that came
    /// before it. Fails as [`Form::receive`], and as `may_store` does.
    pub async fn receive_if(
        service: &Service,
        change: &Change,
        request: Request,
        may_store: impl Fn(&Form) -> Result<(), Problem>,
    ) -> Result<Form, Problem> {
        let limit = service.limits.upload_bytes;
        let announced = request
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        // More than a file of the largest size with its texts, and more than would be read before
        // the refusal.
        if announced.is_some_and(|bytes| bytes > limit.saturating_mul(1 + LINGER)) {
            return Err(too_large(limit));
        }
        let mut multipart = Multipart::from_request(request, service)
            .await
            .map_err(|_| {
                Problem::new(
                    ProblemKind::UnsupportedType,
                    "Send a form, with 'Content-Type: multipart/form-data'.",
                )
            })?;
        let mut form = Form {
            texts: BTreeMap::new(),
            file_name: String::new(),
            file: None,
        };
        let mut pace = Pace::new(service.limits.idle_time);
        for _ in 0..=FIELDS {
            let next = pace.next(multipart.next_field()).await?;
            let Some(field) = next.map_err(broken)? else {
                return Ok(form);
            };
            if field.name() == Some(FILE) {
                may_store(&form)?;
            }
            form.take(service, change, field, &mut pace).await?;
            if let Some(Err(_)) = form.file {
                return Ok(form);
            }
        }
        Err(Problem::new(
            ProblemKind::Malformed,
            format!("A form has at most {FIELDS} fields."),
        ))
    }

    async fn take(
        &mut self,
        service: &Service,
        change: &Change,
        field: Field<'_>,
        pace: &mut Pace,
    ) -> Result<(), Problem> {
        let name = field.name().unwrap_or_default().to_owned();
        if name == FILE {
            if self.file.is_some() {
                return Err(Problem::new(
                    ProblemKind::Malformed,
                    "Send one file at a time.",
                ));
            }
            self.file_name = field.file_name().unwrap_or_default().to_owned();
            self.file = Some(file(service, change, field, pace).await);
        } else {
            self.texts.insert(name, text(field, pace).await?);
        }
        Ok(())
    }

    /// The short text in the field `name`; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// The file.
    /// Fails when none was sent, or something is wrong with it.
    pub fn take_file(&mut self) -> Result<ReceivedFile, Problem> {
        self.file.take().unwrap_or_else(|| {
            let missing = format!("There is no file: send it in the field '{FILE}'.");
            Err(Problem::invalid(missing))
        })
    }
}

async fn piece(
    field: &mut Field<'_>,
    pace: &mut Pace,
) -> Result<Option<axum::body::Bytes>, Problem> {
    let next = pace.next(field.chunk()).await?.map_err(broken)?;
    pace.came(next.as_ref().map_or(0, axum::body::Bytes::len));
    Ok(next)
}

/// Streams the file in `field` to disk.
async fn file(
    service: &Service,
    change: &Change,
    mut field: Field<'_>,
    pace: &mut Pace,
) -> Result<ReceivedFile, Problem> {
    service.check_storage(change, 0).await?;
    let places = service.places.clone();
    let mut file = service
        .blocking(move || Ok(places.temporary("upload-")?))
        .await?;
    let (mut bytes, limit) = (0, service.limits.upload_bytes);
    while let Some(piece) = piece(&mut field, pace).await? {
        bytes += piece.len() as u64;
        if bytes > limit {
            drop(file);
            linger(&mut field, pace, limit * LINGER).await;
            return Err(too_large(limit));
        }
        file.write_all(&piece)?;
    }
    if bytes == 0 {
        return Err(Problem::invalid("The file is empty."));
    }
    file.flush()?;
    service.check_storage(change, bytes).await?;
    Ok(ReceivedFile { file, bytes })
}

/// Reads the rest of a field, up to `bytes`: a sender that is cut off in the middle does not read
/// the answer that says why.
async fn linger(field: &mut Field<'_>, pace: &mut Pace, mut bytes: u64) {
    while let Ok(Some(piece)) = piece(field, pace).await {
        bytes = match bytes.checked_sub(piece.len() as u64) {
            Some(left) => left,
            None => return,
        };
    }
}

async fn text(mut field: Field<'_>, pace: &mut Pace) -> Result<String, Problem> {
    let mut text = Vec::new();
    while let Some(bytes) = piece(&mut field, pace).await? {
        text.extend_from_slice(&bytes);
        if text.len() > TEXT {
            return Err(Problem::new(
                ProblemKind::TooLarge,
                format!("A field of a form has at most {TEXT} bytes."),
            ));
        }
    }
    String::from_utf8(text)
        .map_err(|_| Problem::new(ProblemKind::Malformed, "A field of the form is not UTF-8."))
}

fn too_large(limit: u64) -> Problem {
    Problem::new(
        ProblemKind::TooLarge,
        format!("A file has at most {limit} bytes here."),
    )
}

fn broken(error: MultipartError) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(ProblemKind::TooLarge, "The form is too large.")
        }
        _ => Problem::new(
            ProblemKind::Malformed,
            "The form is broken, or was cut off.",
        ),
    }
}
