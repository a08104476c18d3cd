//! Algorithm 1 of the paper: the recursion over all subsets, cut where the enclosing ball is too
//! large. O(2^|P|); it is the yardstick of the tests.

use super::largest_ball::LargestBall;
use crate::ball::fits;
use crate::error::PrivacyError;
use crate::records::Records;

/// The largest number of records that the algorithm is used for.
pub const MOST_ROWS: usize = 24;

/// Algorithm 1 on some records.
pub struct Reference<'r> {
    records: &'r Records,
    squared_radius: f64,
}

impl<'r> Reference<'r> {
    /// Prepares the algorithm.
    pub fn new(records: &'r Records, squared_radius: f64) -> Self {
        Reference {
            records,
            squared_radius,
        }
    }

    /// Computes E(r, P, C, i).
    fn enclosed<'s>(&'s self, members: &[u32], chosen: &mut Vec<&'s [f64]>, at: usize) -> u32 {
        if !chosen.is_empty() && fits(chosen, self.squared_radius).is_none() {
            return 0;
        }
        let mut most = chosen.len() as u32;
        if at < members.len() {
            chosen.push(self.records.row(members[at] as usize));
            most = most.max(self.enclosed(members, chosen, at + 1));
            chosen.pop();
            most = most.max(self.enclosed(members, chosen, at + 1));
        }
        most
    }
}

impl LargestBall for Reference<'_> {
    fn largest(&self, members: &[u32], _enough: u32) -> Result<u32, PrivacyError> {
        Ok(self.enclosed(members, &mut Vec::new(), 0))
    }
}
