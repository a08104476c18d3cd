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
pub mod download;
pub mod gate;
pub mod identifier;
pub mod inspection;
pub mod jobs;
pub mod limits;
pub mod log;
pub mod moment;
pub mod operations;
pub mod pages;
pub mod places;
pub mod problem;
pub mod serving;
pub mod store;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::gate::Gate;
use self::jobs::board::Board;
use self::jobs::queue::Queue;
use self::limits::Limits;
use self::places::Places;
use self::problem::{Problem, ProblemKind};
use self::store::{Store, StoreError};

/// Files that are looked at at the same time.
const INSPECTIONS: usize = 2;

/// Why the service cannot begin.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// The data directory cannot be made.
    #[error("cannot make the data directory {}: {source}", directory.display())]
    DataDirectory {
        /// The directory.
        directory: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// Another service has it.
    #[error("another probity serve uses {}; take another --data-dir", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The operating system's word.
        source: io::Error,
    },
    /// The jobs of earlier times cannot be taken up.
    #[error("{0}; see the lines above")]
    Queue(String),
    /// Something of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

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
    queue: Queue,
    inspections: Arc<Semaphore>,
    gate: Gate,
    _lock: std::fs::File,
}

impl Service {
    /// Opens the data directory, which no other service may have open.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(options: ServiceOptions) -> Result<Service, ServiceError> {
        let failed = |source| ServiceError::DataDirectory {
            directory: options.data_dir.clone(),
            source,
        };
        let places = Places::create(&options.data_dir).map_err(failed)?;
        let lock = std::fs::File::create(places.root().join("lock")).map_err(failed)?;
        if lock.try_lock().is_err() {
            return Err(ServiceError::InUse {
                directory: options.data_dir,
            });
        }
        places.clear_uploads().map_err(failed)?;
        let store = Store::open(places.root())?;
        Ok(Service(Arc::new(Inner {
            gate: Gate::new(&options.limits),
            limits: options.limits,
            executable: options.executable,
            places,
            store,
            board: Board::default(),
            queue: Queue::default(),
            inspections: Arc::new(Semaphore::new(INSPECTIONS)),
            _lock: lock,
        })))
    }

    /// Whether anybody can use it: whether there is a token that is valid.
    ///
    /// # Errors
    /// When the database fails.
    pub fn has_tokens(&self) -> Result<bool, ServiceError> {
        let tokens = self.0.store.tokens()?;
        Ok(tokens.iter().any(|token| token.revoked.is_none()))
    }

    /// The executable that jobs run.
    pub fn executable(&self) -> &Path {
        &self.0.executable
    }

    /// The queue of jobs.
    pub fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// What lets requests in.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Waits until a file may be looked at; until what is given is dropped, it counts as being looked at.
    ///
    /// # Errors
    /// When too many wait.
    pub async fn turn_to_inspect(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.0
            .inspections
            .clone()
            .acquire_owned()
            .await
            .map_err(|error| Problem::internal(&error))
    }

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
        let root = self.places().root().to_owned();
        let used = self
            .blocking(move || places::size(&root).map_err(|error| Problem::internal(&error)))
            .await?;
        if used >= self.limits().stored_bytes {
            return Err(Problem::new(
                ProblemKind::StorageFull,
                "What is stored here has reached its limit; delete data sets, models or jobs that are no longer needed.",
            ));
        }
        Ok(())
    }
}

/// Everything that the service answers.
pub fn router(service: Service) -> Router {
    let router = api::router()
        .method_not_allowed_fallback(other_method)
        .merge(pages::router(&service))
        .layer(from_fn_with_state(service.clone(), gate::guard));
    pages::secured(router).with_state(service)
}

async fn other_method(method: Method) -> Problem {
    Problem::new(
        ProblemKind::MethodNotAllowed,
        format!("{method} is not possible at this address."),
    )
}
