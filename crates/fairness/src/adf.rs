//! ADF: adversarial discrimination finding on tables (Zhang et al., ICSE 2020; TSE 2021).
//!
//! **Global** (Algorithms 1, 3, 4). x' is the variant whose output for x's class differs most from
//! x's; both are moved against the gradient of the objective where its signs at x and x' agree, so
//! that both approach the decision boundary and one may cross it first.
//!
//! **Local** (Algorithms 7, 8, 9). Attributes that matter little to both x and x' are changed, in a
//! random direction, with probability proportional to 1/saliency: the neighbour is likely to be
//! discriminatory too. x' is drawn anew at each trial among all flips of a start; at a position
//! reached by walking it is the flip that its check found.
//! The formulas, and what becomes of attributes without a direction, are in `guidance`.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::domain::TabularDomain;
use super::guidance::{descend, draw, flip_gradients, pair_gradients, weigh};
use super::strategy::{GlobalStep, LocalWalker, Position, Strategy};
use probity_nn::{Differentiable, ModelError, Objective};
use probity_run::stream::{Purpose, Stream, stream};

/// The strategy `adf`.
pub struct Adf<'a> {
    /// The model under audit.
    pub model: &'a dyn Differentiable,
    /// The domain of the model's inputs.
    pub domain: &'a TabularDomain,
    /// The objective that is differentiated.
    pub objective: Objective,
    /// The number of codes that an attribute moves in one global step, s_g.
    pub step_global: u32,
    /// The number of codes that an attribute moves in one local step, s_l.
    pub step_local: u32,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

/// The memory of ADF about a local walker: how to draw an attribute at its positions. It could be
/// computed again; a checkpoint holds it so that a search that goes on asks the model for nothing
/// that an uninterrupted one does not.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AdfMemory {
    /// For each flip of the start, cumulative weights of the free attributes.
    start: Vec<Vec<f32>>,
    /// Cumulative weights of the free attributes at the position away from the start.
    away: Vec<f32>,
    /// The position that `away` belongs to.
    away_row: Vec<i32>,
}

impl Strategy for Adf<'_> {
    type Memory = AdfMemory;
    type Shared = ();

    fn is_memory(&self, memory: &AdfMemory, _row: &[i32]) -> bool {
        let free = self.domain.free().len();
        let AdfMemory {
            start,
            away,
            away_row,
        } = memory;
        start.iter().all(|weights| weights.len() == free)
            && (away_row.is_empty() || away.len() == free)
    }

    fn is_learnt(&self, _shared: &()) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "adf"
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, AdfMemory>],
    ) -> Result<(), ModelError> {
        let gradients = self.pair_gradients(walkers)?;
        for (walker, pair) in walkers
            .iter_mut()
            .zip(gradients.chunks_exact(2 * self.model.features()))
        {
            let gradients = pair.split_at(self.model.features());
            self.descend(walker, gradients);
        }
        Ok(())
    }

    fn local_moves(
        &self,
        _shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<AdfMemory>],
    ) -> Result<(), ModelError> {
        self.refresh(walkers)?;
        for walker in walkers {
            let mut stream = self.local_stream(walker.id, trial);
            let weights = match &walker.away {
                Some(_) => &walker.memory.away,
                None => {
                    let flips = &walker.memory.start;
                    &flips[stream.random_range(0..flips.len())]
                }
            };
            let attribute = self.domain.free()[draw(weights, &mut stream)];
            walker.step_along(self.domain, attribute, self.step_local, &mut stream);
        }
        Ok(())
    }
}

impl Adf<'_> {
    /// The gradients of the objective at the two inputs of each walker's pair: [`pair_gradients`].
    pub(super) fn pair_gradients<M>(
        &self,
        walkers: &[GlobalStep<'_, M>],
    ) -> Result<Vec<f32>, ModelError> {
        pair_gradients(self.model, self.domain, self.objective, walkers)
    }

    /// The gradients of the objective at the flips of local walkers: [`flip_gradients`].
    pub(super) fn flip_gradients<'p>(
        &self,
        positions: impl Iterator<Item = &'p Position>,
        flips: usize,
    ) -> Result<Vec<f32>, ModelError> {
        flip_gradients(self.model, self.domain, self.objective, positions, flips)
    }

    /// Moves a walker against the gradients at its pair: [`descend`].
    pub(super) fn descend<M>(&self, walker: &mut GlobalStep<'_, M>, gradients: (&[f32], &[f32])) {
        descend(self.domain, walker, gradients, self.step_global, self.seed);
    }

    /// The random stream of the walker `id` in the local trial `trial`.
    pub(super) fn local_stream(&self, id: u64, trial: u32) -> Stream {
        stream(self.seed, Purpose::LocalMove, id, u64::from(trial))
    }

    /// Computes the weights of every walker whose position is new to its memory: one batch of
    /// gradients at x and x'.
    fn refresh(&self, walkers: &mut [LocalWalker<AdfMemory>]) -> Result<(), ModelError> {
        let stale = walkers.iter().filter(|walker| self.is_stale(walker));
        let positions = stale.map(LocalWalker::position);
        let gradients = self.flip_gradients(positions, usize::MAX)?;
        let mut gradients = gradients.chunks_exact(self.model.features());
        for walker in walkers.iter_mut() {
            if !self.is_stale(walker) {
                continue;
            }
            // Not `position()`, which would borrow the memory too.
            let position = walker.away.as_ref().unwrap_or(&walker.start);
            let here = gradients.next().unwrap_or_default();
            let memory = &mut walker.memory;
            for (number, _) in position.check.flips.iter().enumerate() {
                let there = gradients.next().unwrap_or_default();
                if walker.away.is_none() {
                    let mut weights = Vec::with_capacity(self.domain.free().len());
                    weigh(self.domain, &position.row, here, there, &mut weights);
                    memory.start.push(weights);
                } else if number == 0 {
                    weigh(self.domain, &position.row, here, there, &mut memory.away);
                    memory.away_row.clone_from(&position.row);
                }
            }
        }
        Ok(())
    }

    fn is_stale(&self, walker: &LocalWalker<AdfMemory>) -> bool {
        match &walker.away {
            Some(position) => walker.memory.away_row != position.row,
            None => walker.memory.start.is_empty(),
        }
    }
}
