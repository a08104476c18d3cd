//! A job, and its state.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Scope;
use super::lists::WhichJobs;
use super::log::Action;
use super::{Connection, Contents, Count, InJson, Model, Record, Row, StoreError, params, select};
use crate::fair::Party;
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::jobs::progress::Progress;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::moment::Moment;

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// The job waits for its turn.
    Queued,
    /// The job runs.
    Running,
    /// The job was asked to stop, and is about to.
    Stopping,
    /// The job was stopped by a user or the limit of time; its results up to then are kept.
    Stopped,
    /// The job ran to its end.
    Done,
    /// The job failed; the message says why.
    Failed,
}

impl JobState {
    /// The states in which something will happen yet.
    pub const UNFINISHED: [JobState; 3] = [JobState::Queued, JobState::Running, JobState::Stopping];

    /// The states in which nothing more will happen.
    pub const FINAL: [JobState; 3] = [JobState::Stopped, JobState::Done, JobState::Failed];

    /// Whether the state is final: nothing more will happen.
    pub fn is_final(self) -> bool {
        JobState::FINAL.contains(&self)
    }

    /// The name of the state, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Stopping => "stopping",
            JobState::Stopped => "stopped",
            JobState::Done => "done",
            JobState::Failed => "failed",
        }
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Job {
    /// The identifier of the job, of its run directory, and of the model that it makes.
    pub id: Id,
    /// The token that asked for the job.
    pub owner: Id,
    /// The name that the user gave the job.
    pub label: String,
    /// The command that the job runs.
    pub kind: JobKind,
    /// The specification that was asked for.
    pub specification: JobSpecification,
    /// The state of the job.
    pub state: JobState,
    /// The moment at which the job was asked for.
    pub created: Moment,
    /// The moment at which the job began to run, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Moment>,
    /// The moment at which the job ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Moment>,
    /// The reason why the job failed or was stopped, or another remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The number of times that the job began without coming to an end of its own: once, unless the
    /// service or its worker was killed.
    pub attempts: u32,
    /// The token of the worker that has the job, or had it the last time; none: a service itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Id>,
    /// The seconds that the job ran before it began the last time.
    #[serde(skip)]
    pub seconds: f64,
    /// The place of the job in the order of all jobs.
    #[serde(skip)]
    pub(super) number: i64,
    /// The turn in which the job began the last time; 0 before that.
    #[serde(skip)]
    pub(super) turn: u64,
    #[serde(skip)]
    pub(super) project: Id,
    /// The service that holds the job while it runs, or knows the worker that does.
    #[serde(skip)]
    pub(crate) instance: Option<Id>,
    /// What that service told the others of the progress.
    #[serde(skip)]
    pub(crate) progress: Option<Progress>,
}

impl Job {
    /// The party that waits for the job.
    pub(crate) fn party(&self) -> Party {
        Party {
            project: self.project.clone(),
            user: self.owner.clone(),
        }
    }

    /// The number by which the job is held since it was taken the last time: each time a larger
    /// one.
    pub(crate) fn lease(&self) -> u64 {
        self.turn
    }

    /// The permission of the service that works on the job.
    pub(crate) fn scope(&self, itself: Itself) -> Scope {
        Scope::at_work(self.party(), itself)
    }
}

impl Record for Job {
    const NAME: &'static str = "job";
    const TABLE: &'static str = "jobs";
    const COLUMNS: &'static str = "id, owner, label, kind, specification, state, created, started, ended, message, attempts, seconds, number, turn, project, worker, instance, progress";
    const ORDER: &'static str = "number";
    const ALSO: Option<&'static str> = Some(Model::TABLE);
    const RENAMED: Action = Action::JobRenamed;
    type Which = WhichJobs;

    fn id(&self) -> &Id {
        &self.id
    }

    fn owner(&self) -> &Id {
        &self.owner
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn contents(&self) -> Contents {
        Contents::of_job(&self.id)
    }

    fn from_row(row: &Row<'_>) -> Result<Job, StoreError> {
        Ok(Job {
            id: row.get(0)?,
            owner: row.get(1)?,
            label: row.get(2)?,
            kind: row.get::<InJson<_>>(3)?.0,
            specification: row.get::<InJson<_>>(4)?.0,
            state: row.get::<InJson<_>>(5)?.0,
            created: row.get(6)?,
            started: row.get(7)?,
            ended: row.get(8)?,
            message: row.get(9)?,
            attempts: row.get(10)?,
            seconds: row.get(11)?,
            number: row.get(12)?,
            turn: row.get::<Count>(13)?.0,
            project: row.get(14)?,
            worker: row.get(15)?,
            instance: row.get(16)?,
            progress: row.get::<Option<InJson<_>>>(17)?.map(|told| told.0),
        })
    }
}

/// Returns the jobs that are not at an end, of `project` or of all, in the order in which they were
/// asked for.
pub(super) fn unfinished(
    connection: &Connection<'_>,
    project: Option<&Id>,
) -> Result<Vec<Job>, StoreError> {
    let [queued, running, stopping] = JobState::UNFINISHED.map(InJson);
    let condition = "state IN (?1, ?2, ?3) AND (?4 IS NULL OR project = ?4) ORDER BY number";
    select(
        connection,
        condition,
        params![queued, running, stopping, project],
    )
}
