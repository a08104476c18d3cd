//! The individuals that a walker has tried.
//!
//! An individual is kept by a fingerprint that is linear in its codes, so that those of neighbours cost
//! one addition each. **Claim.** A set says of every individual that was added that it was. *Proof.*
//! The fingerprint is a function of the free codes, and the set holds that of each individual added.
//! ∎ Two individuals may share one, by a chance of 2⁻⁶⁴ for random weights; then the second is
//! passed over, and nothing else follows.

use std::sync::Arc;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use crate::domain::TabularDomain;
use probity_run::stream::{Purpose, Words};

/// A set of individuals. A copy is cheap: what both share is copied when one changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub(crate) struct Tried(Arc<HashTable<u64>>);

impl Tried {
    /// Adds an individual.
    pub(super) fn add(&mut self, fingerprint: u64) {
        let table = Arc::make_mut(&mut self.0);
        let is_it = |&have: &u64| have == fingerprint;
        table
            .entry(spread(fingerprint), is_it, |&have| spread(have))
            .or_insert(fingerprint);
    }

    /// Whether an individual was added.
    pub(super) fn has(&self, fingerprint: u64) -> bool {
        let is_it = |&have: &u64| have == fingerprint;
        self.0.find(spread(fingerprint), is_it).is_some()
    }
}

/// Linear fingerprints of neighbours are near each other; their hashes are not.
fn spread(fingerprint: u64) -> u64 {
    let product = u128::from(fingerprint) * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    (product >> 64) as u64 ^ product as u64
}

impl From<Vec<u64>> for Tried {
    fn from(fingerprints: Vec<u64>) -> Tried {
        let mut tried = Tried::default();
        fingerprints.into_iter().for_each(|of| tried.add(of));
        tried
    }
}

impl From<Tried> for Vec<u64> {
    fn from(tried: Tried) -> Vec<u64> {
        let mut fingerprints: Vec<u64> = tried.0.iter().copied().collect();
        fingerprints.sort_unstable();
        fingerprints
    }
}

/// The weights of a fingerprint.
#[derive(Debug, Clone)]
pub(super) struct Fingerprints(Vec<u64>);

impl Fingerprints {
    /// The fingerprints of `domain`: protected attributes have no weight.
    pub(super) fn new(domain: &TabularDomain) -> Fingerprints {
        let words = Words::new(0, Purpose::LocalMove, &[]);
        let mut weights = vec![0; domain.spans().len()];
        for &attribute in domain.free() {
            weights[attribute] = words.word(attribute as u64) | 1;
        }
        Fingerprints(weights)
    }

    /// The fingerprint of the individual of `row`.
    pub(super) fn fingerprint(&self, row: &[i32]) -> u64 {
        let parts = row.iter().zip(&self.0);
        parts.fold(0, |sum: u64, (&code, &weight)| {
            sum.wrapping_add(weight.wrapping_mul(code as u64))
        })
    }

    /// The amount that is added to a fingerprint when an attribute goes from one code to another.
    #[inline]
    pub(super) fn change(&self, attribute: usize, from: i32, to: i32) -> u64 {
        let codes = i64::from(to) - i64::from(from);
        self.0[attribute].wrapping_mul(codes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Domain;
    use crate::domain::mixed_domain;
    use std::collections::HashMap;

    #[test]
    fn one_fingerprint_an_individual_and_by_its_changes() {
        let (_, domain) = mixed_domain();
        let fingerprints = Fingerprints::new(&domain);
        let mut seen: HashMap<u64, u128> = HashMap::new();
        let mut tried = Tried::default();
        for item in 0..2000 {
            let row = domain.random_input(5, item);
            let of = fingerprints.fingerprint(&row);
            let key = domain.individual_key(&row);
            assert_eq!(*seen.entry(of).or_insert(key), key);
            let mut other = row.clone();
            let mut moved = of;
            for &attribute in domain.free() {
                let to = domain.random_input(6, item)[attribute];
                moved = moved.wrapping_add(fingerprints.change(attribute, other[attribute], to));
                other[attribute] = to;
                assert_eq!(moved, fingerprints.fingerprint(&other));
            }
            tried.add(of);
            let read: Tried = Vec::from(tried.clone()).into();
            assert!(tried.has(of) && read.has(of));
            assert_eq!(tried.has(moved), seen.contains_key(&moved));
        }
    }
}
