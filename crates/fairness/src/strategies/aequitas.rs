//! `aequitas-random`, `aequitas-semi` and `aequitas-fully`: random sampling, then a local search
//! whose distribution is learnt from all that was tried.
//!
//! Udeshi, Arora, Chattopadhyay: "Automated Directed Fairness Testing" (ASE 2018). **Global.**
//! Uniform random inputs; a walker draws a new one until one is discriminatory. **Local.** An
//! attribute is drawn with its probability σ_a, and moves a step down with probability v_a, else
//! up; at a wall both directions are equally likely. Then
//!
//! * *semi*: v_a grows by [`CHANGE`] when the step that was made, down, led to a discriminatory
//!   input, or the other one did not; otherwise it shrinks by as much; it stays within 0 and 1.
//! * *fully*: also σ_a grows by [`CHANGE`] when the input is discriminatory and shrinks by it
//!   otherwise, at least to 0; then σ is normalised.
//! * *random*: nothing is learnt.
//!
//! One distribution serves all walkers. In the published tool they walk one after another; here all
//! trials of a round use the distribution as it was at its beginning, and are learnt from in the
//! order of the seeds.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::themis::{random_input, random_seeds};
use crate::domain::TabularDomain;
use crate::strategy::{GlobalStep, LocalWalker, Strategy};
use probity_nn::ModelError;
use probity_run::stream::{Purpose, stream};

/// Change of a probability after one trial, as in the published tool.
pub const CHANGE: f64 = 0.001;

/// The choices that the local phase learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directed {
    /// The local phase learns nothing.
    Random,
    /// The local phase learns in which direction to change an attribute.
    Semi,
    /// The local phase also learns which attribute to change.
    Fully,
}

/// The strategies `aequitas-random`, `aequitas-semi` and `aequitas-fully`.
pub struct Aequitas<'a> {
    /// The choices that are learnt.
    pub directed: Directed,
    /// The domain of the inputs.
    pub domain: &'a TabularDomain,
    /// Codes an attribute moves in one local step.
    pub step_local: u32,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

/// The distribution of local steps; empty until something was learnt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepDistribution {
    /// σ: probability of each free attribute.
    attributes: Vec<f64>,
    /// v: probability that each free attribute moves down.
    down: Vec<f64>,
}

/// The last step of a walker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LastStep {
    /// Place of the attribute among the free ones.
    attribute: usize,
    is_down: bool,
}

impl Strategy for Aequitas<'_> {
    type Memory = LastStep;
    type Shared = StepDistribution;

    fn learns(&self) -> bool {
        self.directed != Directed::Random
    }

    fn is_memory(&self, memory: &LastStep, _row: &[i32]) -> bool {
        memory.attribute < self.domain.free().len()
    }

    fn is_learnt(&self, shared: &StepDistribution) -> bool {
        let free = self.domain.free().len();
        let are_probabilities = |values: &[f64]| {
            let all = values.iter().all(|value| (0.0..=1.0).contains(value));
            all && (values.is_empty() || values.len() == free)
        };
        are_probabilities(&shared.attributes) && are_probabilities(&shared.down)
    }

    fn name(&self) -> &'static str {
        match self.directed {
            Directed::Random => "aequitas-random",
            Directed::Semi => "aequitas-semi",
            Directed::Fully => "aequitas-fully",
        }
    }

    fn own_seeds(&self, count: usize) -> Option<Vec<Vec<i32>>> {
        Some(random_seeds(self.domain, self.seed, count))
    }

    fn global_moves(
        &self,
        _shared: &StepDistribution,
        walkers: &mut [GlobalStep<'_, LastStep>],
    ) -> Result<(), ModelError> {
        for walker in walkers {
            *walker.row = random_input(self.domain, self.seed, walker.id, walker.iteration + 1);
        }
        Ok(())
    }

    fn local_moves(
        &self,
        shared: &StepDistribution,
        trial: u32,
        walkers: &mut [LocalWalker<LastStep>],
    ) -> Result<(), ModelError> {
        let free = self.domain.free();
        for walker in walkers {
            let mut stream = stream(self.seed, Purpose::LocalMove, walker.id, u64::from(trial));
            let row = &walker.away.as_ref().unwrap_or(&walker.start).row;
            let place = shared.draw_attribute(free.len(), stream.random());
            let attribute = free[place];
            let code = row[attribute];
            let span = &self.domain.spans()[attribute];
            walker.candidate.clone_from(row);
            let down = match shared.down.get(place) {
                Some(&down) if !self.is_at_wall(attribute, code) => down,
                _ => 0.5,
            };
            let is_down = stream.random::<f64>() < down;
            walker.candidate[attribute] = if span.encoding.is_scaled() {
                let size = i64::from(self.step_local);
                let step = if is_down { -size } else { size };
                self.domain.clip(attribute, i64::from(code) + step)
            } else {
                self.domain.other_level(attribute, code, &mut stream)
            };
            walker.memory = LastStep {
                attribute: place,
                is_down,
            };
        }
        Ok(())
    }

    fn learn_local(
        &self,
        shared: &mut StepDistribution,
        walker: &mut LocalWalker<LastStep>,
        found: Option<bool>,
    ) {
        // A step against a wall leaves a discriminatory input.
        let found = found.unwrap_or(true);
        if self.directed == Directed::Random {
            return;
        }
        let count = self.domain.free().len();
        if shared.down.is_empty() {
            shared.down = vec![0.5; count];
        }
        let LastStep { attribute, is_down } = walker.memory;
        let change = if found == is_down { CHANGE } else { -CHANGE };
        shared.down[attribute] = (shared.down[attribute] + change).clamp(0.0, 1.0);
        if self.directed == Directed::Semi {
            return;
        }
        if shared.attributes.is_empty() {
            shared.attributes = vec![1.0 / count as f64; count];
        }
        let change = if found { CHANGE } else { -CHANGE };
        shared.attributes[attribute] = (shared.attributes[attribute] + change).max(0.0);
        let total: f64 = shared.attributes.iter().sum();
        if total > 0.0 {
            shared
                .attributes
                .iter_mut()
                .for_each(|value| *value /= total);
        } else {
            shared.attributes = Vec::new();
        }
    }
}

impl Aequitas<'_> {
    fn is_at_wall(&self, attribute: usize, code: i32) -> bool {
        let span = &self.domain.spans()[attribute];
        code == span.min || i64::from(code) == i64::from(span.min) + span.levels as i64 - 1
    }
}

impl StepDistribution {
    /// Place of the attribute at `point`, uniform in [0, 1).
    fn draw_attribute(&self, count: usize, point: f64) -> usize {
        if self.attributes.is_empty() {
            return ((point * count as f64) as usize).min(count - 1);
        }
        let mut left = point;
        let place = self.attributes.iter().position(|probability| {
            left -= probability;
            left < 0.0
        });
        // Rounding may leave a point beyond the sum.
        let last = || self.attributes.iter().rposition(|&p| p > 0.0);
        place.or_else(last).unwrap_or(count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_drawn_by_their_probabilities() {
        let distribution = StepDistribution {
            attributes: vec![0.25, 0.0, 0.75],
            down: Vec::new(),
        };
        let mut counts = [0; 3];
        for step in 0..1000 {
            counts[distribution.draw_attribute(3, f64::from(step) / 1000.0)] += 1;
        }
        assert_eq!(counts, [250, 0, 750]);
        assert_eq!(distribution.draw_attribute(3, 1.0), 2);
        let uniform = StepDistribution::default();
        assert_eq!(uniform.draw_attribute(4, 0.0), 0);
        assert_eq!(uniform.draw_attribute(4, 0.999), 3);
    }
}
