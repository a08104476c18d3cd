//! Errors of run directories and their files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::names::{CHECKPOINT, RUN, SEAL};

/// The reason why a run directory cannot be used.
#[derive(Debug, Error)]
pub enum RunError {
    /// The file or directory cannot be made or written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file or directory.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file that is not to be replaced is there.
    #[error("{} exists", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The directory holds something else already.
    #[error("{} is not empty{}; choose another directory", directory.display(), unfinished_in(directory))]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory is no longer where it was.
    #[error(
        "{} was moved or replaced while it was written; nothing more is written there",
        directory.display()
    )]
    Moved {
        /// The directory, as it was named.
        directory: PathBuf,
    },
    /// The directory is the folder of a run that is cut into shards.
    #[error(
        "{} holds shards of a run; put them together with: probity merge {}",
        directory.display(),
        directory.display()
    )]
    Shards {
        /// The folder.
        directory: PathBuf,
    },
    /// The directory is sealed: its files are signed for.
    #[error(
        "{} is sealed, and its seal would not hold for anything else; delete {} first to change it",
        directory.display(),
        directory.join(SEAL).display()
    )]
    Sealed {
        /// The directory.
        directory: PathBuf,
    },
    /// Another process writes into the directory.
    #[error(
        "another process is writing into {}; wait until it ends, or choose another directory",
        directory.display()
    )]
    Busy {
        /// The directory.
        directory: PathBuf,
    },
    /// A file that is to be replaced has another name, which would keep what it holds now.
    #[error(
        "{} has a second name (a hard link), which would keep what is to be replaced; delete one of the two",
        file.display()
    )]
    SecondName {
        /// The file.
        file: PathBuf,
    },
    /// A file of the run was changed or damaged after it was written.
    #[error(
        "{} was changed after it was written: its content does not have the hash that it was sealed with; restore it, or make it anew",
        file.display()
    )]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// A file of the run cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file stands beside a model that it does not belong to.
    #[error(
        "{} belongs to the model of SHA-256 {of}, and the model beside it has {beside}; restore the two that go together, or delete the file",
        file.display()
    )]
    OtherModel {
        /// The file.
        file: PathBuf,
        /// The hash of the model that it names.
        of: String,
        /// The hash of the model that is there.
        beside: String,
    },
    /// A file of the run is not what this build writes.
    #[error("{} is not what this version of probity writes: {problem}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The problem with the file.
        problem: String,
    },
}

/// Describes how to go on with an unfinished run in `directory`, for a message; empty where there
/// is none.
fn unfinished_in(directory: &Path) -> String {
    if !directory.join(CHECKPOINT).is_file() {
        return String::new();
    }
    let kind = fs::read_to_string(directory.join(RUN))
        .ok()
        .and_then(|text| {
            let table: toml::Table = text.parse().ok()?;
            Some(table.get("kind")?.as_str()?.to_owned())
        });
    match kind {
        Some(kind) => format!(
            " but holds an unfinished run, with which `probity {kind} --resume --out {}` goes on",
            directory.display()
        ),
        None => String::new(),
    }
}

/// Returns the error that `file` is not what this build writes, for `error`.
pub(crate) fn foreign(file: &Path, error: &dyn std::fmt::Display) -> RunError {
    RunError::Foreign {
        file: file.to_owned(),
        problem: error.to_string(),
    }
}
