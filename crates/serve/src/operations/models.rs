//! Models: upload, list, delete. Training and repairing them are jobs ([`super::jobs`]).

use std::fs;

use super::form::ReceivedFile;
use super::inspect::inspect;
use super::removed;
use crate::identifier::Id;
use crate::inspection::Inspection;
use crate::jobs::Itself;
use crate::jobs::specification::JobKind;
use crate::moment::Moment;
use crate::places::{Folder, gone};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, Job, Model, ModelDescription, ModelOrigin, Record, Scope};
use probity_nn::model::DESCRIPTION;

/// Stores a model directory, packed as a .zip file, under the name `label`.
/// Fails when the archive or the model is broken, or larger than allowed.
pub async fn upload_model(
    service: &Service,
    change: &Change,
    label: String,
    file: ReceivedFile,
) -> Result<Model, Problem> {
    let id = Id::random()?;
    let directory = service.places.uploaded_model(&id);
    let made = directory.clone();
    service.blocking(move || Ok(fs::create_dir(made)?)).await?;
    let inspection = Inspection::Unpack {
        archive: file.file.path().to_owned(),
        directory,
        bytes: service.limits.model_bytes,
    };
    let description: ModelDescription = match inspect(service, change.party(), inspection).await {
        Ok(description) => description,
        Err(problem) => {
            remove_directory(service, &id).await?;
            return Err(problem);
        }
    };
    let model = Model {
        id,
        owner: change.owner().clone(),
        label,
        origin: ModelOrigin::Uploaded,
        created: Moment::now(),
        description,
        data: None,
    };
    let folder = Folder::Model(model.id.clone());
    if let Err(problem) = service.publish(&folder).await {
        service.discard(model.contents()).await?;
        return Err(problem);
    }
    let (adding, added) = (change.clone(), model.clone());
    service
        .store(move |store| store.add_model(&adding, &added))
        .await?;
    Ok(model)
}

async fn remove_directory(service: &Service, id: &Id) -> Result<(), Problem> {
    let directory = service.places.uploaded_model(id);
    service
        .blocking(move || Ok(gone(fs::remove_dir_all(directory))?))
        .await
}

/// Adds the model that a finished training or repair left in its run directory to the list of
/// models; a repair that was not saved leaves none.
pub(crate) async fn register_model(
    service: &Service,
    itself: Itself,
    scope: &Scope,
    job: &Job,
) -> Result<(), Problem> {
    let directory = service.places.run(&job.id);
    let file = directory.join(DESCRIPTION);
    let has_model = service.blocking(move || Ok(file.is_file())).await?;
    if job.kind == JobKind::Repair && !has_model {
        return Ok(());
    }
    let description: ModelDescription =
        inspect(service, scope.party(), Inspection::Model { directory }).await?;
    let model = Model {
        id: job.id.clone(),
        owner: job.owner.clone(),
        label: job.label.clone(),
        origin: match job.kind {
            JobKind::Repair => ModelOrigin::Repaired,
            _ => ModelOrigin::Trained,
        },
        created: Moment::now(),
        description,
        data: Some(job.specification.data().clone()),
    };
    let scope = scope.clone();
    service
        .store(move |store| store.put_made_model(itself, &scope, &model))
        .await
}

/// Deletes an uploaded model that no unfinished job reads.
/// Fails when there is no such model, it was made by a job, or a job needs it.
pub async fn delete_model(service: &Service, change: &Change, id: &Id) -> Result<(), Problem> {
    let model: Model = service.find(change, id).await?;
    if model.origin != ModelOrigin::Uploaded {
        return Err(Problem::conflict(
            "A job made this model; delete the job, and the model goes with it.",
        ));
    }
    let (changed, row) = (change.clone(), id.clone());
    let removal = service
        .store(move |store| store.remove_model(&changed, &row))
        .await?;
    removed(removal, Model::NAME)?;
    service.discard(model.contents()).await
}
