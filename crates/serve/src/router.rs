//! Everything that the service answers, and the way in: a bound on addresses, on time, and the places of the [`gate`](super::gate).

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use super::problem::{Problem, ProblemKind};
use super::service::Service;
use super::{api, pages};

/// How long a request may take.
const TIME: Duration = Duration::from_secs(5 * 60);
/// How long one may take that brings a file.
const TIME_WITH_FILE: Duration = Duration::from_secs(30 * 60);
/// How long one may take that logs in.
const TIME_TO_LOG_IN: Duration = Duration::from_secs(20);

/// Bytes of an address.
const ADDRESS: usize = 2048;

/// Everything that the service answers.
pub fn router(service: Service) -> Router {
    let router = api::router()
        .method_not_allowed_fallback(other_method)
        .merge(pages::router(&service))
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
    calm(match pass(&service, request, next).await {
        Ok(response) => response,
        Err(problem) if is_api => problem.into_response(),
        Err(problem) => pages::problem_page(&problem),
    })
    .await
}

async fn pass(service: &Service, request: Request, next: Next) -> Result<Response, Problem> {
    let address = request.uri().path_and_query();
    let length = address.map_or(0, |address| address.as_str().len());
    if length > ADDRESS {
        return Err(Problem::new(
            ProblemKind::AddressTooLong,
            format!("An address has at most {ADDRESS} bytes here; this one has {length}."),
        ));
    }
    let time = time_of(&request);
    let place = service.gate.enter().await?;
    let answer = tokio::time::timeout(time, next.run(request)).await;
    drop(place);
    answer.map_err(|_| {
        let detail = format!("The request took more than {} seconds.", time.as_secs());
        Problem::new(ProblemKind::TooSlow, detail)
    })
}

/// Lets whoever asks too often wait for the answer that says so: each of their connections can then ask once a second, and a
/// flood costs the jobs no processor time.
async fn calm(response: Response) -> Response {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    response
}

/// How long `request` may take until its answer begins: longer where it brings a file, shorter where nobody knows yet who
/// sends it.
fn time_of(request: &Request) -> Duration {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let brings_file = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/"));
    match (request.uri().path(), brings_file) {
        (pages::LOGIN, _) => TIME_TO_LOG_IN,
        (_, true) => TIME_WITH_FILE,
        (_, false) => TIME,
    }
}
