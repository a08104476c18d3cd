//! Lets requests in: so many at a time, so many of one token, so many streams of events.
//!
//! A request that finds all places taken waits a moment for one, and is then sent away with 503. One that finds all places
//! of its own token taken is sent away with 429 at once, so that no user takes the places of the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::identifier::Id;
use super::limits::Limits;
use super::problem::{Problem, ProblemKind};
use super::{Service, api, pages};

/// How long a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of an address.
const ADDRESS: usize = 2048;

/// The places for requests.
pub struct Gate {
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    of_tokens: Mutex<HashMap<Id, Arc<Semaphore>>>,
    per_token: usize,
}

impl Gate {
    /// A gate with the places that `limits` allow.
    pub fn new(limits: &Limits) -> Gate {
        Gate {
            requests: Arc::new(Semaphore::new(limits.requests)),
            streams: Arc::new(Semaphore::new(limits.streams)),
            of_tokens: Mutex::default(),
            per_token: limits.requests_per_token,
        }
    }

    /// A place for a request; given back when dropped.
    ///
    /// # Errors
    /// When none became free in time.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        match tokio::time::timeout(PATIENCE, self.requests.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Problem::new(
                ProblemKind::Busy,
                "There are too many requests at present; try again in a moment.",
            )),
        }
    }

    /// A place for a request with the token `token`.
    ///
    /// # Errors
    /// When all of its places are taken.
    pub fn enter_as(&self, token: &Id) -> Result<OwnedSemaphorePermit, Problem> {
        let places = {
            let mut tokens = self
                .of_tokens
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.per_token));
            tokens.entry(token.clone()).or_insert_with(new).clone()
        };
        places.try_acquire_owned().map_err(|_| {
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
    match service.gate().enter().await {
        Ok(_place) => next.run(request).await,
        Err(problem) => refuse(is_api, problem),
    }
}

/// A problem as a document for the API, or as a page.
pub(super) fn refuse(is_api: bool, problem: Problem) -> Response {
    match is_api {
        true => problem.into_response(),
        false => pages::problem_page(&problem),
    }
}
