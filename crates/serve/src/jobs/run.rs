//! One run of a job: its process from the beginning to the end, and what became of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::process::{Bounds, LastWords, Line, Process};
use super::queue::Call;
use super::specification::JobKind;
use super::state_of_run::{StateOfRun, state_of_run};
use crate::operations::inspect::sentence;
use crate::operations::specifications::files;
use crate::places::gone;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::Job;

/// Time that a process has to end its work once it was asked to.
const GRACE: Duration = Duration::from_secs(20);

/// The least time that a run gets, however much of its time earlier ones took.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// It came to its end; there may be something to say.
    Done(Option<String>),
    /// A user stopped it.
    Stopped,
    /// The limit of time did.
    OutOfTime,
    /// The service ends, and it shall go on when it starts again.
    Paused,
    /// It could not be done.
    Failed(String),
}

/// Runs `job` to an end.
pub(super) async fn run(service: &Service, job: &Job, calls: watch::Receiver<Call>) -> Ending {
    match attempt(service, job, calls).await {
        Ok(ending) => ending,
        Err(problem) => Ending::Failed(problem.detail),
    }
}

async fn attempt(
    service: &Service,
    job: &Job,
    mut calls: watch::Receiver<Call>,
) -> Result<Ending, Problem> {
    let Some(arguments) = begin(service, job).await? else {
        return Ok(Ending::Done(None));
    };
    let limits = &service.limits;
    let lock = service.places.lock(&job.id);
    let bounds = Bounds {
        memory: limits.job_memory,
        lock: Some(&lock),
    };
    let mut process = Process::start(&service.executable, &arguments, &bounds, Stdio::null())?;
    let spent = Duration::try_from_secs_f64(job.seconds).unwrap_or_default();
    let deadline = Instant::now() + limits.job_time.saturating_sub(spent).max(LEAST_TIME);
    let mut watched = Watched {
        service,
        job,
        words: LastWords::default(),
        call: Call::GoOn,
        is_out_of_time: false,
    };
    let status = watched.watch(&mut process, &mut calls, deadline).await?;
    watched.ending(status).await
}

/// The arguments that the process begins or goes on with; none when the run came to its end before.
/// Waits for an earlier process of the same job, which a killed service may have left.
async fn begin(service: &Service, job: &Job) -> Result<Option<Vec<OsString>>, Problem> {
    let places = &service.places;
    let files = files(service, &job.specification).await?;
    let text = job.specification.of_files(&files).to_toml();
    let text = text.map_err(|error| Problem::internal(&error))?;
    let (lock, directory) = (places.lock(&job.id), places.run(&job.id));
    let (file, kind) = (places.specification(&job.id), job.kind);
    let state = service.blocking(move || {
        let lock = File::create(lock)?;
        lock.lock()?;
        let state = state_of_run(&directory, kind);
        if state == StateOfRun::Nothing {
            gone(fs::remove_dir_all(&directory))?;
            fs::write(file, text)?;
        }
        Ok(state)
    });
    let run = places.run(&job.id);
    let mut arguments: Vec<OsString> = vec!["run".into()];
    match state.await? {
        StateOfRun::Finished => return Ok(None),
        StateOfRun::Unfinished => arguments.extend([run.into(), "--resume".into()]),
        StateOfRun::Nothing => {
            let mut out = OsString::from("--out=");
            out.push(run);
            arguments.extend([places.specification(&job.id).into(), out]);
        }
    }
    arguments.push("--device=flex".into());
    arguments.push(format!("--threads={}", service.limits.job_threads).into());
    Ok(Some(arguments))
}

/// A process that is watched.
struct Watched<'a> {
    service: &'a Service,
    job: &'a Job,
    words: LastWords,
    call: Call,
    is_out_of_time: bool,
}

impl Watched<'_> {
    /// Shows the progress of `process`, interrupts it when it is called for or the time is over,
    /// and waits for its end.
    async fn watch(
        &mut self,
        process: &mut Process,
        calls: &mut watch::Receiver<Call>,
        deadline: Instant,
    ) -> io::Result<ExitStatus> {
        let mut next = deadline;
        loop {
            let is_asked = self.is_out_of_time || self.call != Call::GoOn;
            tokio::select! {
                line = process.line() => match line? {
                    Some(line) => self.hear(line),
                    None => return process.wait().await,
                },
                Ok(()) = calls.changed(), if self.call == Call::GoOn => {
                    self.call = *calls.borrow_and_update();
                    if self.call != Call::GoOn && !is_asked {
                        process.interrupt();
                        next = Instant::now() + GRACE;
                    }
                }
                () = tokio::time::sleep_until(next.into()) => {
                    match is_asked {
                        true => process.kill(),
                        false => process.interrupt(),
                    }
                    self.is_out_of_time |= !is_asked;
                    next = Instant::now() + GRACE;
                }
            }
        }
    }

    fn hear(&mut self, line: Line) {
        match line {
            Line::Progress(progress) => self
                .service
                .board
                .change(&self.job.id, |view| view.progress = Some(progress)),
            line => self.words.hear(line),
        }
    }

    /// What became of the process that ended with `status`.
    async fn ending(self, status: ExitStatus) -> Result<Ending, Problem> {
        let directory = self.service.places.run(&self.job.id);
        let kind = self.job.kind;
        let state = self
            .service
            .blocking(move || Ok(state_of_run(&directory, kind)))
            .await?;
        // 1: it ran, and a bound that the user declared does not hold.
        let has_run = matches!(status.code(), Some(0 | 1));
        if has_run && state == StateOfRun::Finished {
            return Ok(Ending::Done(self.remark(status)));
        }
        Ok(match self.call {
            Call::Pause => Ending::Paused,
            Call::Stop => Ending::Stopped,
            Call::GoOn if self.is_out_of_time => Ending::OutOfTime,
            Call::GoOn => Ending::Failed(self.failure(status)),
        })
    }

    fn remark(&self, status: ExitStatus) -> Option<String> {
        let text = match self.job.kind {
            _ if status.code() != Some(1) => return None,
            JobKind::Audit => "The discriminatory share is not shown to be within the bound.",
            JobKind::Repair => "There is something against the repair; its page says what.",
            JobKind::Train => return None,
        };
        Some(text.to_owned())
    }

    fn failure(&self, status: ExitStatus) -> String {
        if self.words.out_of_memory {
            let mebibytes = self.service.limits.job_memory >> 20;
            return format!(
                "It needs more memory than the {mebibytes} MiB that a job may take here."
            );
        }
        match &self.words.error {
            Some(error) => sentence(&self.service.places.without_paths(error)),
            None => format!("Its process ended unexpectedly ({status})."),
        }
    }
}
