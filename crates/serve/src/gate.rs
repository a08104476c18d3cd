//! Lets requests in: so many at a time and a second, so many of one token, so many streams of events.
//!
//! A request that finds all places taken waits a moment for one, and is then sent away with 503. One that finds all places
//! of its own token taken is sent away with 429 at once, so that no user takes the places of the others. Requests are also
//! bounded in their rate, so that answering a flood of them leaves the processors to the jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::identifier::Id;
use super::limits::Limits;
use super::problem::{Problem, ProblemKind};
use super::{Service, api, pages};

/// How long a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a request may take.
const TIME: Duration = Duration::from_secs(5 * 60);
/// How long one may take that brings a file.
const TIME_WITH_FILE: Duration = Duration::from_secs(30 * 60);
/// How long one may take that logs in.
const TIME_TO_LOG_IN: Duration = Duration::from_secs(20);

/// Bytes of an address.
const ADDRESS: usize = 2048;

/// The places for requests.
pub struct Gate {
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    allowance: Mutex<Allowance>,
    of_tokens: Mutex<HashMap<Id, OfToken>>,
    per_token: usize,
    rate: u32,
    rate_per_token: u32,
}

/// What one token may take.
struct OfToken {
    places: Arc<Semaphore>,
    allowance: Allowance,
}

/// Requests that may come at present: a number that grows with time, up to twice the rate of a second.
struct Allowance {
    left: f64,
    at: Instant,
}

impl Allowance {
    fn new(rate: u32) -> Allowance {
        Allowance {
            left: 2.0 * f64::from(rate),
            at: Instant::now(),
        }
    }

    /// Takes one request from the allowance of `rate` a second, if one is left.
    fn take(&mut self, rate: u32, now: Instant) -> bool {
        let rate = f64::from(rate);
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * rate;
        self.left = (self.left + grown).min(2.0 * rate);
        self.at = now;
        let is_allowed = self.left >= 1.0;
        if is_allowed {
            self.left -= 1.0;
        }
        is_allowed
    }
}

impl Gate {
    /// A gate with the places that `limits` allow.
    pub fn new(limits: &Limits) -> Gate {
        Gate {
            requests: Arc::new(Semaphore::new(limits.requests)),
            streams: Arc::new(Semaphore::new(limits.streams)),
            allowance: Mutex::new(Allowance::new(limits.rate)),
            of_tokens: Mutex::default(),
            per_token: limits.requests_per_token,
            rate: limits.rate,
            rate_per_token: limits.rate_per_token,
        }
    }

    /// A place for a request; given back when dropped.
    ///
    /// # Errors
    /// When none became free in time, or too many came in the last second.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let is_allowed = self
            .allowance
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(self.rate, Instant::now());
        if !is_allowed {
            return Err(busy());
        }
        match tokio::time::timeout(PATIENCE, self.requests.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(busy()),
        }
    }

    /// A place for a request with the token `token`.
    ///
    /// # Errors
    /// When all of its places are taken, or too many came in the last second.
    pub fn enter_as(&self, token: &Id) -> Result<OwnedSemaphorePermit, Problem> {
        let mut tokens = self
            .of_tokens
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let of_token = tokens.entry(token.clone()).or_insert_with(|| OfToken {
            places: Arc::new(Semaphore::new(self.per_token)),
            allowance: Allowance::new(self.rate_per_token),
        });
        if !of_token.allowance.take(self.rate_per_token, Instant::now()) {
            return Err(Problem::new(
                ProblemKind::TooManyRequests,
                format!(
                    "There may be {} requests a second with one token; wait a moment.",
                    self.rate_per_token
                ),
            ));
        }
        of_token.places.clone().try_acquire_owned().map_err(|_| {
            Problem::new(
                ProblemKind::TooManyRequests,
                format!(
                    "There are {} requests with this token already; wait for their answers.",
                    self.per_token
                ),
            )
        })
    }

    /// A place for a stream of events.
    ///
    /// # Errors
    /// When all are taken.
    pub fn enter_stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            Problem::new(
                ProblemKind::Busy,
                "There are too many streams of events at present; ask for the job itself now and then.",
            )
        })
    }
}

fn busy() -> Problem {
    Problem::new(
        ProblemKind::Busy,
        "There are too many requests at present; try again in a moment.",
    )
}

/// Answers `request` once there is a place for it, if its address is not too long.
pub async fn guard(State(service): State<Service>, request: Request, next: Next) -> Response {
    let is_api = api::owns(request.uri().path());
    let address = request.uri().path_and_query();
    let length = address.map_or(0, |address| address.as_str().len());
    if length > ADDRESS {
        let problem = Problem::new(
            ProblemKind::AddressTooLong,
            format!("An address has at most {ADDRESS} bytes here; this one has {length}."),
        );
        return refuse(is_api, problem);
    }
    let time = time_of(&request);
    let place = match service.gate().enter().await {
        Ok(place) => place,
        Err(problem) => return calm(refuse(is_api, problem)).await,
    };
    let answer = tokio::time::timeout(time, next.run(request)).await;
    drop(place);
    match answer {
        Ok(response) => calm(response).await,
        Err(_) => refuse(
            is_api,
            Problem::new(
                ProblemKind::TooSlow,
                format!("The request took more than {} seconds.", time.as_secs()),
            ),
        ),
    }
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

/// A problem as a document for the API, or as a page.
pub(super) fn refuse(is_api: bool, problem: Problem) -> Response {
    match is_api {
        true => problem.into_response(),
        false => pages::problem_page(&problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_one_token_are_not_those_of_another() {
        let gate = Gate::new(&Limits {
            requests_per_token: 2,
            streams: 1,
            ..Limits::default()
        });
        let [ada, bob] = ["00000000000000aa", "00000000000000bb"].map(|id| id.parse().unwrap());
        let first = gate.enter_as(&ada).unwrap();
        let _second = gate.enter_as(&ada).unwrap();
        let refused = gate.enter_as(&ada).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        assert_eq!(refused.retry_after(), Some(1));
        let _of_bob = gate.enter_as(&bob).unwrap();
        drop(first);
        assert!(gate.enter_as(&ada).is_ok());
        let stream = gate.enter_stream().unwrap();
        assert_eq!(gate.enter_stream().unwrap_err().kind, ProblemKind::Busy);
        drop(stream);
        assert!(gate.enter_stream().is_ok());
    }

    #[test]
    fn an_allowance_grows_with_time() {
        let mut allowance = Allowance::new(10);
        let start = allowance.at;
        let taken = (0..100).filter(|_| allowance.take(10, start)).count();
        assert_eq!(taken, 20);
        let later = start + Duration::from_millis(500);
        let taken = (0..100).filter(|_| allowance.take(10, later)).count();
        assert_eq!(taken, 5);
        let much_later = start + Duration::from_secs(3600);
        let taken = (0..100).filter(|_| allowance.take(10, much_later)).count();
        assert_eq!(taken, 20);
    }
}
