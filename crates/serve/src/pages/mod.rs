//! The pages of the service: drawn on the server, with forms that need no script.
//!
//! | module     | shows                                                            |
//! |------------|------------------------------------------------------------------|
//! | `login`    | log in and out                                                   |
//! | `home`     | everything that there is                                         |
//! | `data`, `columns`, `schema` | a data set: upload, roles of its columns, its schema |
//! | `train`, `models` | a model: training or upload, its quality                  |
//! | `audit`, `repair` | the forms of the two                                      |
//! | `jobs`     | how far a job is                                                 |
//! | `runs`, `compare` | what was found                                            |
//!
//! What a page is filled with is in `views`, forms between two answers in `form`, what pages with a
//! form share in `filled`. Three rules hold for all of them. No GET changes anything, and each POST
//! is checked twice (`sent`). Every answer has a content-security policy that allows nothing inline
//! (`headers`). And whatever a user typed or uploaded is escaped by the templates, none of which
//! marks a value as safe.

mod answer;
mod asked;
mod assets;
mod audit;
mod columns;
mod compare;
mod data;
mod delete;
mod figures;
mod filled;
mod form;
mod headers;
mod home;
mod jobs;
mod login;
mod models;
mod named;
mod options;
mod repair;
mod runs;
mod schema;
mod schema_form;
mod sent;
mod session;
mod things;
mod train;
mod views;
mod words;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use self::audit::AuditForm;
use self::columns::ColumnsForm;
use self::filled::{show, submit};
pub use self::headers::secured;
use self::repair::RepairForm;
use self::schema::SchemaForm;
pub(super) use self::session::LOGIN;
use self::train::TrainForm;
use super::api;
use super::problem::{Problem, ProblemKind};
use super::service::Service;

/// The routes of all pages.
pub fn router(service: &Service) -> Router<Service> {
    pages()
        .merge(uploads())
        .fallback(no_page)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(service.clone(), session::with_session))
        .route("/static/{name}", get(assets::send))
}

fn pages() -> Router<Service> {
    Router::new()
        .route("/", get(home::show))
        .route(session::LOGIN, get(login::show).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route("/data/{id}", get(data::show))
        .route(
            "/data/{id}/columns",
            get(show::<ColumnsForm>).post(submit::<ColumnsForm>),
        )
        .route(
            "/data/{id}/schema",
            get(show::<SchemaForm>).post(submit::<SchemaForm>),
        )
        .route(
            "/data/{id}/train",
            get(show::<TrainForm>).post(submit::<TrainForm>),
        )
        .route(
            "/data/{id}/delete",
            get(delete::ask_data).post(delete::data),
        )
        .route("/models/{id}", get(models::show))
        .route(
            "/models/{id}/audit",
            get(show::<AuditForm>).post(submit::<AuditForm>),
        )
        .route(
            "/models/{id}/delete",
            get(delete::ask_model).post(delete::model),
        )
        .route("/jobs/{id}", get(jobs::show))
        .route("/jobs/{id}/events", get(jobs::events))
        .route("/jobs/{id}/stop", post(jobs::stop))
        .route("/jobs/{id}/resume", post(jobs::resume))
        .route("/jobs/{id}/delete", get(delete::ask_job).post(delete::job))
        .route("/runs/{id}", get(runs::show))
        .route("/runs/{id}/report", get(runs::report))
        .route("/runs/{id}/report.md", get(runs::markdown))
        .route("/runs/{id}/report.json", get(runs::json))
        .route("/runs/{id}/report.annex.html", get(runs::annex))
        .route("/runs/{id}/report.cdx.json", get(runs::bill))
        .route("/runs/{id}/summary.json", get(runs::summary))
        .route("/runs/{id}/samples", get(runs::samples))
        .route(
            "/runs/{id}/repair",
            get(show::<RepairForm>).post(submit::<RepairForm>),
        )
        .route("/compare", get(compare::show))
}

/// Uploads are limited while they are streamed, not by the size of the whole request.
fn uploads() -> Router<Service> {
    Router::new()
        .route("/data/new", get(data::show_new).post(data::upload))
        .route("/models/new", get(models::show_new).post(models::upload))
        .layer(DefaultBodyLimit::disable())
}

/// Nothing is at this address, for the programming interface as for the pages.
async fn no_page(address: Uri) -> Response {
    match api::owns(address.path()) {
        true => {
            Problem::new(ProblemKind::NotFound, "There is nothing at this address.").into_response()
        }
        false => named::no_page().into(),
    }
}

async fn wrong_method() -> Response {
    let detail =
        "This address is not asked for in this way. Follow the links and forms of the pages.";
    Problem::new(ProblemKind::MethodNotAllowed, detail).into()
}

/// A problem as a page, for requests that no page has seen.
pub fn problem_page(problem: &Problem) -> Response {
    session::problem_page(problem, None)
}
