//! The JSON API, under `/api/v1`.
//!
//! The routes and the OpenAPI document come from the same definitions, so they cannot differ.

mod comparison;
mod data;
mod extract;
mod jobs;
mod models;
mod openapi;
mod service;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::service::Service;

/// Whether the API answers for `path`.
pub fn owns(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// The routes of the API.
pub fn router() -> Router<Service> {
    let (router, document) = routes().split_for_parts();
    router
        .layer(Extension(openapi::DocumentText(openapi::text(&document))))
        // Every handler bounds what it reads by itself.
        .layer(DefaultBodyLimit::disable())
}

fn routes() -> OpenApiRouter<Service> {
    OpenApiRouter::with_openapi(openapi::Description::openapi())
        .routes(routes!(openapi::document))
        .routes(routes!(service::about))
        .routes(routes!(data::list, data::upload))
        .routes(routes!(data::get, data::delete))
        .routes(routes!(data::schema, data::replace_schema))
        .routes(routes!(data::draft_schema))
        .routes(routes!(models::list, models::upload))
        .routes(routes!(models::get, models::delete))
        .routes(routes!(jobs::list, jobs::start))
        .routes(routes!(jobs::get, jobs::delete))
        .routes(routes!(jobs::stop))
        .routes(routes!(jobs::resume))
        .routes(routes!(jobs::events))
        .routes(routes!(jobs::summary))
        .routes(routes!(jobs::report))
        .routes(routes!(jobs::samples))
        .routes(routes!(comparison::compare))
}
