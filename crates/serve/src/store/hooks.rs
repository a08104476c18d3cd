//! Webhooks: the address at which a project wants to hear that its jobs are at an end, and the
//! notifications that are still to be sent.
//!
//! A notification is written in the transaction that ends its job, so none is lost when the service
//! is killed; one that was under way then is sent again. A notification is deleted with its job, or
//! with the webhook.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::access::{By, Manage};
use super::job::{Job, JobState};
use super::log::{Action, note};
use super::{InJson, Row, Store, StoreError, Transaction, params, select};
use crate::identifier::{Id, random_bytes};
use crate::jobs::Itself;
use crate::jobs::specification::JobKind;
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// How long a notification may be under way until it counts as lost.
const UNDER_WAY: Duration = Duration::from_secs(60);

/// The webhook of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Hook {
    /// The address that notifications are sent to.
    pub url: String,
    /// The moment at which the webhook was set.
    pub created: Moment,
    /// The result of the last attempt to send a notification, and its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<LastAttempt>,
}

/// The result of an attempt to send a notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastAttempt {
    /// The moment of the attempt.
    pub at: Moment,
    /// The result, in words.
    pub said: String,
}

/// A notification that is being sent.
#[derive(Debug, Clone)]
pub(crate) struct Notification {
    /// The identifier of the notification.
    pub id: Id,
    /// The project.
    pub project: Id,
    /// The job.
    pub job: Id,
    /// The address that the notification is sent to.
    pub url: String,
    /// The secret that the notification is signed with.
    pub secret: String,
    /// The content of the notification, in JSON.
    pub body: String,
    /// The number of attempts before this one.
    pub attempts: u32,
}

/// The fate of a notification after an attempt to send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The notification arrived.
    Arrived,
    /// The notification is sent again at this moment.
    Again(Moment),
    /// The notification is given up.
    GivenUp,
}

/// The content of a notification.
#[derive(Serialize)]
struct Said<'a> {
    event: &'static str,
    id: &'a Id,
    project: SaidProject,
    job: SaidJob<'a>,
}

#[derive(Serialize)]
struct SaidProject {
    id: Id,
    name: String,
}

#[derive(Serialize)]
struct SaidJob<'a> {
    id: &'a Id,
    label: &'a str,
    kind: JobKind,
    state: JobState,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    created: Moment,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Moment>,
}

/// Adds a notification for the project of the job `id`, which has just come to its end, if the
/// project has a webhook.
pub(super) fn notify(transaction: &Transaction<'_>, id: &Id) -> Result<(), StoreError> {
    let wants = transaction.row(
        "SELECT projects.id, projects.name FROM jobs JOIN projects ON projects.id = jobs.project
         JOIN hooks ON hooks.project = projects.id WHERE jobs.id = ?",
        params![id],
        |row| {
            Ok(SaidProject {
                id: row.get(0)?,
                name: row.get(1)?,
            })
        },
    )?;
    let Some(project) = wants else {
        return Ok(());
    };
    let Some(job) = select::<Job>(transaction, "id = ?", params![id])?.pop() else {
        return Ok(());
    };
    let (notification, owner) = (Id::random()?, project.id.clone());
    let said = Said {
        event: "job-ended",
        id: &notification,
        project,
        job: SaidJob {
            id: &job.id,
            label: &job.label,
            kind: job.kind,
            state: job.state,
            message: job.message.as_deref(),
            created: job.created,
            started: job.started,
            ended: job.ended,
        },
    };
    transaction.execute(
        "INSERT INTO notifications (id, project, job, body, attempts, next) VALUES (?, ?, ?, ?, 0, ?)",
        params![notification, owner, id, InJson(said), Moment::now()],
    )?;
    Ok(())
}

impl Notification {
    fn from_row(row: &Row<'_>) -> Result<Notification, StoreError> {
        Ok(Notification {
            id: row.get(0)?,
            project: row.get(1)?,
            job: row.get(2)?,
            url: row.get(3)?,
            secret: row.get(4)?,
            body: row.get(5)?,
            attempts: row.get(6)?,
        })
    }
}

impl Store {
    /// Has the project notified at `url` in place of an earlier address, and returns the secret
    /// that notifications are signed with: 64 hexadecimal characters; nothing where the project no
    /// longer exists. Notifications that are still to be sent are deleted.
    pub(crate) fn set_hook(
        &self,
        manage: &Manage,
        url: &str,
    ) -> Result<Option<(Hook, String)>, StoreError> {
        let secret = hex(&random_bytes::<32>()?);
        let hook = Hook {
            url: url.to_owned(),
            created: Moment::now(),
            last: None,
        };
        self.write(|transaction| {
            let project = manage.project();
            transaction.execute("DELETE FROM hooks WHERE project = ?", params![project])?;
            let added = transaction.execute(
                "INSERT INTO hooks (project, url, secret, created)
                 SELECT id, ?, ?, ? FROM projects WHERE id = ?",
                params![hook.url, secret, hook.created, project],
            )?;
            if added == 0 {
                return Ok(None);
            }
            let id = Some(project);
            note(transaction, manage.by(), id, Action::WebhookSet, id)?;
            Ok(Some((hook.clone(), secret.clone())))
        })
    }

    /// Returns the webhook of a project, if it has one.
    pub(crate) fn hook(&self, manage: &Manage) -> Result<Option<Hook>, StoreError> {
        let statement = "SELECT url, created, last_at, last_said FROM hooks WHERE project = ?";
        let values = params![manage.project()];
        self.read(|connection| {
            connection.row(statement, values, |row| {
                let at: Option<Moment> = row.get(2)?;
                let said: Option<String> = row.get(3)?;
                Ok(Hook {
                    url: row.get(0)?,
                    created: row.get(1)?,
                    last: at.zip(said).map(|(at, said)| LastAttempt { at, said }),
                })
            })
        })
    }

    /// Removes the webhook of a project, if it has one, and the notifications that are still to be
    /// sent.
    pub(crate) fn remove_hook(&self, manage: &Manage) -> Result<(), StoreError> {
        self.write(|transaction| {
            let project = manage.project();
            let removed =
                transaction.execute("DELETE FROM hooks WHERE project = ?", params![project])?;
            if removed == 1 {
                let id = Some(project);
                note(transaction, manage.by(), id, Action::WebhookRemoved, id)?;
            }
            Ok(())
        })?;
        self.forget_deleted()
    }

    /// Takes the notification that has been due the longest, of a project that is not among `busy`.
    pub(crate) fn claim_notification(
        &self,
        _: Itself,
        busy: &[Id],
    ) -> Result<Option<Notification>, StoreError> {
        self.write(|transaction| {
            let due = transaction.rows(
                "SELECT id, notifications.project, job, url, secret, body, attempts
                 FROM notifications JOIN hooks USING (project) WHERE next <= ? ORDER BY next",
                params![Moment::now()],
                Notification::from_row,
            )?;
            let next = due.into_iter().find(|due| !busy.contains(&due.project));
            if let Some(due) = &next {
                transaction.execute(
                    "UPDATE notifications SET next = ? WHERE id = ?",
                    params![Moment::now().after(UNDER_WAY), due.id],
                )?;
            }
            Ok(next)
        })
    }

    /// Writes the result of an attempt to send a notification.
    pub(crate) fn end_attempt(
        &self,
        _: Itself,
        sent: &Notification,
        said: &str,
        next: Next,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            // The webhook may have been removed or replaced by now.
            transaction.execute(
                "UPDATE hooks SET last_at = ?, last_said = ? WHERE project = ? AND secret = ?",
                params![Moment::now(), said, sent.project, sent.secret],
            )?;
            let action = match next {
                Next::Arrived => Action::NotificationSent,
                Next::GivenUp => Action::NotificationGivenUp,
                Next::Again(moment) => {
                    transaction.execute(
                        "UPDATE notifications SET attempts = attempts + 1, next = ? WHERE id = ?",
                        params![moment, sent.id],
                    )?;
                    return Ok(());
                }
            };
            let gone =
                transaction.execute("DELETE FROM notifications WHERE id = ?", params![sent.id])?;
            if gone == 1 {
                let project = Some(&sent.project);
                note(
                    transaction,
                    &By::service(),
                    project,
                    action,
                    Some(&sent.job),
                )?;
            }
            Ok(())
        })
    }
}
