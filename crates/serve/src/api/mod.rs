//! The JSON API, under `/api/v1`.
//!
//! The routes and the OpenAPI document come from the same definitions, so they cannot differ.

mod comparison;
mod data;
mod extract;
mod hooks;
mod jobs;
mod links;
mod models;
mod openapi;
mod projects;
mod service;
mod work;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::extract::token;
use super::service::Service;

/// Whether `path` is an address of the API.
pub fn owns(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Makes the routes of the API.
pub fn router() -> Router<Service> {
    let (router, document) = routes().split_for_parts();
    router
        .layer(Extension(openapi::DocumentText(openapi::text(&document))))
        // Every handler bounds the bodies that it reads.
        .layer(DefaultBodyLimit::disable())
}

fn routes() -> OpenApiRouter<Service> {
    OpenApiRouter::with_openapi(openapi::Description::openapi())
        .routes(routes!(openapi::document))
        .routes(routes!(service::about))
        .routes(routes!(data::list, data::upload))
        .routes(routes!(data::get, data::rename, data::delete))
        .routes(routes!(data::schema, data::replace_schema))
        .routes(routes!(data::draft_schema))
        .routes(routes!(models::list, models::upload))
        .routes(routes!(models::get, models::rename, models::delete))
        .routes(routes!(jobs::list, jobs::start))
        .routes(routes!(jobs::get, jobs::rename, jobs::delete))
        .routes(routes!(jobs::stop))
        .routes(routes!(jobs::resume))
        .routes(routes!(jobs::events))
        .routes(routes!(jobs::summary))
        .routes(routes!(jobs::report))
        .routes(routes!(jobs::samples))
        .routes(routes!(links::list, links::make))
        .routes(routes!(links::revoke))
        .routes(routes!(comparison::compare))
        .routes(routes!(comparison::of_model))
        .routes(routes!(comparison::of_name))
        .routes(routes!(comparison::new_pairs))
        .routes(routes!(projects::list, projects::make))
        .routes(routes!(projects::get, projects::change, projects::delete))
        .routes(routes!(projects::tokens, projects::make_token))
        .routes(routes!(projects::revoke_token))
        .routes(routes!(hooks::get, hooks::set, hooks::remove))
        .routes(routes!(projects::log))
        .routes(routes!(projects::whole_log))
        .routes(routes!(work::take))
        .routes(routes!(work::report))
        .routes(routes!(work::file, work::receive))
}
