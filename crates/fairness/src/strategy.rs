//! The interface of search strategies, which decide where to go next. Everything else is the
//! driver's ([`super::search`]): batching, checking, counting, budget, progress, checkpoint.
//!
//! A round has two halves. In the first, chunks of walkers are worked on in parallel; a strategy
//! then only *reads* what it has learnt ([`Strategy::global_moves`], [`Strategy::local_moves`]). In
//! the second, the outcomes are merged in the order of the seeds; only then may it learn
//! ([`Strategy::learn_global`], [`Strategy::place`], [`Strategy::learn_local`],
//! [`Strategy::end_local_round`]). So a strategy that adapts over all walkers depends on batch size
//! and threads as little as one that does not, and what it has learnt is part of the checkpoint.
//! Where nothing is learnt ([`Strategy::learns`]), walkers need not wait for each other.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::check::{Checked, FullyChecked};
use super::domain::TabularDomain;
use probity_nn::ModelError;
use probity_run::stream::Stream;

/// The further course of a walker of the global phase whose input is discriminatory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFind {
    /// The walker stops.
    Stop,
    /// The walker stops, but [`Strategy::global_moves`] sees it once more, to learn from it.
    ShowAndStop,
    /// The walker moves on like any other.
    GoOn,
}

/// The variants of a candidate that a trial of the local phase asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// All variants, until one flips.
    UntilFlip,
    /// Only the variant that the strategy expects to flip: a failure does not say that no other one
    /// does.
    Expected,
}

/// The score that `themis` ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CausalDiscrimination {
    /// Inputs drawn.
    pub sampled: u64,
    /// Discriminatory ones among them.
    pub discriminatory: u64,
    /// The share of discriminatory inputs.
    pub score: f64,
    /// The interval of the score at `confidence` (Clopper-Pearson).
    pub interval: [f64; 2],
    /// Confidence of the interval.
    pub confidence: f64,
    /// Half the width of the interval that was asked for.
    pub error_bound: f64,
    /// Whether the interval is as narrow as that.
    pub is_reached: bool,
}

/// A way to search for discriminatory inputs in two phases.
///
/// A strategy sees a batch of walkers at once, so that it can ask a model about all of them in one
/// go; what it decides for one must not depend on the others of the batch.
pub trait Strategy: Sync {
    /// The memory of the strategy about one walker between steps; part of the checkpoint.
    type Memory: Clone + Default + Send + Sync + Serialize + DeserializeOwned;

    /// The knowledge that the strategy learns from all walkers; part of the checkpoint. `()` where
    /// it learns nothing.
    type Shared: Clone + Default + Send + Sync + Serialize + DeserializeOwned;

    /// The further course of a walker of the global phase whose input is discriminatory.
    const AFTER_FIND: AfterFind = AfterFind::Stop;

    /// Whether there is a local phase, which searches around the finds of the global phase.
    const HAS_LOCAL_PHASE: bool = true;

    /// Whether the strategy learns anything from all walkers: one that does goes elsewhere where it
    /// sees only some of them.
    const LEARNS: bool = size_of::<Self::Shared>() > 0;

    /// Whether the strategy learns in the local phase; where it does not, [`Strategy::learn_local`]
    /// may change the walker alone, and [`Strategy::end_local_round`] nothing.
    fn learns(&self) -> bool {
        Self::LEARNS
    }

    /// The variants that a trial of the local phase asks about.
    fn asks(&self) -> Asks {
        Asks::UntilFlip
    }

    /// Whether `memory`, which a checkpoint holds, can be of a walker that stands at `row`.
    fn is_memory(&self, memory: &Self::Memory, row: &[i32]) -> bool;

    /// Whether `shared`, which a checkpoint holds, can have been learnt in this domain.
    fn is_learnt(&self, shared: &Self::Shared) -> bool;

    /// The name of the strategy in summaries and on the command line.
    fn name(&self) -> &'static str;

    /// The `count` inputs where the global phase begins, for a strategy that takes none from data.
    fn own_seeds(&self, _count: usize) -> Option<Vec<Vec<i32>>> {
        None
    }

    /// Largest number of moves of a walker in the global phase, where the user wants `max_iter`.
    fn max_moves(&self, max_iter: u32) -> u32 {
        max_iter
    }

    /// Global phase: sets the next position of every walker.
    ///
    /// # Errors
    /// When a model that the strategy asks cannot answer.
    fn global_moves(
        &self,
        shared: &Self::Shared,
        walkers: &mut [GlobalStep<'_, Self::Memory>],
    ) -> Result<(), ModelError>;

    /// Global phase, after a walker was checked, in the order of the seeds.
    fn learn_global(&self, _shared: &mut Self::Shared, _memory: &mut Self::Memory, _found: bool) {}

    /// Global phase, at the end of a round: may place a walker that goes on elsewhere, or say that
    /// there is nowhere to go. In the order of the seeds, after all of them were learnt from.
    fn place(
        &self,
        _shared: &mut Self::Shared,
        _row: &mut Vec<i32>,
        _memory: &mut Self::Memory,
    ) -> bool {
        true
    }

    /// Whether the global phase may end before its walkers are done.
    fn is_satisfied(&self, _shared: &Self::Shared) -> bool {
        false
    }

    /// Local phase: sets the candidate of every walker; each walker stands on a discriminatory
    /// input.
    ///
    /// # Errors
    /// When a model that the strategy asks cannot answer.
    fn local_moves(
        &self,
        shared: &Self::Shared,
        trial: u32,
        walkers: &mut [LocalWalker<Self::Memory>],
    ) -> Result<(), ModelError>;

    /// The variant of a walker's candidate that is asked about first: where it stands, the flip that
    /// was found there.
    fn variant(&self, walker: &LocalWalker<Self::Memory>) -> u32 {
        walker.found_variant()
    }

    /// Local phase, after a trial, in the order of the seeds, before the walker moves: whether its
    /// candidate is discriminatory, or `None` where it was the walker's own position.
    fn learn_local(
        &self,
        _shared: &mut Self::Shared,
        _walker: &mut LocalWalker<Self::Memory>,
        _found: Option<bool>,
    ) {
    }

    /// Local phase, at the end of a round.
    fn end_local_round(
        &self,
        _shared: &mut Self::Shared,
        _walkers: &mut [LocalWalker<Self::Memory>],
    ) {
    }

    /// The causal discrimination score, for a strategy that estimates it.
    fn causal_discrimination(&self, _shared: &Self::Shared) -> Option<CausalDiscrimination> {
        None
    }
}

/// A walker of the global phase between its check and its move.
pub struct GlobalStep<'a, M> {
    /// Number of the seed.
    pub id: u64,
    /// Number of moves made so far.
    pub iteration: u32,
    /// Whether the position is discriminatory; never so under [`AfterFind::Stop`].
    pub is_found: bool,
    /// The input where the walker stands; the strategy puts the next position here.
    pub row: &'a mut Vec<i32>,
    /// The check of that position.
    pub check: &'a FullyChecked,
    /// The memory of the strategy about this walker.
    pub memory: &'a mut M,
}

/// A discriminatory input and its check.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Position {
    /// The input.
    pub row: Vec<i32>,
    /// The check of the input: every flip for a start, at least one otherwise.
    pub check: Checked,
}

/// A walker of the local phase.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub struct LocalWalker<M> {
    /// Number of the seed that led to the start.
    pub id: u64,
    /// The discriminatory input that the global phase found.
    pub start: Position,
    /// The position of the walker; `None` at the start.
    pub away: Option<Position>,
    /// The next input to check; set by the strategy.
    pub candidate: Vec<i32>,
    /// The memory of the strategy about this walker.
    pub memory: M,
}

impl<M: Default> LocalWalker<M> {
    /// A walker that is about to begin at `start`, which seed `id` led to.
    pub(super) fn at(id: u64, start: Position) -> LocalWalker<M> {
        LocalWalker {
            id,
            start,
            away: None,
            candidate: Vec::new(),
            memory: M::default(),
        }
    }
}

impl<M> LocalWalker<M> {
    /// The position of the walker.
    pub fn position(&self) -> &Position {
        self.away.as_ref().unwrap_or(&self.start)
    }

    /// The number of the variant that was found to flip at the position of the walker.
    pub(super) fn found_variant(&self) -> u32 {
        let flips = &self.position().check.flips;
        flips.first().map_or(0, |flip| flip.variant)
    }

    /// Whether the candidate is another input than the position of the walker.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.candidate != self.position().row
    }

    /// Makes the candidate a random step of `size` along `attribute` away from the position of the
    /// walker.
    pub fn step_along(
        &mut self,
        domain: &TabularDomain,
        attribute: usize,
        size: u32,
        stream: &mut Stream,
    ) {
        let row = &self.away.as_ref().unwrap_or(&self.start).row;
        self.candidate.clone_from(row);
        self.candidate[attribute] = domain.random_step(attribute, row[attribute], size, stream);
    }
}
