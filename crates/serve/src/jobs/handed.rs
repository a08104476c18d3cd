//! The files that a worker gets for a job, and those that it brings back.
//!
//! A worker gets the files that the job reads and those of its run directory, each with its hash.
//! It brings back files of the run directory: each is streamed under a temporary name, bounded, and
//! kept if it has the announced hash. Once all files are there that the worker says the directory
//! holds, they are put in their places in the order in which a run writes them, so that whatever
//! happens in the middle of it, the directory is one of a run that was killed. Only names that runs
//! have are taken; nothing else of what a worker sends becomes part of a path.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio_stream::StreamExt;

use super::Itself;
use super::run_files::{files_in, is_run_file, place};
use super::wire::WorkFile;
use crate::identifier::Id;
use crate::places::{Places, gone};
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::stall::Pace;
use crate::store::{DataSet, Job, Model, Scope};
use probity_run::run_directory::{file_sha256, hex};

/// A job that a worker has.
pub(super) struct AtWorker {
    /// The token of the worker.
    pub token: Id,
    /// The files that the job reads.
    pub reads: Vec<WorkFile>,
    /// The files of the job's run; locked while files are put in their places.
    pub arrived: tokio::sync::Mutex<Arrived>,
    /// A lock held while a file comes: files come one after the other, so that each is counted
    /// before the next.
    coming: tokio::sync::Mutex<()>,
    until: Mutex<Instant>,
}

/// The files of a run that came from workers.
#[derive(Default)]
pub(super) struct Arrived {
    /// Whether the worker no longer holds the job.
    pub is_over: bool,
    /// The hashes of the files that are in their places in the run directory.
    pub kept: BTreeMap<String, String>,
    /// The files that have come, and wait for the others.
    came: BTreeMap<String, Came>,
}

struct Came {
    file: NamedTempFile,
    bytes: u64,
    sha256: String,
}

/// The announcement of a file that a worker sends.
#[derive(Debug, Clone)]
pub(crate) struct Announced {
    /// The name of the file in the run directory.
    pub name: String,
    /// The number of bytes of the file.
    pub bytes: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
}

impl AtWorker {
    /// Makes the record of `job` at the worker with the token `token`.
    /// Fails when something that it reads is not there, or cannot be read or fetched.
    pub async fn new(service: &Service, job: &Job, token: &Id) -> Result<AtWorker, Problem> {
        let scope = job.scope(Itself::at_work());
        service.read_at_hand(&scope, &job.specification).await?;
        service.under_way(job).await?;
        let sources = sources(service, &scope, job).await?;
        let (places, run) = (service.places.clone(), service.places.run(&job.id));
        let lock = places.lock(&job.id);
        let (reads, kept) = service
            .blocking(move || {
                // A process that another service left may still write into the directory.
                File::create(lock)?.lock()?;
                let mut reads = Vec::with_capacity(sources.len());
                for file in sources {
                    reads.push(work_file(&places, &file)?);
                }
                let mut kept = BTreeMap::new();
                for name in files_in(&run) {
                    let sha256 = file_sha256(&run.join(&name))?;
                    kept.insert(name, sha256);
                }
                Ok((reads, kept))
            })
            .await?;
        Ok(AtWorker {
            token: token.clone(),
            reads,
            arrived: tokio::sync::Mutex::new(Arrived {
                kept,
                ..Arrived::default()
            }),
            coming: tokio::sync::Mutex::default(),
            until: Mutex::new(Instant::now() + service.limits.lease),
        })
    }

    /// Records that the worker has reported: the lease ends `lease` from now.
    pub fn heard(&self, lease: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + lease;
    }

    /// Whether the lease has ended.
    pub fn is_silent(&self) -> bool {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) < Instant::now()
    }
}

/// The paths of the files that `job` reads.
async fn sources(service: &Service, scope: &Scope, job: &Job) -> Result<Vec<PathBuf>, Problem> {
    let (asked, places) = (&job.specification, &service.places);
    let mut files = Vec::new();
    for id in asked.data_sets() {
        let data: DataSet = service.find(scope, id).await?;
        files.push(places.file_of(&data));
    }
    if asked.reads_schema() {
        files.push(places.schema(asked.data()));
    }
    let mut folders: Vec<PathBuf> = asked.runs().iter().map(|run| places.run(run)).collect();
    if let Some(model) = asked.model() {
        let model: Model = service.find(scope, model).await?;
        folders.push(places.model(&model));
    }
    let listed = service.blocking(move || {
        let mut files = Vec::new();
        for folder in folders {
            files.extend(files_in(&folder).into_iter().map(|name| folder.join(name)));
        }
        Ok(files)
    });
    files.extend(listed.await?);
    Ok(files)
}

/// Describes a file in the data directory for a worker: its path, size and hash.
pub(super) fn work_file(places: &Places, file: &Path) -> Result<WorkFile, Problem> {
    Ok(WorkFile {
        path: places.name_of(file),
        bytes: fs::metadata(file)?.len(),
        sha256: file_sha256(file)?,
    })
}

impl Arrived {
    /// Refuses a worker that no longer holds the job.
    pub fn expect_held(&self) -> Result<(), Problem> {
        match self.is_over {
            true => Err(lost()),
            false => Ok(()),
        }
    }

    /// Returns the names among `files` that are neither in their places nor have come.
    /// Fails when one of them has a name that no file of a run has.
    pub fn missing(&self, files: &BTreeMap<String, String>) -> Result<Vec<String>, Problem> {
        let mut missing = Vec::new();
        for (name, sha256) in files {
            expect_known(name)?;
            let has_come = self
                .came
                .get(name)
                .is_some_and(|came| came.sha256 == *sha256);
            if !has_come && self.kept.get(name) != Some(sha256) {
                missing.push(name.clone());
            }
        }
        Ok(missing)
    }

    /// Makes the run directory `run` hold exactly `files`, of which none is missing. Fails when the
    /// operating system does not let it.
    pub fn put(&mut self, run: &Path, files: &BTreeMap<String, String>) -> Result<(), Problem> {
        fs::create_dir_all(run)?;
        // Files are put in place in reverse order: first the last of them, which marks the run as
        // unfinished.
        let mut names: Vec<(&String, &String)> = files.iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(place(name)));
        for (name, sha256) in names {
            let came = self.came.remove(name);
            if let Some(came) = came.filter(|came| came.sha256 == *sha256) {
                came.file.as_file().sync_all()?;
                came.file
                    .persist(run.join(name))
                    .map_err(|error| error.error)?;
                self.kept.insert(name.clone(), came.sha256);
            }
        }
        for name in files_in(run) {
            if !files.contains_key(&name) {
                gone(fs::remove_file(run.join(&name)))?;
                self.kept.remove(&name);
            }
        }
        self.came.clear();
        Ok(())
    }

    /// Keeps a file that has come completely.
    fn take(&mut self, name: String, came: Came) {
        self.came.insert(name, came);
    }

    /// The number of bytes of the files that wait.
    fn waiting(&self) -> u64 {
        self.came.values().map(|came| came.bytes).sum()
    }
}

impl Service {
    /// Receives the `announced` file of the run of `job` at `worker`.
    /// Fails when it is no file of a run, differs from its announcement, or there is no room for
    /// it.
    pub(super) async fn receive(
        &self,
        job: &Job,
        worker: &AtWorker,
        announced: Announced,
        body: Body,
    ) -> Result<(), Problem> {
        expect_known(&announced.name)?;
        let _turn = worker.coming.lock().await;
        let waiting = worker.arrived.lock().await.waiting();
        let scope = job.scope(Itself::at_work());
        let more = waiting.saturating_add(announced.bytes);
        self.check_storage(&scope, more).await?;
        let places = self.places.clone();
        let file = self.blocking(move || Ok(places.temporary("run-")?)).await?;
        let came = self.stream(file, &announced, body).await?;
        let mut arrived = worker.arrived.lock().await;
        arrived.expect_held()?;
        arrived.take(announced.name, came);
        Ok(())
    }

    async fn stream(
        &self,
        mut file: NamedTempFile,
        announced: &Announced,
        body: Body,
    ) -> Result<Came, Problem> {
        let mut pace = Pace::new(self.limits.idle_time);
        let (mut pieces, mut hasher) = (body.into_data_stream(), Sha256::new());
        let mut bytes = 0;
        while let Some(piece) = pace.next(pieces.next()).await? {
            let cut_off = |_| Problem::new(ProblemKind::Malformed, "The body was cut off.");
            let piece = piece.map_err(cut_off)?;
            pace.came(piece.len());
            bytes += piece.len() as u64;
            if bytes > announced.bytes {
                let detail = format!(
                    "More than the {} bytes came that were announced.",
                    announced.bytes
                );
                return Err(Problem::new(ProblemKind::TooLarge, detail));
            }
            hasher.update(&piece);
            file.write_all(&piece)?;
        }
        file.flush()?;
        let sha256 = hex(&hasher.finalize());
        if bytes != announced.bytes || sha256 != announced.sha256 {
            return Err(Problem::invalid(
                "What came is not what was announced: it has another length or SHA-256.",
            ));
        }
        Ok(Came {
            file,
            bytes,
            sha256,
        })
    }
}

fn expect_known(name: &str) -> Result<(), Problem> {
    match is_run_file(name) {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "No file of a run is called '{}'.",
            name.escape_debug()
        ))),
    }
}

/// The problem that a worker is told when it no longer holds a job.
pub(super) fn lost() -> Problem {
    Problem::conflict(
        "This worker does not have the job: the lease is over, or the job is; drop what there is of it.",
    )
}
