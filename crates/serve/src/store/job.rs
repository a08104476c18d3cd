//! A job, and where it stands.

use rusqlite::{Connection, Row, ToSql};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Scope;
use super::lists::WhichJobs;
use super::log::Action;
use super::{Contents, Count, InJson, Model, Record, StoreError, select};
use crate::fair::Party;
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::moment::Moment;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It waits for its turn.
    Queued,
    /// It runs.
    Running,
    /// It was asked to stop, and is about to.
    Stopping,
    /// It was stopped by a user or the limit of time; what it had by then is kept.
    Stopped,
    /// It ran to its end.
    Done,
    /// It could not be done; the message says why.
    Failed,
}

impl JobState {
    /// Those in which something will happen yet.
    pub const UNFINISHED: [JobState; 3] = [JobState::Queued, JobState::Running, JobState::Stopping];

    /// Those in which nothing more will.
    pub const FINAL: [JobState; 3] = [JobState::Stopped, JobState::Done, JobState::Failed];

    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        JobState::FINAL.contains(&self)
    }

    /// As in JSON.
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
    /// Identifier; also that of its run directory and of the model that it makes.
    pub id: Id,
    /// The token that asked for it.
    pub owner: Id,
    /// What its user calls it.
    pub label: String,
    /// The command that it runs.
    pub kind: JobKind,
    /// What was asked for.
    pub specification: JobSpecification,
    /// Where it stands.
    pub state: JobState,
    /// When it was asked for.
    pub created: Moment,
    /// When it began to run, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Moment>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Moment>,
    /// Why it failed or was stopped, or what else is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How often it began without coming to an end of its own: once, unless the service or its
    /// worker was killed.
    pub attempts: u32,
    /// The token of the worker that has it, or had it the last time; none: the service itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Id>,
    /// Seconds that it ran before it began the last time.
    #[serde(skip)]
    pub seconds: f64,
    /// Its place in the order of all jobs.
    #[serde(skip)]
    pub(super) number: i64,
    /// The turn in which it began the last time; 0 before that.
    #[serde(skip)]
    pub(super) turn: u64,
    #[serde(skip)]
    pub(super) project: Id,
}

impl Job {
    /// Who waits for it.
    pub(crate) fn party(&self) -> Party {
        Party {
            project: self.project.clone(),
            user: self.owner.clone(),
        }
    }

    /// The number by which whoever took it the last time holds it: each time a larger one.
    pub(crate) fn lease(&self) -> u64 {
        self.turn
    }

    /// What the service sees that works on it.
    pub(crate) fn scope(&self, itself: Itself) -> Scope {
        Scope::at_work(self.party(), itself)
    }
}

impl Record for Job {
    const NAME: &'static str = "job";
    const TABLE: &'static str = "jobs";
    const COLUMNS: &'static str = "id, owner, label, kind, specification, state, created, started, ended, message, attempts, seconds, number, turn, project, worker";
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

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Job> {
        Ok(Job {
            id: row.get(0)?,
            owner: row.get(1)?,
            label: row.get(2)?,
            kind: row.get::<_, InJson<_>>(3)?.0,
            specification: row.get::<_, InJson<_>>(4)?.0,
            state: row.get::<_, InJson<_>>(5)?.0,
            created: row.get(6)?,
            started: row.get(7)?,
            ended: row.get(8)?,
            message: row.get(9)?,
            attempts: row.get(10)?,
            seconds: row.get(11)?,
            number: row.get(12)?,
            turn: row.get::<_, Count>(13)?.0,
            project: row.get(14)?,
            worker: row.get(15)?,
        })
    }
}

/// The jobs that are not at an end, of `project` or of all, in the order in which they were asked
/// for.
pub(super) fn unfinished(
    connection: &Connection,
    project: Option<&Id>,
) -> Result<Vec<Job>, StoreError> {
    let states = JobState::UNFINISHED.map(InJson);
    let [queued, running, stopping] = states.each_ref().map(|state| state as &dyn ToSql);
    let condition = "state IN (?1, ?2, ?3) AND (?4 IS NULL OR project = ?4) ORDER BY number";
    select(
        connection,
        condition,
        &[queued, running, stopping, &project],
    )
}
