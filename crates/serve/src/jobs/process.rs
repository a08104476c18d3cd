//! Processes of the service's program, watched and bounded.
//!
//! A process ends its work cleanly when its standard input ends: when it is asked to stop, and when
//! the service is killed. It is in a process group of its own, so that a Ctrl-C for the service is
//! not one for the process.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use probity_run::program::Program;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::progress::Progress;
use crate::store::DATABASE_PASSWORD;

/// The number of characters of a message that are kept.
const MESSAGE: usize = 2000;

/// The greatest number of bytes of an answer.
const ANSWER: u64 = 32 << 20;

/// The beginning of the names of the environment variables about the storage of artefacts.
const STORAGE: &[u8] = b"AWS_";

/// The bounds of a process, and where it is started.
#[derive(Debug, Clone)]
pub struct Bounds<'a> {
    /// The greatest number of bytes of address space.
    pub memory: u64,
    /// The file that the process holds locked.
    pub lock: Option<&'a Path>,
    /// The directory in which the process is started; none: that of this process.
    pub directory: Option<&'a Path>,
}

/// A line of a process's standard error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// A report of the process's progress.
    Progress(Progress),
    /// A remark of the process.
    Remark(String),
    /// The reason why the process fails.
    Error(String),
    /// Any other line, such as the last words of a process that has no memory left.
    #[serde(skip)]
    Other(String),
}

/// A running process.
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

/// The last messages of a process, which explain how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWords {
    /// The last error of the process.
    pub error: Option<String>,
    /// Whether the process had no memory left.
    pub out_of_memory: bool,
    /// Whether there was no room left on the disk.
    pub out_of_space: bool,
}

impl Process {
    /// Starts `program` with `arguments`; its standard output goes to `answer`.
    pub fn start(
        program: &Program,
        arguments: &[OsString],
        bounds: &Bounds<'_>,
        answer: Stdio,
    ) -> io::Result<Process> {
        let mut command = Command::from(program.command());
        // The storage of artefacts is no matter of jobs, nor are its keys.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(STORAGE) {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .args(["--progress=json", "--until-stdin-ends"])
            .env_remove(DATABASE_PASSWORD)
            .stdin(Stdio::piped())
            .stdout(answer)
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if cfg!(target_os = "linux") {
            command.arg(format!("--memory-limit={}", bounds.memory));
        }
        if let Some(lock) = bounds.lock {
            let mut argument = OsString::from("--lock=");
            argument.push(lock);
            command.arg(argument);
        }
        if let Some(directory) = bounds.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let stderr = child
            .stderr
            .take()
            .ok_or_else(|| io::Error::other("the process has no standard error"))?;
        Ok(Process {
            child,
            lines: BufReader::new(stderr).lines(),
        })
    }

    /// Reads the next line of the process's standard error; `None` at the end.
    pub async fn line(&mut self) -> io::Result<Option<Line>> {
        let Some(text) = self.lines.next_line().await? else {
            return Ok(None);
        };
        Ok(Some(
            serde_json::from_str(&text).unwrap_or(Line::Other(text)),
        ))
    }

    /// Asks the process to end its work with what it has.
    pub fn interrupt(&mut self) {
        self.child.stdin = None;
    }

    /// Ends the process at once.
    pub fn kill(&mut self) {
        // The process may have ended by itself; waiting for it says so.
        let _ = self.child.start_kill();
    }

    /// Waits until the process has ended.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    fn take_answer(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }
}

impl LastWords {
    /// Records what a line says.
    pub fn hear(&mut self, line: Line) {
        match line {
            Line::Error(text) => {
                self.out_of_memory |= is_about_memory(&text);
                self.out_of_space |= is_about_space(&text);
                self.error = Some(text.chars().take(MESSAGE).collect());
            }
            Line::Other(text) => self.out_of_memory |= is_about_memory(&text),
            Line::Progress(_) | Line::Remark(_) => {}
        }
    }
}

/// Whether a message says that there is no memory left: that of an allocation that fails, or of the
/// operating system when nothing can be mapped or no thread started.
fn is_about_memory(text: &str) -> bool {
    text.starts_with("memory allocation of")
        || text.contains("Cannot allocate memory")
        || text.contains("Resource temporarily unavailable")
}

/// Whether a message, in the operating system's words, says that there is no room left on the disk.
fn is_about_space(text: &str) -> bool {
    text.contains("No space left on device") || text.contains("Disk quota exceeded")
}

/// The result of a process that was to give an answer.
#[derive(Debug)]
pub enum Answer {
    /// The process printed this answer.
    Given(Vec<u8>),
    /// The process refused, for this reason.
    Refused(String),
    /// The process had no memory left.
    OutOfMemory,
    /// There was no room left on the disk.
    OutOfSpace,
    /// The process took too long.
    OutOfTime,
    /// The process ended in another way.
    Broken(String),
}

/// Runs a process to its end, and returns its answer.
pub async fn ask(
    program: &Program,
    arguments: &[OsString],
    bounds: &Bounds<'_>,
    time: Duration,
) -> io::Result<Answer> {
    let mut process = Process::start(program, arguments, bounds, Stdio::piped())?;
    let answer = process.take_answer();
    let all = async {
        let mut printed = Vec::new();
        let read = async {
            match answer {
                Some(answer) => answer.take(ANSWER).read_to_end(&mut printed).await,
                None => Ok(0),
            }
        };
        let mut words = LastWords::default();
        let hear = async {
            while let Some(line) = process.line().await? {
                words.hear(line);
            }
            io::Result::Ok(())
        };
        let (read, heard) = tokio::join!(read, hear);
        read?;
        heard?;
        let status = process.wait().await?;
        io::Result::Ok(match (status.success(), words) {
            (true, _) => Answer::Given(printed),
            (_, words) if words.out_of_memory => Answer::OutOfMemory,
            (_, words) if words.out_of_space => Answer::OutOfSpace,
            (
                _,
                LastWords {
                    error: Some(error), ..
                },
            ) => Answer::Refused(error),
            _ => Answer::Broken(status.to_string()),
        })
    };
    match tokio::time::timeout(time, all).await {
        Ok(answer) => answer,
        Err(_) => Ok(Answer::OutOfTime),
    }
}
