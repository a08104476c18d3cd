//! Identifiers that the service makes itself: sixteen lower-case hexadecimal characters.
//!
//! Identifiers are the only names that ever become part of a path. The names that users give to
//! their things are labels in the database.

use std::fmt;
use std::str::FromStr;

use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

use probity_run::run_directory::hex;

/// The number of characters of an identifier.
const LENGTH: usize = 16;

/// The error that the operating system gives no random bits.
#[derive(Debug, Error)]
#[error("the operating system gives no random bits: {0}")]
pub struct NoRandomness(String);

/// The error that a text is no identifier.
#[derive(Debug, Error)]
#[error("an identifier is sixteen characters of 0-9 and a-f")]
pub struct NotAnIdentifier;

/// Returns `N` random bytes of the operating system.
///
/// # Errors
/// When the operating system has none to give.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| NoRandomness(error.to_string()))?;
    Ok(bytes)
}

/// The identifier of a token, a data set, a model or a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, pattern = "^[0-9a-f]{16}$", example = "4f1d0c9b7e6a5832")]
pub struct Id(String);

impl Id {
    /// Makes a new identifier from 64 random bits.
    ///
    /// # Errors
    /// When the operating system has no random bits to give.
    pub fn random() -> Result<Id, NoRandomness> {
        Ok(Id(hex(&random_bytes::<{ LENGTH / 2 }>()?)))
    }

    /// The characters of the identifier; safe in a path, in HTML and in a log.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Id {
    type Err = NotAnIdentifier;

    fn from_str(text: &str) -> Result<Id, NotAnIdentifier> {
        let is_one = text.len() == LENGTH
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_one.then(|| Id(text.to_owned())).ok_or(NotAnIdentifier)
    }
}

impl TryFrom<String> for Id {
    type Error = NotAnIdentifier;

    fn try_from(text: String) -> Result<Id, NotAnIdentifier> {
        text.parse()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> String {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_service_makes_is_an_identifier() {
        let id = Id::random().unwrap();
        assert_eq!(id.as_str().parse::<Id>().unwrap(), id);
        assert_ne!(id, Id::random().unwrap());
        for other in [
            "",
            "../../etc/passwd",
            "4F1D0C9B7E6A5832",
            "4f1d0c9b7e6a583",
            "4f1d0c9b7e6a58321",
            "4f1d0c9b7e6a583/",
            "4f1d0c9b7e6a583\0",
        ] {
            assert!(other.parse::<Id>().is_err(), "{other}");
        }
    }
}
