//! What a worker and the service say to each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::progress::Progress;
use super::specification::JobKind;
use crate::identifier::Id;

/// A worker asks for a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    /// Its version of probity. Checkpoints belong to one version: a worker of another one than the
    /// service gets no job.
    pub version: String,
}

/// A job that a worker has, for as long as it reports on it in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leased {
    /// The job.
    pub job: Id,
    /// The number by which it is held.
    pub lease: u64,
    /// Seconds after which the job goes to another worker if nothing is heard of this one.
    pub lease_seconds: f64,
    /// The command that it runs.
    pub kind: JobKind,
    /// What the command runs: a specification in TOML, whose paths are seen from the run directory
    /// `runs/ID`.
    pub specification: String,
    /// Seconds that it may run.
    pub seconds: f64,
    /// Bytes of memory that it may take.
    pub memory: u64,
    /// The files that it reads.
    pub reads: Vec<WorkFile>,
    /// The files of its run directory so far.
    pub run: Vec<WorkFile>,
}

/// A file that a job reads, or of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkFile {
    /// Its path in the data directory: a folder, an identifier and a name.
    #[schema(example = "data/4f1d0c9b7e6a5832/data.csv")]
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// What a worker says about a job that it has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The number by which it holds the job.
    pub lease: u64,
    /// How far the job is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// All files of the run directory, and their SHA-256: the directory becomes so, once the service
    /// has them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
    /// What became of the job. The worker has it no longer, once the service has all `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// What the service says to that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Heard {
    /// What the worker is told about the job.
    pub call: Call,
    /// Those of the `files` that the service does not have; they are to be sent, and the same report
    /// once more.
    pub missing: Vec<String>,
}

/// What whoever runs a job is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Nothing.
    GoOn,
    /// A user wants it to stop.
    Stop,
    /// Whoever runs it ends.
    Pause,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ended {
    /// How it ended.
    pub ending: Ending,
    /// What there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It came to its end.
    Done,
    /// A user stopped it.
    Stopped,
    /// The limit of time did.
    OutOfTime,
    /// There was no room left on the disk.
    OutOfSpace,
    /// Whoever ran it ends; it shall go on.
    Paused,
    /// It could not be done.
    Failed,
}

impl Ended {
    /// With a message.
    pub fn saying(ending: Ending, message: impl Into<String>) -> Ended {
        Ended {
            ending,
            message: Some(message.into()),
        }
    }
}

impl From<Ending> for Ended {
    fn from(ending: Ending) -> Ended {
        Ended {
            ending,
            message: None,
        }
    }
}
