//! How a program that runs `probity` as a process of its own watches and bounds it.
//!
//! These options are no part of the command line that people use, and are hidden from its help.
//! `probity serve` gives them to the processes of its jobs.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::numbers::bytes;

/// Exit code of a process that was asked to end before it listened.
const INTERRUPTED: i32 = 130;

/// The hidden options.
#[derive(Debug, Clone, Args)]
pub(super) struct Supervision {
    /// Form of progress, remarks and errors on stderr
    #[arg(long, global = true, hide = true, value_enum)]
    pub progress: Option<ProgressForm>,
    /// Interrupt the work, as Ctrl-C does, when standard input ends
    #[arg(long, global = true, hide = true)]
    until_stdin_ends: bool,
    /// Bytes of address space at most
    #[arg(long, global = true, hide = true, value_name = "BYTES", value_parser = bytes(), allow_hyphen_values = true)]
    memory_limit: Option<u64>,
    /// File to hold locked from the beginning to the end
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    lock: Option<PathBuf>,
}

/// Form of progress, remarks and errors on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ProgressForm {
    /// One JSON object a line
    Json,
}

/// What lasts as long as the work does.
pub(super) struct Supervised {
    _lock: Option<File>,
}

impl Supervision {
    /// Puts the bounds into effect; waits for the lock.
    pub fn begin(&self) -> anyhow::Result<Supervised> {
        if let Some(bytes) = self.memory_limit {
            limit_memory(bytes)?;
        }
        if self.until_stdin_ends {
            std::thread::Builder::new()
                .name("stdin".to_owned())
                .spawn(interrupt_at_end_of_stdin)
                .context("cannot watch standard input")?;
        }
        let lock = self.lock.as_ref().map(|file| {
            let name = || format!("cannot lock {}", file.display());
            let lock = File::create(file).with_context(name)?;
            lock.lock().with_context(name)?;
            anyhow::Ok(lock)
        });
        Ok(Supervised {
            _lock: lock.transpose()?,
        })
    }
}

fn interrupt_at_end_of_stdin() {
    let mut buffer = [0; 256];
    let mut stdin = stdin().lock();
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => break,
            _ => {}
        }
    }
    interrupt();
}

/// What Ctrl-C does: the work that listens ends its step, anything else ends at once. The signal is
/// the one that no shell ignores for what it runs in the background.
#[cfg(unix)]
fn interrupt() {
    use nix::sys::signal::{Signal, kill};
    if kill(nix::unistd::Pid::this(), Signal::SIGTERM).is_err() {
        std::process::exit(INTERRUPTED);
    }
}

/// What Ctrl-C does to work that does not listen.
#[cfg(not(unix))]
fn interrupt() {
    std::process::exit(INTERRUPTED);
}

#[cfg(unix)]
fn limit_memory(bytes: u64) -> anyhow::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_AS, bytes, bytes).context("cannot limit the memory")
}

#[cfg(not(unix))]
fn limit_memory(_bytes: u64) -> anyhow::Result<()> {
    anyhow::bail!("memory cannot be limited on this system")
}
