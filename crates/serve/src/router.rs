//! The router of the service, and the admission of requests: bounds on addresses and on time, and
//! the places of the [`gate`](super::gate).

use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use super::address::Peer;
use super::answer_body::AnswerBody;
use super::problem::{Problem, ProblemKind};
use super::sender::Sender;
use super::service::Service;
use super::store::Store;
use super::{api, pages};

/// How long a request may take.
const TIME: Duration = Duration::from_secs(5 * 60);
/// How long a request that brings a file may take.
const TIME_WITH_FILE: Duration = Duration::from_secs(30 * 60);

/// The header in which proxies say by which protocol a request came to them.
const PROTOCOL: &str = "x-forwarded-proto";

/// Finds out who sends a request with `headers`.
async fn sender_of(
    service: &Service,
    is_api: bool,
    headers: &HeaderMap,
) -> Result<Sender, Problem> {
    let mut sender = Sender::default();
    if is_api {
        if let Some(token) = api::token(headers) {
            let authenticate = move |store: &Store| store.authenticate(&token);
            sender.caller = service.store(authenticate).await?;
        }
    } else if let Some(secret) = pages::cookie(service, headers) {
        sender.session = service.store(move |store| store.session(&secret)).await?;
    }
    Ok(sender)
}

/// The greatest number of bytes of an address.
const ADDRESS: usize = 2048;

/// Makes the router of everything that the service answers.
pub fn router(service: Service) -> Router {
    let router = api::router()
        .method_not_allowed_fallback(other_method)
        .merge(pages::router())
        .layer(from_fn_with_state(service.clone(), guard));
    pages::secured(router).with_state(service)
}

async fn other_method(method: Method) -> Problem {
    Problem::new(
        ProblemKind::MethodNotAllowed,
        format!("{method} is not possible at this address."),
    )
}

/// Answers `request` once there is a place for it, if its address is not too long.
async fn guard(State(service): State<Service>, request: Request, next: Next) -> Response {
    let is_api = api::owns(request.uri().path());
    let mut sender = Sender::default();
    calm(match pass(&service, request, next, &mut sender).await {
        Ok(response) => response,
        Err(problem) if is_api => problem.into_response(),
        Err(problem) => pages::problem_page(&problem, sender.session.as_ref()),
    })
    .await
}

async fn pass(
    service: &Service,
    mut request: Request,
    next: Next,
    sender: &mut Sender,
) -> Result<Response, Problem> {
    let address = request.uri().path_and_query();
    let length = address.map_or(0, |address| address.as_str().len());
    if length > ADDRESS {
        return Err(Problem::new(
            ProblemKind::AddressTooLong,
            format!("An address has at most {ADDRESS} bytes here; this one has {length}."),
        ));
    }
    if !service.hosts.is_named_by(&request) {
        return Err(Problem::new(
            ProblemKind::WrongHost,
            "The service does not have the name that this request has in 'Host'; those who run it can give it one with --host.",
        ));
    }
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.ok_or_else(|| Problem::internal(&"a request without a peer"))?;
    let client = peer.client(request.headers(), &service.proxies);
    service.gate.count(client)?;
    let is_api = api::owns(request.uri().path());
    *sender = sender_of(service, is_api, request.headers()).await?;
    let is_https = |protocol: &HeaderValue| protocol == "https";
    sender.is_over_tls =
        peer.is_among(&service.proxies) && request.headers().get(PROTOCOL).is_some_and(is_https);
    let caller = sender.caller();
    let brings_body = !request.body().is_end_stream();
    let places = service.gate.enter(client, caller, brings_body).await?;
    let time = match caller {
        Some(_) => time_of(&request),
        None => service.limits.idle_time,
    };
    request.extensions_mut().insert(sender.clone());
    let answer = tokio::time::timeout(time, next.run(request)).await;
    drop(places.shared);
    let answer = answer.map_err(|_| {
        let detail = format!("The request took more than {} seconds.", time.as_secs());
        Problem::new(ProblemKind::TooSlow, detail)
    })?;
    let revoked = caller.map(|caller| service.revoked(caller.token()));
    Ok(answer.map(|body| Body::new(AnswerBody::new(body, places.own, revoked))))
}

/// Delays the refusal of a client that asks too often: each of its connections can then ask once a
/// second, and a flood costs the jobs no processor time.
async fn calm(response: Response) -> Response {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    response
}

/// How long a `request` with a valid token may take until its answer begins: longer where it brings
/// a file.
fn time_of(request: &Request) -> Duration {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let brings_file = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| {
            let kind = kind.to_ascii_lowercase();
            kind.starts_with("multipart/") || kind == mime::APPLICATION_OCTET_STREAM.as_ref()
        });
    match brings_file {
        true => TIME_WITH_FILE,
        false => TIME,
    }
}
