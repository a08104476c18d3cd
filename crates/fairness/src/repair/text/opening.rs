//! Opening a repair of texts: the protected attributes, and the training that made the model.

use std::path::PathBuf;

use super::found::open_audit;
use crate::audit::AuditError;
use crate::domain::DomainError;
use crate::repair::error::RepairError;
use crate::repair::run::PROVENANCE_ROLE;
use crate::repair::specification::RepairSpecification;
use probity_data::source::Hashed;
use probity_nn::provenance::Provenance;
use probity_nn::train::TrainSpecification;
use probity_nn::train::run::Trainable;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The attributes that `specification` names, or those of its audits.
pub(super) fn protected_of(
    specification: &RepairSpecification,
) -> Result<Vec<String>, RepairError> {
    let mut protected = specification.protected.clone();
    for run in &specification.runs {
        for name in open_audit(run)?.1.protected {
            if !protected.contains(&name) {
                protected.push(name);
            }
        }
    }
    if protected.is_empty() {
        return Err(AuditError::from(DomainError::NothingProtected).into());
    }
    Ok(protected)
}

/// The file that the training of `specification` opened as `role`.
fn file_of(specification: &TrainSpecification, role: &str) -> PathBuf {
    let transformer = specification.transformer.clone().unwrap_or_default();
    match (role, &specification.transformer) {
        ("encoder", _) => transformer.encoder.unwrap_or_default(),
        (_, Some(_)) => transformer.word_vectors,
        (_, None) => specification.text_options().network.embeddings,
    }
}

/// The specification of the training of the model of that hash, and its texts, which must be those
/// of `specification`.
pub(super) fn open_training<S: Trainable>(
    specification: &RepairSpecification,
    model_sha256: &str,
    device: &ComputeDevice,
    record: &mut Record,
) -> Result<(Provenance, S), RepairError> {
    let Some(Hashed {
        value: mut provenance,
        sha256,
    }) = Provenance::read_hashed(&specification.model, model_sha256)?
    else {
        return Err(RepairError::NotTrained {
            model: specification.model.clone(),
        });
    };
    record.sha256.insert(PROVENANCE_ROLE.to_owned(), sha256);
    let trained_on = provenance.specification.data.clone();
    provenance
        .specification
        .data
        .clone_from(&specification.data);
    let mut opened = Record::new();
    let set = S::open(&provenance.specification, device, &mut opened)?;
    for (role, now) in opened.sha256 {
        let then = provenance.sha256.get(&role).cloned().unwrap_or_default();
        if role == "data" && now != then {
            return Err(RepairError::OtherData {
                data: specification.data.clone(),
                trained_on,
                given: now,
                trained: then,
            });
        }
        if now != then {
            let file = file_of(&provenance.specification, &role);
            return Err(RepairError::OtherFile { file, now, then });
        }
        record.sha256.insert(role, now);
    }
    Ok((provenance, set))
}
