//! Jobs in the database: they are added, stopped, resumed and removed here.
//!
//! A transaction that adds a job checks that everything which the job reads exists, and one that
//! removes a thing checks that no unfinished job reads it. So of two requests at the same time one
//! finds what the other did.

use super::access::{Change, Scope};
use super::hooks::notify;
use super::job::{Job, JobState, unfinished};
use super::log::{Action, note};
use super::projects::project;
use super::{
    Count, DataSet, InJson, Model, Removal, Store, StoreError, Transaction, find, params, remove,
};
use crate::identifier::Id;
use crate::jobs::specification::JobSpecification;
use crate::moment::Moment;

/// A job that a user asks for.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// The name that the user gives the job.
    pub label: String,
    /// The specification that is asked for.
    pub specification: JobSpecification,
}

/// The bounds on how many jobs may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The number of jobs of all projects that may wait.
    pub queue: usize,
    /// The number of jobs of one project that may wait.
    pub of_a_project: usize,
}

/// The result of adding a job.
#[derive(Debug)]
pub(crate) enum Added {
    /// The job waits.
    Waits(Box<Job>),
    /// The queue is full: this many jobs wait already.
    Full(u64),
    /// Something that the job reads was deleted meanwhile.
    Gone,
}

/// The result of resuming a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// The job waits.
    Waits,
    /// The job is not stopped.
    NotStopped,
    /// The queue is full: this many jobs wait already.
    Full(u64),
    /// Something that the job reads was deleted.
    Gone,
}

impl Store {
    /// Adds a job to the queue, if there is room and everything that it reads exists.
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
            let number: Option<i64> = transaction.row(last, &[], |row| row.get(0))?;
            let number = 1 + number.unwrap_or_default();
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
                instance: None,
                progress: None,
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

    /// Stops a job that waits, or asks one that runs to stop, and returns its new state; none when
    /// it neither waits nor runs.
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

    /// Deletes a job that is at an end and that no unfinished job reads, and the model that it
    /// made.
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

/// Deletes a job that is at an end and that no unfinished job reads, and the model that it made.
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
    for data in specification.data_sets() {
        if find::<DataSet>(transaction, scope, data)?.is_none() {
            return Ok(false);
        }
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

/// Returns how many jobs of the project or of all projects wait, if no more may.
fn full(
    transaction: &Transaction<'_>,
    scope: &Scope,
    bounds: Bounds,
) -> Result<Option<u64>, StoreError> {
    let waiting = |project: Option<&Id>| -> Result<u64, StoreError> {
        let count: Option<Count> = transaction.row(
            "SELECT count(*) FROM jobs WHERE state = ?1 AND (?2 IS NULL OR project = ?2)",
            params![InJson(JobState::Queued), project],
            |row| row.get(0),
        )?;
        Ok(count.map_or(0, |count| count.0))
    };
    let quota = project(transaction, scope.project())?.and_then(|project| project.quotas.queue);
    let of_a_project = quota.map_or(bounds.of_a_project, |quota| quota as usize);
    let (own, all) = (waiting(Some(scope.project()))?, waiting(None)?);
    Ok(if own >= of_a_project as u64 {
        Some(own)
    } else {
        Some(all).filter(|&all| all >= bounds.queue as u64)
    })
}
