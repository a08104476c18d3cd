//! The database: projects, tokens, people, sessions, links, the log, and the records of data sets,
//! models and jobs. Everything else lies in files.
//!
//! One connection lies behind a mutex; statements are short, and asynchronous code reaches them
//! through `Service::store`, away from the threads that answer requests. A value of a type of
//! `access` says what a statement may see or change.
//!
//! Deleted data are gone: freed pages are overwritten (`secure_delete`) and given back to the file
//! system (`auto_vacuum`), and the write-ahead log is emptied after each deletion. A full disk does
//! not prevent deletions: the database has a `reserve` that is given up for the next change.

pub(crate) mod access;
mod data_sets;
mod held;
mod hooks;
mod job;
mod jobs;
mod links;
mod lists;
mod log;
mod models;
mod people;
mod projects;
mod queue;
mod reserve;
mod sessions;
mod tokens;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior, params};
use thiserror::Error;

pub use access::{Administer, Caller, Denied, Manage, Role};
pub(crate) use access::{Change, Permission, Scope, Work};
pub(crate) use data_sets::COUNTED;
pub use data_sets::{ColumnKind, ColumnSketch, DataKind, DataSet, FileForm, Layout, Sketch};
pub use hooks::{Hook, LastAttempt};
pub(crate) use hooks::{Next, Notification};
pub use job::{Job, JobState};
pub use jobs::NewJob;
pub(crate) use jobs::{Added, Bounds, Resumed};
pub use links::Link;
pub(crate) use lists::{Series, Which, WhichJobs};
pub use log::{Action, LOG_HEAD, LogEntry, log_lines};
pub use models::{Model, ModelDescription, ModelKind, ModelOrigin};
pub(crate) use people::Identity;
pub use people::{NotAPerson, Person};
pub(crate) use projects::Contents;
pub use projects::{Changed, Project, Quotas};
pub use sessions::{SESSION_TIME, Session, SessionKey, SessionSecrets};
pub use tokens::{Holder, MadeToken, NewToken, TokenRecord};

use super::identifier::{Id, NoRandomness};
use super::jobs::Itself;
use super::moment::Moment;
use lists::Narrow;
use reserve::Reserve;

/// The name of the database in the data directory.
pub const DATABASE: &str = "probity.sqlite";

/// The version of the tables; the database holds it in `user_version`.
const VERSION: i64 = 4;

/// The SQL that makes the tables.
const TABLES: &str = include_str!("tables.sql");

/// How long a statement waits for one of another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The reason why the database cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The error of SQLite.
    #[error("the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The database has another version.
    #[error(
        "the database has version {found}, this build reads {VERSION}; take the version of probity that wrote it, or another data directory"
    )]
    Version {
        /// The version that was found.
        found: i64,
    },
    /// The operating system has no random bits.
    #[error("{0}")]
    Random(#[from] NoRandomness),
}

/// The database of a data directory.
pub struct Store {
    connection: Mutex<Connection>,
    reserve: Reserve,
}

impl Store {
    /// Opens the database in `directory`, and makes it where there is none.
    ///
    /// # Errors
    /// When the database cannot be opened, or has another version.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let mut connection = Connection::open(directory.join(DATABASE))?;
        connection.busy_timeout(PATIENCE)?;
        // Set before there are tables, or it has no effect.
        connection.pragma_update(None, "auto_vacuum", "FULL")?;
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match found {
            0 => {
                transaction.execute_batch(TABLES)?;
                transaction.execute("INSERT INTO service VALUES (?)", [Id::random()?])?;
            }
            VERSION => {}
            found => return Err(StoreError::Version { found }),
        }
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
        let reserve = Reserve::new(directory);
        reserve.restore();
        Ok(Store {
            connection: Mutex::new(connection),
            reserve,
        })
    }

    /// The identifier of this service, which differs from those of other services on the same
    /// machine.
    pub(crate) fn service(&self) -> Result<Id, StoreError> {
        let connection = self.connection();
        Ok(connection.query_row("SELECT id FROM service", [], |row| row.get(0))?)
    }

    /// Does `work`, which changes something, in a transaction: all of it or nothing. On a disk that
    /// is full it does so with the reserve.
    fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let mut attempt = || -> Result<T, StoreError> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        match attempt() {
            Err(error) if error.is_full() && self.reserve.give_up() => attempt(),
            result => result,
        }
    }

    /// Puts the reserve back, where it was given up and there is room again; returns whether it
    /// exists.
    pub(crate) fn restore_reserve(&self) -> bool {
        self.reserve.restore()
    }

    /// Empties the write-ahead log, which may hold what was deleted. Another process that reads
    /// meanwhile is waited for.
    fn forget_deleted(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Locks the connection. A statement that failed half-way has been rolled back, so a poisoned
    /// lock is as good as any.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreError {
    /// Whether the disk has no room left for a change.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            StoreError::Sqlite(error) => error.sqlite_error_code() == Some(ErrorCode::DiskFull),
            StoreError::Version { .. } | StoreError::Random(_) => false,
        }
    }
}

/// The result of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Removal {
    /// The thing is gone from the database.
    Done,
    /// There is no such thing in the project.
    Missing,
    /// This job needs the thing, and is not at an end.
    Needed(Id),
    /// The thing is a job that is not at an end.
    AtWork,
}

/// A kind of thing that users have, kept as the rows of a table.
pub(crate) trait Record: Sized + Send + 'static {
    /// The word that users have for a thing of this kind.
    const NAME: &'static str;
    /// The name of the table.
    const TABLE: &'static str;
    /// The columns, the identifier first.
    const COLUMNS: &'static str;
    /// The column that grows with the time at which things came.
    const ORDER: &'static str = "rowid";
    /// The table of the other thing that has the same name: a job has the name of the model that it
    /// made.
    const ALSO: Option<&'static str> = None;
    /// The action that the log records when a thing gets another name.
    const RENAMED: Action;
    /// The type of selections of such things.
    type Which: Narrow;

    /// The identifier of the thing.
    fn id(&self) -> &Id;

    /// The token that the thing came with.
    fn owner(&self) -> &Id;

    /// The name that the user gave the thing.
    fn label(&self) -> &str;

    /// The files of the thing.
    fn contents(&self) -> Contents;

    /// Reads a thing from a row with these columns.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self>;
}

impl Store {
    /// Returns the thing `id` of a kind, if the project has it.
    pub(crate) fn find<T: Record>(&self, scope: &Scope, id: &Id) -> Result<Option<T>, StoreError> {
        find(&self.connection(), scope, id)
    }

    /// Gives the thing `id` of a kind another name; false when the project has none with this
    /// identifier.
    pub(crate) fn rename<T: Record>(
        &self,
        change: &Change,
        id: &Id,
        label: &str,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let named = |table: &str| {
                let statement =
                    format!("UPDATE {table} SET label = ? WHERE id = ? AND project = ?");
                transaction.execute(&statement, params![label, id, change.project()])
            };
            if named(T::TABLE)? == 0 {
                return Ok(false);
            }
            T::ALSO.map(named).transpose()?;
            let project = Some(change.project());
            log::note(transaction, change.by(), project, T::RENAMED, Some(id))?;
            Ok(true)
        })
    }

    /// Returns the identifiers of all things of a kind, by which the service finds files that are
    /// left over.
    pub(crate) fn all<T: Record>(&self, _: Itself) -> Result<HashSet<Id>, StoreError> {
        let connection = self.connection();
        let mut statement = connection.prepare(&format!("SELECT id FROM {}", T::TABLE))?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the thing `id` of a kind, if the project has it.
fn find<T: Record>(
    connection: &Connection,
    scope: &Scope,
    id: &Id,
) -> Result<Option<T>, StoreError> {
    let found = select(connection, "id = ? AND project = ?", &[id, scope.project()]);
    Ok(found?.pop())
}

/// Returns the things of a kind for which `condition` holds.
fn select<T: Record>(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<T>, StoreError> {
    let (columns, table) = (T::COLUMNS, T::TABLE);
    let mut statement =
        connection.prepare(&format!("SELECT {columns} FROM {table} WHERE {condition}"))?;
    let rows = statement.query_map(values, T::from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Deletes a thing of a kind from its table; false when the project has none with this identifier.
fn remove<T: Record>(
    transaction: &Transaction<'_>,
    scope: &Scope,
    id: &Id,
) -> Result<bool, StoreError> {
    let statement = format!("DELETE FROM {} WHERE id = ? AND project = ?", T::TABLE);
    let values: [&dyn ToSql; 2] = [id, scope.project()];
    Ok(transaction.execute(&statement, values.as_slice())? == 1)
}

/// Puts a thing with the `values` of its columns into the project, in place of the one with its
/// identifier if there is one.
fn put<T: Record>(
    transaction: &Transaction<'_>,
    scope: &Scope,
    values: &[&dyn ToSql],
) -> Result<(), StoreError> {
    let marks = vec!["?"; values.len()].join(", ");
    let (table, columns) = (T::TABLE, T::COLUMNS);
    let mut all: Vec<&dyn ToSql> = vec![scope.project()];
    all.extend_from_slice(values);
    transaction.execute(
        &format!("INSERT OR REPLACE INTO {table} (project, {columns}) VALUES (?, {marks})"),
        all.as_slice(),
    )?;
    Ok(())
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Id> {
        value
            .as_str()?
            .parse()
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A count as the value of a column; SQLite's integers are signed.
struct Count(u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        unsigned(self.0)
    }
}

fn unsigned(number: u64) -> rusqlite::Result<ToSqlOutput<'static>> {
    i64::try_from(number)
        .map(ToSqlOutput::from)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Count> {
        u64::try_from(value.as_i64()?)
            .map(Count)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        unsigned(self.0)
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Moment> {
        Count::column_result(value).map(|count| Moment(count.0))
    }
}

/// A value that a column of text holds as JSON.
struct InJson<T>(T);

impl<T: serde::Serialize> ToSql for InJson<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }
}

impl<T: serde::de::DeserializeOwned> FromSql for InJson<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<InJson<T>> {
        serde_json::from_str(value.as_str()?)
            .map(InJson)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}
