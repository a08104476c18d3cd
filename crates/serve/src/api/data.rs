//! `/api/v1/data`

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use utoipa::ToSchema;

use super::extract::{Access, Created, One, Part, QueryParams, Sent};
use crate::operations::data as operations;
use crate::operations::data::NewDataSet;
use crate::operations::form::Form;
use crate::operations::names::{self, NameRequest};
use crate::operations::schema::{DraftRequest, TableSchema};
use crate::problem::{Problem, ProblemDocument};
use crate::store::{Change, DataKind, DataSet};

/// The form that uploads data.
#[derive(ToSchema)]
#[allow(dead_code)] // It is read field by field as it arrives; this is what it looks like.
pub(super) struct DataForm {
    /// The file: CSV or TSV (also .gz, .xz), Parquet, or texts a line each (.txt, also .gz, .xz).
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The kind of the file's content.
    kind: DataKind,
    /// The name of the data set: at most a hundred characters; left out: that of the file.
    label: Option<String>,
    /// The form of the file, as the ending of a name; left out: by the name of the file.
    #[schema(example = "csv")]
    form: Option<String>,
    /// Field separator of a table: one character, `comma`, `semicolon`, `tab` or `space`; left out:
    /// a tab for TSV, else a comma.
    separator: Option<String>,
    /// Column names of a table by position, separated by commas, where its first line does not name
    /// them.
    columns: Option<String>,
}

/// The data sets, a hundred at a time.
#[utoipa::path(
    get, path = "/api/v1/data", tag = "data", params(Part),
    responses((status = 200, description = "The data sets, the newest first", body = Vec<DataSet>), ProblemDocument)
)]
pub(super) async fn list(
    access: Access,
    QueryParams(part): QueryParams<Part>,
) -> Result<Json<Vec<DataSet>>, Problem> {
    Ok(Json(part.list(&access).await?))
}

/// Upload a table or texts.
#[utoipa::path(
    post, path = "/api/v1/data", tag = "data",
    request_body(content = DataForm, content_type = "multipart/form-data"),
    responses((status = 201, description = "The data set", body = DataSet), ProblemDocument)
)]
pub(super) async fn upload(
    access: Access<Change>,
    request: Request,
) -> Result<Created<DataSet>, Problem> {
    let mut form = Form::receive(&access.service, &access.may, request).await?;
    let file = form.take_file()?;
    let new = NewDataSet::of_form(&form)?;
    let data = operations::upload_data(&access.service, &access.may, new, file).await?;
    Ok(Created(data))
}

/// One data set.
#[utoipa::path(
    get, path = "/api/v1/data/{id}", tag = "data", params(One),
    responses((status = 200, description = "The data set", body = DataSet), ProblemDocument)
)]
pub(super) async fn get(one: One) -> Result<Json<DataSet>, Problem> {
    Ok(Json(one.service.find(&one.may, &one.id).await?))
}

/// Give a data set another name.
#[utoipa::path(
    patch, path = "/api/v1/data/{id}", tag = "data", params(One), request_body = NameRequest,
    responses((status = 200, description = "The data set", body = DataSet), ProblemDocument)
)]
pub(super) async fn rename(
    one: One<Change>,
    Sent(request): Sent<NameRequest>,
) -> Result<Json<DataSet>, Problem> {
    names::rename::<DataSet>(&one.service, &one.may, &one.id, &request.label).await?;
    Ok(Json(one.service.find(&one.may, &one.id).await?))
}

/// Delete a data set that no unfinished job reads.
#[utoipa::path(
    delete, path = "/api/v1/data/{id}", tag = "data", params(One),
    responses((status = 204, description = "It is gone"), ProblemDocument)
)]
pub(super) async fn delete(one: One<Change>) -> Result<StatusCode, Problem> {
    operations::delete_data(&one.service, &one.may, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The schema of a table.
#[utoipa::path(
    get, path = "/api/v1/data/{id}/schema", tag = "data", params(One),
    responses((status = 200, description = "The schema", body = TableSchema), ProblemDocument)
)]
pub(super) async fn schema(one: One) -> Result<Json<TableSchema>, Problem> {
    Ok(Json(
        operations::schema(&one.service, &one.may, &one.id).await?,
    ))
}

/// Replace the schema of a table; the whole file is read by it first.
#[utoipa::path(
    put, path = "/api/v1/data/{id}/schema", tag = "data", params(One), request_body = TableSchema,
    responses((status = 200, description = "The schema as it is kept", body = TableSchema), ProblemDocument)
)]
pub(super) async fn replace_schema(
    one: One<Change>,
    Sent(schema): Sent<TableSchema>,
) -> Result<Json<TableSchema>, Problem> {
    let kept = operations::replace_schema(&one.service, &one.may, &one.id, schema).await?;
    Ok(Json(kept))
}

/// Draft the schema of a table from its file, and keep the draft.
#[utoipa::path(
    post, path = "/api/v1/data/{id}/schema/draft", tag = "data", params(One), request_body = DraftRequest,
    responses((status = 200, description = "The draft", body = TableSchema), ProblemDocument)
)]
pub(super) async fn draft_schema(
    one: One<Change>,
    Sent(request): Sent<DraftRequest>,
) -> Result<Json<TableSchema>, Problem> {
    let draft = operations::draft_schema(&one.service, &one.may, &one.id, request).await?;
    Ok(Json(draft))
}
