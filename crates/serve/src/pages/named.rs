//! The identifier in a page's address.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::answer::Failure;
use crate::identifier::Id;
use crate::problem::{Problem, ProblemKind};

/// The `{id}` of a route. An address with anything else in its place does not exist.
pub(super) struct Named(pub Id);

impl<S: Sync + Send> FromRequestParts<S> for Named {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Named, Response> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Named)
            .ok_or_else(|| Failure(no_page()).into_response())
    }
}

/// There is no page at this address.
pub(super) fn no_page() -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        "There is no page at this address. What it showed may have been deleted.",
    )
}
