//! Lets requests in: so many at a time and a second, so many of one token, so many streams of events.
//!
//! A request that finds all places taken waits a moment for one, and is then sent away with 503. One that finds all places
//! of its own token taken is sent away with 429 at once, so that no user takes the places of the others. Requests are also
//! bounded in their rate, so that answering a flood of them leaves the processors to the jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::identifier::Id;
use super::limits::Limits;
use super::problem::{Problem, ProblemKind};

/// How long a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);

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
    /// Fails when none became free in time, or too many came in the last second.
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
    /// Fails when all of its places are taken, or too many came in the last second.
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
