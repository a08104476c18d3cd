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
    /// How many rows change.
    pub fn len(&self) -> usize {
        self.left.len() + self.came.len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The change that is this one, then `next`: a row that left and comes again has not changed.
    pub fn then(&mut self, next: &RowDelta) {
        for &row in &next.left {
            match self.came.iter().position(|&have| have == row) {
                Some(at) => drop(self.came.swap_remove(at)),
                None => self.left.push(row),
            }
        }
        for &row in &next.came {
            match self.left.iter().position(|&have| have == row) {
                Some(at) => drop(self.left.swap_remove(at)),
                None => self.came.push(row),
            }
        }
    }
}

/// Ascending places of `wanted` in `rows`.
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
