//! Models: uploaded, trained or repaired.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Change, Scope};
use super::job::unfinished;
use super::lists::Which;
use super::log::{Action, note};
use super::{
    Contents, InJson, Job, Record, Removal, Row, Store, StoreError, Transaction, find, params, put,
    remove,
};
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::moment::Moment;

/// The kind of the inputs that a model classifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Rows of a table.
    Table,
    /// Texts.
    Texts,
}

/// The origin of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelOrigin {
    /// A user uploaded the model.
    Uploaded,
    /// The job with the same identifier trained the model.
    Trained,
    /// The job with the same identifier repaired the model.
    Repaired,
}

/// A description of a model, read from its directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelDescription {
    /// The kind of the inputs that the model classifies.
    pub kind: ModelKind,
    /// The classes of the model.
    pub classes: Vec<String>,
    /// The attributes of the model; none for texts.
    pub attributes: Vec<String>,
    /// The attributes that the model's schema marks as protected.
    pub protected: Vec<String>,
    /// The number of parameters that the model learnt.
    pub parameters: u64,
    /// The SHA-256 of everything that the model computes with.
    pub sha256: String,
    /// Whether the model's directory says how it was trained.
    pub is_training_known: bool,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Model {
    /// The identifier of the model, which is also that of the job that made it, if one did.
    pub id: Id,
    /// The token that the model was made or uploaded with.
    pub owner: Id,
    /// The name that the user gave the model.
    pub label: String,
    /// The origin of the model.
    pub origin: ModelOrigin,
    /// The moment at which the model was made or uploaded.
    pub created: Moment,
    /// The description from the model's directory.
    #[serde(flatten)]
    pub description: ModelDescription,
    /// The data set that the model was trained on, where that is one of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Id>,
}

impl Record for Model {
    const NAME: &'static str = "model";
    const TABLE: &'static str = "models";
    const COLUMNS: &'static str = "id, owner, label, origin, created, description, data";
    const ALSO: Option<&'static str> = Some(Job::TABLE);
    const RENAMED: Action = Action::ModelRenamed;
    type Which = Which;

    fn id(&self) -> &Id {
        &self.id
    }

    fn owner(&self) -> &Id {
        &self.owner
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn contents(&self) -> Contents {
        match self.origin {
            ModelOrigin::Uploaded => Contents {
                models: vec![self.id.clone()],
                ..Contents::default()
            },
            ModelOrigin::Trained | ModelOrigin::Repaired => Contents::of_job(&self.id),
        }
    }

    fn from_row(row: &Row<'_>) -> Result<Model, StoreError> {
        Ok(Model {
            id: row.get(0)?,
            owner: row.get(1)?,
            label: row.get(2)?,
            origin: row.get::<InJson<_>>(3)?.0,
            created: row.get(4)?,
            description: row.get::<InJson<_>>(5)?.0,
            data: row.get(6)?,
        })
    }
}

fn put_model(
    transaction: &Transaction<'_>,
    scope: &Scope,
    model: &Model,
) -> Result<(), StoreError> {
    let values = params![
        model.id,
        model.owner,
        model.label,
        InJson(model.origin),
        model.created,
        InJson(&model.description),
        model.data
    ];
    put::<Model>(transaction, scope, values)
}

impl Store {
    /// Adds a model that a user uploaded.
    pub(crate) fn add_model(&self, change: &Change, model: &Model) -> Result<(), StoreError> {
        self.write(|transaction| {
            put_model(transaction, change, model)?;
            let (project, subject) = (Some(change.project()), Some(&model.id));
            note(
                transaction,
                change.by(),
                project,
                Action::ModelUploaded,
                subject,
            )
        })
    }

    /// Adds the model that a job made, or replaces it. The model gets the present name of the job.
    pub(crate) fn put_made_model(
        &self,
        _: Itself,
        scope: &Scope,
        model: &Model,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut model = model.clone();
            if let Some(job) = find::<Job>(transaction, scope, &model.id)? {
                model.label = job.label;
            }
            put_model(transaction, scope, &model)
        })
    }

    /// Deletes an uploaded model that no unfinished job reads.
    pub(crate) fn remove_model(&self, change: &Change, id: &Id) -> Result<Removal, StoreError> {
        let removal = self.write(|transaction| {
            let jobs = unfinished(transaction, Some(change.project()))?;
            let needed = jobs
                .iter()
                .find(|job| job.specification.model() == Some(id));
            if let Some(job) = needed {
                return Ok(Removal::Needed(job.id.clone()));
            }
            if !remove::<Model>(transaction, change, id)? {
                return Ok(Removal::Missing);
            }
            let (project, action) = (Some(change.project()), Action::ModelDeleted);
            note(transaction, change.by(), project, action, Some(id))?;
            Ok(Removal::Done)
        })?;
        self.forget_deleted()?;
        Ok(removal)
    }
}
