//! PostgreSQL: a database of a server, which several services share.
//!
//! A service has a connection for questions and one for changes, which may have to wait for those of
//! others, each behind a mutex; statements are short. A connection that broke is
//! made anew at the next statement. What was asked over it is asked again, and so is a transaction
//! whose end was not sent yet; of one whose end was sent nobody knows whether it was carried out,
//! and it fails. While the server is away everything fails ([`StoreError::Away`]).
//!
//! Each transaction begins with the lock of all of them ([`BEGIN`]), so that of all services one
//! writes at a time, as with SQLite one process does. The tables lie in a schema of their own.
//! Statements have time limits at the server, so that a service or a network that hangs does not hold
//! the lock for good, and longer ones here ([`PATIENCE`]), so that a server that hangs holds nobody.
//!
//! A session waits with a runtime of its own: it must be used on threads that may wait, never on those
//! that answer requests, as all of the store must.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

use super::super::{StoreError, TABLES, VERSION};
use super::errors::said;
use super::value::{Column, Kind, Value, wrong};
use super::{Connection, DatabaseOptions, Transaction, dialect};
use crate::identifier::Id;

/// What every connection begins with: the schema of the tables, and limits of time.
const SETTINGS: &str = "SET search_path TO probity; SET lock_timeout TO '10s';
    SET statement_timeout TO '30s'; SET idle_in_transaction_session_timeout TO '30s'";

/// The beginning of a transaction: no other one of the database goes on until it ends. Each of its
/// statements sees what is there when it begins, so nothing from before the lock.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SELECT pg_advisory_xact_lock(7163287445036462)";

/// How long a connection may take until it can be used.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a statement may be without an answer: longer than the server itself lets it go on.
const PATIENCE: Duration = Duration::from_secs(35);

/// How long after a failure no other connection is tried: what waited meanwhile fails as well.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// How often a transaction begins anew that the server has undone for the sake of another.
const TRIES: usize = 5;

/// A database of a server.
pub(crate) struct Postgres {
    options: DatabaseOptions,
    reads: Mutex<Held>,
    writes: Mutex<Held>,
}

/// The connection that is used, and what became of the last attempt to make one.
#[derive(Default)]
struct Held {
    session: Option<Session>,
    failed: Option<(Instant, String)>,
}

impl Held {
    /// Makes a new connection, unless that has just failed.
    fn connect(&mut self, options: &DatabaseOptions) -> Result<Session, StoreError> {
        if let Some((at, why)) = &self.failed
            && at.elapsed() < AFTER_FAILURE
        {
            return Err(StoreError::Away(why.clone()));
        }
        match Session::begin(options) {
            Ok(session) => {
                self.failed = None;
                Ok(session)
            }
            Err(why) => {
                self.failed = Some((Instant::now(), why.clone()));
                Err(StoreError::Away(why))
            }
        }
    }
}

/// A connection to a server.
pub(crate) struct Session {
    client: Client,
    /// What the connection is worked on by; none when it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Session {
    /// Ends the connection. The last handle on a service may be dropped where nothing may wait, so
    /// nothing is waited for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Waits for what a server answers on `runtime`, for a while.
fn wait<T>(
    runtime: &Runtime,
    time: Duration,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, StoreError> {
    let late = || StoreError::Away("the server does not answer in time".to_owned());
    // The clock is that of the runtime.
    let answered = runtime.block_on(async { tokio::time::timeout(time, answer).await });
    Ok(answered.map_err(|_| late())??)
}

impl Session {
    /// Makes a connection.
    /// Fails with the reason why there is none.
    fn begin(options: &DatabaseOptions) -> Result<Session, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let client = wait(&runtime, CONNECT, async {
            let client = options.client().await?;
            client.batch_execute(SETTINGS).await?;
            Ok(client)
        });
        match client {
            Ok(client) => Ok(Session {
                client,
                runtime: Some(runtime),
            }),
            Err(error) => {
                runtime.shutdown_background();
                Err(match error {
                    StoreError::Away(why) => why,
                    StoreError::Postgres(error) => said(&error),
                    other => other.to_string(),
                })
            }
        }
    }

    fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        let closed = || StoreError::Away("the connection is closed".to_owned());
        wait(self.runtime.as_ref().ok_or_else(closed)?, PATIENCE, answer)
    }

    /// Carries out statements that have no parameters.
    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        self.wait(self.client.batch_execute(statements))
    }

    /// Returns the rows that answer `statement`.
    pub fn rows(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let values = without_nul(values);
        let typed: Vec<_> = values.iter().map(typed).collect();
        let statement = dialect::statement(statement);
        self.wait(self.client.query_typed(&statement, &typed))
    }

    /// Carries `statement` out, and returns how many rows it changed.
    pub fn execute(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let values = without_nul(values);
        let typed: Vec<_> = values.iter().map(typed).collect();
        let statement = dialect::statement(statement);
        self.wait(self.client.execute_typed(&statement, &typed))
    }
}

/// The values with another character in place of NUL, which no text of PostgreSQL can hold.
fn without_nul<'v>(values: &'v [Value<'v>]) -> Vec<Value<'v>> {
    let plain = |value: &'v Value<'v>| match value {
        Value::Text(text) if text.contains('\0') => {
            Value::Text(Cow::Owned(text.replace('\0', "\u{fffd}")))
        }
        Value::Text(text) => Value::Text(Cow::Borrowed(text)),
        value => value.clone(),
    };
    values.iter().map(plain).collect()
}

/// A value as the crate takes it, with its type.
fn typed<'v>(value: &'v Value<'_>) -> (&'v (dyn ToSql + Sync), Type) {
    match value {
        Value::Text(text) => (text, Type::TEXT),
        Value::Integer(number) => (number, Type::INT8),
        Value::Real(number) => (number, Type::FLOAT8),
        Value::Bytes(bytes) => (bytes, Type::BYTEA),
        Value::Null(Kind::Text) => (&None::<&str>, Type::TEXT),
        Value::Null(Kind::Integer) => (&None::<i64>, Type::INT8),
        Value::Null(Kind::Bytes) => (&None::<&[u8]>, Type::BYTEA),
    }
}

/// The value of the column at `place` of a row.
pub(super) fn column(row: &tokio_postgres::Row, place: usize) -> Result<Column<'_>, StoreError> {
    let columns = row.columns();
    let known = columns.get(place).map(tokio_postgres::Column::type_);
    let column = match known {
        Some(&Type::TEXT) => row.try_get::<_, Option<&str>>(place)?.map(Column::Text),
        Some(&Type::INT8) => row.try_get::<_, Option<i64>>(place)?.map(Column::Integer),
        Some(&Type::BOOL) => {
            let truth: Option<bool> = row.try_get(place)?;
            truth.map(|truth| Column::Integer(truth.into()))
        }
        Some(&Type::FLOAT8) => row.try_get::<_, Option<f64>>(place)?.map(Column::Real),
        Some(&Type::BYTEA) => row.try_get::<_, Option<&[u8]>>(place)?.map(Column::Bytes),
        Some(other) => return Err(wrong(format_args!("a column of the type {other}"))),
        None => return Err(wrong(format_args!("there is no column {place}"))),
    };
    Ok(column.unwrap_or(Column::Null))
}

/// A failure of a transaction.
struct Failure {
    error: StoreError,
    /// Whether the transaction is known to have changed nothing.
    is_undone: bool,
}

impl Postgres {
    /// Connects to the database, and makes its tables where there are none.
    pub fn connect(options: &DatabaseOptions) -> Result<Postgres, StoreError> {
        let postgres = Postgres {
            options: options.clone(),
            reads: Mutex::default(),
            writes: Mutex::default(),
        };
        postgres.write(make_tables)?;
        Ok(postgres)
    }

    /// Asks the database something.
    pub fn read<T>(
        &self,
        work: impl Fn(&Connection<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = lock(&self.reads);
        if let Some(mut session) = held.session.take() {
            let asked = work(&Connection::Postgres(RefCell::new(&mut session)));
            if !matches!(&asked, Err(error) if error.is_away()) {
                held.session = Some(session);
                return asked;
            }
        }
        let mut session = held.connect(&self.options)?;
        let asked = work(&Connection::Postgres(RefCell::new(&mut session)));
        held.session = Some(session);
        asked
    }

    /// Does `work` in a transaction, which is the only one of the database until it ends.
    pub fn write<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = lock(&self.writes);
        let mut tries = 0;
        loop {
            tries += 1;
            let (mut session, is_new) = match held.session.take() {
                Some(session) => (session, false),
                None => (held.connect(&self.options)?, true),
            };
            match attempt(&mut session, &work) {
                Ok(result) => {
                    held.session = Some(session);
                    return Ok(result);
                }
                // The connection broke since it was last used.
                Err(failure) if failure.error.is_away() => {
                    if is_new || !failure.is_undone {
                        return Err(failure.error);
                    }
                }
                Err(failure) => {
                    held.session = Some(session);
                    if !failure.error.is_undone_for_others() || tries == TRIES {
                        return Err(failure.error);
                    }
                }
            }
        }
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work` in a transaction of `session`, once.
fn attempt<T>(
    session: &mut Session,
    work: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let undone = |error| Failure {
        error,
        is_undone: true,
    };
    let begun = session.batch(BEGIN);
    let done = begun.and_then(|()| {
        let connection = Connection::Postgres(RefCell::new(&mut *session));
        work(&Transaction(connection))
    });
    let result = match done {
        Ok(result) => result,
        Err(error) => {
            // Of a connection that broke the server undoes the transaction by itself.
            return Err(undone(match session.batch("ROLLBACK") {
                Err(away) if away.is_away() && !error.is_away() => away,
                _ => error,
            }));
        }
    };
    session.batch("COMMIT").map_err(|error| Failure {
        is_undone: !error.is_away(),
        error,
    })?;
    Ok(result)
}

/// Makes the tables where there are none, and looks whether they are of this version.
fn make_tables(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let Connection::Postgres(session) = &**transaction else {
        return Ok(());
    };
    let one = |question: &str| transaction.row(question, &[], |row| row.get::<String>(0));
    let encoding = one("SELECT current_setting('server_encoding')")?;
    if encoding.as_deref() != Some("UTF8") {
        return Err(StoreError::Encoding(encoding.unwrap_or_default()));
    }
    let there = "SELECT to_regclass('probity.version') IS NOT NULL";
    let is_there = transaction.row(there, &[], |row| row.get::<bool>(0))?;
    if is_there != Some(true) {
        let tables = dialect::tables(TABLES);
        session.borrow_mut().batch(&format!(
            "CREATE SCHEMA IF NOT EXISTS probity; {tables}
             CREATE TABLE version (version BIGINT NOT NULL);
             INSERT INTO version (version) VALUES ({VERSION});"
        ))?;
        let id = Id::random()?;
        transaction.execute("INSERT INTO service (id) VALUES (?)", &[&id])?;
    }
    let version = "SELECT version FROM version";
    match transaction.row(version, &[], |row| row.get::<i64>(0))? {
        Some(VERSION) => Ok(()),
        found => Err(StoreError::Version {
            found: found.unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::thread;

    use super::*;
    use crate::store::tests::Server;

    fn count_up(database: &Postgres, from: impl Fn(&Transaction<'_>) -> Result<i64, StoreError>) {
        let counted = database.write(|transaction| {
            let next = from(transaction)? + 1;
            transaction.execute("UPDATE instances SET beats = ?", &[&next])
        });
        assert_eq!(counted.unwrap(), 1);
    }

    fn beats(connection: &Connection<'_>) -> Result<i64, StoreError> {
        let number = connection.row("SELECT beats FROM instances", &[], |row| row.get(0))?;
        Ok(number.unwrap())
    }

    #[test]
    fn one_transaction_goes_on_at_a_time() {
        let Some(server) = Server::start_or_skip() else {
            return;
        };
        let options = server.options();
        let all = [(); 3].map(|()| Postgres::connect(&options).unwrap());
        server.ask("INSERT INTO instances (id, beats) VALUES ('one', 0)");
        thread::scope(|scope| {
            for database in &all {
                scope.spawn(|| (0..40).for_each(|_| count_up(database, |now| beats(now))));
            }
        });
        assert_eq!(all[0].read(beats).unwrap(), 120);
    }

    #[test]
    fn what_the_server_undoes_begins_anew() {
        let Some(mut server) = Server::start_or_skip() else {
            return;
        };
        let database = Postgres::connect(&server.options()).unwrap();
        server.ask("INSERT INTO instances (id, beats) VALUES ('one', 0)");
        let tries = Cell::new(0);
        let raise = |times: usize, code: &str| {
            tries.set(0);
            let wrong = format!("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$");
            database.write(|transaction| {
                tries.set(tries.get() + 1);
                transaction.execute("UPDATE instances SET beats = beats + 1", &[])?;
                if tries.get() <= times {
                    transaction.execute(&wrong, &[])?;
                }
                Ok(())
            })
        };
        assert!(raise(2, "40001").is_ok());
        assert_eq!((tries.get(), database.read(beats).unwrap()), (3, 1));
        assert!(raise(99, "40P01").is_err());
        assert_eq!(tries.get(), TRIES);
        assert!(raise(99, "53100").unwrap_err().is_full());
        assert!(matches!(raise(1, "22012"), Err(StoreError::Postgres(_))));
        assert_eq!((tries.get(), database.read(beats).unwrap()), (1, 1));

        // A connection that the server ends is made anew, for changes and for questions.
        let own = "SELECT pg_backend_pid()::bigint";
        let process = |changes: bool| {
            let asked = match changes {
                true => database.write(|now| now.row(own, &[], |row| row.get::<i64>(0))),
                false => database.read(|now| now.row(own, &[], |row| row.get::<i64>(0))),
            };
            asked.unwrap().unwrap()
        };
        for changes in [true, false] {
            let first = process(changes);
            server.ask(&format!("SELECT pg_terminate_backend({first}, 60000)"));
            assert_ne!(process(changes), first);
        }
        assert!(raise(0, "").is_ok());
        assert_eq!(database.read(beats).unwrap(), 2);

        server.stop();
        assert!(database.read(beats).unwrap_err().is_away());
        assert!(raise(0, "").unwrap_err().is_away());
        server.start();
        thread::sleep(AFTER_FAILURE);
        assert_eq!(database.read(beats).unwrap(), 2);
    }
}
