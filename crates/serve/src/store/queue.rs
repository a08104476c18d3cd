//! The queue: which job runs when, how each ends, and how long it is kept. The service works on the
//! jobs of all projects, as its permission [`Itself`] says.

use super::access::By;
use super::hooks::notify;
use super::job::unfinished;
use super::jobs::remove_job;
use super::log::{Action, note};
use super::projects::project;
use super::{
    Connection, Count, InJson, Job, JobState, Record, Removal, Store, StoreError, params, select,
};
use crate::fair::{Fairness, Party};
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::moment::Moment;

impl Store {
    /// Takes the job whose turn it is out of the queue: it then runs, at a `worker` or at the
    /// service itself.
    pub(crate) fn claim_job(
        &self,
        _: Itself,
        worker: Option<&Id>,
    ) -> Result<Option<Job>, StoreError> {
        self.write(|transaction| {
            let jobs = unfinished(transaction, None)?;
            let (waiting, others): (Vec<&Job>, Vec<&Job>) =
                jobs.iter().partition(|job| job.state == JobState::Queued);
            let mut fairness = turns(transaction)?;
            others.iter().for_each(|job| fairness.runs(&job.party()));
            let parties: Vec<Party> = waiting.iter().map(|job| job.party()).collect();
            let mut most = Vec::with_capacity(parties.len());
            for party in &parties {
                let of = project(transaction, &party.project)?;
                most.push((&party.project, of.and_then(|of| of.quotas.jobs)));
            }
            let may = |party: &Party| {
                let most = most.iter().find(|(project, _)| **project == party.project);
                let running = fairness.running_of_project(&party.project);
                most.and_then(|(_, most)| *most)
                    .is_none_or(|most| running < most as usize)
            };
            let Some(next) = fairness.next(parties.iter(), may) else {
                return Ok(None);
            };
            let turn = Count(fairness.begin(&parties[next]));
            let statement = format!(
                "UPDATE jobs SET state = ?, started = ?, attempts = attempts + 1, turn = ?,
                 worker = ?, instance = ?, progress = NULL WHERE id = ? RETURNING {}",
                Job::COLUMNS
            );
            self.count(transaction)?;
            let (state, now) = (InJson(JobState::Running), Moment::now());
            let values = params![state, now, turn, worker, self.instance, waiting[next].id];
            transaction.row(&statement, values, Job::from_row)
        })
    }

    /// Returns the jobs that wait, in the order of their turns.
    pub(crate) fn queue(&self, _: Itself) -> Result<Vec<Job>, StoreError> {
        let (jobs, mut fairness) =
            self.read(|connection| Ok((unfinished(connection, None)?, turns(connection)?)))?;
        let (waiting, others): (Vec<Job>, Vec<Job>) = jobs
            .into_iter()
            .partition(|job| job.state == JobState::Queued);
        others.iter().for_each(|job| fairness.runs(&job.party()));
        let parties: Vec<Party> = waiting.iter().map(Job::party).collect();
        let mut waiting: Vec<Option<Job>> = waiting.into_iter().map(Some).collect();
        let order = fairness.order(&parties).into_iter();
        Ok(order.filter_map(|place| waiting[place].take()).collect())
    }

    /// Writes that a job which this service holds came to an end, after `seconds` more of running;
    /// false, and nothing is written, if it no longer does.
    pub(crate) fn end_job(
        &self,
        _: Itself,
        job: &Job,
        state: JobState,
        message: Option<&str>,
        seconds: f64,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE jobs SET state = ?, ended = ?, message = ?, seconds = seconds + ?,
                 instance = NULL WHERE id = ? AND turn = ? AND instance = ?",
                params![
                    InJson(state),
                    Moment::now(),
                    message,
                    seconds,
                    job.id,
                    Count(job.turn),
                    self.instance
                ],
            )?;
            if changed == 1 {
                notify(transaction, &job.id)?;
            }
            Ok(changed == 1)
        })
    }

    /// Puts a job which this service holds back into its place in the queue, after `seconds` more
    /// of running; false, and nothing is written, if it no longer does. With `is_new_attempt` false
    /// the attempt that ends here does not count.
    pub(crate) fn requeue_job(
        &self,
        _: Itself,
        job: &Job,
        seconds: f64,
        is_new_attempt: bool,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE jobs SET state = ?, ended = NULL, message = NULL, seconds = seconds + ?,
                 attempts = attempts - (CASE WHEN attempts > 0 THEN ? ELSE 0 END), instance = NULL
                 WHERE id = ? AND turn = ? AND instance = ?",
                params![
                    InJson(JobState::Queued),
                    seconds,
                    u32::from(!is_new_attempt),
                    job.id,
                    Count(job.turn),
                    self.instance
                ],
            )?;
            Ok(changed == 1)
        })
    }

    /// Returns the jobs of all projects that are not at an end, in the order in which they were
    /// asked for.
    pub(crate) fn unfinished_jobs_of_all(&self, _: Itself) -> Result<Vec<Job>, StoreError> {
        self.read(|connection| unfinished(connection, None))
    }

    /// Returns the jobs of all projects that have been at an end for longer than they are kept.
    /// Their projects say for how long; the service keeps them for `days` at most. Jobs whose model
    /// still exists are left out.
    pub(crate) fn expired_jobs(
        &self,
        _: Itself,
        days: Option<u32>,
    ) -> Result<Vec<Job>, StoreError> {
        let condition = "id NOT IN (SELECT id FROM models) AND state IN (?1, ?2, ?3)
            AND ended < ?4 - 86400 * (
                SELECT CASE WHEN kept_days < ?5 THEN kept_days ELSE coalesce(?5, kept_days) END
                FROM projects WHERE projects.id = project
            ) ORDER BY number";
        let [stopped, done, failed] = JobState::FINAL.map(InJson);
        let values = params![stopped, done, failed, Moment::now(), days];
        self.read(|connection| select(connection, condition, values))
    }

    /// Deletes a job that has been kept for long enough, if no unfinished job reads it; returns
    /// whether it is gone.
    pub(crate) fn expire_job(&self, itself: Itself, job: &Job) -> Result<bool, StoreError> {
        let scope = job.scope(itself);
        let is_gone = self.write(|transaction| {
            let is_gone = remove_job(transaction, &scope, &job.id)? == Removal::Done;
            if is_gone {
                let (by, project) = (By::service(), Some(&job.project));
                note(transaction, &by, project, Action::JobExpired, Some(&job.id))?;
            }
            Ok(is_gone)
        })?;
        self.forget_deleted()?;
        Ok(is_gone)
    }
}

/// Reads when projects and their users had their last turns.
fn turns(connection: &Connection<'_>) -> Result<Fairness, StoreError> {
    let statement = "SELECT project, owner, max(turn) FROM jobs GROUP BY project, owner";
    let had = connection.rows(statement, &[], |row| {
        let party = Party {
            project: row.get(0)?,
            user: row.get(1)?,
        };
        Ok((party, row.get::<Count>(2)?.0))
    })?;
    let mut fairness = Fairness::default();
    for (party, turn) in had {
        fairness.had(&party, turn);
    }
    Ok(fairness)
}
