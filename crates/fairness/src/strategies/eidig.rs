//! `eidig`: ADF with momentum, and with gradients that serve for several steps.
//!
//! Zhang, Zhang, Zhang: "Efficient White-Box Fairness Testing through Gradient Search" (ISSTA
//! 2021). **Global.** The gradients at x and x' are added to [`DECAY`] times their sums so far, and
//! the signs of the sums decide. **Local.** The probabilities of the attributes are computed at the
//! start and used again; after `refresh` steps in a row that stayed discriminatory they are
//! computed anew where the walker is. A failure leads back to the start and to its probabilities.
//! x' is the variant whose output differs most at a start, and the flip that was found elsewhere.
//!
//! The published tool differentiates the output probability, which spares the loss's backward pass;
//! here the user's objective is differentiated, the logit margin unless it is named.

use serde::{Deserialize, Serialize};

use crate::adf::Adf;
use crate::guidance::{draw, weigh};
use crate::strategy::{GlobalStep, LocalWalker, Strategy};
use probity_nn::ModelError;

/// The part of a gradient that remains after a step, as in the paper's experiments.
pub const DECAY: f32 = 0.5;

/// The strategy `eidig`.
pub struct Eidig<'a> {
    /// The strategy ADF that EIDIG is made of, with its sizes of steps.
    pub adf: Adf<'a>,
    /// Successful local steps after which the gradient is computed anew; 0: never.
    pub refresh: u32,
}

/// The memory of EIDIG about a walker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EidigMemory {
    /// Sums of the gradients at x, then at x' (global phase).
    momentum: Vec<f32>,
    /// Cumulative weights of the free attributes at the start (local phase).
    at_start: Vec<f32>,
    /// Cumulative weights where they were computed last since the start, if they were.
    away: Option<Vec<f32>>,
    /// Number of successful steps in a row since then.
    successes: u32,
}

impl Strategy for Eidig<'_> {
    type Memory = EidigMemory;
    type Shared = ();

    fn is_memory(&self, memory: &EidigMemory, _row: &[i32]) -> bool {
        let free = self.adf.domain.free().len();
        let EidigMemory {
            momentum,
            at_start,
            away,
            successes,
        } = memory;
        let is_sum = momentum.is_empty() || momentum.len() == 2 * self.adf.model.features();
        is_sum
            && (at_start.is_empty() || at_start.len() == free)
            && away.as_ref().is_none_or(|away| away.len() == free)
            && *successes < u32::MAX / 2
    }

    fn is_learnt(&self, _shared: &()) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "eidig"
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, EidigMemory>],
    ) -> Result<(), ModelError> {
        let gradients = self.adf.pair_gradients(walkers)?;
        let features = self.adf.model.features();
        for (walker, pair) in walkers.iter_mut().zip(gradients.chunks_exact(2 * features)) {
            let mut momentum = std::mem::take(&mut walker.memory.momentum);
            momentum.resize(2 * features, 0.0);
            for (sum, gradient) in momentum.iter_mut().zip(pair) {
                *sum = DECAY * *sum + gradient;
            }
            self.adf.descend(walker, momentum.split_at(features));
            walker.memory.momentum = momentum;
        }
        Ok(())
    }

    fn local_moves(
        &self,
        _shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<EidigMemory>],
    ) -> Result<(), ModelError> {
        self.refresh_due(walkers)?;
        for walker in walkers {
            let weights = walker.memory.away.as_ref();
            let weights = weights.unwrap_or(&walker.memory.at_start);
            let (adf, mut stream) = (&self.adf, self.adf.local_stream(walker.id, trial));
            let attribute = adf.domain.free()[draw(weights, &mut stream)];
            walker.step_along(adf.domain, attribute, adf.step_local, &mut stream);
        }
        Ok(())
    }

    fn learn_local(
        &self,
        _shared: &mut (),
        walker: &mut LocalWalker<EidigMemory>,
        found: Option<bool>,
    ) {
        match found {
            Some(false) => {
                walker.memory.away = None;
                walker.memory.successes = 0;
            }
            _ => walker.memory.successes += 1,
        }
    }
}

impl Eidig<'_> {
    fn is_due(&self, walker: &LocalWalker<EidigMemory>) -> bool {
        let memory = &walker.memory;
        let is_worn = self.refresh > 0 && memory.successes >= self.refresh;
        memory.at_start.is_empty() || (is_worn && walker.away.is_some())
    }

    /// Computes the weights of every walker that has none or has worn them: one batch of gradients
    /// at x and x'.
    fn refresh_due(&self, walkers: &mut [LocalWalker<EidigMemory>]) -> Result<(), ModelError> {
        let due = walkers.iter().filter(|walker| self.is_due(walker));
        let positions = due.map(LocalWalker::position);
        // The global phase has put the flip that differs most first.
        let gradients = self.adf.flip_gradients(positions, 1)?;
        let mut gradients = gradients.chunks_exact(self.adf.model.features());
        for walker in walkers.iter_mut() {
            if !self.is_due(walker) {
                continue;
            }
            let position = walker.position();
            let here = gradients.next().unwrap_or_default();
            let there = match position.check.flips.first() {
                Some(_) => gradients.next().unwrap_or_default(),
                None => here,
            };
            let mut weights = Vec::with_capacity(self.adf.domain.free().len());
            weigh(self.adf.domain, &position.row, here, there, &mut weights);
            walker.memory.successes = 0;
            match &walker.away {
                Some(_) if !walker.memory.at_start.is_empty() => {
                    walker.memory.away = Some(weights);
                }
                _ => walker.memory.at_start = weights,
            }
        }
        Ok(())
    }
}
