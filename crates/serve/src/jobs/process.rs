//! Processes of this executable, watched and bounded.
//!
//! A process ends its work cleanly when its standard input ends: when it is asked to stop, and when
//! the service is killed. It is in a process group of its own, so that a Ctrl-C for the service is
//! not one for the process.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::progress::Progress;

/// Characters of a message that are kept.
const MESSAGE: usize = 2000;

/// Bytes that an answer may have.
const ANSWER: u64 = 32 << 20;

/// How a process is bounded.
#[derive(Debug, Clone)]
pub struct Bounds<'a> {
    /// Bytes of address space.
    pub memory: u64,
    /// The file that it holds locked.
    pub lock: Option<&'a Path>,
    /// The directory that it is started in; none: that of this process.
    pub directory: Option<&'a Path>,
}

/// A line of a process's standard error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// How far it is.
    Progress(Progress),
    /// Something that it remarks.
    Remark(String),
    /// Why it fails.
    Error(String),
    /// Anything else, such as the last words of a process that has no memory left.
    #[serde(skip)]
    Other(String),
}

/// A running process.
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWords {
    /// Its last error.
    pub error: Option<String>,
    /// Whether it had no memory left.
    pub out_of_memory: bool,
    /// Whether there was no room left on the disk.
    pub out_of_space: bool,
}

impl Process {
    /// Starts `executable` with `arguments`. What it prints is the answer's if there is to be one.
    pub fn start(
        executable: &Path,
        arguments: &[OsString],
        bounds: &Bounds<'_>,
        answer: Stdio,
    ) -> io::Result<Process> {
        let mut command = Command::new(executable);
        command
            .args(arguments)
            .args(["--progress=json", "--until-stdin-ends"])
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

    /// The next line of its standard error; `None` at the end.
    pub async fn line(&mut self) -> io::Result<Option<Line>> {
        let Some(text) = self.lines.next_line().await? else {
            return Ok(None);
        };
        Ok(Some(
            serde_json::from_str(&text).unwrap_or(Line::Other(text)),
        ))
    }

    /// Asks it to end its work with what it has.
    pub fn interrupt(&mut self) {
        self.child.stdin = None;
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended by itself; waiting for it says so.
        let _ = self.child.start_kill();
    }

    /// Waits for its end.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    fn take_answer(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }
}

impl LastWords {
    /// Takes note of a line.
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

/// Whether a message says that there is no room left on the disk, in the operating system's words.
fn is_about_space(text: &str) -> bool {
    text.contains("No space left on device") || text.contains("Disk quota exceeded")
}

/// What became of a process that was to give an answer.
#[derive(Debug)]
pub enum Answer {
    /// What it printed.
    Given(Vec<u8>),
    /// It refused, and says why.
    Refused(String),
    /// It had no memory left.
    OutOfMemory,
    /// There was no room left on the disk.
    OutOfSpace,
    /// It took too long.
    OutOfTime,
    /// It ended in another way.
    Broken(String),
}

/// Runs a process to its end, and gives what it printed.
pub async fn ask(
    executable: &Path,
    arguments: &[OsString],
    bounds: &Bounds<'_>,
    time: Duration,
) -> io::Result<Answer> {
    let mut process = Process::start(executable, arguments, bounds, Stdio::piped())?;
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
