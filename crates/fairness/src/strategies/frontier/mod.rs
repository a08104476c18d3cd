//! The strategy `frontier`: inputs that are told apart lie along the decision boundary; walk there,
//! by what is predicted of every neighbour, and try no individual twice.
//!
//! The strategy follows a *value* each of x and its variant x' (`measure`): the lead by which a
//! decision is made. Both are told apart where one value is above 0 and the other below it. To
//! first order the values of every neighbour follow from a gradient at x and one at x', so two
//! gradients tell of *all* neighbours how far they would be from not being told apart, their
//! *clearance*. How far such a prediction may be wrong grows with what it says the values change
//! by. Their quotient orders the neighbours; the best of them that was not tried is, with that one
//! variant which is predicted to flip: two rows. What the model then says is a secant, and corrects
//! the slopes. So gradients last for many finds.
//!
//! **Global** (`approach`): greedy changes to where the boundary is predicted to lie between x and
//! x', then regula falsi between places on either side of it.
//! **Local** (`walk`): the walk goes on from every find. Gradients are computed anew after two
//! failures in a row and after some finds; without untried neighbours or after failures in a row it goes back to an
//! earlier find.
//!
//! **Theorem.** *(a)* What is recorded is discriminatory: it has the flip that the driver saw. *(b)* A
//! walk tries no individual twice, nor its start. *(c)* What a walk does is a function of its start,
//! its number, the seed, the options and the model. *Proof.* (a) is the driver's. (b) A neighbour is
//! chosen only if its fingerprint is not among those tried; `tried` has that of every individual
//! tried, the start first. (c) Nothing else is read: `Shared` is `()`, and draws are keyed by number
//! and trial, or number and individual. ∎ So a run can be cut into shards, and its walks do not know
//! of each other; that two try the same individual is possible, and rare where the domain is large:
//! docs/strategies.md says how rare.
//!
//! Without gradients (`frontier-zero-order`) slopes begin flat, and are secants and corrections only.
//!
//! The space that is walked over is a `Ground`: here a table, in [`crate::text::strategy`] texts.

mod approach;
mod choose;
mod ground;
mod measure;
#[cfg(test)]
mod tests;
mod tried;
mod walk;

use serde::{Deserialize, Serialize};

use crate::domain::{Domain, TabularDomain};
use crate::model_under_test::ModelAccess;
use crate::rank::Rank;
use crate::strategy::{Asks, GlobalStep, LocalWalker, Strategy};
use approach::Approach;
pub(crate) use approach::{CAUTION, CHANGES};
pub(crate) use ground::Ground;
use measure::Slopes;
pub(crate) use measure::{Measure, Place, gradients};
use probity_nn::{Classifier, Differentiable, ModelError};
use tried::Fingerprints;
pub(crate) use walk::{Walk, Walker, Walks};

/// The strategies `frontier` and `frontier-zero-order`.
pub struct Frontier<'a> {
    model: &'a dyn Classifier,
    gradients: Option<&'a dyn Differentiable>,
    domain: &'a TabularDomain,
    step_global: u32,
    step_local: u32,
    rank: Option<Rank>,
    seed: u64,
    fingerprints: Fingerprints,
    /// Number of features that the model sees.
    features: usize,
    /// Number of codes of the attribute that has most.
    widest: i64,
}

impl<'a> Frontier<'a> {
    /// The search of `model`, whose inputs are those of `domain`, from the seed of its draws; with
    /// gradients where `model` gives them. Attributes move by multiples of `steps`, of the global and
    /// the local phase. By the `rank` of gaps walks go where scores differ most.
    pub fn new(
        model: ModelAccess<'a>,
        domain: &'a TabularDomain,
        steps: (u32, u32),
        rank: Option<Rank>,
        seed: u64,
    ) -> Frontier<'a> {
        let spans = domain.spans().iter();
        Frontier {
            model: model.classifier(),
            gradients: match model {
                ModelAccess::Gradients(model) => Some(model),
                ModelAccess::Outputs(_) => None,
            },
            domain,
            step_global: steps.0,
            step_local: steps.1,
            rank,
            seed,
            fingerprints: Fingerprints::new(domain),
            features: spans.clone().map(|span| span.features()).sum(),
            widest: spans.map(|span| span.levels).max().unwrap_or(0) as i64,
        }
    }

    /// Whether `decided` is the number of a decision that the model can make.
    fn is_decision(&self, decided: u32) -> bool {
        let classes = self.model.classes();
        (decided as usize) < self.model.decision().count(classes)
    }
}

/// The memory of `frontier` about a walker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FrontierMemory {
    /// The memory about the global phase.
    approach: Approach,
    /// The memory about the local phase.
    walk: Option<Walk<Slopes>>,
}

impl Walker<Slopes> for FrontierMemory {
    fn walk(&self) -> Option<&Walk<Slopes>> {
        self.walk.as_ref()
    }

    fn walk_mut(&mut self) -> &mut Option<Walk<Slopes>> {
        &mut self.walk
    }
}

impl Ground for Frontier<'_> {
    type Slopes = Slopes;

    const MOST_VARIANTS: usize = 256;

    fn model(&self) -> &dyn Classifier {
        self.model
    }

    fn domain(&self) -> &dyn Domain {
        self.domain
    }

    fn has_gradients(&self) -> bool {
        self.gradients.is_some()
    }

    fn flat(&self) -> Slopes {
        Slopes::flat(self.features)
    }

    fn slopes_at(&self, places: &[(&Place, Measure<'_>)]) -> Result<Vec<Slopes>, ModelError> {
        match self.gradients {
            Some(model) => Slopes::at(model, self.domain, places),
            None => Ok(places.iter().map(|_| self.flat()).collect()),
        }
    }

    fn are_slopes(&self, slopes: &Slopes) -> bool {
        slopes.0.iter().all(|of| of.len() == self.features)
    }

    fn effect(&self, slopes: &Slopes, row: &[i32], part: usize, to: i32) -> [f32; 2] {
        slopes.effect(&self.domain.spans()[part], row[part], to)
    }

    fn learn(&self, slopes: &mut Slopes, row: &[i32], (part, to): (usize, i32), changes: [f32; 2]) {
        slopes.learn(&self.domain.spans()[part], row[part], to, changes);
    }

    /// Visits the steps of the size of a local one, then of twice, four times … that; every level
    /// at once.
    fn each_step(
        &self,
        slopes: &Slopes,
        _id: u64,
        row: &[i32],
        reach: u32,
        mut visit: impl FnMut(usize, i32, [f32; 2]),
    ) -> bool {
        let size = i64::from(self.step_local.max(1)) << reach;
        for &attribute in self.domain.free() {
            let span = &self.domain.spans()[attribute];
            let from = row[attribute];
            if span.encoding.is_scaled() {
                let slopes = slopes.of_scaled(span);
                for size in [-size, size] {
                    let to = self.domain.clip(attribute, i64::from(from) + size);
                    if to != from {
                        visit(attribute, to, slopes.map(|of| of * (to - from) as f32));
                    }
                }
            } else if reach == 0 {
                let levels = span.min..span.min + span.levels as i32;
                let others = levels.filter(|&to| to != from);
                others.for_each(|to| visit(attribute, to, slopes.effect(span, from, to)));
            }
        }
        2 * size < self.widest
    }

    fn is_step(&self, _row: &[i32], part: usize, to: i32) -> bool {
        self.domain.free().contains(&part) && self.domain.clip(part, i64::from(to)) == to
    }

    fn fingerprint(&self, row: &[i32]) -> u64 {
        self.fingerprints.fingerprint(row)
    }

    fn fingerprint_change(&self, part: usize, from: i32, to: i32) -> u64 {
        self.fingerprints.change(part, from, to)
    }
}

impl Strategy for Frontier<'_> {
    type Memory = FrontierMemory;
    type Shared = ();

    fn asks(&self) -> Asks {
        Asks::Expected
    }

    fn is_memory(&self, memory: &FrontierMemory, _row: &[i32]) -> bool {
        memory.approach.is_of(self) && memory.walk.iter().all(|walk| walk.is_of(self))
    }

    fn is_learnt(&self, _shared: &()) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        match self.gradients {
            Some(_) => "frontier",
            None => "frontier-zero-order",
        }
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, FrontierMemory>],
    ) -> Result<(), ModelError> {
        self.approach(walkers)
    }

    fn local_moves(
        &self,
        _shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<FrontierMemory>],
    ) -> Result<(), ModelError> {
        let walks = Walks {
            ground: self,
            rank: self.rank,
            seed: self.seed,
        };
        walks.advance(trial, walkers)
    }

    fn variant(&self, walker: &LocalWalker<FrontierMemory>) -> u32 {
        walker.memory.walk.as_ref().map_or(0, Walk::variant)
    }

    fn learn_local(
        &self,
        _shared: &mut (),
        walker: &mut LocalWalker<FrontierMemory>,
        found: Option<bool>,
    ) {
        if let Some(walk) = &mut walker.memory.walk {
            walk.learn(found);
        }
    }
}
