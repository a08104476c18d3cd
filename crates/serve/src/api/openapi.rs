//! The OpenAPI document.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};

use crate::jobs::schema::schema;
use crate::jobs::specification::JobSpecification;
use crate::problem::ProblemDocument;

/// The general part of the document: what it says beside the routes.
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

/// A modifier that adds how requests are authenticated.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A token of a project, of an administrator, or of a worker.",
            ))
            .build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// The text of `document` as it is sent. It holds the schema of specifications from their types,
/// which say more than a derived schema does.
pub(super) fn text(document: &utoipa::openapi::OpenApi) -> Arc<str> {
    // The types of the document have a JSON form by construction; a test reads it.
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let schemas = document.pointer_mut("/components/schemas");
    if let Some(schemas) = schemas.and_then(Value::as_object_mut) {
        let name = JobSpecification::name().into_owned();
        schemas.insert(name, schema());
    }
    document.to_string().into()
}

/// The text of the document as it is sent.
#[derive(Clone)]
pub(super) struct DocumentText(pub Arc<str>);

/// This OpenAPI document.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "service",
    security(()),
    responses(
        (status = 200, description = "The OpenAPI document", content_type = "application/json", body = Object),
        ProblemDocument
    )
)]
pub(super) async fn document(Extension(DocumentText(text)): Extension<DocumentText>) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        text.to_string(),
    )
        .into_response()
}
