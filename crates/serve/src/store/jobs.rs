//! Jobs: what users asked for, and what became of it.
//!
//! That what a job reads is there, and that nothing is deleted that an unfinished job reads, is
//! looked at in the transaction that adds the one or removes the other: of two requests at the same
//! time one finds what the other did.

use rusqlite::{Row, Transaction, params};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Change, Scope};
use super::hooks::notify;
use super::lists::WhichJobs;
use super::log::{Action, note};
use super::queue::{full, unfinished};
use super::{
    Contents, Count, DataSet, InJson, Model, Record, Removal, Store, StoreError, find, remove,
};
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

/// A job that a user asks for.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// What its user calls it.
    pub label: String,
    /// What is asked for.
    pub specification: JobSpecification,
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

/// Jobs that may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Of all projects.
    pub queue: usize,
    /// Of one.
    pub of_a_project: usize,
}

/// What became of a new job.
#[derive(Debug)]
pub(crate) enum Added {
    /// It waits.
    Waits(Box<Job>),
    /// As many wait already.
    Full(u64),
    /// Something that it reads was deleted meanwhile.
    Gone,
}

/// What became of a job that shall go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// It waits.
    Waits,
    /// It is not stopped.
    NotStopped,
    /// As many wait already.
    Full(u64),
    /// Something that it reads was deleted.
    Gone,
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

impl Store {
    /// Adds a job to the queue, if there is room and everything is there that it reads.
    pub(crate) fn add_job(
        &self,
        change: &Change,
        new: &NewJob,
        bounds: Bounds,
    ) -> Result<Added, StoreError> {
        let id = Id::random()?;
        self.write(|transaction| {
            if let Some(waiting) = full(transaction, change, bounds)? {
                return Ok(Added::Full(waiting));
            }
            if !is_there(transaction, change, &new.specification)? {
                return Ok(Added::Gone);
            }
            let last = "SELECT coalesce(max(number), 0) FROM jobs";
            let number = 1 + transaction.query_row(last, [], |row| row.get::<_, i64>(0))?;
            let job = Job {
                id: id.clone(),
                owner: change.owner().clone(),
                label: new.label.clone(),
                kind: new.specification.kind(),
                specification: new.specification.clone(),
                state: JobState::Queued,
                created: Moment::now(),
                started: None,
                ended: None,
                message: None,
                attempts: 0,
                worker: None,
                seconds: 0.0,
                number,
                turn: 0,
                project: change.project().clone(),
            };
            transaction.execute(
                "INSERT INTO jobs (id, project, number, owner, label, kind, specification, state,
                 created, attempts, seconds, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0)",
                params![
                    job.id,
                    job.project,
                    job.number,
                    job.owner,
                    job.label,
                    InJson(job.kind),
                    InJson(&job.specification),
                    InJson(job.state),
                    job.created
                ],
            )?;
            note_job(transaction, change, Action::JobStarted, &job.id)?;
            Ok(Added::Waits(Box::new(job)))
        })
    }

    /// Stops a job that waits, or asks one that runs to stop, and gives its state then; none when it
    /// neither waits nor runs.
    pub(crate) fn stop_job(
        &self,
        change: &Change,
        id: &Id,
    ) -> Result<Option<JobState>, StoreError> {
        self.write(|transaction| {
            let now = Moment::now();
            let moves = |from: JobState, to: JobState, ended: Option<Moment>| {
                transaction.execute(
                    "UPDATE jobs SET state = ?, ended = ? WHERE id = ? AND project = ? AND state = ?",
                    params![InJson(to), ended, id, change.project(), InJson(from)],
                )
            };
            let state = if moves(JobState::Queued, JobState::Stopped, Some(now))? == 1 {
                notify(transaction, id)?;
                JobState::Stopped
            } else if moves(JobState::Running, JobState::Stopping, None)? == 1 {
                JobState::Stopping
            } else {
                return Ok(None);
            };
            note_job(transaction, change, Action::JobStopped, id)?;
            Ok(Some(state))
        })
    }

    /// Puts a stopped job back into its place in the queue.
    pub(crate) fn resume_job(
        &self,
        change: &Change,
        id: &Id,
        bounds: Bounds,
    ) -> Result<Resumed, StoreError> {
        self.write(|transaction| {
            let job: Option<Job> = find(transaction, change, id)?;
            let Some(job) = job.filter(|job| job.state == JobState::Stopped) else {
                return Ok(Resumed::NotStopped);
            };
            if let Some(waiting) = full(transaction, change, bounds)? {
                return Ok(Resumed::Full(waiting));
            }
            if !is_there(transaction, change, &job.specification)? {
                return Ok(Resumed::Gone);
            }
            transaction.execute(
                "UPDATE jobs SET state = ?, ended = NULL, message = NULL, attempts = 0 WHERE id = ?",
                params![InJson(JobState::Queued), id],
            )?;
            note_job(transaction, change, Action::JobResumed, id)?;
            Ok(Resumed::Waits)
        })
    }

    /// Forgets a job that is at an end and that no unfinished one reads, and the model that it made.
    pub(crate) fn remove_job(&self, change: &Change, id: &Id) -> Result<Removal, StoreError> {
        let removal = self.write(|transaction| {
            let removal = remove_job(transaction, change, id)?;
            if removal == Removal::Done {
                note_job(transaction, change, Action::JobDeleted, id)?;
            }
            Ok(removal)
        })?;
        self.forget_deleted()?;
        Ok(removal)
    }
}

/// Forgets a job that is at an end and that no unfinished one reads, and the model that it made.
pub(super) fn remove_job(
    transaction: &Transaction<'_>,
    scope: &Scope,
    id: &Id,
) -> Result<Removal, StoreError> {
    let Some(job) = find::<Job>(transaction, scope, id)? else {
        return Ok(Removal::Missing);
    };
    if !job.state.is_final() {
        return Ok(Removal::AtWork);
    }
    let jobs = unfinished(transaction, Some(scope.project()))?;
    let needed = jobs.iter().find(|job| {
        let asked = &job.specification;
        asked.model() == Some(id) || asked.runs().contains(id)
    });
    if let Some(job) = needed {
        return Ok(Removal::Needed(job.id.clone()));
    }
    remove::<Model>(transaction, scope, id)?;
    remove::<Job>(transaction, scope, id)?;
    Ok(Removal::Done)
}

fn note_job(
    transaction: &Transaction<'_>,
    change: &Change,
    action: Action,
    id: &Id,
) -> Result<(), StoreError> {
    let project = Some(change.project());
    note(transaction, change.by(), project, action, Some(id))
}

/// Whether the project has everything that `specification` reads.
fn is_there(
    transaction: &Transaction<'_>,
    scope: &Scope,
    specification: &JobSpecification,
) -> Result<bool, StoreError> {
    if find::<DataSet>(transaction, scope, specification.data())?.is_none() {
        return Ok(false);
    }
    if let Some(model) = specification.model()
        && find::<Model>(transaction, scope, model)?.is_none()
    {
        return Ok(false);
    }
    for run in specification.runs() {
        if find::<Job>(transaction, scope, run)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
