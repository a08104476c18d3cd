//! Extractors: the parts of requests that handlers take. Where one is wrong the answer is a problem
//! document.

use std::ops::Deref;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum_extra::headers::authorization::{Authorization, Bearer};
use axum_extra::headers::{ContentType, HeaderMapExt};
use mime::Mime;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use tokio_stream::StreamExt;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use crate::identifier::Id;
use crate::operations::projects::manage;
use crate::problem::{Problem, ProblemKind};
use crate::sender::Sender;
use crate::service::{LISTED, Service};
use crate::stall::Pace;
use crate::store::{Caller, Manage, Permission, Record, Scope, Which};

/// The greatest number of bytes of a JSON body.
const BODY: usize = 1 << 20;

/// How much of a body that is refused is read on, as a multiple of the limit.
const LINGER: usize = 4;

/// The token in the `Authorization` header of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<String> {
    let header = headers.typed_get::<Authorization<Bearer>>();
    header.map(|header| header.token().to_owned())
}

/// An extractor of a request by a caller with a valid token whose role allows it: the role must
/// allow to see what is in the project, unless the handler asks for more.
pub(super) struct Access<P = Scope> {
    /// The service that the request is sent to.
    pub service: Service,
    /// The holder of the token.
    pub caller: Caller,
    /// The permission that the role gives.
    pub may: P,
}

impl<P: Permission> FromRequestParts<Service> for Access<P> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Service,
    ) -> Result<Access<P>, Problem> {
        let refused = |detail: &str| Problem::new(ProblemKind::NotAuthenticated, detail);
        if token(&parts.headers).is_none() {
            return Err(refused(
                "Send a token as 'Authorization: Bearer TOKEN'; `probity serve token` makes one.",
            ));
        }
        let sender = parts.extensions.get::<Sender>();
        let caller = sender
            .and_then(|sender| sender.caller.clone())
            .ok_or_else(|| refused("The token is not known, is over, or was revoked."))?;
        Ok(Access {
            service: service.clone(),
            may: P::grant(&caller)?,
            caller,
        })
    }
}

/// An extractor of a request, as [`Access`], about the thing with the identifier in the path.
pub(super) struct One<P = Scope> {
    access: Access<P>,
    /// The identifier of the thing.
    pub id: Id,
}

impl<P> Deref for One<P> {
    type Target = Access<P>;

    fn deref(&self) -> &Access<P> {
        &self.access
    }
}

impl<P: Permission> FromRequestParts<Service> for One<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<One<P>, Problem> {
        let access = Access::from_request_parts(parts, service).await?;
        let path = Path::<String>::from_request_parts(parts, service).await;
        let id = path.ok().and_then(|Path(text)| text.parse().ok());
        let id = id.ok_or_else(no_identifier)?;
        Ok(One { access, id })
    }
}

impl<P> IntoParams for One<P> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![identifier("id", "Its identifier")]
    }
}

/// An extractor of a request, as [`Access`], about a part of a thing, whose identifier comes second
/// in the path.
pub(super) struct Inner<P> {
    access: Access<P>,
    /// The identifier of the thing.
    pub id: Id,
    /// The identifier of the part.
    pub part: Id,
}

impl<P> Deref for Inner<P> {
    type Target = Access<P>;

    fn deref(&self) -> &Access<P> {
        &self.access
    }
}

impl<P: Permission> FromRequestParts<Service> for Inner<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Inner<P>, Problem> {
        let access = Access::from_request_parts(parts, service).await?;
        let path = Path::<(String, String)>::from_request_parts(parts, service).await;
        let ids = path.ok().and_then(|Path((id, part))| {
            let ids: (Id, Id) = (id.parse().ok()?, part.parse().ok()?);
            Some(ids)
        });
        let (id, part) = ids.ok_or_else(no_identifier)?;
        Ok(Inner { access, id, part })
    }
}

impl<P> IntoParams for Inner<P> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            identifier("id", "Its identifier"),
            identifier("part", "The identifier of its part"),
        ]
    }
}

/// An extractor of a request by a caller who may manage the project in the path.
pub(super) struct Managed(pub Service, pub Manage);

impl FromRequestParts<Service> for Managed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Managed, Problem> {
        let one = One::<Caller>::from_request_parts(parts, service).await?;
        let manage = manage(service, &one.may, &one.id).await?;
        Ok(Managed(service.clone(), manage))
    }
}

fn identifier(name: &str, description: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(Id::schema()))
        .build()
}

/// An answer that says that something was made, and shows it.
pub(super) struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// An extractor of the values in the query.
pub(super) struct QueryParams<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Service> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Service,
    ) -> Result<QueryParams<T>, Problem> {
        match Query::<T>::from_request_parts(parts, service).await {
            Ok(Query(value)) => Ok(QueryParams(value)),
            Err(rejection) => Err(Problem::new(ProblemKind::Malformed, rejection.body_text())),
        }
    }
}

/// The query of a list: which things are listed, and which part of the list is asked for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Part {
    /// The greatest number of things; left out: 100
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// The identifier of the last thing of the part before: the list goes on after it
    before: Option<String>,
    /// A part of the things' names; letters of English may be large or small
    #[serde(default)]
    name: String,
    /// The name of the token that the things came with
    #[serde(default)]
    by: String,
}

impl Part {
    /// Lists the part of all things of a kind that the query asks for, the newest first.
    pub async fn list<T: Record<Which = Which>>(self, access: &Access) -> Result<Vec<T>, Problem> {
        let (name, by) = (self.name, self.by);
        let which = Which { name, by };
        part(access, which, self.before, self.limit).await
    }
}

/// Lists the part that comes after the thing `before`, of those things of a kind that `which`
/// selects.
pub(super) async fn part<T: Record>(
    access: &Access,
    which: T::Which,
    before: Option<String>,
    limit: Option<u32>,
) -> Result<Vec<T>, Problem> {
    let limit = limit.unwrap_or(LISTED);
    if !(1..=LISTED).contains(&limit) {
        return Err(Problem::invalid(format!(
            "'limit' is from 1 to {LISTED}; ask for the rest with 'before'."
        )));
    }
    let before = before.map(|before| before.parse().map_err(|_| no_identifier()));
    let (service, scope) = (&access.service, &access.may);
    service.list(scope, which, before.transpose()?, limit).await
}

fn no_identifier() -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        "An identifier is sixteen characters of 0-9 and a-f; this is none.",
    )
}

/// An extractor of a JSON body.
pub(super) struct Sent<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Service> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Service) -> Result<Sent<T>, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(
                ProblemKind::UnsupportedType,
                "Send JSON, with 'Content-Type: application/json'.",
            ));
        }
        let pace = Pace::new(service.limits.idle_time);
        let bytes = whole(request.into_body(), pace).await?;
        serde_json::from_slice(&bytes).map(Sent).map_err(|error| {
            let kind = match error.classify() {
                Category::Data => ProblemKind::Invalid,
                _ => ProblemKind::Malformed,
            };
            Problem::new(kind, format!("The body is not as expected: {error}."))
        })
    }
}

/// Reads all of `body`. One that is too large is read on for a while, so that its sender hears why
/// it is refused.
async fn whole(body: Body, mut pace: Pace) -> Result<Vec<u8>, Problem> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut received = 0;
    while let Some(piece) = pace.next(pieces.next()).await? {
        let piece =
            piece.map_err(|_| Problem::new(ProblemKind::Malformed, "The body was cut off."))?;
        pace.came(piece.len());
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
