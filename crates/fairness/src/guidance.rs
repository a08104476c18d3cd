//! Directions from gradients at an input x and at its variant x': the formulas that ADF and EIDIG
//! share.
//!
//! Attributes that the model sees as levels (one-hot or embedded) have no direction; they move to
//! the level whose first-order change of the objective, g_l − g_current, is best at both x and x'
//! (global) or to a uniform other level (local).

use rand::RngExt;

use super::domain::{Domain, TabularDomain};
use super::strategy::{GlobalStep, Position};
use probity_nn::decision::{Decision, Score};
use probity_nn::encoding::Span;
use probity_nn::{Differentiable, ModelError, Objective, Rows};
use probity_run::stream::{Purpose, Stream, stream};

/// Smallest saliency: keeps 1/saliency finite, and the choice uniform where all are zero.
pub(super) const SALIENCY_FLOOR: f32 = 1e-6;

/// Moves the walker: x ← clip(x + s_g·dir) (ADF, Algorithm 3), or one random attribute where that
/// leaves x as it was: no direction is agreed on, or every agreed one points at a wall, where the
/// walker would stay for good.
pub(super) fn descend<M>(
    domain: &TabularDomain,
    walker: &mut GlobalStep<'_, M>,
    (g, g_other): (&[f32], &[f32]),
    size: u32,
    seed: u64,
) {
    let row = &mut *walker.row;
    // A gradient that vanished says nothing; then the other one decides alone.
    let g_vanished = g.iter().all(|&value| value == 0.0);
    let other_vanished = g_other.iter().all(|&value| value == 0.0);
    let mut moved = false;
    for &attribute in domain.free() {
        let span = &domain.spans()[attribute];
        let columns = span.start..span.start + span.features();
        let (mut here, mut there) = (&g[columns.clone()], &g_other[columns]);
        if g_vanished {
            here = there;
        } else if other_vanished {
            there = here;
        }
        let code = row[attribute];
        if span.encoding.is_scaled() {
            let direction = agreed_descent(here[0], there[0]);
            if direction != 0 {
                let next = i64::from(code) + direction * i64::from(size);
                row[attribute] = domain.clip(attribute, next);
                moved |= row[attribute] != code;
            }
        } else if let Some(level) = agreed_level(span, code, here, there) {
            moved = true;
            row[attribute] = level;
        }
    }
    if !moved {
        let step = u64::from(walker.iteration);
        let mut stream = stream(seed, Purpose::GlobalMove, walker.id, step);
        let attribute = domain.free()[stream.random_range(0..domain.free().len())];
        row[attribute] = domain.random_step(attribute, row[attribute], size, &mut stream);
    }
}

/// Cumulative 1/saliency of the free attributes, saliency_a = ‖g_a‖∞ + ‖g'_a‖∞ (ADF, Algorithm 8).
pub(super) fn weigh(
    domain: &TabularDomain,
    row: &[i32],
    here: &[f32],
    there: &[f32],
    weights: &mut Vec<f32>,
) {
    weights.clear();
    let mut total = 0.0;
    for &attribute in domain.free() {
        let span = &domain.spans()[attribute];
        let columns = span.start..span.start + span.features();
        let code = row[attribute];
        let saliency =
            saliency(span, code, &here[columns.clone()]) + saliency(span, code, &there[columns]);
        total += 1.0 / saliency.max(SALIENCY_FLOOR);
        weights.push(total);
    }
}

/// The gradients of `objective` at every walker's x and at its farthest variant x', both for x's
/// class: `[walkers, 2, features]`. The numbers of a regressor have no boundary: the larger one of x
/// and x' is to grow and the other one to shrink.
///
/// # Errors
/// When the model cannot answer.
pub(super) fn pair_gradients<M>(
    model: &dyn Differentiable,
    domain: &TabularDomain,
    objective: Objective,
    walkers: &[GlobalStep<'_, M>],
) -> Result<Vec<f32>, ModelError> {
    let classes = model.classes();
    let mut codes = Vec::new();
    let mut cotangents = Vec::new();
    for walker in walkers {
        let label = walker.check.checked.label;
        let far = farthest_variant(walker, classes);
        codes.extend_from_slice(walker.row);
        let logits = &walker.check.checked.logits;
        let far_logits = &walker.check.variant_logits[far * classes..(far + 1) * classes];
        let [down, down_far] = match model.decision() {
            Decision::Gap(gap) if gap.score == Score::Number => {
                let is_larger = gap.compute_score(logits) >= gap.compute_score(far_logits);
                [u32::from(!is_larger), u32::from(is_larger)]
            }
            _ => [label; 2],
        };
        objective.cotangent(logits, down, &mut cotangents);
        domain.write_variant(walker.row, far, &mut codes);
        objective.cotangent(far_logits, down_far, &mut cotangents);
    }
    model.input_gradients(Rows::new(&codes, domain.width()), &cotangents)
}

/// The gradients of `objective` where local walkers are: at each position's x and then at its first
/// `flips` flips (or all, if there are fewer), each for its own class: rows of `features`.
///
/// # Errors
/// When the model cannot answer.
pub(super) fn flip_gradients<'p>(
    model: &dyn Differentiable,
    domain: &TabularDomain,
    objective: Objective,
    positions: impl Iterator<Item = &'p Position>,
    flips: usize,
) -> Result<Vec<f32>, ModelError> {
    let mut codes = Vec::new();
    let mut cotangents = Vec::new();
    for Position { row, check } in positions {
        codes.extend_from_slice(row);
        objective.cotangent(&check.logits, check.label, &mut cotangents);
        for flip in check.flips.iter().take(flips) {
            domain.write_variant(row, flip.variant as usize, &mut codes);
            objective.cotangent(&flip.logits, flip.label, &mut cotangents);
        }
    }
    if codes.is_empty() {
        return Ok(Vec::new());
    }
    model.input_gradients(Rows::new(&codes, domain.width()), &cotangents)
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

/// The sign that both gradients have, −1 or 1, or 0 where they differ: down the objective.
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

/// The saliency of an attribute: how much it matters to first order.
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
