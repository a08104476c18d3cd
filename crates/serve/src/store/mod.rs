//! The database: projects, tokens, people, sessions, links, the log, and the records of data sets,
//! models and jobs. Everything else lies in files.
//!
//! It is SQLite in the data directory of one service, or PostgreSQL for several (`database`).
//! Statements are short, and asynchronous code reaches them through `Service::store`, away from the
//! threads that answer requests. A value of a type of `access` says what a statement may see or
//! change.

pub(crate) mod access;
mod data_sets;
mod database;
mod held;
mod hooks;
mod instances;
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
#[cfg(test)]
pub(crate) mod tests;
mod tokens;

use std::collections::HashSet;
use std::path::Path;

use thiserror::Error;

pub use access::{Administer, Caller, Denied, Manage, Role};
pub(crate) use access::{Change, Permission, Scope, Work};
pub(crate) use data_sets::COUNTED;
pub use data_sets::{ColumnKind, ColumnSketch, DataKind, DataSet, FileForm, Layout, Sketch};
pub use database::{DATABASE, DATABASE_PASSWORD, DatabaseOptions, DatabaseOptionsError};
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
use database::{
    Column, Connection, Count, Database, FromColumn, InJson, Kind, Parameter, Row, Transaction,
    Typed, Value, params,
};
use lists::Narrow;

/// The version of the tables, which the database holds.
const VERSION: i64 = 5;

/// The SQL that makes the tables, as SQLite has it.
const TABLES: &str = include_str!("tables.sql");

/// The reason why the database cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The error of SQLite.
    #[error("the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The error of PostgreSQL.
    #[error("the database: {}", database::said(.0))]
    Postgres(tokio_postgres::Error),
    /// The server of the database cannot be reached at present.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// The database holds texts in another encoding than UTF-8.
    #[error("the database has the encoding {0}; make one with UTF8")]
    Encoding(String),
    /// A value cannot be what it should be.
    #[error("the database: {0}")]
    Value(String),
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

/// The database of a service, or of several.
pub struct Store {
    database: Database,
    /// The identifier of this process among the services of the database.
    instance: Id,
}

impl Store {
    /// Opens the database in `directory`, and makes it where there is none.
    ///
    /// # Errors
    /// When the database cannot be opened, or has another version.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Store::of(Database::open(directory)?)
    }

    /// Connects to the database of a server, and makes its tables where there are none.
    ///
    /// # Errors
    /// When the server cannot be reached, or the database has another version.
    pub fn connect(options: &DatabaseOptions) -> Result<Store, StoreError> {
        Store::of(Database::connect(options)?)
    }

    fn of(database: Database) -> Result<Store, StoreError> {
        Ok(Store {
            database,
            instance: Id::random()?,
        })
    }

    /// Whether other services may use the same database.
    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// The identifier of the service, or of all that share the database; it differs from those of
    /// other services on the same machine.
    pub(crate) fn service(&self) -> Result<Id, StoreError> {
        let id = self
            .read(|connection| connection.row("SELECT id FROM service", &[], |row| row.get(0)))?;
        id.ok_or_else(|| StoreError::Value("the service has no identifier".to_owned()))
    }

    fn read<T>(
        &self,
        work: impl Fn(&Connection<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.read(work)
    }

    fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.database.write(work)
    }

    /// Puts the reserve of the database back, where it has one that was given up and there is room
    /// again; returns whether there is room for more.
    pub(crate) fn restore_reserve(&self) -> bool {
        self.database.restore_reserve()
    }

    fn forget_deleted(&self) -> Result<(), StoreError> {
        self.database.forget_deleted()
    }
}

impl StoreError {
    /// Whether the disk has no room left for a change.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            StoreError::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
            }
            StoreError::Postgres(error) => database::says_full(error),
            _ => false,
        }
    }

    /// Whether the server of the database cannot be reached at present.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, StoreError::Away(_))
    }

    /// Whether the server undid a transaction for the sake of another; it may succeed the next time.
    fn is_undone_for_others(&self) -> bool {
        matches!(self, StoreError::Postgres(error) if database::says_undone(error))
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
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError>;
}

impl Store {
    /// Returns the thing `id` of a kind, if the project has it.
    pub(crate) fn find<T: Record>(&self, scope: &Scope, id: &Id) -> Result<Option<T>, StoreError> {
        self.read(|connection| find(connection, scope, id))
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
        let statement = format!("SELECT id FROM {}", T::TABLE);
        let rows: Vec<Id> =
            self.read(|connection| connection.rows(&statement, &[], |row| row.get(0)))?;
        Ok(rows.into_iter().collect())
    }
}

/// Returns the thing `id` of a kind, if the project has it.
fn find<T: Record>(
    connection: &Connection<'_>,
    scope: &Scope,
    id: &Id,
) -> Result<Option<T>, StoreError> {
    let found = select(
        connection,
        "id = ? AND project = ?",
        params![id, scope.project()],
    );
    Ok(found?.pop())
}

/// Returns the things of a kind for which `condition` holds.
fn select<T: Record>(
    connection: &Connection<'_>,
    condition: &str,
    values: &[&dyn Parameter],
) -> Result<Vec<T>, StoreError> {
    let (columns, table) = (T::COLUMNS, T::TABLE);
    let statement = format!("SELECT {columns} FROM {table} WHERE {condition}");
    connection.rows(&statement, values, T::from_row)
}

/// Deletes a thing of a kind from its table; false when the project has none with this identifier.
fn remove<T: Record>(
    transaction: &Transaction<'_>,
    scope: &Scope,
    id: &Id,
) -> Result<bool, StoreError> {
    let statement = format!("DELETE FROM {} WHERE id = ? AND project = ?", T::TABLE);
    Ok(transaction.execute(&statement, params![id, scope.project()])? == 1)
}

/// Puts a thing with the `values` of its columns into the project, in place of the one with its
/// identifier if there is one.
fn put<T: Record>(
    transaction: &Transaction<'_>,
    scope: &Scope,
    values: &[&dyn Parameter],
) -> Result<(), StoreError> {
    let marks = vec!["?"; values.len()].join(", ");
    let (table, columns) = (T::TABLE, T::COLUMNS);
    let anew: Vec<String> = columns
        .split(", ")
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    let anew = anew.join(", ");
    let project = scope.project();
    let mut all: Vec<&dyn Parameter> = vec![&project];
    all.extend_from_slice(values);
    transaction.execute(
        &format!(
            "INSERT INTO {table} (project, {columns}) VALUES (?, {marks})
             ON CONFLICT (id) DO UPDATE SET project = excluded.project, {anew}"
        ),
        &all,
    )?;
    Ok(())
}
