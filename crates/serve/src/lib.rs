//! `probity serve`: audits as a service, with pages for people and a JSON API for programs.
//!
//! | module       | holds                                                                     |
//! |--------------|---------------------------------------------------------------------------|
//! | [`store`]    | the database: tokens, sessions, data sets, models, jobs                    |
//! | `places`     | where things lie in the data directory                                     |
//! | `service`    | what requests and jobs share                                               |
//! | `jobs`       | specifications, their processes, the queue                                 |
//! | `operations` | what users can do, shared by the API and the pages                         |
//! | `api`        | the JSON API and its OpenAPI document                                      |
//! | `pages`      | the pages                                                                  |
//! | `problem`    | what users are told when something cannot be done                          |
//!
//! Everything that reads bytes of a user runs in a process of its own with bounded memory and time: the service itself
//! moves files and answers requests. All who hold a token share what is in the data directory.

mod api;
mod download;
mod gate;
pub mod identifier;
pub mod inspection;
mod jobs;
pub mod limits;
mod log;
pub mod moment;
mod operations;
mod pages;
mod places;
mod problem;
mod router;
mod service;
mod serving;
pub mod store;

pub use service::{Service, ServiceError, ServiceOptions};
pub use serving::Listening;
