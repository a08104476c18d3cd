//! Tokens: who may use the service.
//!
//! A token reads `probity_ID_SECRET`. The row is found by the identifier, which is no secret; the secret, 256 random bits
//! in hexadecimal, is stored as its SHA-256 and compared in constant time. A fast hash is enough for a secret of full entropy.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Store, StoreError};
use crate::identifier::{Id, random_bytes};
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// How tokens begin.
const PREFIX: &str = "probity_";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Identifier of the token.
    pub token: Id,
    /// What the token is called.
    pub label: String,
}

/// A token in a list; its secret is known to its owner only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRecord {
    /// Identifier.
    pub id: Id,
    /// What it is called.
    pub label: String,
    /// When it was made.
    pub created: Moment,
    /// When it was revoked, if it was.
    pub revoked: Option<Moment>,
}

impl Store {
    /// Makes a token and gives its text, which is stored nowhere.
    ///
    /// # Errors
    /// When the database fails, or there are no random bits.
    pub fn create_token(&self, label: &str) -> Result<String, StoreError> {
        let id = Id::random()?;
        let secret = hex(&random_bytes::<32>()?);
        self.connection().execute(
            "INSERT INTO tokens (id, label, secret_sha256, created) VALUES (?, ?, ?, ?)",
            params![id, label, sha256(&secret), Moment::now()],
        )?;
        Ok(format!("{PREFIX}{id}_{secret}"))
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare("SELECT id, label, created, revoked FROM tokens ORDER BY created, rowid")?;
        let rows = statement.query_map([], |row| {
            Ok(TokenRecord {
                id: row.get(0)?,
                label: row.get(1)?,
                created: row.get(2)?,
                revoked: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Revokes a token and ends its sessions; false when there is none with this identifier that is valid.
    ///
    /// # Errors
    /// When the database fails.
    pub fn revoke_token(&self, id: &Id) -> Result<bool, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        let changed = transaction.execute(
            "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL",
            params![Moment::now(), id],
        )?;
        transaction.execute("DELETE FROM sessions WHERE token = ?", params![id])?;
        transaction.commit()?;
        Ok(changed == 1)
    }

    /// The owner of a token, if `text` is one that is valid.
    pub(crate) fn authenticate(&self, text: &str) -> Result<Option<Caller>, StoreError> {
        let Some((id, secret)) = parts(text) else {
            return Ok(None);
        };
        let found: Option<(String, [u8; 32])> = self
            .connection()
            .prepare("SELECT label, secret_sha256 FROM tokens WHERE id = ? AND revoked IS NULL")?
            .query_row(params![id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found
            .filter(|(_, stored)| bool::from(stored.ct_eq(&sha256(secret))))
            .map(|(label, _)| Caller { token: id, label }))
    }
}

/// Identifier and secret of the token `text`.
fn parts(text: &str) -> Option<(Id, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    Some((id.parse().ok()?, secret))
}

/// The SHA-256 of a secret.
pub(super) fn sha256(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
