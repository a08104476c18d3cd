//! The service: the state that requests and jobs share.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use probity_run::program::Program;
use thiserror::Error;
use tokio::sync::watch;

use super::answer_body::Revoked;
use super::artefacts::{Artefacts, ArtefactsError, ArtefactsOptions};
use super::gate::Gate;
use super::host::Hosts;
use super::identifier::Id;
use super::jobs::Itself;
use super::jobs::board::Board;
use super::jobs::queue::Queue;
use super::limits::Limits;
use super::log;
use super::ownership::own;
use super::places::Places;
use super::problem::{Problem, ProblemKind};
use super::provider::{Provider, ProviderError, ProviderOptions};
use super::store::{DataSet, DatabaseOptions, Job, Model, Record, Scope, Store, StoreError};
use super::turns::{AtOnce, Turns};

/// The greatest number of things in a list.
pub(crate) const LISTED: u32 = 100;
/// The number of files that are looked at at the same time.
const INSPECTIONS: AtOnce = AtOnce {
    all: 3,
    of_a_project: 2,
    of_a_user: 1,
};

/// How often tokens that are no longer valid are looked for.
const TOKENS: Duration = Duration::from_secs(1);

/// How often, and how many times, a data directory is tried that another service is looking through
/// as it begins.
const AGAIN: Duration = Duration::from_millis(100);
const TRIES: u32 = 600;

/// The reason why the service cannot begin.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// The data directory cannot be made.
    #[error("cannot make the data directory {}: {source}", directory.display())]
    DataDirectory {
        /// The directory.
        directory: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another service uses the data directory.
    #[error("another probity serve uses {}; take another data directory", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The data directory holds the files of another service.
    #[error(
        "{} holds the files of another service; take another data directory, or the database that belongs to it",
        directory.display()
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
    },
    /// The services of the database keep their files elsewhere.
    #[error(
        "the services of this database keep their files {place}; all of them share a data directory, or a bucket (--artefacts)"
    )]
    Elsewhere {
        /// Where they do.
        place: String,
    },
    /// The database cannot be used.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Nobody can log in by the identity provider that was named.
    #[error("{0}")]
    Provider(#[from] ProviderError),
    /// The artefacts cannot be stored where they should be.
    #[error("{0}")]
    Artefacts(#[from] ArtefactsError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The jobs of earlier times cannot be taken up.
    #[error("{0}; see the lines above")]
    Queue(String),
    /// Another error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Does `work`, which waits for the disk or the network, on a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Problem::internal(&error)),
    }
}

/// Does `work` to its end, whether somebody waits for it or not, and returns its result.
pub(crate) async fn unhindered<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => Err(Problem::internal(&error)),
    }
}

/// The options of a service.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The database of a server, which other services may share; none: one in the data directory.
    pub database: Option<DatabaseOptions>,
    /// The limits beyond which requests are refused.
    pub limits: Limits,
    /// The proxies whose word is believed about the client that they forward for.
    pub proxies: Vec<IpAddr>,
    /// The host names of the service besides `localhost` and its addresses.
    pub hosts: Vec<String>,
    /// Whether webhooks may have private addresses: those of this machine and its network.
    pub private_hooks: bool,
    /// The identity provider that people may log in by; none: everybody needs a token.
    pub provider: Option<ProviderOptions>,
    /// The storage of artefacts; none: they are in the data directory.
    pub artefacts: Option<ArtefactsOptions>,
    /// The program that jobs run: the command `probity`.
    pub program: Program,
}

impl ServiceOptions {
    /// Makes the options of a service in `data_dir` whose jobs run `program`, with the usual limits.
    pub fn new(data_dir: PathBuf, program: Program) -> ServiceOptions {
        ServiceOptions {
            data_dir,
            database: None,
            limits: Limits::default(),
            proxies: Vec::new(),
            hosts: Vec::new(),
            private_hooks: false,
            provider: None,
            artefacts: None,
            program,
        }
    }
}

/// The service. A clone is a handle on the same service.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

/// The state that all clones of a service share.
pub struct Shared {
    /// The limits beyond which requests are refused.
    pub(crate) limits: Limits,
    /// The proxies whose word is believed about the client that they forward for.
    pub(crate) proxies: Vec<IpAddr>,
    /// The host names of the service.
    pub(crate) hosts: Hosts,
    /// The name of the cookie of the service's sessions. It differs from that of another service on
    /// this machine, since browsers send cookies to all ports of a machine.
    pub(crate) cookie: String,
    /// The beginning of the names of the cookies of log-ins by the identity provider; it differs
    /// likewise.
    pub(crate) begun_cookie: String,
    /// Whether webhooks may have private addresses.
    pub(crate) private_hooks: bool,
    /// The identity provider that people may log in by.
    pub(crate) provider: Option<Arc<Provider>>,
    /// The program that jobs run.
    pub(crate) program: Program,
    /// The places of files.
    pub(crate) places: Places,
    /// The artefacts in their storage, where there is one besides the data directory.
    pub(crate) artefacts: Option<Arc<Artefacts>>,
    /// The views of the jobs that are not at an end.
    pub(crate) board: Board,
    /// The queue of jobs.
    pub(crate) queue: Queue,
    /// The gate that admits requests.
    pub(crate) gate: Gate,
    /// The turns of files to be looked at.
    pub(crate) inspections: Turns,
    /// The tokens that are no longer valid, as far as that was noticed.
    revoked: watch::Sender<HashSet<Id>>,
    /// When the database could not be reached the last time.
    database_away: Mutex<Option<Instant>>,
    database: Store,
    _lock: std::fs::File,
}

impl Deref for Service {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// Locks a data directory that services of one database share: exclusively locked, by the file
/// `lock`, it is looked through. Returns whether it could be had.
fn share(lock: &std::fs::File, is_alone: bool) -> bool {
    if is_alone && lock.unlock().is_err() {
        return false;
    }
    (0..TRIES).any(|tries| {
        if tries > 0 {
            std::thread::sleep(AGAIN);
        }
        lock.try_lock_shared().is_ok()
    })
}

impl Service {
    /// Opens the database, and the data directory, which no other service may have open, unless it
    /// shares the database.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn open(options: ServiceOptions) -> Result<Service, ServiceError> {
        let failed = |source| ServiceError::DataDirectory {
            directory: options.data_dir.clone(),
            source,
        };
        let provider = options.provider.map(Provider::new).transpose()?;
        let places = Places::create(&options.data_dir).map_err(failed)?;
        let artefacts = options.artefacts.as_ref();
        let artefacts = artefacts.map(|options| Artefacts::new(options, &places));
        let artefacts = artefacts.transpose()?;
        let lock = std::fs::File::create(places.root().join("lock")).map_err(failed)?;
        let is_alone = lock.try_lock().is_ok();
        let in_use = || ServiceError::InUse {
            directory: options.data_dir.clone(),
        };
        let has_own = is_alone || artefacts.is_none();
        let database = match &options.database {
            Some(database) if has_own => Store::connect(database)?,
            None if is_alone => Store::open(places.root())?,
            _ => return Err(in_use()),
        };
        let id = database.service()?;
        let itself = Itself::at_the_start(&lock);
        let bucket = options.artefacts.as_ref();
        let bucket = bucket.map(|artefacts| artefacts.address.trim_end_matches('/'));
        if is_alone {
            own(&places, &database, itself, bucket)?;
            let mut kept = database.all::<DataSet>(itself)?;
            kept.extend(database.all::<Model>(itself)?);
            kept.extend(database.all::<Job>(itself)?);
            places.sweep(&kept).map_err(failed)?;
        }
        // With artefacts elsewhere it is a cache, which each service has for itself.
        let shares = database.is_shared() && bucket.is_none();
        if shares && !share(&lock, is_alone) {
            return Err(in_use());
        }
        if !is_alone {
            own(&places, &database, itself, bucket)?;
        }
        database.begin(itself)?;
        Ok(Service(Arc::new(Shared {
            gate: Gate::new(&options.limits),
            limits: options.limits,
            proxies: options.proxies,
            hosts: Hosts::new(options.hosts),
            private_hooks: options.private_hooks,
            provider: provider.map(Arc::new),
            cookie: format!("probity_session_{id}"),
            begun_cookie: format!("probity_login_{id}_"),
            program: options.program,
            database,
            places,
            artefacts: artefacts.map(Arc::new),
            board: Board::default(),
            queue: Queue::default(),
            inspections: Turns::new(INSPECTIONS),
            revoked: watch::Sender::default(),
            database_away: Mutex::default(),
            _lock: lock,
        })))
    }

    /// Whether other services may share the database.
    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// Whether this service holds `job`, as the database said.
    pub(crate) fn holds(&self, job: &Job) -> bool {
        self.database.holds(job)
    }

    /// Whether anybody can use the service: whether there is a valid token.
    ///
    /// # Errors
    /// When the database fails.
    pub fn has_tokens(&self) -> Result<bool, ServiceError> {
        Ok(self.database.has_tokens()?)
    }

    /// Looks for tokens that are no longer valid, every now and then, until `ended`: another
    /// process may revoke one, and time ends others. Puts the reserve of the database back, too.
    pub(crate) async fn watch_tokens(&self, mut ended: watch::Receiver<bool>) {
        loop {
            // A fault is in the log; the earlier result stays.
            let invalid = self.store(|store| {
                store.restore_reserve();
                store.invalid_tokens()
            });
            if let Ok(invalid) = invalid.await {
                self.saw_end_of(invalid);
            }
            tokio::select! {
                () = tokio::time::sleep(TOKENS) => {}
                _ = ended.changed() => return,
            }
        }
    }

    /// Asks the identity provider for its metadata, where there is one, so that errors are in the
    /// log from the start.
    pub(crate) async fn greet_provider(&self) {
        let Some(provider) = self.provider.clone() else {
            return;
        };
        let host = provider.host().to_owned();
        let asked = self.blocking(move || Ok(provider.ask())).await;
        match asked {
            Ok(Ok(())) => log::line(&format_args!("people may log in by {host}")),
            Ok(Err(failure)) => log::line(&format_args!(
                "nobody can log in by {host} at present: {failure}"
            )),
            // A fault is in the log.
            Err(_) => {}
        }
    }

    /// Records that `tokens` are no longer valid; they will never be again.
    pub(crate) fn saw_end_of(&self, tokens: impl IntoIterator<Item = Id>) {
        self.revoked.send_if_modified(|seen| {
            let before = seen.len();
            seen.extend(tokens);
            seen.len() > before
        });
    }

    /// Returns a future that ends when `token` is seen to be no longer valid.
    pub(crate) fn revoked(&self, token: &Id) -> Revoked {
        let (mut seen, token) = (self.revoked.subscribe(), token.clone());
        Box::pin(async move {
            // Without anybody who looks, no change is seen.
            if seen.wait_for(|seen| seen.contains(&token)).await.is_err() {
                std::future::pending().await
            }
        })
    }

    /// Does `work` with the database, away from the threads that answer requests.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        let done = self.blocking(move || Ok(work(&service.database)?)).await;
        if let Err(problem) = &done
            && problem.kind == ProblemKind::DatabaseAway
        {
            *self.away() = Some(Instant::now());
        }
        done
    }

    fn away(&self) -> MutexGuard<'_, Option<Instant>> {
        self.database_away
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the database was away within a `time`: whoever has not been heard of may have tried.
    pub(crate) fn was_away_within(&self, time: Duration) -> bool {
        self.away().is_some_and(|at| at.elapsed() < time)
    }

    /// Lists the newest things of a kind, the newest first: as many as a list may have.
    pub(crate) async fn newest<T: Record>(&self, scope: &Scope) -> Result<Vec<T>, Problem> {
        self.list(scope, T::Which::default(), None, LISTED).await
    }

    /// Lists the `limit` newest things of a kind that `which` selects, the newest first: those that
    /// came before the thing `before`, where one is named.
    pub(crate) async fn list<T: Record>(
        &self,
        scope: &Scope,
        which: T::Which,
        before: Option<Id>,
        limit: u32,
    ) -> Result<Vec<T>, Problem> {
        if let Some(before) = &before {
            self.find::<T>(scope, before).await?;
        }
        let scope = scope.clone();
        self.store(move |store| store.list(&scope, &which, before.as_ref(), limit))
            .await
    }

    /// Returns the thing `id` of a kind, if it is in the project.
    pub(crate) async fn find<T: Record>(&self, scope: &Scope, id: &Id) -> Result<T, Problem> {
        let (scope, id) = (scope.clone(), id.clone());
        let found = self.store(move |store| store.find(&scope, &id)).await?;
        found.ok_or_else(|| Problem::missing(T::NAME))
    }

    /// Does `work`, which waits for the disk, away from the threads that answer requests.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        blocking(work).await
    }

    /// The number of bytes that the project stores.
    pub(crate) async fn stored_by(&self, scope: &Scope) -> Result<u64, Problem> {
        let seen = scope.clone();
        let contents = self.store(move |store| store.contents(&seen)).await?;
        self.size_of(contents).await
    }

    /// The number of bytes that a data set, a model or a job takes.
    pub(crate) async fn stored_as<T: Record>(&self, thing: &T) -> Result<u64, Problem> {
        self.size_of(thing.contents()).await
    }

    /// Refuses to store `bytes` more in the project when they exceed its quota or what all may
    /// store, or when the disk is so full that the room for deletions was needed.
    pub(crate) async fn check_storage(&self, scope: &Scope, bytes: u64) -> Result<(), Problem> {
        let full = |what: &str| {
            Problem::new(
                ProblemKind::StorageFull,
                format!(
                    "What is stored {what} has reached its limit; delete data sets, models or jobs that are no longer needed."
                ),
            )
        };
        let is_too_much = |used: u64, most| used >= most || used.saturating_add(bytes) > most;
        if !self.store(|store| Ok(store.restore_reserve())).await? {
            return Err(Problem::disk_full());
        }
        let seen = scope.clone();
        let project = self.store(move |store| store.seen_project(&seen)).await?;
        let quota = project.and_then(|project| project.quotas.stored_bytes);
        let most = quota.unwrap_or(self.limits.stored_bytes_per_project);
        if is_too_much(self.stored_by(scope).await?, most) {
            return Err(full("in this project"));
        }
        match is_too_much(self.size_of_all().await?, self.limits.stored_bytes) {
            true => Err(full("here")),
            false => Ok(()),
        }
    }
}
