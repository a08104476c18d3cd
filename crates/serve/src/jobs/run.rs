//! One run of a job: its process from the beginning to the end, and the result. It is the same at
//! the service and at a worker, each with a directory of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::process::{Bounds, LastWords, Line, Process};
use super::progress::Progress;
use super::specification::JobKind;
use super::state_of_run::{StateOfRun, state_of_run};
use super::wire::{Call, Ended, Ending};
use crate::identifier::Id;
use crate::operations::inspect::sentence;
use crate::places::{Places, gone};
use crate::problem::{Problem, ProblemKind};
use crate::service::blocking;
use probity_report::Conclusion;
use probity_run::program::Program;

/// How long a process may take to end its work once it was asked to.
const GRACE: Duration = Duration::from_secs(20);

/// The least time that a run gets, however much of the job's time earlier runs took.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// A run of a job that is about to begin or to go on.
pub(crate) struct Attempt<'a> {
    /// The program that the job runs.
    pub program: &'a Program,
    /// The places of the files of the job.
    pub places: &'a Places,
    /// The job.
    pub job: &'a Id,
    /// The command that the job runs.
    pub kind: JobKind,
    /// The specification that the command runs, with paths as seen from the run directory.
    pub specification: String,
    /// The greatest number of bytes of memory.
    pub memory: u64,
    /// The number of threads.
    pub threads: u16,
    /// How long the job may run.
    pub time: Duration,
}

impl Attempt<'_> {
    /// Runs the job until it ends; `hears` is told its progress.
    pub async fn run(&self, calls: watch::Receiver<Call>, hears: impl FnMut(Progress)) -> Ended {
        match self.attempt(calls, hears).await {
            Ok(ended) => ended,
            Err(problem) if problem.kind == ProblemKind::StorageFull => Ending::OutOfSpace.into(),
            Err(problem) => Ended::saying(Ending::Failed, problem.detail),
        }
    }

    async fn attempt(
        &self,
        mut calls: watch::Receiver<Call>,
        hears: impl FnMut(Progress),
    ) -> Result<Ended, Problem> {
        // A job that is told to stop before the beginning does not begin.
        let call = *calls.borrow_and_update();
        match call {
            Call::GoOn => {}
            Call::Stop => return Ok(Ending::Stopped.into()),
            Call::Pause => return Ok(Ending::Paused.into()),
        }
        let Some(arguments) = self.begin().await? else {
            return Ok(Ending::Done.into());
        };
        let (lock, directory) = (self.places.lock(self.job), self.places.run(self.job));
        let bounds = Bounds {
            memory: self.memory,
            lock: Some(&lock),
            directory: Some(&directory),
        };
        let mut process = Process::start(self.program, &arguments, &bounds, Stdio::null())?;
        let deadline = Instant::now() + self.time.max(LEAST_TIME);
        let mut watched = Watched {
            attempt: self,
            hears,
            words: LastWords::default(),
            call: Call::GoOn,
            is_out_of_time: false,
        };
        let status = watched.watch(&mut process, &mut calls, deadline).await?;
        watched.ended(status).await
    }

    /// The arguments with which the process begins or goes on; none when the run had come to its
    /// end already. Waits for an earlier process of the same job, which a killed service may have
    /// left.
    async fn begin(&self) -> Result<Option<Vec<OsString>>, Problem> {
        let places = self.places;
        let (lock, directory) = (places.lock(self.job), places.run(self.job));
        let (file, kind) = (places.specification(self.job), self.kind);
        let text = self.specification.clone();
        let state = blocking(move || {
            let lock = File::create(lock)?;
            lock.lock()?;
            let state = state_of_run(&directory, kind);
            if state == StateOfRun::Nothing {
                gone(fs::remove_dir_all(&directory))?;
                // The process is started in this directory.
                fs::create_dir(&directory)?;
                fs::write(file, text)?;
            }
            Ok(state)
        });
        let run = places.run(self.job);
        let mut arguments: Vec<OsString> = vec!["run".into()];
        match state.await? {
            StateOfRun::Finished => return Ok(None),
            StateOfRun::Unfinished => arguments.extend([run.into(), "--resume".into()]),
            StateOfRun::Nothing => {
                let mut out = OsString::from("--out=");
                out.push(run);
                arguments.extend([places.specification(self.job).into(), out]);
            }
        }
        arguments.push("--keep-paths".into());
        arguments.push("--device=flex".into());
        arguments.push(format!("--threads={}", self.threads).into());
        Ok(Some(arguments))
    }
}

/// A process that is watched, and what was heard of it so far.
struct Watched<'a, H> {
    attempt: &'a Attempt<'a>,
    hears: H,
    words: LastWords,
    call: Call,
    is_out_of_time: bool,
}

impl<H: FnMut(Progress)> Watched<'_, H> {
    /// Passes on the progress of `process`, interrupts it when it is asked to stop or its time is
    /// over, and waits for its end.
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
            Line::Progress(progress) => (self.hears)(progress),
            line => self.words.hear(line),
        }
    }

    /// The result of the process that ended with `status`.
    async fn ended(self, status: ExitStatus) -> Result<Ended, Problem> {
        let directory = self.attempt.places.run(self.attempt.job);
        let kind = self.attempt.kind;
        let state = blocking(move || Ok(state_of_run(&directory, kind))).await?;
        // Exit code 1: the command ran, and a bound that the user declared does not hold.
        let has_run = matches!(status.code(), Some(0 | 1));
        if has_run && state == StateOfRun::Finished {
            return Ok(Ended {
                ending: Ending::Done,
                message: self.remark(status).await?,
            });
        }
        Ok(match self.call {
            Call::Pause => Ending::Paused.into(),
            Call::Stop => Ending::Stopped.into(),
            Call::GoOn if self.is_out_of_time => Ending::OutOfTime.into(),
            Call::GoOn if self.words.out_of_space => Ending::OutOfSpace.into(),
            Call::GoOn => Ended::saying(Ending::Failed, self.failure(status)),
        })
    }

    /// What the report says where what was declared or promised does not hold; nothing where it does.
    async fn remark(&self, status: ExitStatus) -> Result<Option<String>, Problem> {
        if status.code() != Some(1) {
            return Ok(None);
        }
        let directory = self.attempt.places.run(self.attempt.job);
        let concluded = blocking(move || Ok(Conclusion::read(&directory).ok().flatten()));
        Ok(concluded.await?.map(|conclusion| conclusion.text))
    }

    fn failure(&self, status: ExitStatus) -> String {
        if self.words.out_of_memory {
            let mebibytes = self.attempt.memory >> 20;
            return format!(
                "It needs more memory than the {mebibytes} MiB that a job may take here."
            );
        }
        match &self.words.error {
            Some(error) => sentence(&self.attempt.places.without_paths(error)),
            None => format!("Its process ended unexpectedly ({status})."),
        }
    }
}
