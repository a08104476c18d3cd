//! The local phase of `frontier`: a walk of one start through the inputs that are told apart, by what
//! is predicted of each neighbour.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::measure::{Measure, Place};
use super::tried::Tried;
use crate::check::{BLOCK_ROWS, Logits, check_all};
use crate::rank::Rank;
use crate::strategy::{LocalWalker, Position};
use probity_nn::decision::Decision;
use probity_nn::{ModelError, Rows};
use probity_run::stream::{Purpose, Words};

/// Number of finds in a row until gradients are computed anew.
const REFRESH: u32 = 20;

/// Number of failures in a row until gradients are computed anew: one failure corrects the slopes,
/// and that is often enough.
const FAILURES: u32 = 2;

/// Number of failures in a row until the walk goes back to an earlier find.
const PATIENCE: u32 = 3;

/// Number of earlier finds that are kept to go back to.
const KEPT: usize = 16;

/// Number of attempts to find a neighbour in one trial.
const ATTEMPTS: u32 = 4;

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// Nothing is known yet, or the trial was not allowed.
    Open,
    /// The neighbour is discriminatory.
    Found,
    /// The neighbour is not discriminatory, as far as was asked.
    Failed,
}

/// A neighbour that is tried: one part of the centre is another one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Neighbour {
    pub(super) part: usize,
    pub(super) to: i32,
    pub(super) fingerprint: u64,
    pub(super) outcome: Outcome,
}

/// A walk over a ground with slopes `S`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Walk<S> {
    pub(super) decided: [u32; 2],
    /// The find whose neighbours are tried.
    pub(super) centre: Place,
    /// The knowledge about the values around the centre.
    pub(super) slopes: S,
    /// Earlier finds, the last one last.
    earlier: VecDeque<Place>,
    pub(super) tried: Tried,
    next: Option<Neighbour>,
    /// Number of finds since the gradients were computed; 0 where they are those of the centre.
    moved: u32,
    /// Number of failures since the last find.
    failed: u32,
    /// Whether the gradients at the centre are to be computed.
    is_due: bool,
    /// Whether there is nothing left to try.
    is_over: bool,
}

/// The memory of a strategy about a walker that walks.
pub(crate) trait Walker<S> {
    /// The walk of the walker, once it has begun.
    fn walk(&self) -> Option<&Walk<S>>;

    /// The walk of the walker, to be changed.
    fn walk_mut(&mut self) -> &mut Option<Walk<S>>;
}

impl<S> Walk<S> {
    /// Whether the walk can be of `ground`.
    pub(crate) fn is_of<G: Ground<Slopes = S>>(&self, ground: &G) -> bool {
        let (domain, classes) = (ground.domain(), ground.model().classes());
        let decisions = ground.model().decision().count(classes);
        let mut places = self.earlier.iter().chain([&self.centre]);
        let row = &self.centre.row;
        let is_neighbour = |next: &Neighbour| ground.is_step(row, next.part, next.to);
        places.all(|place| place.is_of(domain, classes))
            && self.earlier.len() <= KEPT
            && ground.are_slopes(&self.slopes)
            && self.decided.iter().all(|&of| (of as usize) < decisions)
            && self.next.as_ref().is_none_or(is_neighbour)
    }

    /// The variant that is expected to be told apart from the candidate.
    pub(crate) fn variant(&self) -> u32 {
        self.centre.variants[1]
    }

    /// Number of individuals tried after the start.
    #[cfg(test)]
    pub(super) fn tried_after_start(&self) -> u64 {
        Vec::<u64>::from(self.tried.clone()).len() as u64 - 1
    }

    /// Takes in the outcome of the trial: whether its neighbour was found, or `None` where none was
    /// tried or it was not allowed.
    pub(crate) fn learn(&mut self, found: Option<bool>) {
        if let Some(next) = &mut self.next {
            self.tried.add(next.fingerprint);
            next.outcome = match found {
                None => Outcome::Open,
                Some(true) => Outcome::Found,
                Some(false) => Outcome::Failed,
            };
        }
    }
}

/// The walks over a ground.
pub(crate) struct Walks<'a, G> {
    /// The ground.
    pub(crate) ground: &'a G,
    /// The rank that says which of the neighbours that are likely to be told apart come first:
    /// those that are likeliest, or those whose scores differ most.
    pub(crate) rank: Option<Rank>,
    /// Seed of the draws.
    pub(crate) seed: u64,
}

impl<G: Ground> Walks<'_, G> {
    /// Sets the candidate of every walker.
    pub(crate) fn advance<M: Walker<G::Slopes>>(
        &self,
        trial: u32,
        walkers: &mut [LocalWalker<M>],
    ) -> Result<(), ModelError> {
        self.begin(walkers)?;
        for walker in walkers.iter_mut() {
            self.settle(trial, walker);
        }
        let mut open: Vec<usize> = (0..walkers.len()).collect();
        for attempt in 0..ATTEMPTS {
            self.take_gradients(&open, walkers)?;
            let mut stuck = Vec::new();
            for number in open {
                let id = walkers[number].id;
                let Some(walk) = walkers[number].memory.walk_mut() else {
                    continue;
                };
                if walk.is_over {
                    continue;
                }
                walk.next = self.choose(id, walk)?;
                if walk.next.is_none() {
                    self.go_back(id, (trial, attempt), walk);
                    stuck.push(number);
                }
            }
            open = stuck;
        }
        for walker in walkers {
            let walk = walker.memory.walk();
            if let Some((walk, next)) = walk.and_then(|walk| Some((walk, walk.next?))) {
                walker.candidate.clone_from(&walk.centre.row);
                walker.candidate[next.part] = next.to;
            } else {
                let row = &walker.away.as_ref().unwrap_or(&walker.start).row;
                walker.candidate.clone_from(row);
            }
        }
        Ok(())
    }

    pub(super) fn measure(&self, decided: [u32; 2]) -> Measure<'_> {
        Measure {
            decision: self.ground.model().decision(),
            decided,
        }
    }

    /// Gives every walker that has none a walk. Where there are more than two variants, all of them
    /// are asked about, so that the walk is of the two that are farthest apart.
    fn begin<M: Walker<G::Slopes>>(
        &self,
        walkers: &mut [LocalWalker<M>],
    ) -> Result<(), ModelError> {
        let (model, domain) = (self.ground.model(), self.ground.domain());
        let is_new = |walker: &&mut LocalWalker<M>| walker.memory.walk().is_none();
        let mut new: Vec<_> = walkers.iter_mut().filter(is_new).collect();
        let Some(first) = new.first() else {
            return Ok(());
        };
        let variants = domain.variants(&first.start.row);
        for walkers in new.chunks_mut((BLOCK_ROWS / variants).max(1)) {
            let mut wide = Vec::new();
            if (3..=G::MOST_VARIANTS).contains(&variants) {
                let rows: Vec<i32> = walkers
                    .iter()
                    .flat_map(|walker| walker.start.row.iter().copied())
                    .collect();
                wide = check_all(model, domain, Rows::new(&rows, domain.width()))?;
            }
            let mut wide = wide.into_iter();
            for walker in walkers {
                let logits = wide.next().map(|check| check.variant_logits);
                *walker.memory.walk_mut() = self.walk_from(&walker.start, logits.as_deref());
            }
        }
        Ok(())
    }

    fn walk_from(&self, start: &Position, logits: Option<&[f32]>) -> Option<Walk<G::Slopes>> {
        let flip = start.check.flips.first()?;
        let domain = self.ground.domain();
        let measure = self.measure(flip.decided);
        let own = [domain.own_variant(&start.row) as u32, flip.variant];
        let mut centre = self.place(
            measure,
            &start.row,
            own,
            [&start.check.logits, &flip.logits],
            Vec::new(),
        );
        if let Some(logits) = logits {
            let widest = measure.widest(domain, &start.row, logits);
            let [row, other] = widest
                .variants
                .map(|variant| self.variant(&start.row, variant));
            let sides = [(&*row, &*widest.logits[0]), (&*other, &*widest.logits[1])];
            if measure.decision.contrast(sides[0], sides[1]).is_some() {
                centre = Place { row, ..widest };
            }
        }
        let mut tried = Tried::default();
        tried.add(self.ground.fingerprint(&start.row));
        Some(Walk {
            decided: flip.decided,
            centre,
            slopes: self.ground.flat(),
            earlier: VecDeque::new(),
            tried,
            next: None,
            moved: 0,
            failed: 0,
            is_due: self.ground.has_gradients(),
            is_over: false,
        })
    }

    fn variant(&self, row: &[i32], variant: u32) -> Vec<i32> {
        let mut codes = Vec::with_capacity(row.len());
        let domain = self.ground.domain();
        domain.write_variant(row, variant as usize, &mut codes);
        codes
    }

    /// The place of `row`, which is the first of `variants`; `room` is for it.
    fn place(
        &self,
        measure: Measure<'_>,
        row: &[i32],
        variants: [u32; 2],
        logits: [&[f32]; 2],
        mut room: Vec<i32>,
    ) -> Place {
        room.clear();
        room.extend_from_slice(row);
        // Few decisions look at more than logits.
        let other = match measure.decision.reads_rows() {
            true => &self.variant(row, variants[1]),
            false => row,
        };
        Place {
            row: room,
            variants,
            logits: [Logits::from_slice(logits[0]), Logits::from_slice(logits[1])],
            values: [
                measure.value(row, logits[0]),
                measure.value(other, logits[1]),
            ],
        }
    }

    /// Takes in the outcome of the last trial.
    fn settle<M: Walker<G::Slopes>>(&self, trial: u32, walker: &mut LocalWalker<M>) {
        let Some(walk) = walker.memory.walk_mut() else {
            return;
        };
        let Some(next) = walk.next.take() else {
            return;
        };
        match (next.outcome, &walker.away) {
            (Outcome::Found, Some(away)) => {
                let Some(flip) = away.check.flips.first() else {
                    return;
                };
                let measure = self.measure(walk.decided);
                let variants = [walk.centre.variants[0], flip.variant];
                let logits = [&*away.check.logits, &*flip.logits];
                let is_full = walk.earlier.len() >= KEPT;
                let oldest = is_full.then(|| walk.earlier.pop_front()).flatten();
                let room = oldest.map(|place| place.row).unwrap_or_default();
                let place = self.place(measure, &away.row, variants, logits, room);
                let change = |of: usize| place.values[of] - walk.centre.values[of];
                let changes = [change(0), change(1)];
                let step = (next.part, next.to);
                let slopes = &mut walk.slopes;
                self.ground.learn(slopes, &walk.centre.row, step, changes);
                walk.earlier
                    .push_back(std::mem::replace(&mut walk.centre, place));
                walk.failed = 0;
                walk.moved = walk.moved.saturating_add(1);
                walk.is_due = self.ground.has_gradients() && walk.moved >= REFRESH;
            }
            (Outcome::Failed, _) => {
                self.correct(walk, next);
                walk.failed = walk.failed.saturating_add(1);
                let is_stale = walk.moved > 0 && walk.failed >= FAILURES;
                walk.is_due = self.ground.has_gradients() && is_stale;
                if walk.failed >= PATIENCE && !walk.earlier.is_empty() {
                    self.go_back(walker.id, (trial, ATTEMPTS), walk);
                }
            }
            _ => {}
        }
    }

    /// Corrects the slopes after a failure: that one of both values which was predicted to be
    /// nearer to the other side is taken to have come there.
    fn correct(&self, walk: &mut Walk<G::Slopes>, next: Neighbour) {
        let row = &walk.centre.row;
        let [value, other] = walk.centre.values;
        let mut changes = self.ground.effect(&walk.slopes, row, next.part, next.to);
        match self.ground.model().decision() {
            Decision::Gap(gap) => {
                // Both come nearer to each other.
                let beyond = (value - other).abs() - gap.most as f32;
                let nearer = (beyond / 2.0).copysign(value - other);
                changes = [-nearer, nearer];
            }
            _ if value + changes[0] <= -(other + changes[1]) => changes[0] = -value,
            _ => changes[1] = -other,
        }
        let step = (next.part, next.to);
        self.ground.learn(&mut walk.slopes, row, step, changes);
    }

    /// Makes an earlier find the centre; the walk is over where there is none.
    fn go_back(&self, id: u64, (trial, attempt): (u32, u32), walk: &mut Walk<G::Slopes>) {
        if walk.moved > 0 && walk.failed < PATIENCE && self.ground.has_gradients() {
            // First the gradients here, which are those of a find some steps ago.
            walk.is_due = true;
            return;
        }
        let words = Words::new(self.seed, Purpose::LocalMove, &[id, u64::from(attempt)]);
        let place = words.below(walk.earlier.len() as u64, u64::from(trial)) as usize;
        let Some(earlier) = walk.earlier.remove(place) else {
            walk.is_over = true;
            return;
        };
        walk.centre = earlier;
        walk.failed = 0;
        walk.is_due = self.ground.has_gradients();
    }

    /// Computes the gradients of the walks of `open` that are due: one batch.
    fn take_gradients<M: Walker<G::Slopes>>(
        &self,
        open: &[usize],
        walkers: &mut [LocalWalker<M>],
    ) -> Result<(), ModelError> {
        if !self.ground.has_gradients() {
            return Ok(());
        }
        let is_due = |number: &usize| {
            let walk = walkers[*number].memory.walk();
            walk.is_some_and(|walk| walk.is_due && !walk.is_over)
        };
        let due: Vec<usize> = open.iter().copied().filter(is_due).collect();
        let places: Vec<_> = due
            .iter()
            .filter_map(|&number| walkers[number].memory.walk())
            .map(|walk| (&walk.centre, self.measure(walk.decided)))
            .collect();
        let slopes = self.ground.slopes_at(&places)?;
        for (number, slopes) in due.into_iter().zip(slopes) {
            if let Some(walk) = walkers[number].memory.walk_mut() {
                walk.slopes = slopes;
                (walk.moved, walk.is_due) = (0, false);
            }
        }
        Ok(())
    }
}
