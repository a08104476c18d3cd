//! `probity serve`: audits as a service, with pages for people and a JSON API for programs.
//!
//! | module        | holds                                                                     |
//! |---------------|---------------------------------------------------------------------------|
//! | [`store`]     | the database: tokens, sessions, data sets, models, jobs                    |
//! | [`places`]    | where things lie in the data directory                                     |
//! | [`jobs`]      | requests, their processes, the queue                                       |
//! | [`operations`]| what users can do, shared by the API and the pages                         |
//! | [`api`]       | the JSON API and its OpenAPI document                                      |
//! | [`pages`]     | the pages                                                                  |
//! | [`problem`]   | what users are told when something cannot be done                          |
//!
//! Everything that reads bytes of a user runs in a process of its own with bounded memory and time: the service itself
//! moves files and answers requests. All who hold a token share what is in the data directory.

pub mod api;
pub mod identifier;
pub mod jobs;
pub mod limits;
pub mod log;
pub mod moment;
pub mod operations;
pub mod pages;
pub mod places;
pub mod problem;
pub mod store;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;

use self::jobs::board::Board;
use self::limits::Limits;
use self::places::Places;
use self::problem::Problem;
use self::store::{Store, StoreError};

/// How the service is set up.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// What is refused.
    pub limits: Limits,
    /// The executable that jobs run: this one.
    pub executable: PathBuf,
}

/// The service. Clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    limits: Limits,
    executable: PathBuf,
    places: Places,
    store: Store,
    board: Board,
}

impl Service {
    /// What is refused.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Where things lie.
    pub fn places(&self) -> &Places {
        &self.0.places
    }

    /// What is going on with the jobs.
    pub fn board(&self) -> &Board {
        &self.0.board
    }

    /// Does `work` with the database, away from the threads that answer requests.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        self.blocking(move || work(&service.0.store).map_err(|error| Problem::internal(&error)))
            .await
    }

    /// Does `work`, which waits for the disk, away from the threads that answer requests.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => Err(Problem::internal(&error)),
        }
    }

    /// Refuses to store more than is allowed.
    ///
    /// # Errors
    /// When the limit is reached.
    pub async fn check_storage(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// Everything that the service answers.
pub fn router(service: Service) -> Router {
    api::router()
        .merge(pages::router(&service))
        .with_state(service)
}
