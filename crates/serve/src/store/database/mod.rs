//! The database that the statements of the store are for: SQLite in the data directory, or
//! PostgreSQL on a server that several services share.
//!
//! There is one text of each statement, which both understand but for a few words ([`dialect`]).
//! Parameters and columns are text, whole numbers, numbers and bytes ([`value`]); a parameter says
//! which of them it is also where it is NULL, as PostgreSQL wants to know. Questions go to a
//! [`Connection`], changes to a [`Transaction`]. Of transactions there is one at a time in a
//! database, whichever service makes it: so what a transaction has read is true until it ends.

mod address;
mod dialect;
mod errors;
mod postgres;
mod sqlite;
mod value;

use std::cell::RefCell;
use std::ops::Deref;
use std::path::Path;

pub use self::address::{DATABASE_PASSWORD, DatabaseOptions, DatabaseOptionsError};
pub(super) use self::errors::{said, says_full, says_undone};
use self::postgres::{Postgres, Session};
pub use self::sqlite::DATABASE;
use self::sqlite::Sqlite;
pub(super) use self::value::{Column, Count, FromColumn, InJson, Kind, Parameter, Typed, Value};
use super::StoreError;

/// The values of the parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn $crate::store::database::Parameter),*]
    };
}
pub(super) use params;

/// A database.
pub(crate) enum Database {
    /// The file in the data directory.
    Sqlite(Sqlite),
    /// A database of a server.
    Postgres(Box<Postgres>),
}

impl Database {
    /// Opens the database in the data directory `directory`, and makes it where there is none.
    pub fn open(directory: &Path) -> Result<Database, StoreError> {
        Sqlite::open(directory).map(Database::Sqlite)
    }

    /// Connects to a database of a server, and makes the tables where there are none.
    pub fn connect(options: &DatabaseOptions) -> Result<Database, StoreError> {
        let postgres = Postgres::connect(options)?;
        Ok(Database::Postgres(Box::new(postgres)))
    }

    /// Whether several services may use the database.
    pub fn is_shared(&self) -> bool {
        matches!(self, Database::Postgres(_))
    }

    /// Asks the database something.
    pub fn read<T>(
        &self,
        work: impl Fn(&Connection<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Database::Sqlite(sqlite) => sqlite.read(work),
            Database::Postgres(postgres) => postgres.read(work),
        }
    }

    /// Does `work`, which changes something, in a transaction: all of it or nothing. It may be done
    /// more than once, until one of its transactions is carried out.
    pub fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Database::Sqlite(sqlite) => sqlite.write(work),
            Database::Postgres(postgres) => postgres.write(work),
        }
    }

    /// Lets nothing be left of what was deleted, as far as that is up to the service. The
    /// transactions of a PostgreSQL server are in its own log, and what they deleted in its pages
    /// until it vacuums them: that is for those who run it to say.
    pub fn forget_deleted(&self) -> Result<(), StoreError> {
        match self {
            Database::Sqlite(sqlite) => sqlite.forget_deleted(),
            Database::Postgres(_) => Ok(()),
        }
    }

    /// Puts the reserve back, where it was given up and there is room again; returns whether it
    /// exists. A database that is on another disk than the files needs none: whoever deletes files
    /// of the service needs no room on their disk for it.
    pub fn restore_reserve(&self) -> bool {
        match self {
            Database::Sqlite(sqlite) => sqlite.restore_reserve(),
            Database::Postgres(_) => true,
        }
    }
}

/// A connection that answers questions.
pub(crate) enum Connection<'c> {
    /// A connection to a file.
    Sqlite(&'c rusqlite::Connection),
    /// A connection to a server.
    Postgres(RefCell<&'c mut Session>),
}

/// A transaction, which changes things, too.
pub(crate) struct Transaction<'c>(Connection<'c>);

impl<'c> Deref for Transaction<'c> {
    type Target = Connection<'c>;

    fn deref(&self) -> &Connection<'c> {
        &self.0
    }
}

/// A row of an answer.
pub(crate) enum Row<'r> {
    /// A row of a file.
    Sqlite(&'r rusqlite::Row<'r>),
    /// A row of a server.
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    /// The value of the column at `place`, from 0.
    pub fn get<T: FromColumn>(&self, place: usize) -> Result<T, StoreError> {
        T::from_column(match self {
            Row::Sqlite(row) => sqlite::column(row, place)?,
            Row::Postgres(row) => postgres::column(row, place)?,
        })
    }
}

impl Connection<'_> {
    /// Reads the rows that answer `statement`.
    pub fn rows<T>(
        &self,
        statement: &str,
        values: &[&dyn Parameter],
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let values = values_of(values)?;
        match self {
            Connection::Sqlite(connection) => {
                let mut statement = connection.prepare(statement)?;
                let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(read(&Row::Sqlite(row))?);
                }
                Ok(all)
            }
            Connection::Postgres(session) => {
                let rows = session.borrow_mut().rows(statement, &values)?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// Reads the first row that answers `statement`, if there is one.
    pub fn row<T>(
        &self,
        statement: &str,
        values: &[&dyn Parameter],
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(statement, values, read)?;
        Ok(rows.into_iter().next())
    }
}

impl Transaction<'_> {
    /// Carries `statement` out, and returns how many rows it changed.
    pub fn execute(&self, statement: &str, values: &[&dyn Parameter]) -> Result<u64, StoreError> {
        let values = values_of(values)?;
        match &self.0 {
            Connection::Sqlite(connection) => {
                let changed = connection.execute(statement, rusqlite::params_from_iter(values))?;
                Ok(changed as u64)
            }
            Connection::Postgres(session) => session.borrow_mut().execute(statement, &values),
        }
    }
}

fn values_of<'v>(values: &[&'v dyn Parameter]) -> Result<Vec<Value<'v>>, StoreError> {
    let all = values.iter().map(|&value| Parameter::value(value));
    all.collect()
}
