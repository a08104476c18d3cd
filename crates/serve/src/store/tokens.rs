//! Tokens: who may use the service.
//!
//! A token reads `probity_ID_SECRET`. The row is found by the identifier, which is no secret; the
//! secret, 256 random bits in hexadecimal, is stored as its SHA-256 and compared in constant time.
//! A fast hash is enough for a secret of full entropy.
//!
//! The access of a person who logs in by the identity provider is a token, too: one whose secret
//! nobody knows. So it is listed, it is revoked and it ends as other tokens do; `people` says whose
//! it is.

use std::collections::HashSet;

use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

use super::access::{Administer, By, Caller, Manage, Role};
use super::held::{VALID, held};
use super::log::{Action, note};
use super::people::{self, Person};
use super::projects::project;
use super::{InJson, Parameter, Row, Store, StoreError, Transaction, params};
use crate::identifier::{Id, random_bytes};
use crate::moment::Moment;
use probity_run::run_directory::hex;

/// The beginning of every token.
const PREFIX: &str = "probity_";

/// The holder of a token: who can use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Everybody who has the text of the token, which has this name.
    Bearer(String),
    /// A person who logs in by the identity provider. The token has their name.
    Person(Person),
}

/// A request for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The holder: who can use the token.
    pub holder: Holder,
    /// The role: what the token lets its holder do.
    pub role: Role,
    /// The moment until which the token is valid; none: until it is revoked.
    pub expires: Option<Moment>,
}

/// A token in a list; its secret is known to its owner only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TokenRecord {
    /// The identifier of the token.
    pub id: Id,
    /// The name of the token.
    pub label: String,
    /// The person who can use the token by logging in with the identity provider; none: everybody
    /// who has its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// The project of the token; none for an administrator or a worker.
    pub project: Option<Id>,
    /// The role: what the token lets its holder do.
    pub role: Role,
    /// The moment at which the token was made.
    pub created: Moment,
    /// The moment until which the token is valid; none: until it is revoked.
    pub expires: Option<Moment>,
    /// The moment at which the token was revoked, if it was.
    pub revoked: Option<Moment>,
}

impl TokenRecord {
    fn from_row(row: &Row<'_>) -> Result<TokenRecord, StoreError> {
        Ok(TokenRecord {
            id: row.get(0)?,
            label: row.get(1)?,
            person: row.get(2)?,
            project: row.get(3)?,
            role: row.get::<InJson<_>>(4)?.0,
            created: row.get(5)?,
            expires: row.get(6)?,
            revoked: row.get(7)?,
        })
    }

    /// Whether the token is valid.
    pub fn is_valid(&self) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| expires > Moment::now())
    }
}

/// A token that was just made.
#[derive(Debug, Clone)]
pub struct MadeToken {
    /// The token as lists show it.
    pub record: TokenRecord,
    /// The text of the token, which is stored nowhere; none for the access of a person.
    pub text: Option<String>,
}

/// Makes a token, and the SHA-256 of its secret.
fn made(new: &NewToken, project: Option<&Id>) -> Result<(MadeToken, [u8; 32]), StoreError> {
    let id = Id::random()?;
    let secret = hex(&random_bytes::<32>()?);
    let (label, person, text) = match &new.holder {
        Holder::Bearer(label) => {
            let text = format!("{PREFIX}{id}_{secret}");
            (label.clone(), None, Some(text))
        }
        Holder::Person(person) => (person.to_string(), Some(person.clone()), None),
    };
    let record = TokenRecord {
        id,
        label,
        person,
        project: project.cloned(),
        role: new.role,
        created: Moment::now(),
        expires: new.expires,
        revoked: None,
    };
    Ok((MadeToken { record, text }, sha256(&secret)))
}

fn add(
    transaction: &Transaction<'_>,
    by: &By,
    record: &TokenRecord,
    sha256: &[u8; 32],
) -> Result<(), StoreError> {
    transaction.execute(
        "INSERT INTO tokens (id, label, project, role, secret_sha256, created, expires)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![
            record.id,
            record.label,
            record.project,
            InJson(record.role),
            sha256,
            record.created,
            record.expires
        ],
    )?;
    if let Some(person) = &record.person {
        people::give(transaction, &record.id, person)?;
    }
    let project = record.project.as_ref();
    note(
        transaction,
        by,
        project,
        Action::TokenMade,
        Some(&record.id),
    )
}

/// Revokes a token for which `condition` holds beside its identifier, and ends its sessions.
fn revoke(
    transaction: &Transaction<'_>,
    by: &By,
    id: &Id,
    project: Option<&Id>,
) -> Result<bool, StoreError> {
    let now = Moment::now();
    let changed = transaction.execute(
        &format!(
            "UPDATE tokens SET revoked = ?1 WHERE id = ?2 AND (?3 IS NULL OR project = ?3) AND {}",
            VALID.replace('?', "?1")
        ),
        params![now, id, project],
    )?;
    if changed == 0 {
        return Ok(false);
    }
    transaction.execute("DELETE FROM sessions WHERE token = ?", params![id])?;
    let of: Option<Option<Id>> = transaction.row(
        "SELECT project FROM tokens WHERE id = ?",
        params![id],
        |row| row.get(0),
    )?;
    let of = of.flatten();
    note(transaction, by, of.as_ref(), Action::TokenRevoked, Some(id))?;
    Ok(true)
}

impl Store {
    /// Makes a token of the managed project; none if the project no longer exists.
    ///
    /// # Errors
    /// When the database fails, or there are no random bits.
    pub fn create_token(
        &self,
        manage: &Manage,
        new: &NewToken,
    ) -> Result<Option<MadeToken>, StoreError> {
        let (token, sha256) = made(new, Some(manage.project()))?;
        self.write(|transaction| {
            if project(transaction, manage.project())?.is_none() {
                return Ok(None);
            }
            add(transaction, manage.by(), &token.record, &sha256)?;
            Ok(Some(token.clone()))
        })
    }

    /// Makes the token of an administrator or a worker, who are in no project.
    ///
    /// # Errors
    /// When the database fails, the role is one in a project, or there are no random bits.
    pub fn create_token_of_all(
        &self,
        administer: &Administer,
        new: &NewToken,
    ) -> Result<MadeToken, StoreError> {
        let (token, sha256) = made(new, None)?;
        self.write(|transaction| {
            add(transaction, administer.by(), &token.record, &sha256)?;
            Ok(token.clone())
        })
    }

    /// Returns all tokens, the oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tokens(&self, _: &Administer) -> Result<Vec<TokenRecord>, StoreError> {
        self.tokens_where("TRUE", &[])
    }

    /// Returns the tokens of the managed project, the oldest first.
    pub(crate) fn tokens_of(&self, manage: &Manage) -> Result<Vec<TokenRecord>, StoreError> {
        self.tokens_where("project = ?", params![manage.project()])
    }

    fn tokens_where(
        &self,
        condition: &str,
        values: &[&dyn Parameter],
    ) -> Result<Vec<TokenRecord>, StoreError> {
        let statement = format!(
            "SELECT id, label, person, project, role, created, expires, revoked
             FROM tokens LEFT JOIN people ON people.token = id
             WHERE {condition} ORDER BY created, tokens.rowid"
        );
        self.read(|connection| connection.rows(&statement, values, TokenRecord::from_row))
    }

    /// Returns the tokens that are no longer valid.
    pub(crate) fn invalid_tokens(&self) -> Result<HashSet<Id>, StoreError> {
        let statement = format!("SELECT id FROM tokens WHERE NOT ({VALID})");
        let values = params![Moment::now()];
        let rows: Vec<Id> =
            self.read(|connection| connection.rows(&statement, values, |row| row.get(0)))?;
        Ok(rows.into_iter().collect())
    }

    /// Whether there is a valid token.
    pub(crate) fn has_tokens(&self) -> Result<bool, StoreError> {
        let statement = format!("SELECT EXISTS (SELECT 1 FROM tokens WHERE {VALID})");
        let values = params![Moment::now()];
        let has = self.read(|connection| connection.row(&statement, values, |row| row.get(0)))?;
        Ok(has.unwrap_or_default())
    }

    /// Revokes any token and ends its sessions; false when there is none with this identifier that
    /// is valid.
    ///
    /// # Errors
    /// When the database fails.
    pub fn revoke_any_token(&self, administer: &Administer, id: &Id) -> Result<bool, StoreError> {
        self.write(|transaction| revoke(transaction, administer.by(), id, None))
    }

    /// Revokes a token of the managed project and ends its sessions; false when it has none with
    /// this identifier that is valid.
    pub(crate) fn revoke_token(&self, manage: &Manage, id: &Id) -> Result<bool, StoreError> {
        let project = Some(manage.project());
        self.write(|transaction| revoke(transaction, manage.by(), id, project))
    }

    /// Returns the holder of a token, if `text` is a valid one.
    pub(crate) fn authenticate(&self, text: &str) -> Result<Option<Caller>, StoreError> {
        let Some((id, secret)) = parts(text) else {
            return Ok(None);
        };
        let statement = format!(
            "SELECT tokens.id, tokens.label, role, projects.id, projects.name, secret_sha256
             FROM tokens LEFT JOIN projects ON projects.id = project
             WHERE tokens.id = ? AND {VALID}"
        );
        let values = params![id, Moment::now()];
        let found = self.read(|connection| {
            connection.row(&statement, values, |row| {
                Ok((held(row)?, row.get::<[u8; 32]>(5)?))
            })
        })?;
        Ok(found
            .filter(|(_, stored)| bool::from(stored.ct_eq(&sha256(secret))))
            .map(|(held, _)| held.into()))
    }
}

/// Splits the token `text` into its identifier and its secret.
fn parts(text: &str) -> Option<(Id, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    Some((id.parse().ok()?, secret))
}

/// The SHA-256 of a secret.
pub(super) fn sha256(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
