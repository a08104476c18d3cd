//! Turns for looking at files: a bounded number at the same time, with smaller bounds for a project
//! and for a user, in the order of [`Fairness`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

use super::fair::{Fairness, Party};

/// The bounds on how many have a turn at the same time.
#[derive(Debug, Clone, Copy)]
pub struct AtOnce {
    /// The bound for all together.
    pub all: usize,
    /// The bound for one project.
    pub of_a_project: usize,
    /// The bound for one user.
    pub of_a_user: usize,
}

/// The turns that are given, and those who wait for one.
pub struct Turns(Arc<Mutex<State>>);

struct State {
    most: AtOnce,
    running: usize,
    fairness: Fairness,
    waiting: Vec<Waiting>,
}

/// A party that waits for a turn.
struct Waiting {
    party: Party,
    turn: oneshot::Sender<Turn>,
}

/// A turn; it ends when dropped.
pub struct Turn {
    party: Party,
    state: Arc<Mutex<State>>,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Removes the party whose turn it is from those that wait, if there is a place for it.
    fn next(&mut self) -> Option<Waiting> {
        self.waiting.retain(|waiting| !waiting.turn.is_closed());
        let (most, fairness) = (self.most, &self.fairness);
        if self.running >= most.all {
            return None;
        }
        let parties = self.waiting.iter().map(|waiting| &waiting.party);
        let place = fairness.next(parties, |party| {
            fairness.running_of_project(&party.project) < most.of_a_project
                && fairness.running_of(party) < most.of_a_user
        })?;
        let waiting = self.waiting.remove(place);
        self.running += 1;
        self.fairness.begin(&waiting.party);
        Some(waiting)
    }
}

/// Gives turns to waiting parties as long as there are places.
fn give(state: &Arc<Mutex<State>>) {
    loop {
        let Some(Waiting { party, turn }) = locked(state).next() else {
            return;
        };
        let state = state.clone();
        // A party that gave up waiting drops the turn, which ends it.
        let _ = turn.send(Turn { party, state });
    }
}

impl Turns {
    /// Makes turns with the bounds `most`.
    pub fn new(most: AtOnce) -> Turns {
        Turns(Arc::new(Mutex::new(State {
            most,
            running: 0,
            fairness: Fairness::default(),
            waiting: Vec::new(),
        })))
    }

    /// Waits for a turn of `party`.
    ///
    /// # Errors
    /// Never: nobody closes the turns.
    pub async fn take(&self, party: &Party) -> Result<Turn, RecvError> {
        let (turn, given) = oneshot::channel();
        let party = party.clone();
        locked(&self.0).waiting.push(Waiting { party, turn });
        give(&self.0);
        given.await
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        state.running -= 1;
        state.fairness.end(&self.party);
        let State {
            fairness, waiting, ..
        } = &mut *state;
        fairness.forget_others(waiting.iter().map(|waiting| &waiting.party));
        drop(state);
        give(&self.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Waits<'a> = Pin<Box<dyn Future<Output = Result<Turn, RecvError>> + 'a>>;

    fn party(project: u8, user: u8) -> Party {
        Party {
            project: format!("{project:016x}").parse().unwrap(),
            user: format!("{user:016x}").parse().unwrap(),
        }
    }

    fn poll(waits: &mut Waits<'_>) -> Option<Turn> {
        match waits.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn.unwrap()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn who_sends_many_waits_for_many() {
        let turns = Turns::new(AtOnce {
            all: 3,
            of_a_project: 2,
            of_a_user: 1,
        });
        let [eve, mallory, bob, ada] = [party(1, 1), party(1, 2), party(1, 3), party(2, 4)];
        let ask = |party: &Party| -> Waits<'_> {
            let party = party.clone();
            let turns = &turns;
            Box::pin(async move { turns.take(&party).await })
        };
        let mut first = ask(&eve);
        let of_eve = poll(&mut first).unwrap();
        let mut second = ask(&eve);
        assert!(poll(&mut second).is_none(), "one of a user");
        let mut third = ask(&mallory);
        let of_mallory = poll(&mut third).unwrap();
        let mut of_bob = ask(&bob);
        assert!(poll(&mut of_bob).is_none(), "two of a project");
        let mut of_ada = ask(&ada);
        drop(poll(&mut of_ada).expect("another project has a place"));
        // Bob came last, and goes before Eve's second.
        drop(of_eve);
        assert!(poll(&mut second).is_none());
        let turn = poll(&mut of_bob).unwrap();
        drop(of_mallory);
        // A party that does not wait any more takes nobody's place.
        drop(second);
        let mut again = ask(&mallory);
        assert!(poll(&mut again).is_some());
        drop(turn);
        assert_eq!(locked(&turns.0).running, 0);
    }
}
