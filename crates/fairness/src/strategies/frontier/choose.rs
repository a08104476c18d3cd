//! The choice of the neighbour that a walk tries next.

use super::approach::unit;
use super::ground::Ground;
use super::measure::Measure;
use super::tried::Tried;
use super::walk::{Neighbour, Outcome, Walk, Walks};
use crate::rank::Rank;
use probity_nn::ModelError;
use probity_run::stream::{Purpose, Words};

/// ρ: the part of the difference of both values that counts as varied even where nothing changes.
const DIFFERENCE: f32 = 0.5;

/// τ: the least confidence that a neighbour is tried with.
const LEAST_CONFIDENCE: f32 = 0.05;

/// The part of a confidence that chance may take: neighbours that are about as good come in turns.
const CHANCE: f32 = 0.3;

impl<G: Ground> Walks<'_, G> {
    /// The best neighbour of the centre that may be asked about.
    pub(super) fn choose(
        &self,
        id: u64,
        walk: &mut Walk<G::Slopes>,
    ) -> Result<Option<Neighbour>, ModelError> {
        loop {
            let Some(best) = self.best(id, walk) else {
                return Ok(None);
            };
            if self
                .ground
                .allows(id, &walk.centre.row, best.part, best.to)?
            {
                return Ok(Some(best));
            }
            // It never will be.
            walk.tried.add(best.fingerprint);
        }
    }

    /// The neighbour of the centre that was not tried and is predicted to be told apart with the
    /// largest confidence: one step away, else two, four and so on. By the rank of gaps that whose
    /// scores are predicted to differ most.
    ///
    /// The confidence is the predicted clearance over what the values are predicted to change by and
    /// part of their difference. The first says how much the prediction may be wrong, the second how
    /// wrong it may be.
    fn best(&self, id: u64, walk: &Walk<G::Slopes>) -> Option<Neighbour> {
        let measure = self.measure(walk.decided);
        let [value, other] = walk.centre.values;
        let row = &walk.centre.row;
        let mut best = Best {
            walks: self,
            tried: &walk.tried,
            row,
            own: self.ground.fingerprint(row),
            chance: Words::new(self.seed, Purpose::LocalMove, &[id]),
            least: LEAST_CONFIDENCE,
            widest: 0.0,
            neighbour: None,
        };
        for reach in 0.. {
            // As little as there can be for each step: most are not the best.
            let visit = |part: usize, to: i32, effect: [f32; 2]| {
                let values = [value + effect[0], other + effect[1]];
                let clearance = measure.clearance(values);
                let varied = effect[0].abs().max(effect[1].abs());
                let doubt = varied + DIFFERENCE * (values[0] - values[1]).abs();
                // What is not a number is not above another one.
                if clearance > best.least * doubt {
                    best.consider((part, to), measure, values, [clearance, doubt]);
                }
            };
            let goes_on = self.ground.each_step(&walk.slopes, id, row, reach, visit);
            if best.neighbour.is_some() || !goes_on {
                break;
            }
        }
        best.neighbour
    }
}

/// The best neighbour of a centre that was seen so far.
struct Best<'a, G> {
    walks: &'a Walks<'a, G>,
    tried: &'a Tried,
    row: &'a [i32],
    /// The fingerprint of the centre.
    own: u64,
    chance: Words,
    /// The least confidence, which that of the best neighbour must be above.
    least: f32,
    /// The predicted distance of its scores, where that counts.
    widest: f32,
    neighbour: Option<Neighbour>,
}

impl<G: Ground> Best<'_, G> {
    /// Takes a step of that clearance and doubt, which leads to `values`, if it is better.
    #[inline(never)]
    fn consider(
        &mut self,
        (part, to): (usize, i32),
        measure: Measure<'_>,
        values: [f32; 2],
        [clearance, doubt]: [f32; 2],
    ) {
        let ground = self.walks.ground;
        let change = ground.fingerprint_change(part, self.row[part], to);
        let fingerprint = self.own.wrapping_add(change);
        let lucky = 1.0 - CHANCE * unit(self.chance.word(fingerprint));
        let confidence = lucky * clearance / doubt.max(f32::MIN_POSITIVE);
        let apart = match self.walks.rank {
            Some(Rank::Gap) => measure.apart(values),
            _ => f32::INFINITY,
        };
        if confidence > self.least && apart > self.widest && !self.tried.has(fingerprint) {
            match self.walks.rank {
                Some(Rank::Gap) => self.widest = apart,
                _ => self.least = confidence,
            }
            self.neighbour = Some(Neighbour {
                part,
                to,
                fingerprint,
                outcome: Outcome::Open,
            });
        }
    }
}
