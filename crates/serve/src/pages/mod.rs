//! The pages of the service: drawn on the server, with forms that need no script.
//!
//! | module     | shows                                                            |
//! |------------|------------------------------------------------------------------|
//! | `login`, `by_provider`, `landing` | log in and out; the page that a log-in leads to |
//! | `access`   | the projects of somebody who logged in by the identity provider  |
//! | `home`, `lines` | everything that there is, and how to find it                |
//! | `data`, `columns`, `schema` | a data set: upload, roles of its columns, its schema |
//! | `train`, `models` | a model: training or upload, its quality                  |
//! | `audit`, `people`, `repair`, `rename` | their forms                            |
//! | `jobs`     | how far a job is                                                 |
//! | `runs`, `compare`, `history` | what was found, beside other runs and over time |
//! | `links`    | links to a report for people without a token                     |
//! | `projects`, `tokens`, `hooks`, `log` | administration: projects, who is in them, whom they tell, who did what |
//!
//! The modules `views` and `form` hold the contents of the pages and the forms between two answers,
//! `filled` what pages with a form share, and `field_words` what pages call the fields of
//! specifications. Three rules hold for all pages. First, no GET changes
//! anything, except the one by which the identity provider sends somebody back, which logs them in;
//! and each POST is checked twice (`sent`). Second, every answer has a content-security policy that
//! allows nothing inline (`headers`). Third, the templates escape whatever a user typed or
//! uploaded; they mark nothing as safe but charts, which escape their own text.

mod access;
mod answer;
mod asked;
mod assets;
mod audit;
mod by_provider;
mod columns;
mod compare;
mod data;
mod delete;
mod field_words;
mod figures;
mod filled;
mod form;
mod headers;
mod history;
mod home;
mod hooks;
mod jobs;
mod landing;
mod lines;
mod links;
mod log;
mod login;
mod models;
mod named;
mod options;
mod parts;
mod people;
mod projects;
mod rename;
mod repair;
mod runs;
mod schema;
mod schema_form;
mod sent;
mod session;
mod things;
mod tokens;
mod train;
mod views;
mod words;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

use self::audit::AuditForm;
use self::columns::ColumnsForm;
use self::filled::{show, submit};
pub use self::headers::secured;
use self::people::PeopleForm;
use self::rename::RenameForm;
use self::repair::RepairForm;
use self::schema::SchemaForm;
pub(super) use self::session::{cookie, problem_page};
use self::train::TrainForm;
use super::api;
use super::problem::{Problem, ProblemKind};
use super::provider::{BEGIN, RETURN};
use super::service::Service;
use super::store::{DataSet, Job, Model};

/// The greatest number of bytes of the form that logs in.
const LOGIN_BODY: usize = 4 << 10;

/// The routes of all pages.
pub fn router() -> Router<Service> {
    let routed = |routes: Routes| {
        let routes = routes.into_iter();
        routes.fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods)
        })
    };
    routed(pages())
        .merge(routed(uploads()).layer(DefaultBodyLimit::disable()))
        .fallback(no_page)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(session::with_session))
        .route(ASSETS, get(assets::send))
}

/// The addresses of all pages, with `{id}` for an identifier.
pub fn addresses() -> Vec<&'static str> {
    let routes = pages().into_iter().chain(uploads());
    routes.map(|(path, _)| path).chain([ASSETS]).collect()
}

/// A list of addresses, with the handlers of each method.
type Routes = Vec<(&'static str, MethodRouter<Service>)>;

/// The address of the files that pages load.
const ASSETS: &str = "/static/{name}";

fn pages() -> Routes {
    let log_in = get(login::show).post(login::log_in);
    vec![
        (landing::HOME, get(home::show)),
        (
            landing::LOGIN,
            log_in.layer(DefaultBodyLimit::max(LOGIN_BODY)),
        ),
        (BEGIN, get(by_provider::begin)),
        (RETURN, get(by_provider::come_back)),
        (landing::LOGOUT, post(login::log_out)),
        (landing::ACCESS, get(access::show).post(access::choose)),
        ("/data/{id}", get(data::show)),
        (
            "/data/{id}/columns",
            get(show::<ColumnsForm>).post(submit::<ColumnsForm>),
        ),
        (
            "/data/{id}/schema",
            get(show::<SchemaForm>).post(submit::<SchemaForm>),
        ),
        (
            "/data/{id}/train",
            get(show::<TrainForm>).post(submit::<TrainForm>),
        ),
        (
            "/data/{id}/people",
            get(show::<PeopleForm>).post(submit::<PeopleForm>),
        ),
        (
            "/data/{id}/rename",
            get(show::<RenameForm<DataSet>>).post(submit::<RenameForm<DataSet>>),
        ),
        (
            "/data/{id}/delete",
            get(delete::ask_data).post(delete::data),
        ),
        ("/models/{id}", get(models::show)),
        (
            "/models/{id}/audit",
            get(show::<AuditForm>).post(submit::<AuditForm>),
        ),
        ("/models/{id}/people", get(people::of_model)),
        (
            "/models/{id}/rename",
            get(show::<RenameForm<Model>>).post(submit::<RenameForm<Model>>),
        ),
        (
            "/models/{id}/delete",
            get(delete::ask_model).post(delete::model),
        ),
        ("/models/{id}/history", get(history::of_model)),
        ("/jobs/{id}", get(jobs::show)),
        ("/jobs/{id}/events", get(jobs::events)),
        ("/jobs/{id}/stop", post(jobs::stop)),
        ("/jobs/{id}/resume", post(jobs::resume)),
        (
            "/jobs/{id}/rename",
            get(show::<RenameForm<Job>>).post(submit::<RenameForm<Job>>),
        ),
        ("/jobs/{id}/delete", get(delete::ask_job).post(delete::job)),
        ("/runs/{id}", get(runs::show)),
        ("/runs/{id}/report", get(runs::report)),
        ("/runs/{id}/report.md", get(runs::markdown)),
        ("/runs/{id}/report.json", get(runs::json)),
        ("/runs/{id}/report.annex.html", get(runs::annex)),
        ("/runs/{id}/report.cdx.json", get(runs::bill)),
        ("/runs/{id}/summary.json", get(runs::summary)),
        ("/runs/{id}/samples", get(runs::samples)),
        (
            "/runs/{id}/repair",
            get(show::<RepairForm>).post(submit::<RepairForm>),
        ),
        ("/runs/{id}/history", get(history::of_name)),
        ("/runs/{id}/links", get(links::show).post(links::make)),
        ("/runs/{id}/links/revoke", post(links::revoke)),
        ("/shared/{secret}", get(links::shared)),
        ("/compare", get(compare::show)),
        (projects::PROJECTS, get(projects::list).post(projects::make)),
        ("/projects/{id}", get(projects::show)),
        (
            "/projects/{id}/settings",
            get(projects::show_settings).post(projects::change),
        ),
        (
            "/projects/{id}/delete",
            get(projects::ask).post(projects::delete),
        ),
        (
            "/projects/{id}/tokens",
            get(tokens::show).post(tokens::make),
        ),
        ("/projects/{id}/tokens/revoke", post(tokens::revoke)),
        ("/projects/{id}/webhook", get(hooks::show).post(hooks::set)),
        ("/projects/{id}/webhook/remove", post(hooks::remove)),
        ("/projects/{id}/log", get(log::of_project)),
        ("/projects/{id}/log.csv", get(log::file_of_project)),
        ("/log", get(log::whole)),
        ("/log.csv", get(log::whole_file)),
    ]
}

/// The routes that take uploads. Uploads are limited while they are streamed, not by the size of
/// the whole request.
fn uploads() -> Routes {
    vec![
        ("/data/new", get(data::show_new).post(data::upload)),
        ("/models/new", get(models::show_new).post(models::upload)),
    ]
}

/// Answers that nothing is at this address, for the API as for the pages.
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
