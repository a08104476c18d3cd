//! A worker of a service: takes jobs from it, runs them on this machine, and brings back the
//! results (`probity work`).
//!
//! Nothing of value is at a worker alone: it fetches what a job reads, reports on the job as long
//! as it runs, and sends each new checkpoint, and in the end the run directory. Whatever happens to
//! the worker, the service then gets no more reports, and gives the job to another one, which goes
//! on from the last checkpoint that arrived. The rules that both keep are in the module `jobs`.

mod cache;
mod client;
mod job;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use probity_run::program::Program;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::cache::Cache;
use self::client::{Client, Refusal};
use self::job::WorkerJob;
use crate::limits::Limits;
use crate::log;
use crate::outside;
use crate::places::{gone, make_private};
use crate::service::blocking;

/// The folder of the jobs that run.
const JOBS: &str = "jobs";

/// How long a worker waits before it asks for a job again.
const PACE: Duration = Duration::from_secs(1);

/// How often it is tried to clear a folder in which the jobs of a killed worker still write, and
/// how long the worker waits each time.
const CLEARINGS: u32 = 100;
const CLEARING_PAUSE: Duration = Duration::from_millis(100);

/// The reason why a worker cannot work.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// The address makes no sense.
    #[error("--service is '{url}': {problem}")]
    Url {
        /// The address that was given.
        url: String,
        /// What is wrong with the address.
        problem: &'static str,
    },
    /// The folder cannot be used.
    #[error("cannot use {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another worker uses the folder.
    #[error("another probity work uses {}; take another --work-dir", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The service refuses the worker.
    #[error("the service at {url} refuses this worker: {problem}")]
    Refused {
        /// The service.
        url: String,
        /// The reason of the service.
        problem: String,
    },
}

/// The options of a worker.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// The address of the service.
    pub service: String,
    /// The token of the worker.
    pub token: String,
    /// The folder for the files that jobs read and write meanwhile.
    pub folder: PathBuf,
    /// The program that jobs run: the command `probity`.
    pub program: Program,
    /// The number of jobs that run at the same time.
    pub jobs: usize,
    /// The number of threads of a job.
    pub threads: u16,
    /// How often a new checkpoint is looked for, which is then sent.
    pub save_every: Duration,
}

impl WorkerOptions {
    /// Makes the options of a worker for the service at `service` that works in `folder` and
    /// whose jobs run `program`.
    pub fn new(service: String, token: String, folder: PathBuf, program: Program) -> WorkerOptions {
        WorkerOptions {
            service,
            token,
            folder,
            program,
            jobs: 1,
            threads: Limits::default().job_threads,
            save_every: Duration::from_secs(30),
        }
    }
}

/// The state that the jobs of a worker share.
struct Shared {
    client: Client,
    cache: Cache,
    folder: PathBuf,
    program: Program,
    threads: u16,
    save_every: Duration,
}

/// A worker of a service.
pub struct Worker {
    shared: Arc<Shared>,
    url: String,
    jobs: usize,
    _lock: fs::File,
}

impl Worker {
    /// Opens a worker in its folder, which no other worker may use.
    ///
    /// # Errors
    /// When the address makes no sense, or the folder cannot be used.
    pub fn open(options: WorkerOptions) -> Result<Worker, WorkerError> {
        let url = outside::url(&options.service, true).map_err(|problem| WorkerError::Url {
            url: options.service.clone(),
            problem,
        })?;
        let folder = std::path::absolute(&options.folder);
        let failed = |source| WorkerError::Folder {
            folder: options.folder.clone(),
            source,
        };
        let folder = folder.map_err(failed)?;
        make_private(&folder).map_err(failed)?;
        let lock = fs::File::create(folder.join("lock")).map_err(failed)?;
        if lock.try_lock().is_err() {
            return Err(WorkerError::InUse { folder });
        }
        // The jobs that a killed worker left here have been given to somebody else by now.
        clear(&folder.join(JOBS)).map_err(failed)?;
        let cache = Cache::create(&folder.join("files")).map_err(failed)?;
        Ok(Worker {
            shared: Arc::new(Shared {
                client: Client::new(&url, &options.token),
                cache,
                folder,
                program: options.program,
                threads: options.threads,
                save_every: options.save_every,
            }),
            url,
            jobs: options.jobs,
            _lock: lock,
        })
    }

    /// Works until `ends`, and then gives back the jobs that it has.
    ///
    /// # Errors
    /// When the service refuses the worker: its token, or its version.
    pub async fn run(
        self,
        ends: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), WorkerError> {
        let (end, mut ended) = watch::channel(false);
        tokio::spawn(async move {
            ends.await;
            log::line(&"ends; gives its jobs back");
            end.send_replace(true);
            // The channel lasts as long as somebody listens.
            end.closed().await;
        });
        let mut running = JoinSet::new();
        let mut refusal = None;
        let mut is_there = true;
        while !*ended.borrow() {
            if running.len() < self.jobs {
                let shared = self.shared.clone();
                let taken = blocking(move || Ok(shared.client.take())).await;
                match taken {
                    Ok(Ok(Some(leased))) => {
                        let (shared, ended) = (self.shared.clone(), ended.clone());
                        running.spawn(WorkerJob::work(shared, leased, ended));
                        is_there = true;
                        continue;
                    }
                    Ok(Ok(None)) => is_there = true,
                    Ok(Err(Refusal::Later(text))) => {
                        if std::mem::replace(&mut is_there, false) {
                            log::line(&format_args!("the service does not answer: {text}"));
                        }
                    }
                    Ok(Err(other)) => {
                        refusal = Some(other);
                        break;
                    }
                    // The error is in the log.
                    Err(_) => {}
                }
            }
            let shared = self.shared.clone();
            let _ = blocking(move || Ok(shared.cache.forget_unused()?)).await;
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                Some(_) = running.join_next() => {}
                _ = ended.changed() => {}
            }
        }
        while running.join_next().await.is_some() {}
        let shared = self.shared.clone();
        let _ = blocking(move || Ok(shared.cache.clear()?)).await;
        match refusal {
            None => Ok(()),
            Some(refusal) => Err(WorkerError::Refused {
                url: self.url.clone(),
                problem: refusal.text().trim_end_matches('.').to_owned(),
            }),
        }
    }
}

/// Removes `folder` with everything in it. The jobs of a worker that was killed end by themselves,
/// and may write there until they do.
fn clear(folder: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match gone(fs::remove_dir_all(folder)) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries < CLEARINGS => {
                tries += 1;
                thread::sleep(CLEARING_PAUSE);
            }
            outcome => return outcome,
        }
    }
}
