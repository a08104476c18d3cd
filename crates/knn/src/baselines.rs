//! The methods that the paper compares with: enumeration, and certification for a fixed K.

use crate::certify::minimal_removal::violating_removal;
use crate::deadline::Deadline;
use crate::system::{KnnSystem, Query};
use crate::verdict::{Certificate, Verdict, Violation};

/// Algorithm 1: learns anew from T \ R, not incrementally, for every removal set of at most n rows.
///
/// The enumeration shares the ranked neighbours of T with the other methods, nothing else: it is
/// the ground truth on tiny inputs.
pub(crate) fn enumerate(
    system: &KnnSystem,
    query: &Query,
    label: u16,
    deadline: Deadline<'_>,
) -> Verdict {
    let rows = system.setup.training.rows();
    let mut removed = vec![false; rows];
    for size in 1..=system.poison() {
        let mut removal: Vec<usize> = (0..size).collect();
        loop {
            if deadline.passed() {
                return Verdict::Unknown;
            }
            removal.iter().for_each(|&row| removed[row] = true);
            let k = system.learn_without(&removed);
            let found = system.predict(query, &removed, k);
            removal.iter().for_each(|&row| removed[row] = false);
            if found != label {
                return Verdict::Falsified(Violation {
                    removal,
                    k,
                    label: found,
                });
            }
            if !advance(&mut removal, rows) {
                break;
            }
        }
    }
    Verdict::Certified(Certificate::Exhaustive)
}

/// Moves to the next combination in lexicographic order; returns false after the last.
fn advance(removal: &mut [usize], rows: usize) -> bool {
    let size = removal.len();
    let Some(at) = (0..size).rev().find(|&at| removal[at] < rows - size + at) else {
        return false;
    };
    removal[at] += 1;
    for next in at + 1..size {
        removal[next] = removal[next - 1] + 1;
    }
    true
}

/// Jia et al. 2022: the vote at the K learnt from T resists n removals.
///
/// The verdict is *not* a certificate for the whole system: poisoned rows may change K as well. It
/// is offered for comparison.
pub(crate) fn jia(system: &KnnSystem, query: &Query, label: u16) -> Verdict {
    let classes = system.setup.training.classes();
    let poison = system.poison();
    match violating_removal(query.labels(), classes, system.k(), label, poison) {
        None => Verdict::Certified(Certificate::Quick),
        Some(_) => Verdict::Unknown,
    }
}
