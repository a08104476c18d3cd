//! `/api/v1/models`

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use utoipa::ToSchema;

use super::extract::{Access, Created, One, Part, QueryParams, Sent};
use crate::operations::form::Form;
use crate::operations::models as operations;
use crate::operations::names::{self, NameRequest, name_of_upload};
use crate::problem::{Problem, ProblemDocument};
use crate::store::{Change, Model};

/// The form that uploads a model.
#[derive(ToSchema)]
#[allow(dead_code)] // It is read field by field as it arrives; this is what it looks like.
pub(super) struct ModelForm {
    /// A model directory, as `probity train` or `probity import` writes it, packed as .zip.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The name of the model: at most a hundred characters; left out: that of the file.
    label: Option<String>,
}

/// The models, a hundred at a time.
#[utoipa::path(
    get, path = "/api/v1/models", tag = "models", params(Part),
    responses((status = 200, description = "The models, the newest first", body = Vec<Model>), ProblemDocument)
)]
pub(super) async fn list(
    access: Access,
    QueryParams(part): QueryParams<Part>,
) -> Result<Json<Vec<Model>>, Problem> {
    Ok(Json(part.list(&access).await?))
}

/// Upload a model.
#[utoipa::path(
    post, path = "/api/v1/models", tag = "models",
    request_body(content = ModelForm, content_type = "multipart/form-data"),
    responses((status = 201, description = "The model", body = Model), ProblemDocument)
)]
pub(super) async fn upload(
    access: Access<Change>,
    request: Request,
) -> Result<Created<Model>, Problem> {
    let mut form = Form::receive(&access.service, &access.may, request).await?;
    let file = form.take_file()?;
    let label = name_of_upload(form.text("label"), &form.file_name)?;
    let model = operations::upload_model(&access.service, &access.may, label, file).await?;
    Ok(Created(model))
}

/// One model.
#[utoipa::path(
    get, path = "/api/v1/models/{id}", tag = "models", params(One),
    responses((status = 200, description = "The model", body = Model), ProblemDocument)
)]
pub(super) async fn get(one: One) -> Result<Json<Model>, Problem> {
    Ok(Json(one.service.find(&one.may, &one.id).await?))
}

/// Give a model, and the job that made it, another name.
#[utoipa::path(
    patch, path = "/api/v1/models/{id}", tag = "models", params(One), request_body = NameRequest,
    responses((status = 200, description = "The model", body = Model), ProblemDocument)
)]
pub(super) async fn rename(
    one: One<Change>,
    Sent(request): Sent<NameRequest>,
) -> Result<Json<Model>, Problem> {
    names::rename::<Model>(&one.service, &one.may, &one.id, &request.label).await?;
    Ok(Json(one.service.find(&one.may, &one.id).await?))
}

/// Delete an uploaded model that no unfinished job reads.
#[utoipa::path(
    delete, path = "/api/v1/models/{id}", tag = "models", params(One),
    responses((status = 204, description = "It is gone"), ProblemDocument)
)]
pub(super) async fn delete(one: One<Change>) -> Result<StatusCode, Problem> {
    operations::delete_model(&one.service, &one.may, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
