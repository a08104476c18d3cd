//! The course of a search: how much it had found after how many model calls; few rounds of many,
//! the same for every thread count.
//!
//! A round is kept if it is at least a twelfth further on than the one kept before. That is every
//! round at first and about 29 of each power of ten later, so a trace of a million rounds has some
//! 170 points. Which rounds are kept depends on their number alone; a search that goes on from a
//! checkpoint keeps the same ones.

use serde::{Deserialize, Serialize};

use super::calls::CallCounts;

/// The rounds kept so far. A part of the state of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    rounds: u64,
    next: u64,
    kept: TraceSummary,
}

/// The trace in the summary: columns of equal length, each ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Rows that the model was asked about.
    pub model_rows: Vec<u64>,
    /// Rows that the model was asked about the gradient at.
    pub model_gradients: Vec<u64>,
    /// Distinct discriminatory individuals found.
    pub found: Vec<u64>,
}

impl TraceSummary {
    fn push(&mut self, calls: CallCounts, found: u64) {
        self.model_rows.push(calls.rows);
        self.model_gradients.push(calls.gradients);
        self.found.push(found);
    }
}

impl Trace {
    /// Notes the end of a round: all calls until then and all that was found.
    pub(super) fn note(&mut self, calls: CallCounts, found: u64) {
        self.rounds += 1;
        if self.rounds >= self.next {
            self.next = self.rounds + (self.rounds / 12).max(1);
            self.kept.push(calls, found);
        }
    }

    /// Checks that the trace has all three curves.
    pub(super) fn expect_whole(&self) -> Result<(), String> {
        let TraceSummary {
            model_rows,
            model_gradients,
            found,
        } = &self.kept;
        let is_whole = [model_rows.len(), model_gradients.len()] == [found.len(); 2];
        match is_whole && self.rounds < 1 << 62 {
            true => Ok(()),
            false => Err("the trace is not whole".to_owned()),
        }
    }

    /// The rounds kept, and the end of the search.
    pub fn until(&self, calls: CallCounts, found: u64) -> TraceSummary {
        let mut trace = self.kept.clone();
        let is_further = trace
            .model_rows
            .last()
            .is_none_or(|&rows| rows < calls.rows);
        if is_further || trace.model_gradients.last() < Some(&calls.gradients) {
            trace.push(calls, found);
        }
        trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(rows: u64) -> CallCounts {
        CallCounts { rows, gradients: 0 }
    }

    #[test]
    fn a_trace_is_short_and_ends_at_the_end() {
        for rounds in [0, 1, 12, 13, 1000, 1_000_000] {
            let mut trace = Trace::default();
            for round in 1..=rounds {
                trace.note(calls(10 * round), round);
            }
            let summary = trace.until(calls(10 * rounds), rounds);
            assert!(summary.found.len() <= 180, "{}", summary.found.len());
            assert!(summary.found.is_sorted_by(|a, b| a < b));
            assert_eq!(summary.found.last(), Some(&rounds));
            let first = (1..=12.min(rounds)).collect::<Vec<u64>>();
            assert!(rounds == 0 || summary.found.starts_with(&first));
        }
    }

    #[test]
    fn a_trace_that_goes_on_is_that_of_one_go() {
        let mut whole = Trace::default();
        (1..=500).for_each(|round| whole.note(calls(round), round));
        let mut first = Trace::default();
        (1..=77).for_each(|round| first.note(calls(round), round));
        let saved = postcard::to_stdvec(&first).unwrap();
        let mut second: Trace = postcard::from_bytes(&saved).unwrap();
        (78..=500).for_each(|round| second.note(calls(round), round));
        assert_eq!(second, whole);
    }
}
