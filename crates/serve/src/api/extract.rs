//! What handlers take from requests; whatever is wrong with it is a problem document.

use std::ops::Deref;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum_extra::headers::authorization::{Authorization, Bearer};
use axum_extra::headers::{ContentType, HeaderMapExt};
use mime::Mime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::StreamExt;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use crate::identifier::Id;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::Caller;

/// Bytes of a JSON body.
const BODY: usize = 1 << 20;

/// How much of a body that is refused is read, in times of the limit.
const LINGER: usize = 4;

/// How long a JSON body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request of somebody with a valid token, and its place among the requests of that token.
pub(super) struct Access {
    /// What is asked.
    pub service: Service,
    /// Who asks.
    pub caller: Caller,
    _place: OwnedSemaphorePermit,
}

impl FromRequestParts<Service> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Access, Problem> {
        let refused = |detail: &str| Problem::new(ProblemKind::NotAuthenticated, detail);
        let header = parts.headers.typed_get::<Authorization<Bearer>>();
        let token = header
            .ok_or_else(|| {
                refused("Send a token as 'Authorization: Bearer TOKEN'; `probity serve token` makes one.")
            })?
            .token()
            .to_owned();
        let caller = service
            .store(move |store| store.authenticate(&token))
            .await?
            .ok_or_else(|| refused("The token is not known, or was revoked."))?;
        let place = service.gate.enter_as(&caller.token)?;
        Ok(Access {
            service: service.clone(),
            caller,
            _place: place,
        })
    }
}

/// Such a request about one thing: that with the identifier in the path.
pub(super) struct One {
    access: Access,
    /// The identifier.
    pub id: Id,
}

impl Deref for One {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

impl FromRequestParts<Service> for One {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<One, Problem> {
        let access = Access::from_request_parts(parts, service).await?;
        let path = Path::<String>::from_request_parts(parts, service).await;
        let id = path.ok().and_then(|Path(text)| text.parse().ok());
        let id = id.ok_or_else(|| {
            Problem::new(
                ProblemKind::NotFound,
                "An identifier is sixteen characters of 0-9 and a-f; this is none.",
            )
        })?;
        Ok(One { access, id })
    }
}

impl IntoParams for One {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let parameter = ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("Its identifier"))
            .schema(Some(Id::schema()));
        vec![parameter.build()]
    }
}

/// Says that something was made, and shows it.
pub(super) struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// The values in the query.
pub(super) struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Service> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Asked<T>, Problem> {
        match Query::<T>::from_request_parts(parts, service).await {
            Ok(Query(value)) => Ok(Asked(value)),
            Err(rejection) => Err(Problem::new(ProblemKind::Malformed, rejection.body_text())),
        }
    }
}

/// A body of JSON.
pub(super) struct Sent<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Service> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Service) -> Result<Sent<T>, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(
                ProblemKind::UnsupportedType,
                "Send JSON, with 'Content-Type: application/json'.",
            ));
        }
        let bytes = tokio::time::timeout(PATIENCE, whole(request.into_body()))
            .await
            .map_err(|_| {
                Problem::new(ProblemKind::TooSlow, "The body did not arrive in time.")
            })??;
        serde_json::from_slice(&bytes).map(Sent).map_err(|error| {
            let kind = match error.classify() {
                Category::Data => ProblemKind::Invalid,
                _ => ProblemKind::Malformed,
            };
            Problem::new(kind, format!("The body is not as expected: {error}."))
        })
    }
}

/// All of `body`. One that is too large is read on for a while, so that its sender hears why it is refused.
async fn whole(body: Body) -> Result<Vec<u8>, Problem> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut received = 0;
    while let Some(piece) = pieces.next().await {
        let piece =
            piece.map_err(|_| Problem::new(ProblemKind::Malformed, "The body was cut off."))?;
        received += piece.len();
        if received <= BODY {
            bytes.extend_from_slice(&piece);
        } else if received > LINGER * BODY {
            break;
        }
    }
    if received > BODY {
        return Err(Problem::new(
            ProblemKind::TooLarge,
            format!("A body of JSON has at most {BODY} bytes here."),
        ));
    }
    Ok(bytes)
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .typed_get::<ContentType>()
        .map(Mime::from)
        .is_some_and(|media| media.essence_str() == mime::APPLICATION_JSON)
}
