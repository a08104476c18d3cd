//! Admission of requests: bounds on how many are answered at the same time, and how often they
//! come.
//!
//! A request must first get a place within the bounds of its address, its token or its project, and
//! only then one within the bounds that all share, so that nobody can take all shared places.
//! Requests with a valid token are bounded by the token and by its project. Those without one, the
//! strangers, are bounded by their address, and all strangers together have places of their own. A
//! request that finds its own places taken is refused with 429 at once; one that finds the shared
//! places taken waits a moment for one, and is then refused with 503.
//!
//! A request that brings a body takes a place among those for bodies, since its body may take long
//! to arrive. The own place is held until the answer has been sent, the shared one until it begins.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::address::Address;
use super::identifier::Id;
use super::limits::Limits;
use super::problem::{Problem, ProblemKind};
use super::shares::{Allowance, Allowances, Share, Shares};
use super::store::Caller;

/// How long a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);

/// The strangers' part of the shared rate is at most one divided by this number.
const PART_OF_STRANGERS: u32 = 4;

/// The places for connections, requests and streams.
pub struct Gate {
    connections_of_addresses: Shares<Address>,
    rate_of_addresses: Allowances<Address>,
    strangers_of_addresses: Shares<Address>,
    strangers: Arc<Semaphore>,
    rate_of_strangers: Mutex<Allowance>,
    rate_of_tokens: Allowances<Id>,
    requests_of_tokens: Shares<Id>,
    bodies_of_tokens: Shares<Id>,
    streams_of_tokens: Shares<Id>,
    rate_of_projects: Allowances<Id>,
    requests_of_projects: Shares<Id>,
    bodies_of_projects: Shares<Id>,
    streams_of_projects: Shares<Id>,
    requests: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    rate: Mutex<Allowance>,
}

/// A request that was admitted, with the places that it holds.
pub struct Entered {
    /// The places that the request takes among those of its token and project, or of its address;
    /// held until the answer has been sent.
    pub own: OwnPlaces,
    /// The place that the request takes among those shared by all; held until the answer begins.
    pub shared: OwnedSemaphorePermit,
}

/// The places of a token and its project, or of an address, that a request takes.
pub struct OwnPlaces {
    _known: Vec<Share<Id>>,
    _stranger: Option<Share<Address>>,
}

/// The places that a stream of events takes.
pub struct StreamPlaces {
    _own: Vec<Share<Id>>,
    _shared: OwnedSemaphorePermit,
}

impl Gate {
    /// Makes a gate with the places that `limits` allow.
    pub fn new(limits: &Limits) -> Gate {
        let shared = |places| Arc::new(Semaphore::new(places));
        let strangers_rate = (limits.rate / PART_OF_STRANGERS).max(1);
        Gate {
            connections_of_addresses: Shares::new(limits.connections_per_address),
            rate_of_addresses: Allowances::new(limits.rate_per_address),
            strangers_of_addresses: Shares::new(limits.strangers_per_address),
            strangers: shared(limits.strangers),
            rate_of_strangers: Mutex::new(Allowance::new(strangers_rate)),
            rate_of_tokens: Allowances::new(limits.rate_per_token),
            requests_of_tokens: Shares::new(limits.requests_per_token),
            bodies_of_tokens: Shares::new(limits.bodies_per_token),
            streams_of_tokens: Shares::new(limits.streams_per_token),
            rate_of_projects: Allowances::new(limits.rate_per_project),
            requests_of_projects: Shares::new(limits.requests_per_project),
            bodies_of_projects: Shares::new(limits.bodies_per_project),
            streams_of_projects: Shares::new(limits.streams_per_project),
            requests: shared(limits.requests),
            bodies: shared(limits.bodies),
            streams: shared(limits.streams),
            rate: Mutex::new(Allowance::new(limits.rate)),
        }
    }

    /// Takes a place for a connection from `address`, if one is left.
    pub fn connect(&self, address: Address) -> Option<Share<Address>> {
        self.connections_of_addresses.take(&address)
    }

    /// Counts a request from `address`.
    /// Fails when too many came in the last second.
    pub fn count(&self, address: Address) -> Result<(), Problem> {
        let rate = &self.rate_of_addresses;
        match rate.take(&address, Instant::now()) {
            true => Ok(()),
            false => Err(too_often("from one address", rate.rate())),
        }
    }

    /// Takes places for a request from `address`, by the `caller` if it has a valid token. Fails
    /// when its own places are taken, no shared one became free in time, or too many requests came
    /// in the last second.
    pub async fn enter(
        &self,
        address: Address,
        caller: Option<&Caller>,
        brings_body: bool,
    ) -> Result<Entered, Problem> {
        let (own, rate, places) = match caller {
            Some(caller) => {
                let own = self.enter_as(caller, brings_body)?;
                let places = match brings_body {
                    true => &self.bodies,
                    false => &self.requests,
                };
                (own, &self.rate, places)
            }
            None => {
                let own = self.strangers_of_addresses.take(&address).ok_or_else(|| {
                    too_many(
                        "requests without a valid token from this address",
                        self.strangers_of_addresses.most(),
                    )
                })?;
                (
                    OwnPlaces {
                        _known: Vec::new(),
                        _stranger: Some(own),
                    },
                    &self.rate_of_strangers,
                    &self.strangers,
                )
            }
        };
        let is_allowed = rate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(Instant::now());
        if !is_allowed {
            return Err(busy());
        }
        match tokio::time::timeout(PATIENCE, places.clone().acquire_owned()).await {
            Ok(Ok(shared)) => Ok(Entered { own, shared }),
            _ => Err(busy()),
        }
    }

    /// Takes the own places of a request of `caller`.
    /// Fails when all of them are taken, or too many requests came in the last second.
    fn enter_as(&self, caller: &Caller, brings_body: bool) -> Result<OwnPlaces, Problem> {
        let token = caller.token();
        let project = caller.project().map(|(project, _)| project);
        let now = Instant::now();
        let counted = |rate: &Allowances<Id>, of: &Id, whose| match rate.take(of, now) {
            true => Ok(()),
            false => Err(too_often(whose, rate.rate())),
        };
        counted(&self.rate_of_tokens, token, "with one token")?;
        let mut known = vec![own(
            &self.requests_of_tokens,
            token,
            "requests with this token",
        )?];
        if brings_body {
            let what = "requests with a body of this token";
            known.push(own(&self.bodies_of_tokens, token, what)?);
        }
        if let Some(project) = project {
            counted(&self.rate_of_projects, project, "of one project")?;
            let what = "requests of this project";
            known.push(own(&self.requests_of_projects, project, what)?);
            if brings_body {
                let what = "requests with a body of this project";
                known.push(own(&self.bodies_of_projects, project, what)?);
            }
        }
        Ok(OwnPlaces {
            _known: known,
            _stranger: None,
        })
    }

    /// Takes places for a stream of events of `caller`.
    /// Fails when all of its own, those of its project, or all shared ones are taken.
    pub fn enter_stream(&self, caller: &Caller) -> Result<StreamPlaces, Problem> {
        let what = "streams of events with this token";
        let mut taken = vec![own(&self.streams_of_tokens, caller.token(), what)?];
        if let Some((project, _)) = caller.project() {
            let what = "streams of events of this project";
            taken.push(own(&self.streams_of_projects, project, what)?);
        }
        let shared = self.streams.clone().try_acquire_owned().map_err(|_| {
            Problem::new(
                ProblemKind::Busy,
                "There are too many streams of events at present; ask for the job itself now and then.",
            )
        })?;
        Ok(StreamPlaces {
            _own: taken,
            _shared: shared,
        })
    }
}

/// Takes a place from those of `of`; `what` names the places in the refusal.
fn own(places: &Shares<Id>, of: &Id, what: &str) -> Result<Share<Id>, Problem> {
    let taken = places.take(of);
    taken.ok_or_else(|| too_many(what, places.most()))
}

fn too_often(whose: &str, rate: u32) -> Problem {
    Problem::new(
        ProblemKind::TooManyRequests,
        format!("There may be {rate} requests a second {whose}; wait a moment."),
    )
}

fn too_many(what: &str, most: usize) -> Problem {
    Problem::new(
        ProblemKind::TooManyRequests,
        format!("There are {most} {what} already; wait for their answers."),
    )
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
    use crate::store::Role;
    use std::net::IpAddr;

    fn enter(
        gate: &Gate,
        address: u8,
        caller: Option<&Caller>,
        brings_body: bool,
    ) -> Result<Entered, Problem> {
        let address = Address::from(IpAddr::from([127, 0, 0, address]));
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().build().unwrap();
        runtime.block_on(gate.enter(address, caller, brings_body))
    }

    fn caller(token: u8, project: u8) -> Caller {
        let id = |number: u8| format!("{number:016x}").parse().unwrap();
        Caller::new(id(token), Role::Editor, Some(id(project)))
    }

    fn tokens() -> [Caller; 2] {
        [caller(1, 1), caller(2, 1)]
    }

    #[test]
    fn the_places_of_one_token_are_not_those_of_another() {
        let gate = Gate::new(&Limits {
            requests_per_token: 2,
            bodies_per_token: 1,
            ..Limits::default()
        });
        let [ada, bob] = tokens();
        let first = enter(&gate, 1, Some(&ada), true).unwrap();
        let refused = enter(&gate, 1, Some(&ada), true).err().unwrap();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        assert_eq!(refused.retry_after(), Some(1));
        let second = enter(&gate, 1, Some(&ada), false).unwrap();
        assert!(enter(&gate, 2, Some(&ada), false).is_err());
        let _of_bob = enter(&gate, 1, Some(&bob), true).unwrap();
        drop((first, second));
        assert!(enter(&gate, 1, Some(&ada), true).is_ok());
    }

    #[test]
    fn strangers_have_places_by_address_and_take_none_of_the_others() {
        let gate = Gate::new(&Limits {
            requests: 1,
            strangers: 2,
            strangers_per_address: 1,
            ..Limits::default()
        });
        let first = enter(&gate, 1, None, true).unwrap();
        let refused = enter(&gate, 1, None, false).err().unwrap();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        let _second = enter(&gate, 2, None, false).unwrap();
        let [ada, _] = tokens();
        let _known = enter(&gate, 1, Some(&ada), false).unwrap();
        drop(first);
        assert!(enter(&gate, 3, None, false).is_ok());
    }

    #[test]
    fn the_streams_of_one_token_are_not_those_of_another() {
        let gate = Gate::new(&Limits {
            streams: 2,
            streams_per_token: 1,
            ..Limits::default()
        });
        let [ada, bob] = tokens();
        let stream = gate.enter_stream(&ada).unwrap();
        let refused = gate.enter_stream(&ada).err().unwrap();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        let _of_bob = gate.enter_stream(&bob).unwrap();
        drop(stream);
        let _again = gate.enter_stream(&ada).unwrap();
        let third = caller(3, 2);
        assert_eq!(
            gate.enter_stream(&third).err().unwrap().kind,
            ProblemKind::Busy
        );
    }

    #[test]
    fn the_places_of_one_project_are_not_those_of_another() {
        let gate = Gate::new(&Limits {
            requests_per_project: 2,
            bodies_per_project: 1,
            streams_per_project: 1,
            ..Limits::default()
        });
        let [ada, bob] = tokens();
        let other = caller(3, 2);
        let first = enter(&gate, 1, Some(&ada), true).unwrap();
        assert!(enter(&gate, 1, Some(&bob), true).is_err());
        let _second = enter(&gate, 1, Some(&bob), false).unwrap();
        assert!(enter(&gate, 1, Some(&ada), false).is_err());
        let _of_other = enter(&gate, 1, Some(&other), true).unwrap();
        let _stream = gate.enter_stream(&ada).unwrap();
        assert!(gate.enter_stream(&bob).is_err());
        assert!(gate.enter_stream(&other).is_ok());
        // A request that was refused took no places.
        drop(first);
        assert!(enter(&gate, 1, Some(&bob), true).is_ok());
        let administrator = Caller::new(
            "00000000000000aa".parse().unwrap(),
            Role::Administrator,
            None,
        );
        assert!(enter(&gate, 1, Some(&administrator), true).is_ok());
    }
}
