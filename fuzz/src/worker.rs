//! A worker: a process, or a test, that executes one target from a given number on.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::execute::{Fault, Made, execute, input_of, minimise, watch_panics};
use crate::target::{Seen, Target};
use crate::targets;

/// The stack size in bytes of a thread in Rust: readers are called in such threads.
const STACK: usize = 2 << 20;
/// The number of bytes that a worker may map: a request for more aborts.
const MAPPED: u64 = 16 << 30;
/// The number of executions spent on the search for a smaller input.
const TRIES: usize = 3000;

/// The executions that a worker does.
#[derive(Debug, Clone)]
pub struct Work {
    /// The name of the target.
    pub target: String,
    /// The seed of the keys.
    pub seed: u64,
    /// The number of the first execution.
    pub from: u64,
    /// The greatest number of executions.
    pub executions: u64,
    /// The longest time, where there is a bound on it.
    pub time: Option<Duration>,
}

/// How far a worker is; it is written down before each execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number that is being executed; at the end, one more than the last one.
    pub number: u64,
    /// The number of inputs that were accepted.
    pub accepted: u64,
    /// Whether the seeds are made and the first execution has begun.
    pub has_begun: bool,
}

impl Progress {
    /// Reads the progress that a worker has written down.
    pub fn read(file: &File) -> Progress {
        let mut bytes = [0; 24];
        if file.read_exact_at(&mut bytes, 0).is_err() {
            return Progress::default();
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        Progress {
            number: number(0),
            accepted: number(8),
            has_begun: number(16) != 0,
        }
    }

    fn write(self, file: &File) -> io::Result<()> {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.accepted.to_le_bytes());
        bytes[16..].copy_from_slice(&u64::from(self.has_begun).to_le_bytes());
        file.write_all_at(&bytes, 0)
    }
}

/// A fault that was found, with the key of its input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the target.
    pub target: String,
    /// The seed of the key.
    pub seed: u64,
    /// The number of the key.
    pub number: u64,
    /// The kind of the fault: `panic`, `memory`, `result`, `abort` or `hang`.
    pub kind: String,
    /// A message that says what happened, and where.
    pub message: String,
}

impl Finding {
    /// The cause, which tells findings apart: the place of a panic, or the message without its
    /// numbers.
    pub fn cause(&self) -> String {
        let place = match self.kind.as_str() {
            "panic" => self.message.split(": ").next().unwrap_or_default(),
            _ => self.message.lines().next().unwrap_or_default(),
        };
        let letters = match self.kind.as_str() {
            "panic" => place.to_owned(),
            _ => place.chars().filter(|c| !c.is_ascii_digit()).collect(),
        };
        format!("{} {} {letters}", self.target, self.kind)
    }

    /// The path of the finding's own folder inside `folder`.
    pub fn place(&self, folder: &Path) -> PathBuf {
        folder.join(format!(
            "{}-{}-{}-{}",
            self.target, self.kind, self.seed, self.number
        ))
    }
}

/// Makes a folder for the files of executions: in memory where that is possible.
///
/// # Errors
/// When the folder cannot be made.
pub fn scratch() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    builder.prefix("probity-fuzz-");
    match memory.is_dir() {
        true => builder.tempdir_in(memory),
        false => builder.tempdir(),
    }
}

/// Runs `task` in a thread with the stack size that readers have.
///
/// # Errors
/// The error of `task`, or that it panicked.
pub fn in_thread<T: Send>(task: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, task)?.join() {
            Ok(outcome) => outcome,
            Err(_) => anyhow::bail!("the worker itself panicked"),
        }
    })
}

/// Bounds the address space of this process.
///
/// # Errors
/// When the system refuses the bound.
pub fn bound_memory() -> io::Result<()> {
    Ok(setrlimit(Resource::RLIMIT_AS, MAPPED, MAPPED)?)
}

/// Does `work`, writes its progress to `progress`, and writes each new finding to the folder
/// `findings` and, as a line, to the standard output.
///
/// # Errors
/// When there is no such target, its seeds cannot be made, or a file cannot be written.
pub fn work(
    work: &Work,
    progress: &File,
    findings: Option<&Path>,
) -> anyhow::Result<(Progress, Vec<Finding>)> {
    watch_panics();
    in_thread(|| {
        let home = scratch()?;
        let target = targets::named(&work.target, home.path())?;
        let folder = home.path().join("execution");
        std::fs::create_dir_all(&folder)?;
        let began = Instant::now();
        let mut state = Progress {
            number: work.from,
            accepted: 0,
            has_begun: true,
        };
        let (mut causes, mut found) = (BTreeSet::new(), Vec::new());
        let is_over = || work.time.is_some_and(|time| began.elapsed() >= time);
        while state.number - work.from < work.executions && !is_over() {
            state.write(progress)?;
            let made = input_of(&target, work.seed, state.number);
            match execute(&target, &made, &folder) {
                Ok(Seen::Accepted) => state.accepted += 1,
                Ok(Seen::Refused) => {}
                Err(fault) => {
                    let finding = Finding {
                        target: work.target.clone(),
                        seed: work.seed,
                        number: state.number,
                        kind: fault.kind.to_owned(),
                        message: fault.message.clone(),
                    };
                    if causes.insert(finding.cause()) {
                        if let Some(place) = findings {
                            keep(&target, &made, &fault, &finding, &folder, place)?;
                            // Written at once: the next execution may end the process.
                            println!("{}", serde_json::to_string(&finding)?);
                        }
                        found.push(finding);
                    }
                }
            }
            state.number += 1;
        }
        state.write(progress)?;
        Ok((state, found))
    })
}

/// Writes a finding with its input, both as it was and made smaller.
fn keep(
    target: &Target,
    made: &Made,
    fault: &Fault,
    finding: &Finding,
    folder: &Path,
    findings: &Path,
) -> anyhow::Result<()> {
    let place = finding.place(findings);
    made.input.write(&place.join("found"))?;
    let smaller = minimise(&made.input, TRIES, &mut |input| {
        let made = Made {
            input: input.clone(),
            ..*made
        };
        let again = execute(target, &made, folder);
        again.is_err_and(|again| {
            let again = Finding {
                kind: again.kind.to_owned(),
                message: again.message,
                ..finding.clone()
            };
            again.kind == fault.kind && again.cause() == finding.cause()
        })
    });
    smaller.write(&place.join("smaller"))?;
    std::fs::write(
        place.join("finding.json"),
        serde_json::to_vec_pretty(finding)?,
    )?;
    Ok(())
}
