//! Extractors of the identifier in a page's address.

use axum::extract::{FromRequestParts, Path as Segment};
use axum::http::request::Parts;
use axum::response::Response;

use super::session::Visitor;
use crate::identifier::Id;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{Permission, Scope};

/// The `{id}` of a route. An address with anything else in its place does not exist.
pub(super) struct Path(pub Id);

impl FromRequestParts<Service> for Path {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Path, Response> {
        let path = Segment::<String>::from_request_parts(parts, service).await;
        let id = path.ok().and_then(|Segment(text)| text.parse().ok());
        Ok(id.map(Path).ok_or_else(no_page)?)
    }
}

/// An extractor of a request by a visitor who is logged in, at the address of one thing: the
/// service, the visitor, and the identifier of the thing.
pub(super) struct Named<P = Scope>(pub Service, pub Visitor<P>, pub Id);

impl<P: Permission> FromRequestParts<Service> for Named<P> {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Service,
    ) -> Result<Named<P>, Response> {
        let visitor = Visitor::from_request_parts(parts, service).await?;
        let Path(id) = Path::from_request_parts(parts, service).await?;
        Ok(Named(service.clone(), visitor, id))
    }
}

/// The problem that there is no page at this address.
pub(super) fn no_page() -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        "There is no page at this address. What it showed may have been deleted.",
    )
}
