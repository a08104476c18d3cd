//! The JSON API, under `/api/v1`.

use axum::Router;

use super::Service;

/// Where the API begins.
pub const ROOT: &str = "/api/v1";

/// The routes of the API.
pub fn router() -> Router<Service> {
    Router::new()
}

/// Whether the API answers for `path`.
pub fn owns(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}
