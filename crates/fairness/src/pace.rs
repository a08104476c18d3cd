//! What is done in a block of rounds of the local phase, and how many it has.

use super::calls::CallCounts;
use super::distinct::Markings;
use super::pairs::PairStore;

/// How many rounds are worked on together, and the room for what chunks do in them.
#[derive(Default)]
pub(super) struct Pace {
    pub(super) blocks: u32,
    pub(super) rounds: u32,
    pub(super) chunks: Vec<ChunkRecord>,
}

/// What a chunk of walkers did in a block of rounds.
#[derive(Default)]
pub(super) struct ChunkRecord {
    pub(super) rounds: Vec<RoundRecord>,
    pub(super) individuals: Markings,
    pub(super) rows: Markings,
    /// The pairs found, in order.
    pub(super) found: PairStore,
    /// Which of them have a row that is new.
    pub(super) is_new: Vec<bool>,
}

/// What a chunk did in one round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundRecord {
    pub(super) trials: u64,
    pub(super) checks: u64,
    pub(super) unconfirmed: u64,
    pub(super) calls: CallCounts,
    /// Pairs found until its end.
    pub(super) found: usize,
}

impl ChunkRecord {
    pub(super) fn clear(&mut self, width: usize, classes: usize) {
        self.rounds.clear();
        self.individuals.clear();
        self.rows.clear();
        self.found.clear(width, classes);
        self.is_new.clear();
    }
}
