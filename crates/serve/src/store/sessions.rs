//! Sessions of the pages: a cookie's secret stands for a token, for a while.
//!
//! The secret is stored as its SHA-256 only, which is also the key that it is looked up by: who can tell how far a lookup
//! got learns about a hash, not about a secret.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use subtle::ConstantTimeEq;

use super::tokens::sha256;
use super::{Caller, Store, StoreError};
use crate::identifier::random_bytes;
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// How long a session lasts.
pub const SESSION_TIME: Duration = Duration::from_secs(12 * 3600);

/// The secrets of a session that was just opened.
#[derive(Debug, Clone)]
pub struct SessionSecrets {
    /// The cookie's value: 64 hexadecimal characters.
    pub cookie: String,
    /// What every form of the session carries: 64 hexadecimal characters.
    pub form: String,
}

/// A session that is open.
#[derive(Debug, Clone)]
pub struct Session {
    /// Whose it is.
    pub caller: Caller,
    /// What every form of the session carries.
    form: String,
}

impl Session {
    /// What forms carry, to be written into them.
    pub fn form_secret(&self) -> &str {
        &self.form
    }

    /// Whether a form that carries `given` is one of this session; takes the same time whatever differs.
    pub fn owns_form(&self, given: &str) -> bool {
        self.form.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl Store {
    /// Opens a session of `caller`, and forgets those that are over.
    pub(crate) fn open_session(&self, caller: &Caller) -> Result<SessionSecrets, StoreError> {
        let secrets = SessionSecrets {
            cookie: hex(&random_bytes::<32>()?),
            form: hex(&random_bytes::<32>()?),
        };
        let now = Moment::now();
        let connection = self.connection();
        connection.execute("DELETE FROM sessions WHERE expires <= ?", params![now])?;
        connection.execute(
            "INSERT INTO sessions (secret_sha256, token, form_secret, expires) VALUES (?, ?, ?, ?)",
            params![
                sha256(&secrets.cookie),
                caller.token,
                secrets.form,
                now.after(SESSION_TIME)
            ],
        )?;
        Ok(secrets)
    }

    /// The open session that the cookie's value `cookie` stands for.
    pub(crate) fn session(&self, cookie: &str) -> Result<Option<Session>, StoreError> {
        let session = self
            .connection()
            .prepare(
                "SELECT sessions.token, tokens.label, sessions.form_secret
                 FROM sessions JOIN tokens ON tokens.id = sessions.token
                 WHERE sessions.secret_sha256 = ? AND sessions.expires > ? AND tokens.revoked IS NULL",
            )?
            .query_row(params![sha256(cookie), Moment::now()], |row| {
                Ok(Session {
                    caller: Caller {
                        token: row.get(0)?,
                        label: row.get(1)?,
                    },
                    form: row.get(2)?,
                })
            })
            .optional()?;
        Ok(session)
    }

    /// Ends a session.
    pub(crate) fn close_session(&self, cookie: &str) -> Result<(), StoreError> {
        self.connection().execute(
            "DELETE FROM sessions WHERE secret_sha256 = ?",
            params![sha256(cookie)],
        )?;
        Ok(())
    }
}
