//! What a run was done with: the hashes of what was opened, and the device.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::audit_error::AuditError;
use probity_run::run_directory::hex;
use probity_run::specification::Specification;
use probity_run::specification::file::{Changed, Record};
use probity_tensor::device::ComputeDevice;

/// The record of a run on `device` that opened what has these hashes.
pub(crate) fn record_of(device: &ComputeDevice, sha256: &BTreeMap<String, String>) -> Record {
    Record {
        device: Some(device.name().to_string()),
        hardware: Some(device.hardware()),
        sha256: sha256.clone(),
        ..Record::new()
    }
}

/// What a checkpoint must belong to: the specification but for its free fields, and what was
/// opened.
pub(crate) fn identity<S: Specification>(specification: &S, record: &Record) -> String {
    let mut hasher = Sha256::new();
    hasher.update(specification.identity());
    for (role, hash) in &record.sha256 {
        hasher.update(format!("{role}={hash};"));
    }
    hex(&hasher.finalize())
}

/// Refuses what was opened `now` if it is not what the run with the record `then` began with;
/// `name` says what was opened as a role.
pub(crate) fn expect_unchanged(
    then: &Record,
    now: &BTreeMap<String, String>,
    name: &dyn Fn(&str) -> String,
) -> Result<(), AuditError> {
    match then.changed_since(now) {
        None => Ok(()),
        Some(Changed { role, now, then }) => Err(AuditError::Changed {
            what: name(role),
            now: now.to_owned(),
            then: then.to_owned(),
        }),
    }
}
