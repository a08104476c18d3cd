//! The record of what a run was done with: the hashes of what was opened, and the device.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use probity_run::run_directory::hex;
use probity_run::specification::Specification;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The record of a run on `device` that opened inputs with these hashes.
pub fn record_of(device: &ComputeDevice, sha256: &BTreeMap<String, String>) -> Record {
    Record {
        device: Some(device.name().to_string()),
        hardware: Some(device.description()),
        sha256: sha256.clone(),
        ..Record::new()
    }
}

/// The identity that a checkpoint must have: the specification but for its free fields, and the
/// hashes of what was opened.
pub(crate) fn identity<S: Specification>(specification: &S, record: &Record) -> String {
    let mut hasher = Sha256::new();
    hasher.update(specification.identity());
    for (role, hash) in &record.sha256 {
        hasher.update(format!("{role}={hash};"));
    }
    hex(&hasher.finalize())
}
