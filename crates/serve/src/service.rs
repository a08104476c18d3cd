//! The service: what requests and jobs share.

use std::io;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use tokio::sync::Semaphore;

use super::gate::Gate;
use super::identifier::Id;
use super::jobs::board::Board;
use super::jobs::queue::Queue;
use super::limits::Limits;
use super::places::{self, Places};
use super::problem::{Problem, ProblemKind};
use super::store::{Record, Store, StoreError};

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
    #[error("another probity serve uses {}; take another data directory", directory.display())]
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
#[non_exhaustive]
pub struct ServiceOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// What is refused.
    pub limits: Limits,
    /// The executable that jobs run: this one.
    pub executable: PathBuf,
}

impl ServiceOptions {
    /// A service in `data_dir` whose jobs run `executable`, with the usual limits.
    pub fn new(data_dir: PathBuf, executable: PathBuf) -> ServiceOptions {
        ServiceOptions {
            data_dir,
            limits: Limits::default(),
            executable,
        }
    }
}

/// The service. Clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

/// What all clones of a service share.
pub struct Shared {
    /// What is refused.
    pub(crate) limits: Limits,
    /// The executable that jobs run.
    pub(crate) executable: PathBuf,
    /// Where things lie.
    pub(crate) places: Places,
    /// What is going on with the jobs.
    pub(crate) board: Board,
    /// The queue of jobs.
    pub(crate) queue: Queue,
    /// What lets requests in.
    pub(crate) gate: Gate,
    /// Turns of files to be looked at.
    pub(crate) inspections: Semaphore,
    database: Store,
    _lock: std::fs::File,
}

impl Deref for Service {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
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
        Ok(Service(Arc::new(Shared {
            gate: Gate::new(&options.limits),
            limits: options.limits,
            executable: options.executable,
            database: Store::open(places.root())?,
            places,
            board: Board::default(),
            queue: Queue::default(),
            inspections: Semaphore::new(INSPECTIONS),
            _lock: lock,
        })))
    }

    /// Whether anybody can use it: whether there is a token that is valid.
    ///
    /// # Errors
    /// When the database fails.
    pub fn has_tokens(&self) -> Result<bool, ServiceError> {
        let tokens = self.database.tokens()?;
        Ok(tokens.iter().any(|token| token.revoked.is_none()))
    }

    /// Does `work` with the database, away from the threads that answer requests.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        self.blocking(move || Ok(work(&service.database)?)).await
    }

    /// All things of a kind, the newest first.
    pub(crate) async fn all<T: Record>(&self) -> Result<Vec<T>, Problem> {
        self.store(Store::all).await
    }

    /// The thing `id` of a kind.
    pub(crate) async fn find<T: Record>(&self, id: &Id) -> Result<T, Problem> {
        let id = id.clone();
        let found = self.store(move |store| store.find(&id)).await?;
        found.ok_or_else(|| {
            let detail = format!("There is no {} with this identifier.", T::NAME);
            Problem::new(ProblemKind::NotFound, detail)
        })
    }

    /// Does `work`, which waits for the disk, away from the threads that answer requests.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => Err(Problem::internal(&error)),
        }
    }

    /// Refuses to store more than is allowed.
    pub(crate) async fn check_storage(&self) -> Result<(), Problem> {
        let root = self.places.root().to_owned();
        let used = self.blocking(move || Ok(places::size(&root)?)).await?;
        if used >= self.limits.stored_bytes {
            return Err(Problem::new(
                ProblemKind::StorageFull,
                "What is stored here has reached its limit; delete data sets, models or jobs that are no longer needed.",
            ));
        }
        Ok(())
    }
}
