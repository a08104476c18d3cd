//! Data sets: upload, schema, list, delete.

use super::schema::{DraftRequest, TableSchema};
use super::upload::ReceivedFile;
use crate::service::Service;
use crate::service::identifier::Id;
use crate::service::problem::Problem;
use crate::service::store::{Caller, DataKind, DataSet, FileForm, Layout};

/// What a user says about a file of data.
#[derive(Debug, Clone)]
pub struct NewDataSet {
    /// What it shall be called; may be empty.
    pub label: String,
    /// What it holds.
    pub kind: DataKind,
    /// Form of the file.
    pub form: FileForm,
    /// How a table is laid out.
    pub layout: Layout,
}

/// Takes a file of data, after looking through all of it.
///
/// # Errors
/// When the file is broken, or larger than allowed.
pub async fn upload_data(
    service: &Service,
    caller: &Caller,
    new: NewDataSet,
    file: ReceivedFile,
) -> Result<DataSet, Problem> {
    todo!()
}

/// All data sets, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn list_data(service: &Service) -> Result<Vec<DataSet>, Problem> {
    service.store(|store| store.data_sets()).await
}

/// One data set.
///
/// # Errors
/// When there is none with this identifier.
pub async fn data_set(service: &Service, id: &Id) -> Result<DataSet, Problem> {
    let id = id.clone();
    service
        .store(move |store| store.data_set(&id))
        .await?
        .ok_or_else(|| Problem::not_found("data set"))
}

/// Drafts the schema of a table from its file, and keeps the draft.
///
/// # Errors
/// When it is no table, or no schema can be inferred.
pub async fn draft_schema(
    service: &Service,
    id: &Id,
    request: DraftRequest,
) -> Result<TableSchema, Problem> {
    todo!()
}

/// The schema of a table.
///
/// # Errors
/// When it has none.
pub async fn schema(service: &Service, id: &Id) -> Result<TableSchema, Problem> {
    todo!()
}

/// Replaces the schema of a table, after reading the whole file by it.
///
/// # Errors
/// When the schema is wrong, or the file does not fit it.
pub async fn replace_schema(
    service: &Service,
    id: &Id,
    schema: TableSchema,
) -> Result<TableSchema, Problem> {
    todo!()
}

/// Deletes a data set that no unfinished job reads.
///
/// # Errors
/// When there is none, or a job needs it.
pub async fn delete_data(service: &Service, id: &Id) -> Result<(), Problem> {
    todo!()
}
