//! A sliding window over the sorted records for one dimension, exact in O(n log n).
//!
//! Records x ≤ y lie in one ball of radius r iff (y − x)² ≤ 4 r², an integer comparison.

use super::largest_ball::LargestBall;
use crate::error::PrivacyError;
use crate::records::Records;

/// The sliding window on records of one column.
pub struct Line<'r> {
    records: &'r Records,
    squared_diameter: f64,
}

impl<'r> Line<'r> {
    /// Prepares the window; the records have one column.
    pub fn new(records: &'r Records, squared_radius: f64) -> Self {
        Line {
            records,
            squared_diameter: 4.0 * squared_radius,
        }
    }
}

impl LargestBall for Line<'_> {
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError> {
        let mut values: Vec<f64> = members
            .iter()
            .map(|&member| self.records.row(member as usize)[0])
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        let (mut most, mut first) = (0, 0);
        for (last, value) in values.iter().enumerate() {
            while (value - values[first]) * (value - values[first]) > self.squared_diameter {
                first += 1;
            }
            most = most.max((last - first + 1) as u32);
            if most >= enough {
                break;
            }
        }
        Ok(most)
    }
}
