//! SQLite: one file in the data directory, for one service.
//!
//! One connection lies behind a mutex; statements are short. Deleted data are gone: freed pages are
//! overwritten (`secure_delete`) and given back to the file system (`auto_vacuum`), and the
//! write-ahead log is emptied after each deletion. A full disk does not prevent deletions: the
//! database has a [`Reserve`] that is given up for the next change.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, TransactionBehavior};

use super::super::reserve::Reserve;
use super::super::{StoreError, TABLES, VERSION};
use super::value::{Column, Value, wrong};
use super::{Connection, Transaction, dialect};
use crate::identifier::Id;

/// The name of the database in the data directory.
pub const DATABASE: &str = "probity.sqlite";

/// How long a statement waits for one of another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The version before this one, which is brought to this one.
const BEFORE: i64 = 4;

/// The SQL that brings it there.
const SINCE_THEN: &str = "
ALTER TABLE jobs ADD COLUMN instance TEXT;
ALTER TABLE jobs ADD COLUMN progress TEXT;
ALTER TABLE service ADD COLUMN files TEXT;
CREATE TABLE removals (folder TEXT PRIMARY KEY) STRICT;
CREATE TABLE instances (id TEXT PRIMARY KEY, beats INTEGER NOT NULL) STRICT;
";

/// The database of a data directory.
pub(crate) struct Sqlite {
    connection: Mutex<rusqlite::Connection>,
    reserve: Reserve,
}

impl Sqlite {
    /// Opens the database in `directory`, and makes it where there is none.
    pub fn open(directory: &Path) -> Result<Sqlite, StoreError> {
        let mut connection = rusqlite::Connection::open(directory.join(DATABASE))?;
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
                transaction.execute_batch(dialect::APPEND_ONLY_SQLITE)?;
                let id = Id::random()?;
                transaction.execute("INSERT INTO service (id) VALUES (?)", [id.as_str()])?;
            }
            BEFORE => transaction.execute_batch(SINCE_THEN)?,
            VERSION => {}
            found => return Err(StoreError::Version { found }),
        }
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
        let reserve = Reserve::new(directory);
        reserve.restore();
        Ok(Sqlite {
            connection: Mutex::new(connection),
            reserve,
        })
    }

    /// Locks the connection. A statement that failed half-way has been rolled back, so a poisoned
    /// lock is as good as any.
    fn connection(&self) -> MutexGuard<'_, rusqlite::Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the database something.
    pub fn read<T>(
        &self,
        work: impl Fn(&Connection<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&Connection::Sqlite(&self.connection()))
    }

    /// Does `work` in a transaction that keeps others from writing. On a disk that is full it does
    /// so with the reserve.
    pub fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let mut attempt = || -> Result<T, StoreError> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&Transaction(Connection::Sqlite(&transaction)))?;
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
    pub fn restore_reserve(&self) -> bool {
        self.reserve.restore()
    }

    /// Empties the write-ahead log, which may hold what was deleted. Another process that reads
    /// meanwhile is waited for.
    pub fn forget_deleted(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Null(_) => ValueRef::Null,
        }))
    }
}

/// The value of the column at `place` of a row.
pub(super) fn column<'r>(
    row: &'r rusqlite::Row<'_>,
    place: usize,
) -> Result<Column<'r>, StoreError> {
    Ok(match row.get_ref(place)? {
        ValueRef::Text(bytes) => Column::Text(std::str::from_utf8(bytes).map_err(wrong)?),
        ValueRef::Integer(number) => Column::Integer(number),
        ValueRef::Real(number) => Column::Real(number),
        ValueRef::Blob(bytes) => Column::Bytes(bytes),
        ValueRef::Null => Column::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_the_version_before_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        drop(Sqlite::open(folder.path()).unwrap());
        let file = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
        let undone = "ALTER TABLE jobs DROP COLUMN instance;
            ALTER TABLE jobs DROP COLUMN progress; DROP TABLE instances;
            ALTER TABLE service DROP COLUMN files; DROP TABLE removals;
            PRAGMA user_version = 4;";
        file.execute_batch(undone).unwrap();
        let database = Sqlite::open(folder.path()).unwrap();
        let read = database.read(|connection| {
            connection.rows("SELECT instance FROM jobs", &[], |row| {
                row.get::<Option<String>>(0)
            })
        });
        assert_eq!(read.unwrap(), []);
        file.execute_batch("PRAGMA user_version = 3;").unwrap();
        assert!(matches!(
            Sqlite::open(folder.path()),
            Err(StoreError::Version { found: 3 })
        ));
    }
}
