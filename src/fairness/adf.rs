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
//!
//! Attributes that the model sees as levels (one-hot or embedded) have no direction; they move to
//! the level whose first-order change of the objective, g_l − g_current, is best at both x and x'
//! (global) or to a uniform other level (local).

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::domain::{Domain, TabularDomain};
use super::strategy::{GlobalStep, LocalWalker, Strategy};
use crate::nn::encoding::Span;
use crate::nn::{Differentiable, ModelError, Objective, Rows};
use crate::stream::{Purpose, Stream, stream};

/// Smallest saliency: keeps 1/saliency finite, and the choice uniform where all are zero.
pub(super) const SALIENCY_FLOOR: f32 = 1e-6;

/// The strategy `adf`.
pub struct Adf<'a> {
    /// The model under audit.
    pub model: &'a dyn Differentiable,
    /// Its inputs.
    pub domain: &'a TabularDomain,
    /// What is differentiated.
    pub objective: Objective,
    /// s_g: codes an attribute moves in one global step.
    pub step_global: u32,
    /// s_l: codes an attribute moves in one local step.
    pub step_local: u32,
    /// Seed of its random choices.
    pub seed: u64,
}

/// What ADF remembers of a local walker: how to draw an attribute at its positions. Only a cache,
/// so it is not part of a checkpoint.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AdfMemory {
    /// For each flip of the start, cumulative weights of the free attributes.
    #[serde(skip)]
    start: Vec<Vec<f32>>,
    /// The same at the position away from the start.
    #[serde(skip)]
    away: Vec<f32>,
    /// The position that `away` belongs to.
    #[serde(skip)]
    away_row: Vec<i32>,
}

impl Strategy for Adf<'_> {
    type Memory = AdfMemory;
    type Shared = ();

    fn name(&self) -> &'static str {
        "adf"
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, AdfMemory>],
    ) -> Result<(), ModelError> {
        let classes = self.model.classes();
        let mut codes = Vec::new();
        let mut cotangents = Vec::new();
        for walker in walkers.iter() {
            let label = walker.check.checked.label;
            let far = farthest_variant(walker, classes);
            codes.extend_from_slice(walker.row);
            self.objective
                .cotangent(&walker.check.checked.logits, label, &mut cotangents);
            self.domain.write_variant(walker.row, far, &mut codes);
            let far_logits = &walker.check.variant_logits[far * classes..(far + 1) * classes];
            self.objective.cotangent(far_logits, label, &mut cotangents);
        }
        let rows = Rows::new(&codes, self.domain.width());
        let gradients = self.model.input_gradients(rows, &cotangents)?;
        for (walker, pair) in walkers
            .iter_mut()
            .zip(gradients.chunks_exact(2 * self.model.features()))
        {
            let (g, g_other) = pair.split_at(self.model.features());
            self.global_move(walker, g, g_other);
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
            let mut stream = stream(self.seed, Purpose::LocalMove, walker.id, u64::from(trial));
            let weights = match &walker.away {
                Some(_) => &walker.memory.away,
                None => {
                    let flips = &walker.memory.start;
                    &flips[stream.random_range(0..flips.len())]
                }
            };
            let attribute = self.domain.free()[draw(weights, &mut stream)];
            let row = &walker.away.as_ref().unwrap_or(&walker.start).row;
            walker.candidate.clone_from(row);
            walker.candidate[attribute] =
                self.domain
                    .random_step(attribute, row[attribute], self.step_local, &mut stream);
        }
        Ok(())
    }
}

impl Adf<'_> {
    /// x ← clip(x + s_g·dir), or one random attribute where that leaves x as it was: no direction is
    /// agreed on, or every agreed one points at a wall, where the walker would stay for good.
    fn global_move(&self, walker: &mut GlobalStep<'_, AdfMemory>, g: &[f32], g_other: &[f32]) {
        // A gradient that vanished says nothing; then the other one decides alone.
        let g_vanished = g.iter().all(|&value| value == 0.0);
        let other_vanished = g_other.iter().all(|&value| value == 0.0);
        let mut moved = false;
        for &attribute in self.domain.free() {
            let span = &self.domain.spans()[attribute];
            let columns = span.start..span.start + span.features();
            let (mut here, mut there) = (&g[columns.clone()], &g_other[columns]);
            if g_vanished {
                here = there;
            } else if other_vanished {
                there = here;
            }
            let code = walker.row[attribute];
            if span.encoding.is_scaled() {
                let direction = agreed_descent(here[0], there[0]);
                if direction != 0 {
                    let next = i64::from(code) + direction * i64::from(self.step_global);
                    walker.row[attribute] = self.domain.clip(attribute, next);
                    moved |= walker.row[attribute] != code;
                }
            } else if let Some(level) = agreed_level(span, code, here, there) {
                moved = true;
                walker.row[attribute] = level;
            }
        }
        if !moved {
            let mut stream = stream(
                self.seed,
                Purpose::GlobalMove,
                walker.id,
                u64::from(walker.iteration),
            );
            let free = self.domain.free();
            let attribute = free[stream.random_range(0..free.len())];
            walker.row[attribute] = self.domain.random_step(
                attribute,
                walker.row[attribute],
                self.step_global,
                &mut stream,
            );
        }
    }

    /// Computes the weights of every walker whose position is new to its memory: one batch of
    /// gradients at x and x'.
    fn refresh(&self, walkers: &mut [LocalWalker<AdfMemory>]) -> Result<(), ModelError> {
        let mut codes = Vec::new();
        let mut cotangents = Vec::new();
        for walker in walkers.iter() {
            if !self.is_stale(walker) {
                continue;
            }
            let position = walker.position();
            let check = &position.check;
            codes.extend_from_slice(&position.row);
            self.objective
                .cotangent(&check.logits, check.label, &mut cotangents);
            for flip in &check.flips {
                self.domain
                    .write_variant(&position.row, flip.variant as usize, &mut codes);
                self.objective
                    .cotangent(&flip.logits, flip.label, &mut cotangents);
            }
        }
        if codes.is_empty() {
            return Ok(());
        }
        let rows = Rows::new(&codes, self.domain.width());
        let gradients = self.model.input_gradients(rows, &cotangents)?;
        let mut gradients = gradients.chunks_exact(self.model.features());
        for walker in walkers.iter_mut() {
            if !self.is_stale(walker) {
                continue;
            }
            let position = walker.away.as_ref().unwrap_or(&walker.start);
            let here = gradients.next().unwrap_or_default();
            let memory = &mut walker.memory;
            for (number, _) in position.check.flips.iter().enumerate() {
                let there = gradients.next().unwrap_or_default();
                if walker.away.is_none() {
                    let mut weights = Vec::with_capacity(self.domain.free().len());
                    self.weigh(&position.row, here, there, &mut weights);
                    memory.start.push(weights);
                } else if number == 0 {
                    self.weigh(&position.row, here, there, &mut memory.away);
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

    /// Cumulative 1/saliency of the free attributes, saliency_a = ‖g_a‖∞ + ‖g'_a‖∞ (Algorithm 8).
    fn weigh(&self, row: &[i32], here: &[f32], there: &[f32], weights: &mut Vec<f32>) {
        weights.clear();
        let mut total = 0.0;
        for &attribute in self.domain.free() {
            let span = &self.domain.spans()[attribute];
            let columns = span.start..span.start + span.features();
            let code = row[attribute];
            let saliency = saliency(span, code, &here[columns.clone()])
                + saliency(span, code, &there[columns]);
            total += 1.0 / saliency.max(SALIENCY_FLOOR);
            weights.push(total);
        }
    }
}

/// The variant whose logit of x's class differs most from x's; the first on ties.
pub(super) fn farthest_variant<M>(walker: &GlobalStep<'_, M>, classes: usize) -> usize {
    let label = walker.check.checked.label as usize;
    let own = walker.check.checked.logits[label];
    let mut best = (walker.check.own, -1.0);
    for (variant, logits) in walker
        .check
        .variant_logits
        .chunks_exact(classes)
        .enumerate()
    {
        let difference = (logits[label] - own).abs();
        if variant != walker.check.own && difference > best.1 {
            best = (variant, difference);
        }
    }
    best.0
}

/// −1 or 1 where both gradients have the same sign, else 0: down the objective.
fn agreed_descent(here: f32, there: f32) -> i64 {
    if here > 0.0 && there > 0.0 {
        -1
    } else if here < 0.0 && there < 0.0 {
        1
    } else {
        0
    }
}

/// The code of the level that lowers the objective at both inputs, most in total.
fn agreed_level(span: &Span, code: i32, here: &[f32], there: &[f32]) -> Option<i32> {
    let current = (code - span.min) as usize;
    let gain = |g: &[f32], level: usize| g[level] - g[current];
    (0..span.levels)
        .filter(|&level| gain(here, level) < 0.0 && gain(there, level) < 0.0)
        .min_by(|&a, &b| {
            (gain(here, a) + gain(there, a)).total_cmp(&(gain(here, b) + gain(there, b)))
        })
        .map(|level| span.min + level as i32)
}

/// How much an attribute matters to first order.
fn saliency(span: &Span, code: i32, g: &[f32]) -> f32 {
    if span.encoding.is_scaled() {
        return g[0].abs();
    }
    let current = g[(code - span.min) as usize];
    g.iter()
        .fold(0.0, |most, value| (value - current).abs().max(most))
}

/// An index drawn with the probabilities that `cumulative` weights give.
pub(super) fn draw(cumulative: &[f32], stream: &mut Stream) -> usize {
    let total = cumulative.last().copied().unwrap_or(0.0);
    let target = stream.random::<f32>() * total;
    cumulative
        .partition_point(|&weight| weight <= target)
        .min(cumulative.len() - 1)
}
