//! Models: uploaded, trained or repaired.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{InJson, Record, Store, StoreError, put};
use crate::identifier::Id;
use crate::moment::Moment;

/// What a model classifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Rows of a table.
    Table,
    /// Texts.
    Texts,
}

/// Where a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelOrigin {
    /// A user uploaded it.
    Uploaded,
    /// The job with the same identifier trained it.
    Trained,
    /// The job with the same identifier repaired it.
    Repaired,
}

/// What the directory of a model says about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelDescription {
    /// What it classifies.
    pub kind: ModelKind,
    /// Its classes.
    pub classes: Vec<String>,
    /// Its attributes; none for texts.
    pub attributes: Vec<String>,
    /// Those of its attributes that its schema marks as protected.
    pub protected: Vec<String>,
    /// Numbers that it learnt.
    pub parameters: u64,
    /// SHA-256 of everything that it computes with.
    pub sha256: String,
    /// Whether its directory says how it was trained.
    pub is_training_known: bool,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Model {
    /// Identifier; that of the job which made it, if one did.
    pub id: Id,
    /// The token that it was made or uploaded with.
    pub owner: Id,
    /// What its user calls it.
    pub label: String,
    /// Where it comes from.
    pub origin: ModelOrigin,
    /// When it was made or uploaded.
    pub created: Moment,
    /// What its directory says.
    #[serde(flatten)]
    pub description: ModelDescription,
    /// The data set that it was trained on, where that is one of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Id>,
}

impl Record for Model {
    const NAME: &'static str = "model";
    const TABLE: &'static str = "models";
    const COLUMNS: &'static str = "id, owner, label, origin, created, description, data";

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Model> {
        Ok(Model {
            id: row.get(0)?,
            owner: row.get(1)?,
            label: row.get(2)?,
            origin: row.get::<_, InJson<_>>(3)?.0,
            created: row.get(4)?,
            description: row.get::<_, InJson<_>>(5)?.0,
            data: row.get(6)?,
        })
    }
}

impl Store {
    /// Adds a model, or replaces the one with its identifier.
    pub(crate) fn put_model(&self, model: &Model) -> Result<(), StoreError> {
        let values = params![
            model.id,
            model.owner,
            model.label,
            InJson(model.origin),
            model.created,
            InJson(&model.description),
            model.data
        ];
        put::<Model>(&self.connection(), values)
    }
}
