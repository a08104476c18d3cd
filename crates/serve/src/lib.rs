//! `probity serve`: audits as a service, with pages for people and a JSON API for programs.
//!
//! | module       | holds                                                                     |
//! |--------------|---------------------------------------------------------------------------|
//! | [`store`]    | the database: projects, tokens, the log, data sets, models, jobs           |
//! | `store::database` | SQLite in the data directory, or PostgreSQL for several services       |
//! | `store::access` | the permissions: who may see and change what                            |
//! | `places`     | the places of files in the data directory                                  |
//! | `artefacts`  | storage for artefacts elsewhere, of which the data directory is a cache then |
//! | `service`    | the state that requests and jobs share                                     |
//! | `jobs`       | specifications, their processes, the queue, leases, notifications of their ends |
//! | [`work`]     | workers of a service on other machines                                     |
//! | `provider`   | log-in by an identity provider (OpenID Connect)                            |
//! | `outside`    | requests to other machines                                                 |
//! | `operations` | what users can do, shared by the API and the pages                         |
//! | `api`        | the JSON API and its OpenAPI document                                      |
//! | `pages`      | the pages                                                                  |
//! | `problem`    | problems: what users are told when something cannot be done                |
//!
//! Everything that reads bytes of a user runs in a process of its own with bounded memory and time:
//! the service itself moves files and answers requests. Only those who have a token of a project,
//! or were given access as a person, see what is in it.

mod address;
mod answer_body;
mod api;
mod artefacts;
mod download;
mod fair;
mod gate;
mod host;
pub mod identifier;
pub mod inspection;
mod jobs;
pub mod limits;
mod log;
pub mod moment;
mod operations;
mod outside;
mod ownership;
mod pages;
mod places;
mod problem;
mod provider;
mod router;
mod sender;
mod service;
mod serving;
mod shares;
mod stall;
pub mod store;
mod turns;
pub mod work;

pub use artefacts::{ArtefactsError, ArtefactsOptions};
pub use pages::addresses;
pub use places::make_private;
pub use provider::{ProviderError, ProviderOptions};
pub use service::{Service, ServiceError, ServiceOptions};
pub use serving::Listening;
