//! The local phase of a search: rounds of trials, and their additions to the state.
//!
//! Walkers are independent of each other where the strategy learns nothing
//! ([`Strategy::learns`]). A chunk of them is then taken through several rounds by one thread, and
//! what the chunks did is put together afterwards: in the order (round, walker), so that the state
//! is the same as after rounds of one trial each. How many rounds a block has is chosen by the
//! clock; it changes nothing but how often the state can be observed. Strategies that learn, models
//! that may fail, a budget of calls and the last rounds before enough is found need the outcome of
//! each round before the next: blocks of one round.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::calls::{CallCounts, tally};
use super::check::{Checked, Wanted, check_until_flip, check_variant};
use super::distinct::{DistinctInputs, InputKey, Markings};
use super::pace::{ChunkRecord, Pace, RoundRecord};
use super::pairs::{Pair, Phase};
use super::search::{Search, StateOf};
use super::search_state::RoundEnd;
use super::strategy::{Asks, LocalWalker, Position, Strategy};
use probity_nn::{ModelError, Rows};

/// Largest number of trials in a block, but for the first round of the block. The sets of what is
/// distinct, which no cache holds, are gone through once a block: the longer it is, the less a
/// trial costs. It holds some 200 bytes of each.
const BLOCK_TRIALS: usize = 1 << 16;

/// Number of blocks of one round before the first longer one: short searches can be observed often.
const SINGLE_ROUNDS: u32 = 16;

/// Longest time that a block may take so that the next one has twice as many rounds.
const SHORT: Duration = Duration::from_millis(25);

/// Number of chunks that each thread gets, so that none has nothing to do while another has much.
const CHUNKS: usize = 4;

/// Smallest number of walkers in a chunk: as many as kernels take together.
const LEAST_CHUNK: usize = 32;

/// The outcome of one trial: the check, and whether the reference device agrees; `None` when the
/// candidate was no new input.
type Outcome = Option<(Checked, bool)>;

/// The number of individuals that may still be found before the search has enough.
struct Countdown<'a> {
    left: u64,
    known: &'a DistinctInputs,
    new: HashSet<u128>,
}

impl Countdown<'_> {
    fn note(&mut self, key: InputKey) {
        if !self.known.is_discriminatory(key) && self.new.insert(key.individual()) {
            self.left -= 1;
        }
    }
}

impl<S: Strategy> Search<'_, S> {
    /// Performs some rounds of the local phase; `pace` is of the same search.
    ///
    /// # Errors
    /// When the model cannot answer. Where it may fail, or calls are limited, the state is as
    /// before.
    pub(super) fn local_rounds(
        &self,
        state: &mut StateOf<S>,
        pace: &mut Pace,
    ) -> Result<(), ModelError> {
        if state.walkers.is_empty() || self.options.local == 0 {
            self.enter(state, Phase::Done);
            let found = state.distinct.individuals().discriminatory();
            state.ended.push(RoundEnd {
                global: state.global,
                local: state.local,
                found,
            });
            return Ok(());
        }
        let started = Instant::now();
        let trials = state.walkers.len();
        let left = self.options.max_found.map(|enough| {
            let found = state.distinct.individuals().discriminatory();
            enough.saturating_sub(found)
        });
        let is_last = left.is_some_and(|left| left <= trials as u64);
        let may_fail = self.model.is_fallible() || self.options.max_calls.is_some();
        let threads = rayon::current_num_threads().max(1);
        let of_thread = match self.model.is_fallible() {
            true => 1,
            false => (trials / (threads * LEAST_CHUNK)).clamp(1, CHUNKS),
        };
        let chunk = trials.div_ceil(threads * of_thread);
        let chunk = chunk.clamp(1, self.options.batch.max(1));
        pace.chunks
            .resize_with(trials.div_ceil(chunk), ChunkRecord::default);
        let sizes = (self.domain.width(), self.model.classes());
        for record in &mut pace.chunks {
            record.clear(sizes.0, sizes.1);
        }
        if self.strategy.learns() || may_fail || is_last {
            let left = left.filter(|_| is_last);
            self.watched_round(state, &mut pace.chunks, (chunk, may_fail), left)?;
        } else {
            let most = (BLOCK_TRIALS / trials).max(1) as u64;
            let most = left.map_or(most, |left| most.min(left / trials as u64));
            let most = most.min(u64::from(self.options.local - state.round));
            let rounds = state.round..state.round + pace.rounds.clamp(1, most as u32);
            let learnt = &state.learnt;
            let chunks = state.walkers.par_chunks_mut(chunk);
            chunks
                .zip(&mut pace.chunks)
                .try_for_each(|(walkers, record)| {
                    self.walk(learnt, walkers, rounds.clone(), record)
                })?;
        }
        self.put_together(state, &mut pace.chunks, started);
        pace.blocks += 1;
        if pace.blocks >= SINGLE_ROUNDS {
            pace.rounds = match started.elapsed() {
                short if short < SHORT => pace.rounds.max(1).saturating_mul(2),
                long if long > 4 * SHORT => pace.rounds / 2,
                _ => pace.rounds,
            };
        }
        if state.round >= self.options.local {
            self.enter(state, Phase::Done);
        }
        Ok(())
    }

    /// Takes the walkers of a chunk through `rounds`.
    fn walk(
        &self,
        learnt: &S::Shared,
        walkers: &mut [LocalWalker<S::Memory>],
        rounds: std::ops::Range<u32>,
        record: &mut ChunkRecord,
    ) -> Result<(), ModelError> {
        let mut nothing = S::Shared::default();
        for round in rounds {
            let (outcomes, calls) = tally(|| self.tries(learnt, walkers, round));
            let outcomes = outcomes?;
            self.note(walkers, &outcomes, (round, calls), record, None);
            for (walker, outcome) in walkers.iter_mut().zip(outcomes) {
                self.settle(&mut nothing, walker, outcome);
            }
        }
        Ok(())
    }

    /// Performs one round, whose outcomes are settled in the order of the seeds, until as many
    /// individuals as `left` says are found.
    fn watched_round(
        &self,
        state: &mut StateOf<S>,
        records: &mut [ChunkRecord],
        (chunk, may_fail): (usize, bool),
        left: Option<u64>,
    ) -> Result<(), ModelError> {
        let round = state.round;
        let kept: Option<Vec<(S::Memory, Option<Position>)>> = may_fail.then(|| {
            let walkers = state.walkers.iter();
            let kept = walkers.map(|walker| (walker.memory.clone(), walker.away.clone()));
            kept.collect()
        });
        let learnt = &state.learnt;
        let chunks = state.walkers.par_chunks_mut(chunk).zip(&mut *records);
        let outcomes: Result<Vec<(Vec<Outcome>, CallCounts)>, ModelError> = chunks
            .map(|(walkers, record)| {
                let (outcomes, calls) = tally(|| self.tries(learnt, walkers, round));
                let outcomes = outcomes?;
                if left.is_none() {
                    self.note(walkers, &outcomes, (round, calls), record, None);
                }
                Ok((outcomes, calls))
            })
            .collect();
        let outcomes = match outcomes {
            Ok(outcomes) => {
                drop(kept);
                outcomes
            }
            Err(error) => {
                // Some chunks have made their proposals, others have not.
                for (walker, kept) in state.walkers.iter_mut().zip(kept.into_iter().flatten()) {
                    (walker.memory, walker.away) = kept;
                }
                return Err(error);
            }
        };
        let mut countdown = left.map(|left| Countdown {
            left,
            known: &state.distinct,
            new: HashSet::new(),
        });
        let walkers = state.walkers.chunks_mut(chunk).zip(records);
        for ((walkers, record), (outcomes, calls)) in walkers.zip(outcomes) {
            if let Some(countdown) = &mut countdown {
                self.note(walkers, &outcomes, (round, calls), record, Some(countdown));
            }
            let noted = record
                .rounds
                .last()
                .map_or(0, |round| round.trials as usize);
            for (walker, outcome) in walkers.iter_mut().zip(outcomes).take(noted) {
                self.settle(&mut state.learnt, walker, outcome);
            }
        }
        self.strategy
            .end_local_round(&mut state.learnt, &mut state.walkers);
        Ok(())
    }

    /// Lets the strategy propose a candidate for each walker of a chunk, and checks them.
    fn tries(
        &self,
        learnt: &S::Shared,
        walkers: &mut [LocalWalker<S::Memory>],
        trial: u32,
    ) -> Result<Vec<Outcome>, ModelError> {
        self.strategy.local_moves(learnt, trial, walkers)?;
        let width = self.domain.width();
        let mut codes = Vec::with_capacity(walkers.len() * width);
        let mut hints = Vec::with_capacity(walkers.len());
        for walker in walkers.iter().filter(|walker| walker.is_elsewhere()) {
            codes.extend_from_slice(&walker.candidate);
            hints.push(self.strategy.variant(walker));
        }
        let check = match self.strategy.asks() {
            Asks::UntilFlip => check_until_flip,
            Asks::Expected => check_variant,
        };
        // The logits of what is found are the reference's, which confirms it, where the model gives
        // none.
        let wanted = match self.reference {
            Some(_) => Wanted::Decisions,
            None => Wanted::Logits,
        };
        let rows = Rows::new(&codes, width);
        let mut checks = check(self.model, self.domain, rows, &hints, wanted)?;
        let confirmed = self.confirm(codes.chunks_exact(width).zip(&mut checks))?;
        let mut checks = checks.into_iter().zip(confirmed);
        let outcomes = walkers.iter().map(|walker| match walker.is_elsewhere() {
            true => checks.next(),
            false => None,
        });
        Ok(outcomes.collect())
    }

    /// Notes the `outcomes` of a round of a chunk and the number of calls that it made, until
    /// `countdown` says that enough is found.
    fn note(
        &self,
        walkers: &[LocalWalker<S::Memory>],
        outcomes: &[Outcome],
        (round, calls): (u32, CallCounts),
        record: &mut ChunkRecord,
        mut countdown: Option<&mut Countdown<'_>>,
    ) {
        let mut counts = RoundRecord {
            calls,
            ..RoundRecord::default()
        };
        for (walker, outcome) in walkers.iter().zip(outcomes) {
            if countdown
                .as_ref()
                .is_some_and(|countdown| countdown.left == 0)
            {
                break;
            }
            counts.trials += 1;
            let Some((check, is_confirmed)) = outcome else {
                continue;
            };
            counts.checks += 1;
            let flips = !check.flips.is_empty();
            counts.unconfirmed += u64::from(flips && !is_confirmed);
            let found = (flips && *is_confirmed).then_some(record.found.len() as u32);
            let key = self.domain.key(&walker.candidate);
            record.inputs.push(key, round, found);
            if found.is_some() {
                let pair = Pair::new(walker.id, Phase::Local, round, &walker.candidate, check);
                record.found.push(&pair);
                if let Some(countdown) = &mut countdown {
                    countdown.note(key);
                }
            }
        }
        counts.found = record.found.len();
        record.rounds.push(counts);
    }

    /// Lets the strategy learn from a trial, and the walker go where its outcome leads.
    fn settle(
        &self,
        learnt: &mut S::Shared,
        walker: &mut LocalWalker<S::Memory>,
        outcome: Outcome,
    ) {
        let found = outcome
            .as_ref()
            .map(|(check, is_confirmed)| !check.flips.is_empty() && *is_confirmed);
        self.strategy.learn_local(learnt, walker, found);
        match (outcome, found) {
            (Some((check, _)), Some(true)) => match &mut walker.away {
                Some(position) => {
                    std::mem::swap(&mut position.row, &mut walker.candidate);
                    position.check = check;
                }
                None => {
                    walker.away = Some(Position {
                        row: std::mem::take(&mut walker.candidate),
                        check,
                    });
                }
            },
            (Some(_), _) => walker.away = None,
            (None, _) => {}
        }
    }

    /// Puts the records of the chunks in a block of rounds, which began at `started`, into the
    /// state.
    fn put_together(&self, state: &mut StateOf<S>, records: &mut [ChunkRecord], started: Instant) {
        let inputs: Vec<&Markings> = records.iter().map(|record| &record.inputs).collect();
        let before = state.distinct.individuals().discriminatory();
        let new_rows = state.distinct.mark_all(&inputs);
        for record in &mut *records {
            record.is_new.resize(record.found.len(), false);
        }
        let first = state.round;
        let rounds = records.first().map_or(0, |record| record.rounds.len());
        let mut found = vec![0; rounds];
        for new in new_rows {
            records[new.chunk as usize].is_new[new.found as usize] = true;
            found[(new.round - first) as usize] += u64::from(new.is_new_individual);
        }
        let seconds = state.local.seconds;
        let mut so_far = before;
        for (number, found) in found.into_iter().enumerate() {
            for record in &*records {
                let round = &record.rounds[number];
                state.local.steps += round.trials;
                state.local.checks += round.checks;
                state.local.model_rows += round.calls.rows;
                state.local.model_gradients += round.calls.gradients;
                state.unconfirmed += round.unconfirmed;
                let begin = number.checked_sub(1);
                let begin = begin.map_or(0, |before| record.rounds[before].found);
                for pair in begin..round.found {
                    if record.is_new[pair] {
                        state.pairs.push(&record.found.pair(pair));
                    }
                }
            }
            so_far += found;
            // The rounds of a block take about equally long.
            let share = (number + 1) as f64 / rounds as f64;
            state.local.seconds = seconds + share * started.elapsed().as_secs_f64();
            state.round += 1;
            state.ended.push(RoundEnd {
                global: state.global,
                local: state.local,
                found: so_far,
            });
        }
    }
}
