//! One job at a worker: from the fetching of the files that it reads to the service's answer that
//! it is over.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{Notify, watch};

use super::Shared;
use super::client::{FetchError, Refusal, Snapshot};
use crate::jobs::progress::Progress;
use crate::jobs::run::Attempt;
use crate::jobs::run_files::files_in;
use crate::jobs::wire::{Call, Ended, Ending, Leased, Report, WorkFile};
use crate::log;
use crate::places::{Places, gone};
use crate::problem::Problem;
use crate::service::blocking;
use probity_run::run_directory::CHECKPOINT;

/// The longest time between two reports of a worker.
const PACE: Duration = Duration::from_secs(1);

/// How long a worker waits before it tries again.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a worker that ends tries to give a job back.
const LAST_TRIES: Duration = Duration::from_secs(20);

/// How often a damaged file is fetched again, and how often a report on missing files is sent
/// again.
const TRIES: usize = 5;

/// A job that this worker has.
pub(super) struct WorkerJob {
    worker: Arc<Shared>,
    leased: Leased,
    places: Places,
    folder: PathBuf,
    progress: Mutex<Option<Progress>>,
    is_lost: AtomicBool,
}

impl WorkerJob {
    /// Works on `leased` until it is over, here or at the service. `ends` says that the worker
    /// ends; then the job is given back.
    pub async fn work(worker: Arc<Shared>, leased: Leased, ends: watch::Receiver<bool>) {
        let name = format!("{}-{}", leased.job, leased.lease);
        let folder = worker.folder.join(super::JOBS).join(name);
        log::job(&leased.job, leased.kind, "begins");
        match Places::create(&folder) {
            Ok(places) => {
                let job = Arc::new(WorkerJob {
                    worker,
                    leased,
                    places,
                    folder,
                    progress: Mutex::default(),
                    is_lost: AtomicBool::new(false),
                });
                job.whole(ends).await;
            }
            // The lease ends by itself.
            Err(error) => log::fault(&error),
        }
    }

    async fn whole(self: &Arc<Self>, ends: watch::Receiver<bool>) {
        let (told, calls) = watch::channel(Call::GoOn);
        let heart = tokio::spawn(self.clone().stay_in_touch(told, ends.clone()));
        let (ended, has_files) = match self.fetch_all(&ends).await {
            Ok(()) => (self.run(calls).await, true),
            Err(ended) => (ended, false),
        };
        self.end(&ended, has_files, &ends).await;
        heart.abort();
        let folder = self.folder.clone();
        // A folder that stays is removed when the worker begins the next time.
        let _ = blocking(move || Ok(gone(fs::remove_dir_all(folder))?)).await;
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Reports regularly, so that the worker keeps the job, and passes on the calls that it is
    /// told.
    async fn stay_in_touch(
        self: Arc<Self>,
        told: watch::Sender<Call>,
        mut ends: watch::Receiver<bool>,
    ) {
        let lease = Duration::try_from_secs_f64(self.leased.lease_seconds).unwrap_or(PACE);
        let pace = PACE.min(lease / 4);
        loop {
            tokio::select! {
                () = tokio::time::sleep(pace) => {}
                Ok(_) = ends.wait_for(|&ends| ends), if *told.borrow() == Call::GoOn => {
                    told.send_replace(Call::Pause);
                }
            }
            let progress = self.progress.lock();
            let progress = progress.unwrap_or_else(PoisonError::into_inner).take();
            let report = Report {
                progress,
                ..self.empty_report()
            };
            match self.report(report).await {
                Ok(Call::Stop) if *told.borrow() == Call::GoOn => {
                    told.send_replace(Call::Stop);
                }
                Ok(_) => {}
                Err(Refusal::Lost(text) | Refusal::Denied(text)) => {
                    self.lose(&text);
                    told.send_replace(Call::Pause);
                    return;
                }
                // The service may be reachable again in time.
                Err(_) => {}
            }
        }
    }

    fn lose(&self, text: &str) {
        if !self.is_lost.swap(true, Ordering::Relaxed) {
            let (job, kind) = (&self.leased.job, self.leased.kind);
            log::job(job, kind, &format!("is dropped: {text}"));
        }
    }

    fn empty_report(&self) -> Report {
        Report {
            lease: self.leased.lease,
            ..Report::default()
        }
    }

    async fn report(self: &Arc<Self>, report: Report) -> Result<Call, Refusal> {
        let job = self.clone();
        let heard = at_work(move || job.worker.client.report(&job.leased.job, &report));
        heard.await.map(|heard| heard.call)
    }

    /// Fetches the files that the job reads, and the files of its run so far.
    /// Fails with the end of the job.
    async fn fetch_all(self: &Arc<Self>, ends: &watch::Receiver<bool>) -> Result<(), Ended> {
        let reads = self.leased.reads.iter().map(|file| (file, true));
        let of_run = self.leased.run.iter().map(|file| (file, false));
        for (file, is_shared) in reads.chain(of_run) {
            let mut tries = 0;
            loop {
                if self.is_lost() || *ends.borrow() {
                    return Err(Ending::Paused.into());
                }
                let (job, wanted) = (self.clone(), file.clone());
                let fetched = tokio::task::spawn_blocking(move || job.fetch(&wanted, is_shared));
                let failure = match fetched.await {
                    Ok(Ok(())) => break,
                    Ok(Err(failure)) => failure,
                    Err(error) => FetchError::Io(io::Error::other(error)),
                };
                let why = match failure {
                    FetchError::Io(error) => return Err(of_disk(error.into())),
                    // The service, or the network, may be reachable again in time.
                    FetchError::Refused(Refusal::Later(_)) => {
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    }
                    FetchError::Refused(Refusal::Lost(text) | Refusal::Denied(text)) => {
                        self.lose(&text);
                        continue;
                    }
                    FetchError::Damaged if tries < TRIES => {
                        tries += 1;
                        continue;
                    }
                    FetchError::Damaged => format!("{} comes damaged", file.path),
                    FetchError::Refused(refusal) => refusal.text().to_owned(),
                };
                let text = format!("A worker could not fetch its files: {why}.");
                return Err(Ended::saying(Ending::Failed, text));
            }
        }
        Ok(())
    }

    /// Fetches one file; one that other jobs may read as well is looked for in the cache.
    fn fetch(&self, file: &WorkFile, is_shared: bool) -> Result<(), FetchError> {
        let Leased { job, lease, .. } = &self.leased;
        let target = self.places.file_called(&file.path).ok_or_else(|| {
            Refusal::Wrong(format!(
                "'{}' is no place of a file",
                file.path.escape_debug()
            ))
        })?;
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let fetch = |target: &mut File| self.worker.client.fetch(job, *lease, file, target);
        match is_shared {
            true => self.worker.cache.put(file, &target, fetch),
            false => fetch(&mut File::create(&target)?),
        }
    }

    /// Runs the job, and sends its checkpoints meanwhile.
    async fn run(self: &Arc<Self>, calls: watch::Receiver<Call>) -> Ended {
        let leased = &self.leased;
        let attempt = Attempt {
            program: &self.worker.program,
            places: &self.places,
            job: &leased.job,
            kind: leased.kind,
            specification: leased.specification.clone(),
            memory: leased.memory,
            threads: self.worker.threads,
            time: Duration::try_from_secs_f64(leased.seconds).unwrap_or_default(),
        };
        let over = Notify::new();
        let runs = async {
            let hears = |progress| {
                let mut last = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(progress);
            };
            let ended = attempt.run(calls, hears).await;
            over.notify_one();
            ended
        };
        let (ended, ()) = tokio::join!(runs, self.save_checkpoints(&over));
        match ended.ending {
            Ending::OutOfSpace => of_full_disk(),
            _ => ended,
        }
    }

    /// Sends the run directory whenever there is a new checkpoint, until the run is `over`.
    async fn save_checkpoints(self: &Arc<Self>, over: &Notify) {
        let checkpoint = self.places.run(&self.leased.job).join(CHECKPOINT);
        let written = || -> Option<SystemTime> { fs::metadata(&checkpoint).ok()?.modified().ok() };
        let mut sent = written();
        loop {
            tokio::select! {
                () = tokio::time::sleep(self.worker.save_every) => {}
                () = over.notified() => return,
            }
            let now = written();
            if now != sent && !self.is_lost() {
                // A file that does not arrive now comes with the next checkpoint.
                if self.send_run(None).await.is_ok() {
                    sent = now;
                }
            }
        }
    }

    /// Sends the files of the run directory, and how the job ended if it is over.
    async fn send_run(self: &Arc<Self>, ended: Option<Ended>) -> Result<(), Refusal> {
        let job = self.clone();
        at_work(move || job.send_run_now(ended)).await
    }

    fn send_run_now(&self, ended: Option<Ended>) -> Result<(), Refusal> {
        let failed = |error: io::Error| Refusal::Wrong(error.to_string());
        let (client, leased) = (&self.worker.client, &self.leased);
        let mut files = self.snapshots().map_err(failed)?;
        let hashes = files
            .iter()
            .map(|file| (file.name.clone(), file.sha256.clone()));
        let report = Report {
            files: Some(hashes.collect::<BTreeMap<_, _>>()),
            ended,
            ..self.empty_report()
        };
        for _ in 0..TRIES {
            let missing = client.report(&leased.job, &report)?.missing;
            if missing.is_empty() {
                return Ok(());
            }
            for file in files.iter_mut().filter(|file| missing.contains(&file.name)) {
                client.send(&leased.job, leased.lease, file)?;
            }
        }
        Err(Refusal::Later("the files do not stay there".to_owned()))
    }

    /// Takes snapshots of the files of the run directory.
    fn snapshots(&self) -> io::Result<Vec<Snapshot>> {
        let directory = self.places.run(&self.leased.job);
        let mut snapshots = Vec::new();
        for name in files_in(&directory) {
            match File::open(directory.join(&name)) {
                Ok(file) => snapshots.push(Snapshot::take(name, file)?),
                // The run has removed the file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(snapshots)
    }

    /// Tells the service how the job ended, with all files of its run.
    async fn end(self: &Arc<Self>, ended: &Ended, has_files: bool, ends: &watch::Receiver<bool>) {
        let (job, kind) = (&self.leased.job, self.leased.kind);
        let (mut ended, mut has_files) = (ended.clone(), has_files);
        let mut last_tries: Option<Instant> = None;
        while !self.is_lost() {
            // A missing directory says nothing of the run.
            let is_there = self.places.run(job).is_dir();
            let sent = match has_files && is_there {
                true => self.send_run(Some(ended.clone())).await,
                false => {
                    let report = Report {
                        ended: Some(ended.clone()),
                        ..self.empty_report()
                    };
                    self.report(report).await.map(drop)
                }
            };
            match sent {
                Ok(()) => {
                    let how = serde_json::to_value(ended.ending).unwrap_or_default();
                    log::job(job, kind, how.as_str().unwrap_or_default());
                    return;
                }
                Err(Refusal::Lost(text) | Refusal::Denied(text)) => self.lose(&text),
                Err(Refusal::Full(_)) => {
                    ended = Ending::OutOfSpace.into();
                    has_files = false;
                }
                Err(Refusal::Wrong(text)) if has_files => {
                    ended = Ended::saying(Ending::Failed, format!("Its worker failed: {text}."));
                    has_files = false;
                }
                Err(refusal) => {
                    let since = *ends.borrow() || matches!(refusal, Refusal::Wrong(_));
                    if since && last_tries.get_or_insert_with(Instant::now).elapsed() > LAST_TRIES {
                        self.lose(refusal.text());
                    }
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }
}

/// The end of a job whose worker cannot write its files.
fn of_disk(problem: Problem) -> Ended {
    match problem.kind {
        crate::problem::ProblemKind::StorageFull => of_full_disk(),
        _ => Ended::saying(Ending::Failed, "Its worker could not write its files."),
    }
}

fn of_full_disk() -> Ended {
    let text = "There was no room left on the disk of the worker; let it go on once there is some.";
    Ended::saying(Ending::OutOfSpace, text)
}

/// Does `work`, which waits for the network, on a thread that may wait.
async fn at_work<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Refusal::Later(error.to_string())),
    }
}
