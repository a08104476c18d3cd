//! The state of a search between two rounds: one value, which is also its checkpoint.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::calls::CallCounts;
use super::distinct::{DistinctInputs, MarkCounts};
use super::found::FoundPairs;
use super::pairs::PairStore;
pub use super::pairs::Phase;
use super::strategy::{LocalWalker, Position};
use super::trace::Trace;

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Both phases ran to their end.
    Complete,
    /// `max_found` was reached.
    MaxFound,
    /// The time budget was used up.
    Time,
    /// The next round would ask for more than `max_calls`; it can be resumed.
    MaxCalls,
    /// The caller stopped it; it can be resumed.
    Interrupted,
}

/// The work that one phase did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Seeds (global) or starts (local).
    pub starts: u64,
    /// Moves made (global) or trials (local).
    pub steps: u64,
    /// Candidates checked against their variants.
    pub checks: u64,
    /// Rows that the model was asked about, by checks and by the strategy.
    pub model_rows: u64,
    /// Rows that the model was asked about the gradient at.
    pub model_gradients: u64,
    /// Search time.
    pub seconds: f64,
}

impl PhaseCounts {
    /// The rows and gradients asked for in this phase and in `other`.
    pub(super) fn calls_with(&self, other: &PhaseCounts) -> CallCounts {
        CallCounts {
            rows: self.model_rows + other.model_rows,
            gradients: self.model_gradients + other.model_gradients,
        }
    }

    /// The number of rows and gradients together.
    pub fn model_calls(&self) -> u64 {
        self.model_rows + self.model_gradients
    }

    /// The counts of this phase and of `other`, added.
    pub(super) fn with(self, other: &PhaseCounts) -> PhaseCounts {
        PhaseCounts {
            starts: self.starts.saturating_add(other.starts),
            steps: self.steps.saturating_add(other.steps),
            checks: self.checks.saturating_add(other.checks),
            model_rows: self.model_rows.saturating_add(other.model_rows),
            model_gradients: self.model_gradients.saturating_add(other.model_gradients),
            seconds: self.seconds + other.seconds,
        }
    }
}

/// Counts of the work of a search: all that a summary says of it.
#[derive(Debug)]
pub struct SearchCounts<'a> {
    /// Global phase.
    pub global: &'a PhaseCounts,
    /// Local phase.
    pub local: &'a PhaseCounts,
    /// Distinct individuals.
    pub individuals: &'a MarkCounts,
    /// Distinct rows.
    pub rows: &'a MarkCounts,
    /// Pairs that the reference device did not confirm.
    pub unconfirmed: u64,
    /// The course of the search: how much was found after how many model calls.
    pub trace: &'a Trace,
}

/// A seed on its way in the global phase.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seed<M> {
    pub(super) id: u64,
    pub(super) row: Vec<i32>,
    pub(super) memory: M,
}

/// The state of a search between two rounds: `M` is what a strategy remembers of one walker, `L`
/// what it has learnt from all of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchState<M, L = ()> {
    pub(super) phase: Phase,
    pub(super) round: u32,
    pub(super) seeds: Vec<Seed<M>>,
    pub(super) walkers: Vec<LocalWalker<M>>,
    pub(super) learnt: L,
    pub(super) distinct: DistinctInputs,
    pub(super) pairs: FoundPairs,
    pub(super) global: PhaseCounts,
    pub(super) local: PhaseCounts,
    pub(super) unconfirmed: u64,
    pub(super) trace: Trace,
    /// The rounds that ended since a search was last observed.
    #[serde(skip)]
    pub(super) ended: Vec<RoundEnd>,
}

/// The work done until the end of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundEnd {
    /// The counts of the global phase.
    pub global: PhaseCounts,
    /// The counts of the local phase.
    pub local: PhaseCounts,
    /// Distinct discriminatory individuals.
    pub found: u64,
}

impl<M: Clone + Default, L: Default> SearchState<M, L> {
    /// A search that is about to begin from `seeds`, numbered in order.
    pub fn new(seeds: impl IntoIterator<Item = Vec<i32>>, classes: usize) -> SearchState<M, L> {
        SearchState::from_number(0, seeds, classes)
    }

    /// A search that is about to begin from `seeds`, the first of which has the number `first`.
    pub(super) fn from_number(
        first: u64,
        seeds: impl IntoIterator<Item = Vec<i32>>,
        classes: usize,
    ) -> SearchState<M, L> {
        let seeds: Vec<Seed<M>> = (first..)
            .zip(seeds)
            .map(|(id, row)| Seed {
                id,
                row,
                memory: M::default(),
            })
            .collect();
        let width = seeds.first().map_or(0, |seed| seed.row.len());
        SearchState {
            phase: Phase::Global,
            round: 0,
            global: PhaseCounts {
                starts: seeds.len() as u64,
                ..PhaseCounts::default()
            },
            seeds,
            walkers: Vec::new(),
            learnt: L::default(),
            distinct: DistinctInputs::default(),
            pairs: FoundPairs::new(width, classes),
            local: PhaseCounts::default(),
            unconfirmed: 0,
            trace: Trace::default(),
            ended: Vec::new(),
        }
    }

    /// A search whose global phase is done, and led to `starts`: the number of the seed of each,
    /// and where it stands.
    pub(super) fn at_starts(
        starts: impl IntoIterator<Item = (u64, Position)>,
        classes: usize,
    ) -> SearchState<M, L> {
        let walkers: Vec<LocalWalker<M>> = starts
            .into_iter()
            .map(|(id, start)| LocalWalker::at(id, start))
            .collect();
        let width = walkers.first().map_or(0, |walker| walker.start.row.len());
        SearchState {
            phase: Phase::Local,
            local: PhaseCounts {
                starts: walkers.len() as u64,
                ..PhaseCounts::default()
            },
            walkers,
            pairs: FoundPairs::new(width, classes),
            ..SearchState::new([], classes)
        }
    }

    /// The positions where the local phase begins, with the number of the seed of each.
    pub(super) fn starts(&self) -> impl Iterator<Item = (u64, &Position)> {
        self.walkers.iter().map(|walker| (walker.id, &walker.start))
    }

    /// The counts of the work done so far.
    pub fn counts(&self) -> SearchCounts<'_> {
        SearchCounts {
            global: &self.global,
            local: &self.local,
            individuals: self.individuals(),
            rows: self.rows(),
            unconfirmed: self.unconfirmed,
            trace: &self.trace,
        }
    }

    /// The knowledge that the strategy has learnt from all walkers.
    pub fn learnt(&self) -> &L {
        &self.learnt
    }

    /// The phase in which the search is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The number of rounds of the current phase that are done.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The counts of the global phase so far.
    pub fn global(&self) -> &PhaseCounts {
        &self.global
    }

    /// The counts of the local phase so far.
    pub fn local(&self) -> &PhaseCounts {
        &self.local
    }

    /// Distinct individuals: rows without their protected part.
    pub fn individuals(&self) -> &MarkCounts {
        self.distinct.individuals()
    }

    /// Distinct full rows.
    pub fn rows(&self) -> &MarkCounts {
        self.distinct.rows()
    }

    /// The pairs found, one for each distinct discriminatory row, in the order found.
    pub fn found(&self) -> &FoundPairs {
        &self.pairs
    }

    /// The pairs found that are in memory: all, unless they are [spilled](SearchState::spill_to).
    pub fn pairs(&self) -> &PairStore {
        self.pairs.kept()
    }

    /// Lets pairs beyond `bytes` in memory be written to files in `folder` from now on, where those
    /// of an earlier part of the search are; they stand there until somebody removes them. What
    /// cannot be written stays in memory.
    pub fn spill_to(&mut self, folder: PathBuf, bytes: u64) {
        self.pairs.spill_to(folder, bytes);
    }

    /// The pairs found that are in memory, by value.
    pub fn into_pairs(self) -> PairStore {
        self.pairs.into_kept()
    }

    /// The rounds that ended since the search was last observed, in order.
    pub fn ended(&self) -> &[RoundEnd] {
        &self.ended
    }

    /// The course of the search: how much was found after how many model calls.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Pairs that the search device found and the reference device did not confirm; they are
    /// neither counted as discriminatory nor reported.
    pub fn unconfirmed(&self) -> u64 {
        self.unconfirmed
    }
}
