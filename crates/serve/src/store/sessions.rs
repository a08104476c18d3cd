//! Sessions of the pages: a cookie's secret stands for a token, for a while.
//!
//! The secret is stored as its SHA-256 only, which is also the key that it is looked up by:
//! somebody who can tell how far a lookup got learns about a hash, not about a secret.

use std::time::Duration;

use subtle::ConstantTimeEq;

use super::access::{By, Caller};
use super::held::{VALID, held};
use super::log::{Action, note};
use super::tokens::sha256;
use super::{Store, StoreError, params};
use crate::identifier::random_bytes;
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// How long a session lasts.
pub const SESSION_TIME: Duration = Duration::from_secs(12 * 3600);

/// The key by which a session is looked up: the SHA-256 of its cookie, which lets nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionKey(pub(crate) [u8; 32]);

impl SessionKey {
    /// The key of the session that the cookie's value `cookie` stands for.
    pub fn from_cookie(cookie: &str) -> SessionKey {
        SessionKey(sha256(cookie))
    }
}

/// The secrets of a session that was just opened.
#[derive(Debug, Clone)]
pub struct SessionSecrets {
    /// The cookie's value: 64 hexadecimal characters.
    pub cookie: String,
    /// The secret that every form of the session carries: 64 hexadecimal characters.
    pub form: String,
}

/// A session that is open.
#[derive(Debug, Clone)]
pub struct Session {
    /// The caller that the session belongs to.
    pub caller: Caller,
    /// Whether the session belongs to somebody who logged in by the identity provider.
    pub is_person: bool,
    /// The secret that every form of the session carries.
    form: String,
}

impl Session {
    /// The secret that is written into the session's forms.
    pub fn form_secret(&self) -> &str {
        &self.form
    }

    /// Whether a form that carries `given` belongs to this session; the comparison takes the same
    /// time whatever differs.
    pub fn owns_form(&self, given: &str) -> bool {
        self.form.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl Store {
    /// Opens a session of `caller` in place of the session `before`, and deletes sessions that are
    /// over.
    pub(crate) fn open_session(
        &self,
        caller: &Caller,
        before: Option<SessionKey>,
    ) -> Result<SessionSecrets, StoreError> {
        let secrets = SessionSecrets {
            cookie: hex(&random_bytes::<32>()?),
            form: hex(&random_bytes::<32>()?),
        };
        let now = Moment::now();
        self.write(|transaction| {
            transaction.execute("DELETE FROM sessions WHERE expires <= ?", params![now])?;
            transaction.execute(
                "DELETE FROM sessions WHERE secret_sha256 = ?",
                params![before.map(|key| key.0)],
            )?;
            transaction.execute(
                "INSERT INTO sessions (secret_sha256, token, form_secret, expires)
                 VALUES (?, ?, ?, ?)",
                params![
                    sha256(&secrets.cookie),
                    caller.token(),
                    secrets.form,
                    now.after(SESSION_TIME)
                ],
            )?;
            let project = caller.project().map(|(id, _)| id);
            let (by, token) = (By::caller(caller), Some(caller.token()));
            note(transaction, &by, project, Action::LoggedIn, token)?;
            Ok(secrets.clone())
        })
    }

    /// Returns the open session that the cookie's value `cookie` stands for.
    pub(crate) fn session(&self, cookie: &str) -> Result<Option<Session>, StoreError> {
        let now = Moment::now();
        let statement = format!(
            "SELECT tokens.id, tokens.label, role, projects.id, projects.name, form_secret,
                 EXISTS (SELECT 1 FROM people WHERE people.token = tokens.id)
             FROM sessions JOIN tokens ON tokens.id = sessions.token
             LEFT JOIN projects ON projects.id = project
             WHERE sessions.secret_sha256 = ? AND sessions.expires > ? AND {VALID}"
        );
        let values = params![sha256(cookie), now, now];
        self.read(|connection| {
            connection.row(&statement, values, |row| {
                Ok(Session {
                    caller: held(row)?.into(),
                    form: row.get(5)?,
                    is_person: row.get(6)?,
                })
            })
        })
    }

    /// Ends a session.
    pub(crate) fn close_session(&self, cookie: &str) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute(
                "DELETE FROM sessions WHERE secret_sha256 = ?",
                params![sha256(cookie)],
            )?;
            Ok(())
        })
    }
}
