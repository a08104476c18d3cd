//! The messages between a worker and the service.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::progress::Progress;
use super::specification::JobKind;
use crate::identifier::Id;

/// The request of a worker for a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    /// The version of probity of the worker. Checkpoints belong to one version: a worker of another
    /// one than the service gets no job.
    pub version: String,
}

/// A job that a worker holds, for as long as it reports on it in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leased {
    /// The job.
    pub job: Id,
    /// The number by which the worker holds the job.
    pub lease: u64,
    /// The seconds after which the job goes to another worker if this one does not report.
    pub lease_seconds: f64,
    /// The command that the job runs.
    pub kind: JobKind,
    /// The specification that the command runs, in TOML; its paths are seen from the run directory
    /// `runs/ID`.
    pub specification: String,
    /// The seconds that the job may run.
    pub seconds: f64,
    /// The bytes of memory that the job may take.
    pub memory: u64,
    /// The files that the job reads.
    pub reads: Vec<WorkFile>,
    /// The files that the job's run directory holds so far.
    pub run: Vec<WorkFile>,
}

/// A file that a job reads, or a file of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkFile {
    /// The path of the file in the data directory: a folder, an identifier and a name.
    #[schema(example = "data/4f1d0c9b7e6a5832/data.csv")]
    pub path: String,
    /// The number of bytes of the file.
    pub bytes: u64,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// A report of a worker on a job that it holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The number by which the worker holds the job.
    pub lease: u64,
    /// The progress of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The names of all files of the run directory with their SHA-256. The directory is made to
    /// hold exactly these, once the service has them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
    /// How the job ended. The worker has it no longer, once the service has all `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The answer of the service to a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Heard {
    /// The call to the worker about the job.
    pub call: Call,
    /// The names among the `files` that the service does not have. The worker sends them, and then
    /// the same report once more.
    pub missing: Vec<String>,
}

/// A call to whoever runs a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Go on.
    GoOn,
    /// Stop, because a user wants it.
    Stop,
    /// Pause, because whoever runs the job ends.
    Pause,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ended {
    /// How the run ended.
    pub ending: Ending,
    /// A message for the user, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The run came to its end.
    Done,
    /// A user stopped the run.
    Stopped,
    /// The limit of time stopped the run.
    OutOfTime,
    /// There was no room left on the disk.
    OutOfSpace,
    /// Whoever ran the job ends; the job shall go on elsewhere or later.
    Paused,
    /// The run failed.
    Failed,
}

impl Ended {
    /// Makes an end with a message.
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
