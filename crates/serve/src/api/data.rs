//! `/api/v1/data`

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa::ToSchema;

use super::extract::{Access, Identifier, Sent};
use crate::Service;
use crate::identifier::Id;
use crate::operations::data as operations;
use crate::operations::data::NewDataSet;
use crate::operations::form::Form;
use crate::operations::schema::{DraftRequest, TableSchema};
use crate::problem::{Problem, ProblemDocument};
use crate::store::{DataKind, DataSet};

/// The form that uploads data.
#[derive(ToSchema)]
#[allow(dead_code)] // It is read field by field as it arrives; this is what it looks like.
pub(super) struct DataForm {
    /// The file: CSV or TSV (also .gz, .xz), Parquet, or texts a line each (.txt, also .gz, .xz).
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// What it holds.
    kind: DataKind,
    /// What it shall be called.
    label: Option<String>,
    /// The form of the file, as the ending of a name; left out: by the name of the file.
    #[schema(example = "csv")]
    form: Option<String>,
    /// Field separator of a table: one character, `tab` or `space`; left out: a comma.
    separator: Option<String>,
    /// Column names of a table by position, separated by commas, where its first line does not name them.
    columns: Option<String>,
}

/// All data sets.
#[utoipa::path(
    get,
    path = "/api/v1/data",
    tag = "data",
    responses(
        (status = 200, description = "The data sets, the newest first", body = Vec<DataSet>),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn list(
    State(service): State<Service>,
    _: Access,
) -> Result<Json<Vec<DataSet>>, Problem> {
    Ok(Json(operations::list_data(&service).await?))
}

/// Upload a table or texts.
#[utoipa::path(
    post,
    path = "/api/v1/data",
    tag = "data",
    request_body(content = DataForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The data set", body = DataSet),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 507, description = "Nothing more can be stored", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn upload(
    State(service): State<Service>,
    access: Access,
    request: Request,
) -> Result<Response, Problem> {
    let mut form = Form::receive(&service, request).await?;
    let file = form.take_file()?;
    let data = operations::upload_data(&service, &access.caller, NewDataSet::of_form(&form)?, file)
        .await?;
    Ok((StatusCode::CREATED, Json(data)).into_response())
}

/// One data set.
#[utoipa::path(
    get,
    path = "/api/v1/data/{id}",
    tag = "data",
    params(("id" = Id, Path, description = "The data set")),
    responses(
        (status = 200, description = "The data set", body = DataSet),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn get(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<DataSet>, Problem> {
    Ok(Json(operations::data_set(&service, &id).await?))
}

/// Delete a data set that no unfinished job reads.
#[utoipa::path(
    delete,
    path = "/api/v1/data/{id}",
    tag = "data",
    params(("id" = Id, Path, description = "The data set")),
    responses(
        (status = 204, description = "It is gone"),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn delete(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<StatusCode, Problem> {
    operations::delete_data(&service, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The schema of a table.
#[utoipa::path(
    get,
    path = "/api/v1/data/{id}/schema",
    tag = "data",
    params(("id" = Id, Path, description = "The data set")),
    responses(
        (status = 200, description = "The schema", body = TableSchema),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn schema(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<TableSchema>, Problem> {
    Ok(Json(operations::schema(&service, &id).await?))
}

/// Replace the schema of a table; the whole file is read by it first.
#[utoipa::path(
    put,
    path = "/api/v1/data/{id}/schema",
    tag = "data",
    params(("id" = Id, Path, description = "The data set")),
    request_body = TableSchema,
    responses(
        (status = 200, description = "The schema as it is kept", body = TableSchema),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn replace_schema(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
    Sent(schema): Sent<TableSchema>,
) -> Result<Json<TableSchema>, Problem> {
    Ok(Json(
        operations::replace_schema(&service, &id, schema).await?,
    ))
}

/// Draft the schema of a table from its file, and keep the draft.
#[utoipa::path(
    post,
    path = "/api/v1/data/{id}/schema/draft",
    tag = "data",
    params(("id" = Id, Path, description = "The data set")),
    request_body = DraftRequest,
    responses(
        (status = 200, description = "The draft", body = TableSchema),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn draft_schema(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
    Sent(request): Sent<DraftRequest>,
) -> Result<Json<TableSchema>, Problem> {
    Ok(Json(
        operations::draft_schema(&service, &id, request).await?,
    ))
}
