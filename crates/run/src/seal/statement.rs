//! The statement of a seal: an in-toto Statement v1 with a predicate of Probity's own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The type of the predicate.
pub const PREDICATE_TYPE: &str = "urn:probity:sealed-run:v1";

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Statement {
    #[serde(rename = "_type")]
    statement_type: String,
    pub subject: Vec<Subject>,
    predicate_type: String,
    pub predicate: Predicate,
}

/// A file of the run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subject {
    name: String,
    digest: Digest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Digest {
    sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Predicate {
    pub run: SealedRun,
    /// The version of Probity that sealed the run.
    pub probity_version: String,
    pub sealed: String,
    /// The SHA-256 of what the run opened, by its role.
    pub opened: BTreeMap<String, String>,
    /// The SHA-256 of the model that the run made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    pub made_from: Vec<MadeFrom>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SealedRun {
    pub kind: String,
    /// The version of Probity that began the run.
    pub probity_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
}

/// A run that a run was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeFrom {
    /// The role in which the run was opened: `model`, `audit_1`.
    pub role: String,
    /// The directory of the run, when the seal was made.
    pub directory: PathBuf,
    /// The SHA-256 of the run's seal; absent where it was not sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl Statement {
    pub fn new(files: BTreeMap<String, String>, predicate: Predicate) -> Statement {
        let subject = files.into_iter().map(|(name, sha256)| Subject {
            name,
            digest: Digest { sha256 },
        });
        Statement {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: subject.collect(),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate,
        }
    }

    /// Reads the statement in `payload`, or returns what is wrong with it.
    pub fn from_payload(payload: &[u8]) -> Result<Statement, String> {
        let statement: Statement = serde_json::from_slice(payload).map_err(|error| {
            format!("does not state what this version of probity knows: {error}")
        })?;
        let types = (&*statement.statement_type, &*statement.predicate_type);
        if types != (STATEMENT_TYPE, PREDICATE_TYPE) {
            return Err(format!(
                "is a statement of the type {} about {}, not {STATEMENT_TYPE} about {PREDICATE_TYPE}",
                types.0, types.1
            ));
        }
        Ok(statement)
    }

    /// Returns the hash of each file, by its name.
    pub fn files(&self) -> BTreeMap<&str, &str> {
        let files = self.subject.iter();
        files
            .map(|file| (&*file.name, &*file.digest.sha256))
            .collect()
    }
}
