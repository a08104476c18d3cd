//! Models: upload, list, delete. Training and repairing them are jobs ([`super::jobs`]).

use super::upload::ReceivedFile;
use crate::service::Service;
use crate::service::identifier::Id;
use crate::service::problem::Problem;
use crate::service::store::{Caller, Model};

/// Takes a model directory, packed as a .zip file.
///
/// # Errors
/// When the archive or the model is broken, or larger than allowed.
pub async fn upload_model(
    service: &Service,
    caller: &Caller,
    label: &str,
    file: ReceivedFile,
) -> Result<Model, Problem> {
    todo!()
}

/// All models, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn list_models(service: &Service) -> Result<Vec<Model>, Problem> {
    service.store(|store| store.models()).await
}

/// One model.
///
/// # Errors
/// When there is none with this identifier.
pub async fn model(service: &Service, id: &Id) -> Result<Model, Problem> {
    let id = id.clone();
    service
        .store(move |store| store.model(&id))
        .await?
        .ok_or_else(|| Problem::not_found("model"))
}

/// Deletes an uploaded model that no unfinished job reads.
///
/// # Errors
/// When there is none, it was made by a job, or a job needs it.
pub async fn delete_model(service: &Service, id: &Id) -> Result<(), Problem> {
    todo!()
}
