//! What a user is told when something cannot be done: problem details as of RFC 9457.
//!
//! A [`Problem`] never carries a path of this machine. The API sends it as `application/problem+json`, the pages as a page.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use probity_run::specification::FieldError;

/// The kinds of problems; each has one status and one title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// 400: the request is not of the expected form.
    Malformed,
    /// 401: no token, or one that is not known (any more).
    NotAuthenticated,
    /// 403: a form that does not come from the user's own session.
    Forbidden,
    /// 404: there is no such thing.
    NotFound,
    /// 405: not with this method.
    MethodNotAllowed,
    /// 408: the request did not arrive in time.
    TooSlow,
    /// 409: not in the state that things are in.
    Conflict,
    /// 413: more was sent than is allowed.
    TooLarge,
    /// 414: the address is too long.
    AddressTooLong,
    /// 415: another type of content is expected.
    UnsupportedType,
    /// 422: understood, and wrong.
    Invalid,
    /// 429: the queue is full.
    QueueFull,
    /// 429: too many requests at the same time.
    TooManyRequests,
    /// 431: the head of the request is too large.
    HeadTooLarge,
    /// 500: a fault of the service.
    Internal,
    /// 503: too much is going on at present.
    Busy,
    /// 507: nothing more can be stored.
    StorageFull,
}

impl ProblemKind {
    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            ProblemKind::Malformed => StatusCode::BAD_REQUEST,
            ProblemKind::NotAuthenticated => StatusCode::UNAUTHORIZED,
            ProblemKind::Forbidden => StatusCode::FORBIDDEN,
            ProblemKind::NotFound => StatusCode::NOT_FOUND,
            ProblemKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ProblemKind::TooSlow => StatusCode::REQUEST_TIMEOUT,
            ProblemKind::Conflict => StatusCode::CONFLICT,
            ProblemKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ProblemKind::AddressTooLong => StatusCode::URI_TOO_LONG,
            ProblemKind::UnsupportedType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ProblemKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            ProblemKind::QueueFull | ProblemKind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            ProblemKind::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ProblemKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ProblemKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ProblemKind::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// What is the matter, in general.
    pub fn title(self) -> &'static str {
        match self {
            ProblemKind::Malformed => "The request cannot be read",
            ProblemKind::NotAuthenticated => "A valid token is needed",
            ProblemKind::Forbidden => "The form is not one of this session",
            ProblemKind::NotFound => "There is no such thing",
            ProblemKind::MethodNotAllowed => "The method is not allowed here",
            ProblemKind::TooSlow => "The request did not arrive in time",
            ProblemKind::Conflict => "It is not in a state for this",
            ProblemKind::TooLarge => "Too much was sent",
            ProblemKind::AddressTooLong => "The address is too long",
            ProblemKind::UnsupportedType => "Another type of content is expected",
            ProblemKind::Invalid => "The request makes no sense",
            ProblemKind::QueueFull => "The queue is full",
            ProblemKind::TooManyRequests => "Too many requests at the same time",
            ProblemKind::HeadTooLarge => "The head of the request is too large",
            ProblemKind::Internal => "The service failed",
            ProblemKind::Busy => "Too much is going on at present",
            ProblemKind::StorageFull => "Nothing more can be stored",
        }
    }

    /// The last part of the problem's type.
    fn name(self) -> &'static str {
        match self {
            ProblemKind::Malformed => "malformed",
            ProblemKind::NotAuthenticated => "not-authenticated",
            ProblemKind::Forbidden => "forbidden",
            ProblemKind::NotFound => "not-found",
            ProblemKind::MethodNotAllowed => "method-not-allowed",
            ProblemKind::TooSlow => "too-slow",
            ProblemKind::Conflict => "conflict",
            ProblemKind::TooLarge => "too-large",
            ProblemKind::AddressTooLong => "address-too-long",
            ProblemKind::UnsupportedType => "unsupported-type",
            ProblemKind::Invalid => "invalid",
            ProblemKind::QueueFull => "queue-full",
            ProblemKind::TooManyRequests => "too-many-requests",
            ProblemKind::HeadTooLarge => "head-too-large",
            ProblemKind::Internal => "internal",
            ProblemKind::Busy => "busy",
            ProblemKind::StorageFull => "storage-full",
        }
    }

    /// Seconds after which another attempt makes sense, where that is so.
    fn retry_after(self) -> Option<u32> {
        match self {
            ProblemKind::TooManyRequests | ProblemKind::Busy => Some(1),
            ProblemKind::QueueFull => Some(30),
            _ => None,
        }
    }
}

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which kind of problem.
    pub kind: ProblemKind,
    /// What is the matter in this case, and what to do; without paths of this machine.
    pub detail: String,
    /// The field of a specification that is wrong, where one is.
    pub field: Option<String>,
}

/// A problem as the API sends it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProblemDocument {
    /// Identifies the kind of problem.
    #[serde(rename = "type")]
    #[schema(example = "urn:probity:problem:not-found")]
    pub kind: String,
    /// What is the matter, in general.
    pub title: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// What is the matter in this case.
    pub detail: String,
    /// The field of a specification that is wrong, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "search.seeds")]
    pub field: Option<String>,
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Problem {
        Problem {
            field: Some(error.field.clone()),
            ..Problem::invalid(format!("{error}."))
        }
    }
}

impl Problem {
    /// A problem of `kind`.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Problem {
        Problem {
            kind,
            detail: detail.into(),
            field: None,
        }
    }

    /// There is no `what` with this identifier.
    pub fn not_found(what: &str) -> Problem {
        Problem::new(
            ProblemKind::NotFound,
            format!("There is no {what} with this identifier."),
        )
    }

    /// Understood, and wrong.
    pub fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Invalid, detail)
    }

    /// Not in the state that things are in.
    pub fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Conflict, detail)
    }

    /// A fault of the service: `cause` goes to the log, the user is told where to look.
    pub fn internal(cause: &dyn std::fmt::Display) -> Problem {
        super::log::fault(cause);
        Problem::new(
            ProblemKind::Internal,
            "The service could not do this; its log says more to those who run it.",
        )
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.kind.status()
    }

    /// Seconds after which another attempt makes sense, where that is so.
    pub fn retry_after(&self) -> Option<u32> {
        self.kind.retry_after()
    }

    /// As the API sends it.
    pub fn document(&self) -> ProblemDocument {
        ProblemDocument {
            kind: format!("urn:probity:problem:{}", self.kind.name()),
            title: self.kind.title(),
            status: self.status().as_u16(),
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
