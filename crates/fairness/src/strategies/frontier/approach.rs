//! The global phase of `frontier`: from a seed to a place where the boundary passes between two of its
//! variants.
//!
//! The two variants with the largest and the smallest value are followed. Where the model gives
//! gradients, the next input is that of the greedy changes, one attribute at a time, by which the
//! predicted clearance grows by more than [`CAUTION`] times what they vary the values by: it lies
//! where the boundary is predicted between both. As soon as the middle of the two values has been on
//! either side of 0, the next input is on the line between the two places, as far as its values say
//! (regula falsi, a third of the way at least), and costs no gradient: on every such path x and x'
//! cross the boundary, and those between the crossings are told apart. Gradients are computed once
//! of each best place. Where they lead to no other input, or there are none, places on the other
//! side are drawn around the best one so far.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::Frontier;
use super::measure::{Measure, Place, Slopes};
use super::tried::Tried;
use crate::strategy::GlobalStep;
use probity_nn::ModelError;
use probity_nn::decision::Decision;
use probity_run::stream::{Purpose, Words, stream};

/// The clearance that a change must win, as a multiple of what it varies the values by: far changes
/// are predicted badly.
pub(crate) const CAUTION: f32 = 0.7;

/// Largest number of changes between two checks.
pub(crate) const CHANGES: usize = 16;

/// The least part of the way between two places that is gone.
const LEAST_PART: f32 = 0.3;

/// Number of random changes of an input that was checked already, until it is another one.
const SHIFTS: u32 = 50;

/// The knowledge about the way of a seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Approach {
    /// The decision that was made at first, and that on the other side.
    decided: Option<[u32; 2]>,
    /// The last place before the boundary.
    above: Option<Place>,
    /// The last place behind the boundary.
    below: Option<Place>,
    /// The place that came nearest to the boundary.
    best: Option<Place>,
    /// Whether the gradients there have led to an input.
    is_solved: bool,
    tried: Tried,
}

impl Approach {
    /// Whether this can be of `frontier`'s domain and model.
    pub(super) fn is_of(&self, frontier: &Frontier<'_>) -> bool {
        let places = [&self.above, &self.below, &self.best];
        let mut places = places.into_iter().flatten();
        places.all(|place| place.is_of(frontier.domain, frontier.model.classes()))
            && (self.decided.iter().flatten()).all(|&decided| frontier.is_decision(decided))
    }
}

impl Frontier<'_> {
    /// Sets the next input of every seed.
    pub(super) fn approach(
        &self,
        steps: &mut [GlobalStep<'_, super::FrontierMemory>],
    ) -> Result<(), ModelError> {
        let decision = self.model.decision();
        let mut to_solve = Vec::new();
        for (number, step) in steps.iter_mut().enumerate() {
            self.note(step);
            let next = self.between(step);
            if let Some(row) = next {
                *step.row = row;
            } else if self.gradients.is_some() && !step.memory.approach.is_solved {
                to_solve.push(number);
            } else {
                *step.row = self.drawn(step);
            }
        }
        if let Some(model) = self.gradients {
            let places = to_solve.iter().filter_map(|&number| {
                let approach = &steps[number].memory.approach;
                let decided = approach.decided?;
                Some((approach.best.as_ref()?, Measure { decision, decided }))
            });
            let places: Vec<_> = places.collect();
            let slopes = Slopes::at(model, self.domain, &places)?;
            let solved = places.iter().zip(&slopes);
            let rows: Vec<Vec<i32>> = solved
                .map(|((place, measure), slopes)| self.solved(place, *measure, slopes))
                .collect();
            for (number, row) in to_solve.into_iter().zip(rows) {
                let step = &mut steps[number];
                let approach = &mut step.memory.approach;
                approach.is_solved = true;
                *step.row = match approach.tried.has(self.fingerprints.fingerprint(&row)) {
                    true => self.drawn(step),
                    false => row,
                };
            }
        }
        for step in steps {
            self.make_new(step);
        }
        Ok(())
    }

    /// Takes the check at the position of a seed into the knowledge about its way.
    fn note(&self, step: &mut GlobalStep<'_, super::FrontierMemory>) {
        let decision = self.model.decision();
        let sides = Measure::near(decision, step.row, &step.check.checked.logits).decided;
        let approach = &mut step.memory.approach;
        let is_another = |of: &[u32; 2]| !of.contains(&sides[0]);
        if approach.decided.as_ref().is_none_or(is_another) {
            let tried = std::mem::take(&mut approach.tried);
            *approach = Approach {
                decided: Some(sides),
                tried,
                ..Approach::default()
            };
        }
        let Some(decided) = approach.decided else {
            return;
        };
        let measure = Measure { decision, decided };
        let place = measure.widest(self.domain, step.row, &step.check.variant_logits);
        approach.tried.add(self.fingerprints.fingerprint(step.row));
        // How far it is for how far apart both values are.
        let distance = |place: &Place| {
            let [value, other] = place.values;
            let apart = (value - other).abs() + LEAST_PART * place.middle().abs();
            -measure.clearance(place.values) / apart.max(f32::MIN_POSITIVE)
        };
        let best = approach.best.as_ref();
        if best.is_none_or(|best| distance(&place) < distance(best)) {
            approach.best = Some(place.clone());
            approach.is_solved = false;
        }
        match place.middle() > 0.0 {
            _ if matches!(decision, Decision::Gap(_)) => {}
            true => approach.above = Some(place),
            false => approach.below = Some(place),
        }
    }

    /// An input on the line between two places on either side of the boundary that was not checked.
    fn between(&self, step: &GlobalStep<'_, super::FrontierMemory>) -> Option<Vec<i32>> {
        let approach = &step.memory.approach;
        let (above, below) = (approach.above.as_ref()?, approach.below.as_ref()?);
        let part = above.middle() / (above.middle() - below.middle());
        // Not a number where both are infinite: then the least part, which `clamp` would not give.
        #[allow(clippy::manual_clamp)]
        let part = part.max(LEAST_PART).min(1.0 - LEAST_PART);
        let thresholds = Words::new(self.seed, Purpose::GlobalMove, &[step.id]);
        let mut row = above.row.clone();
        for &attribute in self.domain.free() {
            let (from, to) = (row[attribute], below.row[attribute]);
            if self.domain.spans()[attribute].encoding.is_scaled() {
                let way = f64::from(part) * (f64::from(to) - f64::from(from));
                row[attribute] = self
                    .domain
                    .clip(attribute, i64::from(from) + way.round() as i64);
            } else if unit(thresholds.word(attribute as u64)) < part {
                // A level changes at a place of its own on the line.
                row[attribute] = to;
            }
        }
        let is_new = !approach.tried.has(self.fingerprints.fingerprint(&row));
        is_new.then_some(row)
    }

    /// An input whose attributes are each that of the best place or uniform.
    fn drawn(&self, step: &mut GlobalStep<'_, super::FrontierMemory>) -> Vec<i32> {
        let approach = &mut step.memory.approach;
        // What lies between these two was checked.
        (approach.above, approach.below) = (None, None);
        if let Some(best) = &approach.best {
            match best.middle() > 0.0 {
                true => approach.above = Some(best.clone()),
                false => approach.below = Some(best.clone()),
            }
        }
        let iteration = u64::from(step.iteration);
        let mut stream = stream(self.seed, Purpose::RandomInput, step.id, iteration);
        let mut row = self.domain.uniform(&mut stream);
        let from = approach.best.as_ref().map_or(&*step.row, |best| &best.row);
        for (code, &own) in row.iter_mut().zip(from) {
            if stream.random::<bool>() {
                *code = own;
            }
        }
        for &attribute in self.domain.protected() {
            row[attribute] = step.row[attribute];
        }
        row
    }

    /// The input that greedy changes of `place` lead to.
    fn solved(&self, place: &Place, measure: Measure<'_>, slopes: &Slopes) -> Vec<i32> {
        let mut row = place.row.clone();
        let mut values = place.values;
        let mut varied = 0.0;
        let vary = |attribute: usize, to: i32| {
            let span = &self.domain.spans()[attribute];
            let effect = slopes.effect(span, place.row[attribute], to);
            effect[0].abs().max(effect[1].abs())
        };
        let mut worth = measure.clearance(values);
        for _ in 0..CHANGES {
            let mut best = None;
            for &attribute in self.domain.free() {
                let span = &self.domain.spans()[attribute];
                let from = row[attribute];
                let varied_without = varied - vary(attribute, from);
                self.each_code(attribute, from, |to| {
                    let effect = slopes.effect(span, from, to);
                    let values = [values[0] + effect[0], values[1] + effect[1]];
                    let varied = varied_without + vary(attribute, to);
                    let of = measure.clearance(values) - CAUTION * varied;
                    if of > worth {
                        worth = of;
                        best = Some((attribute, to, values, varied));
                    }
                });
            }
            let Some((attribute, to, after, all)) = best else {
                break;
            };
            (row[attribute], values, varied) = (to, after, all);
        }
        row
    }

    /// Calls `visit` with codes other than `from`: steps of doubling size, or every level.
    fn each_code(&self, attribute: usize, from: i32, mut visit: impl FnMut(i32)) {
        let span = &self.domain.spans()[attribute];
        if !span.encoding.is_scaled() {
            let levels = span.min..span.min + span.levels as i32;
            levels.filter(|&to| to != from).for_each(visit);
            return;
        }
        let mut size = i64::from(self.step_global.max(1));
        while size < span.levels as i64 {
            for step in [-size, size] {
                let to = i64::from(from) + step;
                if i64::from(self.domain.clip(attribute, to)) == to {
                    visit(to as i32);
                }
            }
            size *= 2;
        }
    }

    /// Moves the input of a seed on, by random steps, until it was not checked.
    fn make_new(&self, step: &mut GlobalStep<'_, super::FrontierMemory>) {
        let tried = &step.memory.approach.tried;
        let iteration = u64::from(step.iteration);
        let mut stream = stream(self.seed, Purpose::GlobalMove, step.id, iteration);
        let free = self.domain.free();
        for shift in 0..SHIFTS {
            if !tried.has(self.fingerprints.fingerprint(step.row)) {
                return;
            }
            let attribute = free[stream.random_range(0..free.len())];
            let size = self
                .step_global
                .saturating_mul(1 + stream.random_range(0..=shift));
            let code = step.row[attribute];
            step.row[attribute] = self.domain.random_step(attribute, code, size, &mut stream);
        }
    }
}

/// A number in [0, 1) of random bits.
pub(super) fn unit(word: u64) -> f32 {
    (word >> 40) as f32 / (1 << 24) as f32
}
