//! The OpenAPI document.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::problem::ProblemDocument;

/// What the document says beside the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Probity",
        description = "Audits classifiers for individual discrimination. Every error is a problem document (RFC 9457)."
    ),
    components(schemas(ProblemDocument)),
    security(("token" = [])),
    modifiers(&Token)
)]
pub(super) struct Description;

/// How requests are authenticated.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A token that `probity serve token` made."))
            .build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// The document as it is sent.
#[derive(Clone)]
pub(super) struct DocumentText(pub Arc<str>);

/// This document.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "service",
    security(()),
    responses((status = 200, description = "The OpenAPI document", content_type = "application/json", body = Object))
)]
pub(super) async fn document(Extension(DocumentText(text)): Extension<DocumentText>) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        text.to_string(),
    )
        .into_response()
}
