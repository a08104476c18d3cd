//! `/api/v1/models`

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa::ToSchema;

use super::extract::{Access, Identifier};
use crate::Service;
use crate::identifier::Id;
use crate::operations::form::Form;
use crate::operations::models as operations;
use crate::problem::{Problem, ProblemDocument};
use crate::store::Model;

/// The form that uploads a model.
#[derive(ToSchema)]
#[allow(dead_code)] // It is read field by field as it arrives; this is what it looks like.
pub(super) struct ModelForm {
    /// A model directory, as `probity train` or `probity import` writes it, packed as .zip.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// What it shall be called.
    label: Option<String>,
}

/// All models.
#[utoipa::path(
    get,
    path = "/api/v1/models",
    tag = "models",
    responses(
        (status = 200, description = "The models, the newest first", body = Vec<Model>),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn list(
    State(service): State<Service>,
    _: Access,
) -> Result<Json<Vec<Model>>, Problem> {
    Ok(Json(operations::list_models(&service).await?))
}

/// Upload a model.
#[utoipa::path(
    post,
    path = "/api/v1/models",
    tag = "models",
    request_body(content = ModelForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The model", body = Model),
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
    let model =
        operations::upload_model(&service, &access.caller, form.text("label"), file).await?;
    Ok((StatusCode::CREATED, Json(model)).into_response())
}

/// One model.
#[utoipa::path(
    get,
    path = "/api/v1/models/{id}",
    tag = "models",
    params(("id" = Id, Path, description = "The model")),
    responses(
        (status = 200, description = "The model", body = Model),
        (status = "4XX", description = "A problem", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(super) async fn get(
    State(service): State<Service>,
    _: Access,
    Identifier(id): Identifier,
) -> Result<Json<Model>, Problem> {
    Ok(Json(operations::model(&service, &id).await?))
}

/// Delete an uploaded model that no unfinished job reads.
#[utoipa::path(
    delete,
    path = "/api/v1/models/{id}",
    tag = "models",
    params(("id" = Id, Path, description = "The model")),
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
    operations::delete_model(&service, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
