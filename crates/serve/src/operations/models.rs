//! Models: upload, list, delete. Training and repairing them are jobs ([`super::jobs`]).

use std::fs;
use std::io;

use super::inspect::inspect;
use super::jobs::refuse_if_needed;
use super::texts::label;
use super::upload::ReceivedFile;
use crate::Service;
use crate::identifier::Id;
use crate::inspection::Inspection;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::store::{Caller, Job, JobKind, Model, ModelDescription, ModelOrigin};

/// Takes a model directory, packed as a .zip file.
///
/// # Errors
/// When the archive or the model is broken, or larger than allowed.
pub async fn upload_model(
    service: &Service,
    caller: &Caller,
    name: &str,
    file: ReceivedFile,
) -> Result<Model, Problem> {
    let label = label(name, "Model")?;
    let id = Id::random().map_err(|error| Problem::internal(&error))?;
    let directory = service.places().uploaded_model(&id);
    let made = directory.clone();
    service
        .blocking(move || fs::create_dir(made).map_err(|error| Problem::internal(&error)))
        .await?;
    let inspection = Inspection::Unpack {
        archive: file.file.path().to_owned(),
        directory,
        bytes: service.limits().model_bytes,
    };
    let description: ModelDescription = match inspect(service, inspection).await {
        Ok(description) => description,
        Err(problem) => {
            remove_directory(service, &id).await?;
            return Err(problem);
        }
    };
    let model = Model {
        id,
        owner: caller.token.clone(),
        label,
        origin: ModelOrigin::Uploaded,
        created: Moment::now(),
        description,
        data: None,
    };
    let added = model.clone();
    service.store(move |store| store.put_model(&added)).await?;
    Ok(model)
}

async fn remove_directory(service: &Service, id: &Id) -> Result<(), Problem> {
    let directory = service.places().uploaded_model(id);
    service
        .blocking(move || match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Problem::internal(&error)),
            _ => Ok(()),
        })
        .await
}

/// Lists the model that a finished training or repair left in its run directory.
pub(crate) async fn register_model(service: &Service, job: &Job) -> Result<(), Problem> {
    let directory = service.places().run(&job.id);
    let description: ModelDescription = inspect(service, Inspection::Model { directory }).await?;
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
    service.store(move |store| store.put_model(&model)).await
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
    if model(service, id).await?.origin != ModelOrigin::Uploaded {
        return Err(Problem::conflict(
            "A job made this model; delete the job, and the model goes with it.",
        ));
    }
    let wanted = id.clone();
    refuse_if_needed(service, move |job| job.model() == Some(&wanted)).await?;
    let row = id.clone();
    service.store(move |store| store.remove_model(&row)).await?;
    remove_directory(service, id).await
}
