//! Answers of pages: a page, a redirect, or a problem that becomes a page.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::form::Form;
use crate::problem::Problem;

/// What a page's function gives.
pub(super) type Answer = Result<Response, Failure>;

/// A problem on its way to becoming a page: [`super::session::with_session`] draws it, because it knows who is logged in.
#[derive(Debug)]
pub(super) struct Failure(pub Problem);

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure(problem)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.0.status().into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}

/// A page.
pub(super) fn page(template: &impl Template) -> Answer {
    page_with(StatusCode::OK, template)
}

/// A page with a status of its own.
pub(super) fn page_with(status: StatusCode, template: &impl Template) -> Answer {
    let text = template
        .render()
        .map_err(|error| Problem::internal(&error))?;
    Ok((status, Html(text)).into_response())
}

/// Sends the browser to another page, which it asks for with GET: the end of every form that was accepted.
pub(super) fn redirect(address: &str) -> Response {
    match HeaderValue::try_from(address) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(error) => Failure(Problem::internal(&error)).into_response(),
    }
}

/// Notes a problem that the user can do something about in the form that comes back.
///
/// # Errors
/// When it is a fault of the service.
pub(super) fn note(form: &mut Form, problem: Problem) -> Result<(), Failure> {
    if problem.status().is_server_error() {
        return Err(Failure(problem));
    }
    form.refuse(problem.field.unwrap_or_default(), problem.detail);
    Ok(())
}
