//! Answers of pages: a page, a redirect, or a problem that becomes a page.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::problem::Problem;

/// The result of a page's function: a page, or what is shown in its place.
pub(super) type Answer = Result<Response, Response>;

/// A problem on its way to becoming a page: [`super::session::with_session`] draws it, because it
/// knows who is logged in.
impl From<Problem> for Response {
    fn from(problem: Problem) -> Response {
        let mut response = problem.status().into_response();
        response.extensions_mut().insert(problem);
        response
    }
}

/// Makes the answer with a page.
pub(super) fn page(template: &impl Template) -> Answer {
    page_with(StatusCode::OK, template)
}

/// Makes the answer with a page and a status of its own.
pub(super) fn page_with(status: StatusCode, template: &impl Template) -> Answer {
    let text = template
        .render()
        .map_err(|error| Problem::internal(&error))?;
    Ok((status, Html(text)).into_response())
}

/// Sends the browser to another page, which it asks for with GET: the end of every form that was
/// accepted.
pub(super) fn redirect(address: &str) -> Response {
    match HeaderValue::try_from(address) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(error) => Problem::from(error).into(),
    }
}
