//! The pages of the service.

use axum::Router;
use axum::response::{IntoResponse, Response};

use super::Service;
use super::problem::Problem;

/// The routes of all pages.
pub fn router() -> Router<Service> {
    Router::new()
}

/// A problem as a page.
pub fn problem_page(problem: &Problem) -> Response {
    problem.clone().into_response()
}
