//! Queries for valid tokens, as their holders use them.

use super::access::Held;
use super::{InJson, Row, StoreError};
use crate::identifier::Id;

/// The SQL condition that a token `tokens.…` is valid at the moment `?`.
pub(super) const VALID: &str =
    "tokens.revoked IS NULL AND (tokens.expires IS NULL OR tokens.expires > ?)";

/// Reads the token in a row that begins with its identifier, label and role, and with the
/// identifier and the name of its project.
pub(super) fn held(row: &Row<'_>) -> Result<Held, StoreError> {
    let project: Option<Id> = row.get(3)?;
    Ok(Held {
        token: row.get(0)?,
        label: row.get(1)?,
        role: row.get::<InJson<_>>(2)?.0,
        project: match project {
            Some(id) => Some((id, row.get(4)?)),
            None => None,
        },
    })
}
