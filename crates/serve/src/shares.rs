//! Shares and allowances: how much each of many, an address or a token, may take at the same time,
//! and how often.
//!
//! The memory for them does not grow with all who ever came: a share is forgotten once nothing of
//! it is taken, an allowance once it is full again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The number of allowances that are kept before those that are full are forgotten.
const KEPT: usize = 4096;

type Taken<K> = Arc<Mutex<HashMap<K, usize>>>;

/// Places for many: each may take up to `most` of them.
pub struct Shares<K> {
    most: usize,
    taken: Taken<K>,
}

/// A place taken out of a share; given back when dropped.
pub struct Share<K: Eq + Hash> {
    of: K,
    taken: Taken<K>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Makes shares with `most` places for each.
    pub fn new(most: usize) -> Shares<K> {
        Shares {
            most,
            taken: Arc::default(),
        }
    }

    /// Returns the number of places that each has.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Takes a place of `of`, if one is left.
    pub fn take(&self, of: &K) -> Option<Share<K>> {
        let mut taken = locked(&self.taken);
        let number = taken.get(of).copied().unwrap_or(0);
        if number >= self.most {
            return None;
        }
        taken.insert(of.clone(), number + 1);
        Some(Share {
            of: of.clone(),
            taken: self.taken.clone(),
        })
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut taken = locked(&self.taken);
        if let Some(number) = taken.get_mut(&self.of) {
            *number -= 1;
            if *number == 0 {
                taken.remove(&self.of);
            }
        }
    }
}

/// An allowance of requests: a number that grows with time, up to twice the rate of a second.
pub struct Allowance {
    rate: f64,
    left: f64,
    at: Instant,
}

impl Allowance {
    /// Makes an allowance of `rate` requests a second.
    pub fn new(rate: u32) -> Allowance {
        let rate = f64::from(rate);
        Allowance {
            rate,
            left: 2.0 * rate,
            at: Instant::now(),
        }
    }

    fn grow(&mut self, now: Instant) {
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * self.rate;
        self.left = (self.left + grown).min(2.0 * self.rate);
        self.at = now;
    }

    /// Takes one request, if one is left.
    pub fn take(&mut self, now: Instant) -> bool {
        self.grow(now);
        let is_allowed = self.left >= 1.0;
        if is_allowed {
            self.left -= 1.0;
        }
        is_allowed
    }
}

/// Allowances for many: each may send `rate` requests a second.
pub struct Allowances<K> {
    rate: u32,
    of: Mutex<HashMap<K, Allowance>>,
}

impl<K: Eq + Hash + Clone> Allowances<K> {
    /// Makes allowances of `rate` requests a second for each.
    pub fn new(rate: u32) -> Allowances<K> {
        Allowances {
            rate,
            of: Mutex::default(),
        }
    }

    /// The number of requests a second that each may send.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// Takes one request of `of`, if one is left.
    pub fn take(&self, of: &K, now: Instant) -> bool {
        let mut all = locked(&self.of);
        if all.len() >= KEPT && !all.contains_key(of) {
            all.retain(|_, allowance| {
                allowance.grow(now);
                allowance.left < 2.0 * allowance.rate
            });
        }
        let allowance = all
            .entry(of.clone())
            .or_insert_with(|| Allowance::new(self.rate));
        allowance.take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_share_of_one_is_not_that_of_another() {
        let shares = Shares::new(2);
        let first = shares.take(&"ada").unwrap();
        let second = shares.take(&"ada").unwrap();
        assert!(shares.take(&"ada").is_none());
        let other = shares.take(&"bob").unwrap();
        drop(first);
        let third = shares.take(&"ada").unwrap();
        assert!(shares.take(&"ada").is_none());
        drop((second, third, other));
        assert!(locked(&shares.taken).is_empty());
    }

    #[test]
    fn an_allowance_grows_with_time() {
        let mut allowance = Allowance::new(10);
        let start = allowance.at;
        let mut taken = |now| (0..100).filter(|_| allowance.take(now)).count();
        assert_eq!(taken(start), 20);
        assert_eq!(taken(start + Duration::from_millis(500)), 5);
        assert_eq!(taken(start + Duration::from_secs(3600)), 20);
    }

    #[test]
    fn allowances_that_are_full_are_forgotten() {
        let allowances = Allowances::new(1);
        let start = Instant::now();
        for key in 0..KEPT {
            assert!(allowances.take(&key, start));
        }
        let later = start + Duration::from_secs(60);
        assert!(allowances.take(&KEPT, later));
        assert_eq!(locked(&allowances.of).len(), 1);
    }
}
