//! The database: tokens, sessions, and what there is about data sets, models and jobs. Everything else lies in files.
//!
//! One connection behind a mutex; statements are short, and asynchronous code reaches them through
//! `Service::store`, away from the threads that answer requests.

mod data_sets;
mod jobs;
mod models;
mod sessions;
mod tokens;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row};
use thiserror::Error;

pub use data_sets::{ColumnKind, ColumnSketch, DataKind, DataSet, FileForm, Layout, Sketch};
pub use jobs::{Job, JobState, NewJob};
pub use models::{Model, ModelDescription, ModelKind, ModelOrigin};
pub use sessions::{SESSION_TIME, Session, SessionSecrets};
pub use tokens::{Caller, TokenRecord};

use super::identifier::{Id, NoRandomness};
use super::moment::Moment;

/// Name of the database in the data directory.
pub const DATABASE: &str = "probity.sqlite";

/// The version of the tables, in `user_version`.
const VERSION: i64 = 1;

/// The tables.
const TABLES: &str = include_str!("tables.sql");

/// How long a statement waits for another process's.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the database cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite's word.
    #[error("the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It is of another version.
    #[error(
        "the database has version {found}, this build reads {VERSION}; take the version of probity that wrote it"
    )]
    Version {
        /// The version found.
        found: i64,
    },
    /// No random bits.
    #[error(transparent)]
    Random(#[from] NoRandomness),
}

/// The database of a data directory.
pub struct Store {
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens the database in `directory`, and makes it where there is none.
    ///
    /// # Errors
    /// When it cannot be opened, or is of another version.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let mut connection = Connection::open(directory.join(DATABASE))?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match found {
            0 => {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            VERSION => {}
            found => return Err(StoreError::Version { found }),
        }
        transaction.commit()?;
        Ok(Store {
            connection: Mutex::new(connection),
        })
    }

    /// A statement that failed half-way has been rolled back, so a poisoned lock is as good as any.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thing that users have: a row of a table.
pub(crate) trait Record: Sized + Send + 'static {
    /// What users call one.
    const NAME: &'static str;
    /// Its table.
    const TABLE: &'static str;
    /// The columns, the identifier first.
    const COLUMNS: &'static str;
    /// The column that grows with the time at which things came.
    const ORDER: &'static str = "rowid";

    /// From a row with these columns.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self>;
}

impl Store {
    /// All things of a kind, the newest first.
    pub(crate) fn all<T: Record>(&self) -> Result<Vec<T>, StoreError> {
        self.select(&format!("1 ORDER BY {} DESC", T::ORDER), &[])
    }

    /// The thing `id` of a kind, if there is one.
    pub(crate) fn find<T: Record>(&self, id: &Id) -> Result<Option<T>, StoreError> {
        Ok(self.select("id = ?", &[id])?.pop())
    }

    /// The things of a kind for which `condition` holds.
    fn select<T: Record>(
        &self,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<T>, StoreError> {
        let (columns, table) = (T::COLUMNS, T::TABLE);
        let connection = self.connection();
        let mut statement =
            connection.prepare(&format!("SELECT {columns} FROM {table} WHERE {condition}"))?;
        let rows = statement.query_map(values, T::from_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets a thing of a kind.
    pub(crate) fn remove<T: Record>(&self, id: &Id) -> Result<(), StoreError> {
        let statement = format!("DELETE FROM {} WHERE id = ?", T::TABLE);
        self.connection().execute(&statement, [id])?;
        Ok(())
    }
}

/// Puts a thing with the `values` of its columns, in place of the one with its identifier if there is one.
fn put<T: Record>(connection: &Connection, values: &[&dyn ToSql]) -> Result<(), StoreError> {
    let marks = vec!["?"; values.len()].join(", ");
    let (table, columns) = (T::TABLE, T::COLUMNS);
    connection.execute(
        &format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})"),
        values,
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

/// A count in a column; SQLite's integers have a sign.
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

/// A value of ours in a column of text, as JSON.
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
