//! Jobs: what users asked for, and what became of it.

use rusqlite::{OptionalExtension, Row, ToSql, Transaction, params};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Count, InJson, Record, Store, StoreError, put};
use crate::identifier::Id;
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
    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        matches!(self, JobState::Stopped | JobState::Done | JobState::Failed)
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
    /// The token.
    pub owner: Id,
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
    /// How often it began without coming to an end of its own: once, unless the service was killed.
    pub attempts: u32,
    /// Seconds that it ran before it began the last time.
    #[serde(skip)]
    pub seconds: f64,
    /// Its place in the order of all jobs.
    #[serde(skip)]
    number: i64,
}

impl Record for Job {
    const NAME: &'static str = "job";
    const TABLE: &'static str = "jobs";
    const COLUMNS: &'static str = "id, owner, label, kind, specification, state, created, started, ended, message, attempts, seconds, number";
    const ORDER: &'static str = "number";

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
        })
    }
}

impl Store {
    /// Adds a job to the queue, unless `queue` jobs wait already.
    pub(crate) fn add_job(&self, new: NewJob, queue: usize) -> Result<Option<Job>, StoreError> {
        let mut job = Job {
            id: Id::random()?,
            owner: new.owner,
            label: new.label,
            kind: new.specification.kind(),
            specification: new.specification,
            state: JobState::Queued,
            created: Moment::now(),
            started: None,
            ended: None,
            message: None,
            attempts: 0,
            seconds: 0.0,
            number: 0,
        };
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        if waiting(&transaction)? >= queue as u64 {
            return Ok(None);
        }
        let last = "SELECT coalesce(max(number), 0) FROM jobs";
        job.number = 1 + transaction.query_row(last, [], |row| row.get::<_, i64>(0))?;
        let values = params![
            job.id,
            job.owner,
            job.label,
            InJson(job.kind),
            InJson(&job.specification),
            InJson(job.state),
            job.created,
            job.started,
            job.ended,
            job.message,
            job.attempts,
            job.seconds,
            job.number
        ];
        put::<Job>(&transaction, values)?;
        transaction.commit()?;
        Ok(Some(job))
    }

    /// Takes the job that has waited longest out of the queue: it runs now.
    pub(crate) fn claim_job(&self) -> Result<Option<Job>, StoreError> {
        Ok(self
            .connection()
            .prepare(&format!(
                "UPDATE jobs SET state = ?, started = ?, attempts = attempts + 1
                 WHERE number = (SELECT min(number) FROM jobs WHERE state = ?) RETURNING {}",
                Job::COLUMNS
            ))?
            .query_row(
                params![
                    InJson(JobState::Running),
                    Moment::now(),
                    InJson(JobState::Queued)
                ],
                Job::from_row,
            )
            .optional()?)
    }

    /// Moves a job from the state `from` to `to`; false when it was not in `from`.
    pub(crate) fn move_job(
        &self,
        id: &Id,
        from: JobState,
        to: JobState,
    ) -> Result<bool, StoreError> {
        let changed = self.connection().execute(
            "UPDATE jobs SET state = ? WHERE id = ? AND state = ?",
            params![InJson(to), id, InJson(from)],
        )?;
        Ok(changed == 1)
    }

    /// Puts a stopped job back into its place in the queue; false when it is not stopped, nothing when `queue` jobs wait
    /// already.
    pub(crate) fn resume_job(&self, id: &Id, queue: usize) -> Result<Option<bool>, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        if waiting(&transaction)? >= queue as u64 {
            return Ok(None);
        }
        let changed = transaction.execute(
            "UPDATE jobs SET state = ?, ended = NULL, message = NULL, attempts = 0 WHERE id = ? AND state = ?",
            params![InJson(JobState::Queued), id, InJson(JobState::Stopped)],
        )?;
        transaction.commit()?;
        Ok(Some(changed == 1))
    }

    /// Writes that a job came to an end, after `seconds` more of running.
    pub(crate) fn end_job(
        &self,
        id: &Id,
        state: JobState,
        message: Option<&str>,
        seconds: f64,
    ) -> Result<(), StoreError> {
        self.connection().execute(
            "UPDATE jobs SET state = ?, ended = ?, message = ?, seconds = seconds + ? WHERE id = ?",
            params![InJson(state), Moment::now(), message, seconds, id],
        )?;
        Ok(())
    }

    /// Puts a job back into its place in the queue, after `seconds` more of running. With `is_new_attempt` false the attempt
    /// that ends here does not count.
    pub(crate) fn requeue_job(
        &self,
        id: &Id,
        seconds: f64,
        is_new_attempt: bool,
    ) -> Result<(), StoreError> {
        self.connection().execute(
            "UPDATE jobs SET state = ?, ended = NULL, message = NULL, seconds = seconds + ?, attempts = max(0, attempts - ?) WHERE id = ?",
            params![
                InJson(JobState::Queued),
                seconds,
                u32::from(!is_new_attempt),
                id
            ],
        )?;
        Ok(())
    }

    /// The jobs that are not at an end, in the order in which they were asked for.
    pub(crate) fn unfinished_jobs(&self) -> Result<Vec<Job>, StoreError> {
        let states = [JobState::Queued, JobState::Running, JobState::Stopping].map(InJson);
        let values = states.each_ref().map(|state| state as &dyn ToSql);
        self.select("state IN (?, ?, ?) ORDER BY number", &values)
    }
}

/// Jobs that wait.
fn waiting(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let waiting: Count = transaction.query_row(
        "SELECT count(*) FROM jobs WHERE state = ?",
        params![InJson(JobState::Queued)],
        |row| row.get(0),
    )?;
    Ok(waiting.0)
}
