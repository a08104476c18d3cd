//! The queue of inputs to try, least rank first, each input once.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use serde::{Deserialize, Serialize};

use crate::domain::{Domain, TabularDomain};

/// Largest number of inputs that wait; when there are twice as many, the worse half is dropped.
const CAPACITY: usize = 1 << 17;

/// An input to try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    /// The rank of the input; a smaller one is tried sooner.
    pub(super) rank: f32,
    pub(super) row: Vec<i32>,
}

/// The inputs that SG has yet to try, and those that it has queued before.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Agenda {
    waiting: BinaryHeap<Waiting>,
    queued: HashSet<u128>,
    /// Number of inputs queued so far: those of equal rank come in this order.
    number: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiting {
    proposal: Proposal,
    number: u64,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    /// Compares two inputs that wait, the greatest of which is next.
    fn cmp(&self, other: &Waiting) -> Ordering {
        let by_rank = other.proposal.rank.total_cmp(&self.proposal.rank);
        by_rank.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Agenda {
    /// Queues `proposals`, which are then empty, except for individuals that were queued before.
    pub(super) fn add(&mut self, domain: &TabularDomain, proposals: &mut Vec<Proposal>) {
        for proposal in proposals.drain(..) {
            if self.queued.insert(domain.individual_key(&proposal.row)) {
                self.waiting.push(Waiting {
                    proposal,
                    number: self.number,
                });
                self.number += 1;
            }
        }
        if self.waiting.len() >= 2 * CAPACITY {
            let mut sorted = std::mem::take(&mut self.waiting).into_sorted_vec();
            self.waiting = sorted.split_off(sorted.len() - CAPACITY).into();
        }
    }

    /// The inputs that wait, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[i32]> {
        let waiting = self.waiting.iter();
        waiting.map(|waiting| waiting.proposal.row.as_slice())
    }

    /// The next input to try.
    pub(super) fn next(&mut self) -> Option<Vec<i32>> {
        self.waiting.pop().map(|waiting| waiting.proposal.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use probity_nn::encoding::{Encoding, InputLayout};

    #[test]
    fn least_rank_first_then_first_come_and_no_individual_twice() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let protected = [schema.index_of("sex").unwrap()];
        let domain = TabularDomain::new(&schema, &layout, &protected).unwrap();
        let row = |item: u64| domain.random_input(1, item);
        let mut agenda = Agenda::default();
        let ranks = [0.5, 0.25, 0.5, 9.0, 0.25];
        let mut proposals: Vec<Proposal> = (0..)
            .zip(ranks)
            .map(|(item, rank)| Proposal {
                rank,
                row: row(item),
            })
            .collect();
        agenda.add(&domain, &mut proposals.clone());
        agenda.add(&domain, &mut proposals);
        let order: Vec<Vec<i32>> = std::iter::from_fn(|| agenda.next()).collect();
        assert_eq!(order, [1, 4, 0, 2, 3].map(row));
        let saved = postcard::to_stdvec(&agenda).unwrap();
        let mut agenda: Agenda = postcard::from_bytes(&saved).unwrap();
        agenda.add(
            &domain,
            &mut vec![Proposal {
                rank: 0.0,
                row: row(3),
            }],
        );
        assert_eq!(agenda.next(), None, "queued before it was saved");
    }

    #[test]
    fn the_worse_half_is_dropped() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let domain = TabularDomain::new(&schema, &layout, &[0]).unwrap();
        let mut agenda = Agenda::default();
        let mut proposals: Vec<Proposal> = (0..3 * CAPACITY as u64)
            .map(|item| Proposal {
                rank: -(item as f32),
                row: domain.random_input(1, item),
            })
            .collect();
        let best = proposals.last().unwrap().row.clone();
        agenda.add(&domain, &mut proposals);
        assert_eq!(agenda.waiting.len(), CAPACITY);
        assert_eq!(agenda.next(), Some(best));
    }
}
