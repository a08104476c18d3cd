//! The number of rounds in a block of the local phase, and the records of what is done in it.

use super::calls::CallCounts;
use super::distinct::Markings;
use super::pairs::PairStore;

/// The number of rounds that are worked on together, and the room for what chunks do in them.
#[derive(Default)]
pub(super) struct Pace {
    pub(super) blocks: u32,
    pub(super) rounds: u32,
    pub(super) chunks: Vec<ChunkRecord>,
}

/// The record of a chunk of walkers in a block of rounds.
#[derive(Default)]
pub(super) struct ChunkRecord {
    pub(super) rounds: Vec<RoundRecord>,
    pub(super) inputs: Markings,
    /// The pairs found, in order.
    pub(super) found: PairStore,
    /// Whether the row of each pair found is new.
    pub(super) is_new: Vec<bool>,
}

/// The record of a chunk in one round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundRecord {
    pub(super) trials: u64,
    pub(super) checks: u64,
    pub(super) unconfirmed: u64,
    pub(super) calls: CallCounts,
    /// Number of pairs found until the end of the round.
    pub(super) found: usize,
}

impl ChunkRecord {
    pub(super) fn clear(&mut self, width: usize, classes: usize) {
        self.rounds.clear();
        self.inputs.clear();
        self.found.clear(width, classes);
        self.is_new.clear();
    }
}
