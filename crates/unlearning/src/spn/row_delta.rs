//! Rows that leave a node and rows that come to it.

use std::collections::HashSet;

/// A change of a set of rows, by position; the two lists have no row in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowDelta {
    /// Rows that leave.
    pub left: Vec<u32>,
    /// Rows that come.
    pub came: Vec<u32>,
}

impl RowDelta {
    /// Returns the number of rows that change.
    pub fn len(&self) -> usize {
        self.left.len() + self.came.len()
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Extends this change by `next`: a row that left and comes again has not changed.
    pub fn then(&mut self, next: &RowDelta) {
        // A row that leaves had come, or is new here; so with one that comes. No row is in both
        // lists of `next`, so the order of the two does not matter.
        let leaves = withdraw(&mut self.came, &next.left);
        let comes = withdraw(&mut self.left, &next.came);
        self.left.extend(leaves);
        self.came.extend(comes);
    }
}

/// Takes the rows that are in both lists out of `rows`; returns those of `wanted` that were not.
fn withdraw(rows: &mut Vec<u32>, wanted: &[u32]) -> Vec<u32> {
    if rows.is_empty() || wanted.is_empty() {
        return wanted.to_vec();
    }
    let mut rest: HashSet<u32> = wanted.iter().copied().collect();
    rows.retain(|row| !rest.remove(row));
    wanted
        .iter()
        .copied()
        .filter(|row| rest.contains(row))
        .collect()
}

/// Returns the ascending places of `wanted` in `rows`.
pub(super) fn places(rows: &[u32], wanted: &[u32]) -> Vec<usize> {
    if let [row] = wanted {
        return rows
            .iter()
            .position(|have| have == row)
            .into_iter()
            .collect();
    }
    let wanted: HashSet<u32> = wanted.iter().copied().collect();
    let places = rows.iter().enumerate();
    places
        .filter(|(_, row)| wanted.contains(row))
        .map(|(place, _)| place)
        .collect()
}
