//! Problems: what a user is told when something cannot be done, in the form of problem details (RFC
//! 9457).
//!
//! A [`Problem`] never carries a path of this machine. The API sends it as
//! `application/problem+json`, the pages as a page.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::openapi::{self, ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use super::identifier::NoRandomness;
use super::store::{Denied, StoreError};
use probity_run::run_directory::RunError;
use probity_run::specification::FieldError;

/// The kinds of problems; each has one status and one title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The request is not of the expected form.
    Malformed,
    /// The request has no token, or one that is not known or no longer valid.
    NotAuthenticated,
    /// The role of the token does not allow the request.
    NotAllowed,
    /// The form does not come from the user's own session.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// The address does not have this method.
    MethodNotAllowed,
    /// The name in `Host` is not a name of the service.
    WrongHost,
    /// The request did not arrive in time.
    TooSlow,
    /// The present state does not allow the request.
    Conflict,
    /// More was sent than is allowed.
    TooLarge,
    /// The address is too long.
    AddressTooLong,
    /// Another type of content is expected.
    UnsupportedType,
    /// The request was understood, but is wrong.
    Invalid,
    /// The queue is full.
    QueueFull,
    /// Too many requests came at the same time.
    TooManyRequests,
    /// The service failed.
    Internal,
    /// The service is too busy at present.
    Busy,
    /// The database cannot be reached at present.
    DatabaseAway,
    /// The storage of the service's files does not answer, or refuses.
    StorageAway,
    /// Nothing more can be stored.
    StorageFull,
}

impl ProblemKind {
    /// The status of the answer, the last part of the problem's type, and the title that says in
    /// general what is wrong.
    fn facts(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Malformed => (400, "malformed", "The request cannot be read"),
            Self::NotAuthenticated => (401, "not-authenticated", "A valid token is needed"),
            Self::NotAllowed => (403, "not-allowed", "The role does not allow it"),
            Self::Forbidden => (403, "forbidden", "The form is not one of this session"),
            Self::NotFound => (404, "not-found", "There is no such thing"),
            Self::MethodNotAllowed => (405, "method-not-allowed", "The method is not allowed here"),
            Self::TooSlow => (408, "too-slow", "The request did not arrive in time"),
            Self::Conflict => (409, "conflict", "It is not in a state for this"),
            Self::TooLarge => (413, "too-large", "Too much was sent"),
            Self::AddressTooLong => (414, "address-too-long", "The address is too long"),
            Self::WrongHost => (421, "wrong-host", "The service does not have this name"),
            Self::UnsupportedType => (
                415,
                "unsupported-type",
                "Another type of content is expected",
            ),
            Self::Invalid => (422, "invalid", "The request makes no sense"),
            Self::QueueFull => (429, "queue-full", "The queue is full"),
            Self::TooManyRequests => (
                429,
                "too-many-requests",
                "Too many requests at the same time",
            ),
            Self::Internal => (500, "internal", "The service failed"),
            Self::Busy => (503, "busy", "Too much is going on at present"),
            Self::DatabaseAway => (503, "database-away", "The database cannot be reached"),
            Self::StorageAway => (503, "storage-away", "The storage does not answer"),
            Self::StorageFull => (507, "storage-full", "Nothing more can be stored"),
        }
    }

    /// The title: what is wrong, in general.
    pub fn title(self) -> &'static str {
        self.facts().2
    }

    /// Whether something that the service needs is away at present: what was tried may succeed once
    /// it is back.
    pub(crate) fn is_away(self) -> bool {
        matches!(self, Self::DatabaseAway | Self::StorageAway)
    }

    /// The seconds after which another attempt makes sense, where it does.
    fn retry_after(self) -> Option<u32> {
        match self {
            ProblemKind::TooManyRequests | ProblemKind::Busy => Some(1),
            ProblemKind::DatabaseAway => Some(5),
            ProblemKind::StorageAway => Some(10),
            ProblemKind::QueueFull => Some(30),
            _ => None,
        }
    }
}

/// A problem: the reason why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// What is wrong in this case, and what to do; without paths of this machine.
    pub detail: String,
    /// The field of a specification that is wrong, if one is.
    pub field: Option<String>,
}

/// A problem as the API sends it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProblemDocument {
    /// The kind of problem, as a URN.
    #[serde(rename = "type")]
    #[schema(example = "urn:probity:problem:not-found")]
    pub kind: String,
    /// What is wrong, in general.
    pub title: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// What is wrong in this case.
    pub detail: String,
    /// The field of a specification that is wrong, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "search.seeds")]
    pub field: Option<String>,
}

impl IntoResponses for ProblemDocument {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let document = Ref::from_schema_name(ProblemDocument::name());
        let content = ContentBuilder::new().schema(Some(document)).build();
        let response = ResponseBuilder::new()
            .description("A problem")
            .content("application/problem+json", content)
            .build();
        ["4XX", "5XX"]
            .map(|status| (status.to_owned(), response.clone().into()))
            .into()
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Problem {
        Problem {
            field: Some(error.field.clone()),
            ..Problem::invalid(format!("{error}."))
        }
    }
}

/// Turns faults of the machine or the database, which say nothing to a user, into problems.
macro_rules! internal {
    ($($error:ty),*) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Problem {
                Problem::internal(&error)
            }
        }
    )*};
}

internal!(serde_json::Error, InvalidHeaderValue, NoRandomness);

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Problem {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Problem::disk_full(),
            _ => Problem::internal(&error),
        }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Problem {
        match error {
            RunError::Write { source, .. } => source.into(),
            error => Problem::internal(&error),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        if error.is_away() {
            super::log::fault(&error);
            return Problem::new(
                ProblemKind::DatabaseAway,
                "The database of the service cannot be reached at present; try again in a while.",
            );
        }
        match error.is_full() {
            true => Problem::disk_full(),
            false => Problem::internal(&error),
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Problem {
        let kind = match denied {
            Denied::Role { .. } | Denied::Outside | Denied::OnlyWorks => ProblemKind::NotAllowed,
            Denied::NoProject => ProblemKind::NotFound,
        };
        Problem::new(kind, denied.to_string())
    }
}

impl Problem {
    /// Makes a problem of `kind`.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Problem {
        Problem {
            kind,
            detail: detail.into(),
            field: None,
        }
    }

    /// Makes the problem of a request that is understood, but wrong.
    pub fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Invalid, detail)
    }

    /// Makes the problem of a request that the present state does not allow.
    pub fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Conflict, detail)
    }

    /// Makes the problem that there is no thing of the kind `name` with this identifier, as far as
    /// the caller may see.
    pub fn missing(name: &str) -> Problem {
        let detail = format!("There is no {name} with this identifier.");
        Problem::new(ProblemKind::NotFound, detail)
    }

    /// Makes the problem that the disk has no room left.
    pub fn disk_full() -> Problem {
        super::log::fault(&"the disk is full");
        Problem::new(
            ProblemKind::StorageFull,
            "There is no room left on the disk of the service; delete data sets, models or jobs that are no longer needed.",
        )
    }

    /// Makes the problem of a fault of the service: `cause` goes to the log, and the user is told
    /// where to look.
    pub fn internal(cause: &dyn std::fmt::Display) -> Problem {
        super::log::fault(cause);
        Problem::new(
            ProblemKind::Internal,
            "The service could not do this; its log says more to those who run it.",
        )
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.kind.facts().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The seconds after which another attempt makes sense, where it does.
    pub fn retry_after(&self) -> Option<u32> {
        self.kind.retry_after()
    }

    /// The problem as the API sends it.
    pub fn document(&self) -> ProblemDocument {
        let (status, name, title) = self.kind.facts();
        ProblemDocument {
            kind: format!("urn:probity:problem:{name}"),
            title,
            status,
            detail: self.detail.clone(),
            field: self.field.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.document())).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.kind == ProblemKind::NotAuthenticated {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"probity\""),
            );
        }
        response
    }
}
