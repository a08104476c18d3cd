//! Links for people without a token: each leads to one report, is read-only, ends after a while,
//! and can be revoked.
//!
//! Whoever has the address can read the report, so its secret is 256 random bits, of which the
//! database holds the SHA-256 only.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::access::{Change, Scope};
use super::log::{Action, note};
use super::tokens::sha256;
use super::{Row, Store, StoreError, params};
use crate::fair::Party;
use crate::identifier::{Id, random_bytes};
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// A link to a report; its address is known only to those whom its maker told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Link {
    /// The identifier of the link.
    pub id: Id,
    /// The job whose report the link leads to.
    pub job: Id,
    /// The token that the link was made with.
    pub owner: Id,
    /// The moment at which the link was made.
    pub created: Moment,
    /// The moment until which the link is valid.
    pub expires: Moment,
    /// The moment at which the link was revoked, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Moment>,
}

impl Link {
    fn from_row(row: &Row<'_>) -> Result<Link, StoreError> {
        Ok(Link {
            id: row.get(0)?,
            job: row.get(1)?,
            owner: row.get(2)?,
            created: row.get(3)?,
            expires: row.get(4)?,
            revoked: row.get(5)?,
        })
    }
}

impl Store {
    /// Makes a link to the report of `job`, and returns it with its secret; none if there is no
    /// such job.
    pub(crate) fn add_link(
        &self,
        change: &Change,
        job: &Id,
        time: Duration,
    ) -> Result<Option<(Link, String)>, StoreError> {
        let secret = hex(&random_bytes::<32>()?);
        let now = Moment::now();
        let link = Link {
            id: Id::random()?,
            job: job.clone(),
            owner: change.owner().clone(),
            created: now,
            expires: now.after(time),
            revoked: None,
        };
        self.write(|transaction| {
            // With the condition on the project, a job of another project is not found.
            let added = transaction.execute(
                "INSERT INTO links (id, job, owner, secret_sha256, created, expires)
                 SELECT ?, id, ?, ?, ?, ? FROM jobs WHERE id = ? AND project = ?",
                params![
                    link.id,
                    link.owner,
                    sha256(&secret),
                    link.created,
                    link.expires,
                    job,
                    change.project()
                ],
            )?;
            if added == 0 {
                return Ok(None);
            }
            let (project, subject) = (Some(change.project()), Some(&link.id));
            note(transaction, change.by(), project, Action::LinkMade, subject)?;
            Ok(Some((link.clone(), secret.clone())))
        })
    }

    /// Returns the links to the report of `job`, the newest first.
    pub(crate) fn links(&self, change: &Change, job: &Id) -> Result<Vec<Link>, StoreError> {
        let statement = "SELECT links.id, job, links.owner, links.created, expires, revoked
             FROM links JOIN jobs ON jobs.id = job
             WHERE job = ? AND project = ? ORDER BY links.rowid DESC";
        let values = params![job, change.project()];
        self.read(|connection| connection.rows(statement, values, Link::from_row))
    }

    /// Revokes a link to the report of `job`; false when there is none with this identifier that is
    /// valid.
    pub(crate) fn revoke_link(
        &self,
        change: &Change,
        job: &Id,
        link: &Id,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE links SET revoked = ? WHERE id = ? AND revoked IS NULL
                 AND job IN (SELECT id FROM jobs WHERE id = ? AND project = ?)",
                params![Moment::now(), link, job, change.project()],
            )?;
            if changed == 1 {
                let (project, subject) = (Some(change.project()), Some(link));
                note(
                    transaction,
                    change.by(),
                    project,
                    Action::LinkRevoked,
                    subject,
                )?;
            }
            Ok(changed == 1)
        })
    }

    /// Returns the job whose report the valid link with this secret leads to, and the permission to
    /// see it.
    pub(crate) fn linked(&self, secret: &str) -> Result<Option<(Scope, Id)>, StoreError> {
        let statement = "SELECT project, links.owner, job FROM links JOIN jobs ON jobs.id = job
             WHERE secret_sha256 = ? AND expires > ? AND revoked IS NULL";
        let values = params![sha256(secret), Moment::now()];
        self.read(|connection| {
            connection.row(statement, values, |row| {
                let party = Party {
                    project: row.get(0)?,
                    user: row.get(1)?,
                };
                Ok((Scope::of_link(party), row.get(2)?))
            })
        })
    }
}
