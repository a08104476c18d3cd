//! `random-walk`: no guidance at all, in batches; what any guided search must beat.
//!
//! **Global.** From a seed of the data, every free attribute moves one step down, stays, or moves
//! one step up, each with probability 1/3 (among levels: stays with probability 1/3, else a uniform
//! other one): the moves of ADF with their direction left to chance. **Local.** One uniform free
//! attribute moves a step in a random direction.

use rand::RngExt;

use crate::domain::TabularDomain;
use crate::strategy::{GlobalStep, LocalWalker, Strategy};
use probity_nn::ModelError;
use probity_run::stream::{Purpose, stream};

/// The strategy `random-walk`.
pub struct RandomWalk<'a> {
    /// The domain of the inputs.
    pub domain: &'a TabularDomain,
    /// Codes an attribute moves in one global step.
    pub step_global: u32,
    /// Codes an attribute moves in one local step.
    pub step_local: u32,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

impl Strategy for RandomWalk<'_> {
    type Memory = ();
    type Shared = ();

    fn is_memory(&self, _memory: &(), _row: &[i32]) -> bool {
        true
    }

    fn is_learnt(&self, _shared: &()) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "random-walk"
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, ()>],
    ) -> Result<(), ModelError> {
        for walker in walkers {
            let step = u64::from(walker.iteration);
            let mut stream = stream(self.seed, Purpose::GlobalMove, walker.id, step);
            for &attribute in self.domain.free() {
                if stream.random_range(0..3) > 0 {
                    let code = walker.row[attribute];
                    walker.row[attribute] =
                        self.domain
                            .random_step(attribute, code, self.step_global, &mut stream);
                }
            }
        }
        Ok(())
    }

    fn local_moves(
        &self,
        _shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<()>],
    ) -> Result<(), ModelError> {
        let free = self.domain.free();
        for walker in walkers {
            let mut stream = stream(self.seed, Purpose::LocalMove, walker.id, u64::from(trial));
            let attribute = free[stream.random_range(0..free.len())];
            walker.step_along(self.domain, attribute, self.step_local, &mut stream);
        }
        Ok(())
    }
}
