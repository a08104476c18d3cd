//! What a search strategy decides: where to go next. Everything else is the driver's
//! ([`super::search`]): batching, checking, counting, budget, progress, checkpoint.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check::{Checked, FullyChecked};
use crate::nn::ModelError;

/// A way to search for discriminatory inputs in two phases.
///
/// A strategy sees a batch of walkers at once, so that it can ask a model about all of them in one
/// go; what it decides for one must not depend on the others.
pub trait Strategy: Sync {
    /// What the strategy remembers of one walker between steps; part of the checkpoint.
    type Memory: Clone + Default + Send + Sync + Serialize + DeserializeOwned;

    /// Its name in summaries and on the command line.
    fn name(&self) -> &'static str;

    /// Global phase: sets the next position of every walker, none of which is discriminatory yet.
    ///
    /// # Errors
    /// When a model that the strategy asks cannot answer.
    fn global_moves(&self, walkers: &mut [GlobalStep<'_, Self::Memory>]) -> Result<(), ModelError>;

    /// Local phase: sets the candidate of every walker, each of which stands on a discriminatory
    /// input.
    ///
    /// # Errors
    /// When a model that the strategy asks cannot answer.
    fn local_moves(
        &self,
        trial: u32,
        walkers: &mut [LocalWalker<Self::Memory>],
    ) -> Result<(), ModelError>;
}

/// A walker of the global phase between its check and its move.
pub struct GlobalStep<'a, M> {
    /// Number of the seed.
    pub id: u64,
    /// Moves made so far.
    pub iteration: u32,
    /// Where it stands; the strategy puts the next position here.
    pub row: &'a mut Vec<i32>,
    /// The check of that position.
    pub check: &'a FullyChecked,
    /// What the strategy remembers.
    pub memory: &'a mut M,
}

/// A discriminatory input and its check.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Position {
    /// The input.
    pub row: Vec<i32>,
    /// Its check: every flip for a start, at least one otherwise.
    pub check: Checked,
}

/// A walker of the local phase.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub struct LocalWalker<M> {
    /// Number of the seed that led to the start.
    pub id: u64,
    /// What the global phase found.
    pub start: Position,
    /// Where the walker is; `None` at the start.
    pub away: Option<Position>,
    /// The next input to check; set by the strategy.
    pub candidate: Vec<i32>,
    /// What the strategy remembers.
    pub memory: M,
}

impl<M> LocalWalker<M> {
    /// Where the walker is.
    pub fn position(&self) -> &Position {
        self.away.as_ref().unwrap_or(&self.start)
    }
}
