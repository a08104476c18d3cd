//! The log of actions: entries are only ever added.
//!
//! An entry is written in the transaction that does the action, so neither exists without the
//! other; triggers of the database refuse to change or remove one. It names things by their
//! identifiers only: what a deleted thing was called is gone with it.

use std::io;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Administer, By, Manage};
use super::{InJson, Parameter, Row, Store, StoreError, Transaction, params};
use crate::identifier::Id;
use crate::moment::Moment;
use probity_run::spreadsheet::safe;

/// An action that the log records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A project was made.
    ProjectMade,
    /// The name or the quotas of a project were changed.
    ProjectChanged,
    /// A project was deleted with everything in it.
    ProjectDeleted,
    /// A token was made.
    TokenMade,
    /// A token was revoked.
    TokenRevoked,
    /// Somebody logged in by the identity provider for the first time with an access that they were
    /// given.
    AccessTaken,
    /// Somebody logged in to the pages.
    LoggedIn,
    /// A data set was uploaded.
    DataUploaded,
    /// The schema of a data set was drafted or replaced.
    DataDescribed,
    /// A data set got another name.
    DataRenamed,
    /// A data set was deleted.
    DataDeleted,
    /// A model was uploaded.
    ModelUploaded,
    /// A model, and the job that made it, got another name.
    ModelRenamed,
    /// A model was deleted.
    ModelDeleted,
    /// A job was asked for.
    JobStarted,
    /// A job was asked to stop.
    JobStopped,
    /// A job was asked to go on.
    JobResumed,
    /// A job, and the model that it made, got another name.
    JobRenamed,
    /// A job, and the model that it made, were deleted.
    JobDeleted,
    /// A job was deleted because it had been kept as long as jobs of its project are kept.
    JobExpired,
    /// A link to a report was made.
    LinkMade,
    /// A link to a report was revoked.
    LinkRevoked,
    /// A webhook was set.
    WebhookSet,
    /// A webhook was removed.
    WebhookRemoved,
    /// A webhook took the notification that a job is at an end.
    NotificationSent,
    /// A webhook did not take the notification of a job's end, however often it was sent.
    NotificationGivenUp,
}

impl Action {
    /// The words of the action: its name in JSON, with blanks.
    pub fn words(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().replace('-', " ")
    }
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogEntry {
    /// The number of the entry: larger than those of all entries before it.
    pub number: i64,
    /// The moment of the action.
    pub at: Moment,
    /// The token that the action was done with; none: it was done by a command on the machine of
    /// the service, or by the service itself.
    pub token: Option<Id>,
    /// The name of the token, or of the command line or the service.
    pub name: String,
    /// The project that the action was done in.
    pub project: Option<Id>,
    /// The action.
    pub action: Action,
    /// The object of the action: the identifier of a project, token, data set, model, job or link.
    pub subject: Option<Id>,
}

impl LogEntry {
    fn from_row(row: &Row<'_>) -> Result<LogEntry, StoreError> {
        Ok(LogEntry {
            number: row.get(0)?,
            at: row.get(1)?,
            token: row.get(2)?,
            name: row.get(3)?,
            project: row.get(4)?,
            action: row.get::<InJson<_>>(5)?.0,
            subject: row.get(6)?,
        })
    }
}

/// The first line of a log as CSV.
pub const LOG_HEAD: &str = "number,at,token,name,project,action,subject\n";

/// Writes entries as lines of CSV, in which no cell is a formula to a spreadsheet.
///
/// # Errors
/// Never: memory takes all lines.
pub fn log_lines(entries: &[LogEntry]) -> io::Result<String> {
    let id = |id: &Option<Id>| id.as_ref().map_or(String::new(), Id::to_string);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for entry in entries {
        let cells = [
            entry.number.to_string(),
            entry.at.to_string(),
            id(&entry.token),
            entry.name.clone(),
            id(&entry.project),
            entry.action.words(),
            id(&entry.subject),
        ];
        writer.write_record(cells.map(|cell| safe(&cell).into_owned()))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Adds to the log that `by` did `action` to `subject`.
pub(super) fn note(
    transaction: &Transaction<'_>,
    by: &By,
    project: Option<&Id>,
    action: Action,
    subject: Option<&Id>,
) -> Result<(), StoreError> {
    transaction.execute(
        "INSERT INTO log (at, token, name, project, action, subject) VALUES (?, ?, ?, ?, ?, ?)",
        params![
            Moment::now(),
            by.token,
            by.name,
            project,
            InJson(action),
            subject
        ],
    )?;
    Ok(())
}

impl Store {
    /// Returns the `limit` newest entries about a project before the entry `before`, the newest
    /// first.
    pub(crate) fn log_of(
        &self,
        manage: &Manage,
        before: i64,
        limit: u32,
    ) -> Result<Vec<LogEntry>, StoreError> {
        self.entries("project = ? AND", params![manage.project(), before, limit])
    }

    /// Returns the `limit` newest entries before the entry `before`, the newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn whole_log(
        &self,
        _: &Administer,
        before: i64,
        limit: u32,
    ) -> Result<Vec<LogEntry>, StoreError> {
        self.entries("", params![before, limit])
    }

    fn entries(
        &self,
        condition: &str,
        values: &[&dyn Parameter],
    ) -> Result<Vec<LogEntry>, StoreError> {
        let statement = format!(
            "SELECT number, at, token, name, project, action, subject FROM log
             WHERE {condition} number < ? ORDER BY number DESC LIMIT ?"
        );
        self.read(|connection| connection.rows(&statement, values, LogEntry::from_row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_no_formula() {
        let entry = LogEntry {
            number: 7,
            at: Moment(0),
            token: None,
            name: "=HYPERLINK(\"http://evil.example\",1)".to_owned(),
            project: Some("0123456789abcdef".parse().unwrap()),
            action: Action::DataDeleted,
            subject: None,
        };
        assert_eq!(
            log_lines(&[entry]).unwrap(),
            "7,1970-01-01T00:00:00Z,,\"'=HYPERLINK(\"\"http://evil.example\"\",1)\",0123456789abcdef,data deleted,\n"
        );
    }
}
