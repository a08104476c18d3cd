//! Any strategy, kept where the data are.
//!
//! Where a strategy goes is its own choice, up to this: an input that is less plausible than the bound
//! ([`Plausibility`]) is a wall. A step of the local phase that leads into it is not taken, which is
//! a trial, but neither a check nor a call of the model. A move of the global phase changes many
//! attributes at once: of those that changed, the one whose return makes the input likeliest is taken
//! back, and so on, until what is left is plausible. So what a search finds is as plausible as its
//! seeds are, whatever the strategy; it learns nothing from it and keeps no state.

use crate::population::Plausibility;
use crate::strategies::WithStrategy;
use crate::strategy::{AfterFind, Asks, CausalDiscrimination, GlobalStep, LocalWalker, Strategy};
use probity_nn::ModelError;

/// The bound on where a search may go.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    /// The plausibility that grades inputs.
    pub plausibility: &'a Plausibility,
    /// The plausibility that inputs must reach.
    pub least: f32,
}

/// Work that hands its strategy on with a bound that it must stay within.
pub struct WithinBound<'a, W> {
    /// The work.
    pub work: W,
    /// The bound.
    pub bound: Bound<'a>,
}

impl<W: WithStrategy> WithStrategy for WithinBound<'_, W> {
    type Output = W::Output;

    fn with<S: Strategy>(self, strategy: &S) -> W::Output {
        let bound = self.bound;
        self.work.with(&Plausible { strategy, bound })
    }
}

/// A strategy within a bound.
struct Plausible<'a, S> {
    strategy: &'a S,
    bound: Bound<'a>,
}

impl Bound<'_> {
    /// Whether each of `rows` may be gone to.
    pub fn allows(&self, rows: &[&[i32]]) -> Vec<bool> {
        let grades = self.plausibility.grades(rows).into_iter();
        grades.map(|grade| grade >= self.least).collect()
    }

    /// Takes back the changes that lead from the row `from` to where `to` is less plausible than it
    /// may be.
    fn restrain(&self, from: &[i32], to: &mut [i32]) {
        while to != from && self.allows(&[&*to]) != [true] {
            let changed = (0..to.len()).filter(|&place| to[place] != from[place]);
            let without = changed.map(|place| {
                let mut row = to.to_vec();
                row[place] = from[place];
                row
            });
            let without: Vec<Vec<i32>> = without.collect();
            let rows: Vec<&[i32]> = without.iter().map(Vec::as_slice).collect();
            let densities = self.plausibility.densities(&rows);
            let mut best = 0;
            for (at, density) in densities.iter().enumerate() {
                if density.total_cmp(&densities[best]).is_gt() {
                    best = at;
                }
            }
            to.copy_from_slice(&without[best]);
        }
    }
}

impl<S: Strategy> Strategy for Plausible<'_, S> {
    type Memory = S::Memory;
    type Shared = S::Shared;

    const AFTER_FIND: AfterFind = S::AFTER_FIND;
    const HAS_LOCAL_PHASE: bool = S::HAS_LOCAL_PHASE;
    const LEARNS: bool = S::LEARNS;

    fn learns(&self) -> bool {
        self.strategy.learns()
    }

    fn asks(&self) -> Asks {
        self.strategy.asks()
    }

    fn is_memory(&self, memory: &S::Memory, row: &[i32]) -> bool {
        self.strategy.is_memory(memory, row)
    }

    fn is_learnt(&self, shared: &S::Shared) -> bool {
        self.strategy.is_learnt(shared)
    }

    fn name(&self) -> &'static str {
        self.strategy.name()
    }

    fn own_seeds(&self, count: usize) -> Option<Vec<Vec<i32>>> {
        self.strategy.own_seeds(count)
    }

    fn max_moves(&self, max_iter: u32) -> u32 {
        self.strategy.max_moves(max_iter)
    }

    fn global_moves(
        &self,
        shared: &S::Shared,
        walkers: &mut [GlobalStep<'_, S::Memory>],
    ) -> Result<(), ModelError> {
        let before: Vec<Vec<i32>> = walkers.iter().map(|walker| walker.row.clone()).collect();
        self.strategy.global_moves(shared, walkers)?;
        for (walker, from) in walkers.iter_mut().zip(&before) {
            self.bound.restrain(from, walker.row);
        }
        Ok(())
    }

    fn learn_global(&self, shared: &mut S::Shared, memory: &mut S::Memory, found: bool) {
        self.strategy.learn_global(shared, memory, found);
    }

    fn place(&self, shared: &mut S::Shared, row: &mut Vec<i32>, memory: &mut S::Memory) -> bool {
        self.strategy.place(shared, row, memory)
    }

    fn is_satisfied(&self, shared: &S::Shared) -> bool {
        self.strategy.is_satisfied(shared)
    }

    fn local_moves(
        &self,
        shared: &S::Shared,
        trial: u32,
        walkers: &mut [LocalWalker<S::Memory>],
    ) -> Result<(), ModelError> {
        self.strategy.local_moves(shared, trial, walkers)?;
        let moved = walkers.iter_mut();
        let mut moved: Vec<_> = moved
            .filter(|walker| walker.candidate != walker.position().row)
            .collect();
        let rows: Vec<&[i32]> = moved.iter().map(|walker| &*walker.candidate).collect();
        let allowed = self.bound.allows(&rows);
        for (walker, is_allowed) in moved.iter_mut().zip(allowed) {
            if !is_allowed {
                walker.candidate = walker.position().row.clone();
            }
        }
        Ok(())
    }

    fn variant(&self, walker: &LocalWalker<S::Memory>) -> u32 {
        self.strategy.variant(walker)
    }

    fn learn_local(
        &self,
        shared: &mut S::Shared,
        walker: &mut LocalWalker<S::Memory>,
        found: Option<bool>,
    ) {
        self.strategy.learn_local(shared, walker, found);
    }

    fn end_local_round(&self, shared: &mut S::Shared, walkers: &mut [LocalWalker<S::Memory>]) {
        self.strategy.end_local_round(shared, walkers);
    }

    fn causal_discrimination(&self, shared: &S::Shared) -> Option<CausalDiscrimination> {
        self.strategy.causal_discrimination(shared)
    }
}
