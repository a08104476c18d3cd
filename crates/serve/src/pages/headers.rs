//! The headers of every answer that tell the browser what to refuse.
//!
//! The content-security policy allows only resources of the service itself and nothing inline, so a
//! name that slipped through the templates' escaping would still not run as a script. A report has
//! a policy of its own, by the hashes of its parts.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use tower_http::set_header::SetResponseHeaderLayer;

/// The content-security policy of the pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers that an answer has unless it sets them itself.
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

/// Returns `router` with these headers on every answer.
pub fn secured<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    DEFAULTS.into_iter().fold(router, |router, (name, value)| {
        let value = HeaderValue::from_static(value);
        router.layer(SetResponseHeaderLayer::if_not_present(name, value))
    })
}
