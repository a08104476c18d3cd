//! The one search driver: lockstep rounds of any [`Strategy`] over all seeds.
//!
//! All walkers of a phase advance together, one round a step. In a round, chunks of walkers are
//! worked on in parallel (the strategy proposes, the candidates are checked); then the outcomes are
//! merged in the order of the seeds: counted, deduplicated, recorded. Nothing that a chunk computes
//! depends on the chunk, so the result depends neither on batch size nor on threads. Where walkers
//! need not wait for each other, several rounds of the local phase are merged at once (`local.rs`).
//!
//! *Global phase*: every seed is checked; while it is not discriminatory it moves, at most
//! `max_iter` times, so that a seed gets at most `max_iter + 1` checks. *Local phase*: from every
//! distinct individual found, `local` trials: a candidate is checked; the walker goes there when
//! it is discriminatory and returns to its start when it is not. A candidate that equals the
//! position (a step against a domain wall) is a trial, but neither a check nor a sample.
//!
//! The whole state is a value, [`SearchState`]: saved between rounds it is the checkpoint, and a
//! search that goes on from it ends as an uninterrupted one does.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::calls::Calls;
use super::check::{BLOCK_ROWS, Checked, Flip, Logits, check_all};
use super::distinct::Mark;
use super::domain::Domain;
use super::pace::Pace;
use super::pairs::Pair;
pub use super::search_state::{Ending, Phase, PhaseCounts, SearchCounts, SearchState};
use super::search_state::{RoundEnd, Seed};
use super::strategy::{AfterFind, GlobalStep, LocalWalker, Position, Strategy};
use probity_nn::{Classifier, ModelError, Rows};

/// Largest number of flips of a start that the local phase draws from; more would cost memory and
/// gradients and add nothing that the walk could use.
const MAX_FLIPS: usize = 256;

/// The options that say how far to search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Largest number of moves of a seed in the global phase.
    pub max_iter: u32,
    /// Number of trials from each start in the local phase.
    pub local: u32,
    /// Largest number of walkers in a chunk; has no influence on the result.
    pub batch: usize,
    /// Stop once this many distinct discriminatory individuals are found.
    pub max_found: Option<u64>,
    /// Stop before the model is asked about more than this number of rows, for outputs and
    /// gradients together.
    pub max_calls: Option<u64>,
    /// Stop at the end of the round in which this much search time is used up.
    pub time: Option<Duration>,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            max_iter: 10,
            local: 1000,
            batch: 4096,
            max_found: None,
            max_calls: None,
            time: None,
        }
    }
}

/// The state of a search by strategy `S`.
pub type StateOf<S> = SearchState<<S as Strategy>::Memory, <S as Strategy>::Shared>;

/// A search: a model, its inputs, a strategy and how far to go.
pub struct Search<'a, S: Strategy> {
    /// The model under audit.
    pub model: &'a dyn Classifier,
    /// The model on the device that verification uses, where that is another one: every pair is
    /// confirmed there before it counts.
    pub reference: Option<&'a dyn Classifier>,
    /// The domain of the model's inputs.
    pub domain: &'a dyn Domain,
    /// The strategy, which decides where to go next.
    pub strategy: &'a S,
    /// The counter of the calls of `model` and of the strategy's model, see [`super::calls`].
    pub calls: &'a Calls,
    /// The options, which say how far to search.
    pub options: &'a SearchOptions,
}

impl<S: Strategy> Search<'_, S> {
    /// Goes on from `state` until the end, a budget, or `observe` says stop. `observe` is called
    /// after every round, or after some rounds of the local phase that were worked on together:
    /// [`SearchState::ended`] says which.
    ///
    /// # Errors
    /// When the model cannot answer; `state` is then as after the last full round, so far as it has
    /// an influence on what follows, if the model [is fallible](Classifier::is_fallible).
    pub fn run(
        &self,
        state: &mut StateOf<S>,
        observe: &mut dyn FnMut(&StateOf<S>) -> ControlFlow<()>,
    ) -> Result<Ending, ModelError> {
        let mut pace = Pace::default();
        loop {
            if self.is_found_enough(state) {
                return Ok(Ending::MaxFound);
            }
            let spent = state.global.seconds + state.local.seconds;
            let is_over = |limit: Duration| spent >= limit.as_secs_f64();
            if state.phase != Phase::Done && self.options.time.is_some_and(is_over) {
                return Ok(Ending::Time);
            }
            let calls = state.global.model_calls() + state.local.model_calls();
            let left = self
                .options
                .max_calls
                .map(|most| most.saturating_sub(calls));
            self.calls.limit(left);
            state.ended.clear();
            let rounds = match state.phase {
                Phase::Global => self.global_round(state),
                Phase::Local => self.local_rounds(state, &mut pace),
                Phase::Done => return Ok(Ending::Complete),
            };
            match rounds {
                // The round did not take place.
                Err(ModelError::Spent) => return Ok(Ending::MaxCalls),
                rounds => rounds?,
            }
            state.pairs.keep_to_bound();
            for RoundEnd {
                global,
                local,
                found,
            } in &state.ended
            {
                state.trace.note(global.calls_with(local), *found);
            }
            if observe(state).is_break() && state.phase != Phase::Done {
                return Ok(Ending::Interrupted);
            }
        }
    }

    fn is_found_enough(&self, state: &StateOf<S>) -> bool {
        self.options
            .max_found
            .is_some_and(|enough| state.individuals().discriminatory() >= enough)
    }

    /// The size of a chunk: chunks are of about equal size, at least one a thread.
    fn chunk(&self, walkers: usize) -> usize {
        walkers
            .div_ceil(rayon::current_num_threads().max(1))
            .clamp(1, self.options.batch.max(1))
    }

    fn global_round(&self, state: &mut StateOf<S>) -> Result<(), ModelError> {
        let (started, before) = (Instant::now(), self.calls.so_far());
        let may_move = state.round < self.strategy.max_moves(self.options.max_iter);
        // Here a walker is worth as many rows as it has variants.
        let variants = state
            .seeds
            .first()
            .map_or(1, |seed| self.domain.variants(&seed.row));
        let chunk = self
            .chunk(state.seeds.len())
            .min((BLOCK_ROWS / variants.max(1)).max(1));
        let mut seeds = state.seeds.clone();
        let outcomes: Vec<Vec<(Checked, bool)>> = seeds
            .par_chunks_mut(chunk)
            .map(|seeds| self.global_chunk(&state.learnt, seeds, state.round, may_move))
            .collect::<Result<_, _>>()?;
        let mut next = Vec::new();
        let checked = std::mem::take(&mut state.seeds);
        for ((mut seed, before), (check, confirmed)) in seeds
            .into_iter()
            .zip(checked)
            .zip(outcomes.into_iter().flatten())
        {
            if self.is_found_enough(state) {
                // Kept unchecked: what a stopped search has left to do.
                next.push(before);
                continue;
            }
            state.global.checks += 1;
            let flips = &check.flips;
            let found = !flips.is_empty() && confirmed;
            state.unconfirmed += u64::from(!flips.is_empty() && !confirmed);
            self.strategy
                .learn_global(&mut state.learnt, &mut seed.memory, found);
            let goes_on = may_move && (!found || S::AFTER_FIND == AfterFind::GoOn);
            if found {
                self.record(state, seed.id, before.row, check);
            } else {
                self.count(state, &before.row);
            }
            if goes_on {
                state.global.steps += 1;
                next.push(seed);
            }
        }
        next.retain_mut(|seed| {
            self.strategy
                .place(&mut state.learnt, &mut seed.row, &mut seed.memory)
        });
        state.seeds = next;
        state.round += 1;
        if state.seeds.is_empty() || self.strategy.is_satisfied(&state.learnt) {
            state.seeds = Vec::new();
            state.local.starts = state.walkers.len() as u64;
            self.enter(state, Phase::Local);
        }
        let after = self.calls.so_far();
        state.global.model_rows += after.rows - before.rows;
        state.global.model_gradients += after.gradients - before.gradients;
        state.global.seconds += started.elapsed().as_secs_f64();
        state.ended.push(RoundEnd {
            global: state.global,
            local: state.local,
            found: state.individuals().discriminatory(),
        });
        Ok(())
    }

    /// Checks the seeds of a chunk and moves those that are not discriminatory.
    fn global_chunk(
        &self,
        learnt: &S::Shared,
        seeds: &mut [Seed<S::Memory>],
        iteration: u32,
        may_move: bool,
    ) -> Result<Vec<(Checked, bool)>, ModelError> {
        let width = self.domain.width();
        let codes: Vec<i32> = seeds
            .iter()
            .flat_map(|seed| seed.row.iter().copied())
            .collect();
        let mut checks = check_all(self.model, self.domain, Rows::new(&codes, width))?;
        for check in &mut checks {
            // The flip that tells most comes first: the one that is reported.
            let label = check.checked.label as usize;
            let own = check.checked.logits[label];
            check.checked.flips.sort_by(|a, b| {
                let gap = |logits: &[f32]| (logits[label] - own).abs();
                gap(&b.logits).total_cmp(&gap(&a.logits))
            });
            thin_out(&mut check.checked.flips);
        }
        let rows = seeds.iter().map(|seed| seed.row.as_slice());
        let found = checks.iter_mut().map(|check| &mut check.checked);
        let confirmed = self.confirm(rows.zip(found))?;
        if may_move {
            let mut steps: Vec<GlobalStep<'_, S::Memory>> = seeds
                .iter_mut()
                .zip(&checks)
                .zip(&confirmed)
                .map(|((seed, check), confirmed)| GlobalStep {
                    id: seed.id,
                    iteration,
                    is_found: !check.checked.flips.is_empty() && *confirmed,
                    row: &mut seed.row,
                    check,
                    memory: &mut seed.memory,
                })
                .filter(|step| !step.is_found || S::AFTER_FIND != AfterFind::Stop)
                .collect();
            if !steps.is_empty() {
                self.strategy.global_moves(learnt, &mut steps)?;
            }
        }
        Ok(checks
            .into_iter()
            .map(|check| check.checked)
            .zip(confirmed)
            .collect())
    }

    /// Whether the reference device, where there is one, agrees on each pair. A pair of which the
    /// model gave decisions alone gets its logits there.
    pub(super) fn confirm<'r>(
        &self,
        checks: impl Iterator<Item = (&'r [i32], &'r mut Checked)>,
    ) -> Result<Vec<bool>, ModelError> {
        let Some(reference) = self.reference else {
            return Ok(checks.map(|_| true).collect());
        };
        let checks: Vec<(&[i32], &mut Checked)> = checks.collect();
        let mut codes = Vec::new();
        for (row, check) in &checks {
            if let Some(flip) = check.flips.first() {
                codes.extend_from_slice(row);
                self.domain
                    .write_variant(row, flip.variant as usize, &mut codes);
            }
        }
        let logits = reference.logits(Rows::new(&codes, self.domain.width()))?;
        let rows = codes.chunks_exact(self.domain.width());
        let mut sides = rows.zip(logits.chunks_exact(reference.classes()));
        let confirmed = checks.into_iter().map(|(_, check)| {
            let Some(flip) = check.flips.first_mut() else {
                return true;
            };
            let Some((own, other)) = sides.next().zip(sides.next()) else {
                return false;
            };
            if check.logits.is_empty() {
                check.logits = Logits::from_slice(own.1);
                flip.logits = Logits::from_slice(other.1);
            }
            reference.decision().contrast(own, other) == Some(flip.decided)
        });
        Ok(confirmed.collect())
    }

    /// Counts a row of the global phase that is not discriminatory.
    fn count(&self, state: &mut StateOf<S>, row: &[i32]) {
        let marks = [Mark::GlobalGenerated];
        state.distinct.mark(self.domain.key(row), &marks);
    }

    /// Counts a discriminatory row of the global phase. An individual that is new becomes a start
    /// of the local phase.
    fn record(&self, state: &mut StateOf<S>, id: u64, row: Vec<i32>, check: Checked) {
        let marks = [Mark::GlobalGenerated, Mark::GlobalDiscriminatory];
        let first = state.distinct.mark(self.domain.key(&row), &marks);
        if first.row {
            let pair = Pair::new(id, Phase::Global, state.round, &row, &check);
            state.pairs.push(&pair);
        }
        if first.individual && S::HAS_LOCAL_PHASE {
            let start = Position { row, check };
            state.walkers.push(LocalWalker::at(id, start));
        }
    }

    pub(super) fn enter(&self, state: &mut StateOf<S>, phase: Phase) {
        state.phase = phase;
        state.round = 0;
        if phase == Phase::Done {
            state.walkers = Vec::new();
        }
    }
}

/// Keeps at most [`MAX_FLIPS`] flips, evenly spread over their order, the first among them.
fn thin_out(flips: &mut SmallVec<[Flip; 1]>) {
    let count = flips.len();
    if count > MAX_FLIPS {
        let mut index = 0;
        flips.retain(|_| {
            // Keeps the indices at which i·MAX/count passes a whole number.
            let keep = index * MAX_FLIPS % count < MAX_FLIPS;
            index += 1;
            keep
        });
    }
}
