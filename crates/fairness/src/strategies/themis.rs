//! `themis`: uniform random inputs until their discriminatory share is known well enough.
//!
//! Galhotra, Brun, Meliou: "Fairness Testing: Testing Software for Discrimination" (ESEC/FSE 2017).
//! The causal discrimination score of a protected set is the share of inputs that are
//! discriminatory. Inputs are drawn until the interval of the score at the given confidence is
//! within the error bound, at least [`MIN_SAMPLES`]. There is no local phase.
//!
//! The published tool takes the normal approximation of the interval, which is empty, and ends the
//! search, where nothing was found yet; here it is Clopper and Pearson's. As in the published tool
//! the rule is applied again and again (here after each round), so the confidence is that of one
//! look, not of the whole sequence.

use serde::{Deserialize, Serialize};

use crate::domain::TabularDomain;
use crate::statistics::clopper_pearson;
use crate::strategy::{AfterFind, CausalDiscrimination, GlobalStep, LocalWalker, Strategy};
use probity_nn::ModelError;
use probity_run::stream::{Purpose, stream};

/// Inputs drawn before the stopping rule is asked, as in the published tool.
pub const MIN_SAMPLES: u64 = 1000;

/// The strategy `themis`.
pub struct Themis<'a> {
    /// The domain of the inputs.
    pub domain: &'a TabularDomain,
    /// Confidence of the interval, above 0 and below 1.
    pub confidence: f64,
    /// Half the width that the interval may have at most.
    pub error_bound: f64,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

/// The counts of what was drawn so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    sampled: u64,
    discriminatory: u64,
}

impl Strategy for Themis<'_> {
    type Memory = ();
    type Shared = Drawn;

    const AFTER_FIND: AfterFind = AfterFind::GoOn;
    const HAS_LOCAL_PHASE: bool = false;

    fn is_memory(&self, _memory: &(), _row: &[i32]) -> bool {
        true
    }

    fn is_learnt(&self, shared: &Drawn) -> bool {
        // Numbers up to there are f64s.
        shared.discriminatory <= shared.sampled && shared.sampled < 1 << 53
    }

    fn name(&self) -> &'static str {
        "themis"
    }

    fn own_seeds(&self, count: usize) -> Option<Vec<Vec<i32>>> {
        Some(random_seeds(self.domain, self.seed, count))
    }

    /// No limit on the moves: the stopping rule alone ends the search.
    fn max_moves(&self, _max_iter: u32) -> u32 {
        u32::MAX
    }

    fn global_moves(
        &self,
        _shared: &Drawn,
        walkers: &mut [GlobalStep<'_, ()>],
    ) -> Result<(), ModelError> {
        for walker in walkers {
            *walker.row = random_input(self.domain, self.seed, walker.id, walker.iteration + 1);
        }
        Ok(())
    }

    fn learn_global(&self, shared: &mut Drawn, _memory: &mut (), found: bool) {
        shared.sampled += 1;
        shared.discriminatory += u64::from(found);
    }

    fn is_satisfied(&self, shared: &Drawn) -> bool {
        shared.sampled >= MIN_SAMPLES && half_width(self.interval(shared)) <= self.error_bound
    }

    fn local_moves(
        &self,
        _shared: &Drawn,
        _trial: u32,
        _walkers: &mut [LocalWalker<()>],
    ) -> Result<(), ModelError> {
        Ok(())
    }

    fn causal_discrimination(&self, shared: &Drawn) -> Option<CausalDiscrimination> {
        let interval = self.interval(shared);
        Some(CausalDiscrimination {
            sampled: shared.sampled,
            discriminatory: shared.discriminatory,
            score: shared.discriminatory as f64 / shared.sampled.max(1) as f64,
            interval,
            confidence: self.confidence,
            error_bound: self.error_bound,
            is_reached: shared.sampled > 0 && half_width(interval) <= self.error_bound,
        })
    }
}

impl Themis<'_> {
    fn interval(&self, drawn: &Drawn) -> [f64; 2] {
        if drawn.sampled == 0 {
            return [0.0, 1.0];
        }
        clopper_pearson(drawn.discriminatory, drawn.sampled, 1.0 - self.confidence)
    }
}

fn half_width([low, high]: [f64; 2]) -> f64 {
    (high - low) / 2.0
}

/// Returns `count` uniform random inputs, one for each walker.
pub(super) fn random_seeds(domain: &TabularDomain, seed: u64, count: usize) -> Vec<Vec<i32>> {
    (0..count as u64)
        .map(|walker| random_input(domain, seed, walker, 0))
        .collect()
}

/// The `draw`-th uniform random input of a walker.
pub(super) fn random_input(domain: &TabularDomain, seed: u64, walker: u64, draw: u32) -> Vec<i32> {
    domain.uniform(&mut stream(
        seed,
        Purpose::RandomInput,
        walker,
        u64::from(draw),
    ))
}
