//! What every answer tells the browser to refuse.
//!
//! The content-security policy allows what comes from the service itself and nothing inline, so a name that slipped through
//! the templates' escaping would still not run. A report has a policy of its own, by the hashes of its parts.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

/// The policy of the pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers that an answer has unless it has its own.
const DEFAULTS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not "no-referrer": with that, browsers send no origin with forms, and the origin is checked.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (header::CACHE_CONTROL, "no-store"),
];

/// Adds the headers that `response` lacks: what every answer of the service goes through.
pub async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in DEFAULTS {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}
