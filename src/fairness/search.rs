//! The one search driver: lockstep rounds of any [`Strategy`] over all seeds.
//!
//! All walkers of a phase advance together, one round a step. In a round, chunks of walkers are
//! worked on in parallel (the strategy proposes, the candidates are checked); then the outcomes are
//! merged one by one in the order of the seeds: counted, deduplicated, recorded. Nothing that a
//! chunk computes depends on the chunk, so the result depends neither on batch size nor on
//! threads.
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

use super::check::{BLOCK_ROWS, Checked, Flip, check_all, check_until_flip};
use super::distinct::{DistinctSet, Mark};
use super::domain::Domain;
use super::pairs::{Pair, PairStore};
use super::strategy::{GlobalStep, LocalWalker, Position, Strategy};
use crate::nn::{Classifier, ModelError, Rows, predicted_class};

/// Flips of a start that the local phase draws from; more would cost memory and gradients and add
/// nothing that the walk could use.
const MAX_FLIPS: usize = 256;

/// How far to search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Moves of a seed in the global phase at most.
    pub max_iter: u32,
    /// Trials from each start in the local phase.
    pub local: u32,
    /// Walkers a chunk at most; has no influence on the result.
    pub batch: usize,
    /// Stop once this many distinct discriminatory individuals are found.
    pub max_found: Option<u64>,
    /// Stop at the end of the round in which this much search time is used up.
    pub time: Option<Duration>,
}

/// Where the search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Seeds are moved towards the decision boundary.
    Global,
    /// Neighbours of what was found are tried.
    Local,
    /// Nothing is left to do.
    Done,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Both phases ran to their end.
    Complete,
    /// `max_found` was reached.
    MaxFound,
    /// The time budget was used up.
    Time,
    /// The caller stopped it; it can be resumed.
    Interrupted,
}

/// What one phase did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Seeds (global) or starts (local).
    pub starts: u64,
    /// Moves made (global) or trials (local).
    pub steps: u64,
    /// Candidates checked against their variants.
    pub checks: u64,
    /// Search time.
    pub seconds: f64,
}

/// A seed on its way in the global phase.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seed<M> {
    id: u64,
    row: Vec<i32>,
    memory: M,
}

/// The state of a search between two rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchState<M> {
    phase: Phase,
    round: u32,
    seeds: Vec<Seed<M>>,
    walkers: Vec<LocalWalker<M>>,
    individuals: DistinctSet,
    rows: DistinctSet,
    pairs: PairStore,
    global: PhaseCounts,
    local: PhaseCounts,
    unconfirmed: u64,
}

impl<M: Clone + Default> SearchState<M> {
    /// A search that is about to begin from `seeds`, numbered in order.
    pub fn new(seeds: impl IntoIterator<Item = Vec<i32>>, classes: usize) -> SearchState<M> {
        let seeds: Vec<Seed<M>> = (0..)
            .zip(seeds)
            .map(|(id, row)| Seed {
                id,
                row,
                memory: M::default(),
            })
            .collect();
        let width = seeds.first().map_or(0, |seed| seed.row.len());
        SearchState {
            phase: Phase::Global,
            round: 0,
            global: PhaseCounts {
                starts: seeds.len() as u64,
                ..PhaseCounts::default()
            },
            seeds,
            walkers: Vec::new(),
            individuals: DistinctSet::default(),
            rows: DistinctSet::default(),
            pairs: PairStore::new(width, classes),
            local: PhaseCounts::default(),
            unconfirmed: 0,
        }
    }

    /// Where the search is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Rounds of the current phase that are done.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// What the global phase did so far.
    pub fn global(&self) -> &PhaseCounts {
        &self.global
    }

    /// What the local phase did so far.
    pub fn local(&self) -> &PhaseCounts {
        &self.local
    }

    /// Distinct individuals: rows without their protected part.
    pub fn individuals(&self) -> &DistinctSet {
        &self.individuals
    }

    /// Distinct full rows.
    pub fn rows(&self) -> &DistinctSet {
        &self.rows
    }

    /// One pair for each distinct discriminatory row, in the order found.
    pub fn pairs(&self) -> &PairStore {
        &self.pairs
    }

    /// The pairs alone.
    pub fn into_pairs(self) -> PairStore {
        self.pairs
    }

    /// Pairs that the search device found and the reference device did not confirm; they are
    /// neither counted as discriminatory nor reported.
    pub fn unconfirmed(&self) -> u64 {
        self.unconfirmed
    }
}

/// A search: a model, its inputs, a strategy and how far to go.
pub struct Search<'a, S: Strategy> {
    /// The model under audit.
    pub model: &'a dyn Classifier,
    /// The model on the device that verification uses, where that is another one: every pair is
    /// confirmed there before it counts.
    pub reference: Option<&'a dyn Classifier>,
    /// Its inputs.
    pub domain: &'a dyn Domain,
    /// Where to go next.
    pub strategy: &'a S,
    /// How far.
    pub options: &'a SearchOptions,
}

impl<S: Strategy> Search<'_, S> {
    /// Goes on from `state` until the end, a budget, or `observe` says stop. `observe` is called
    /// after every round.
    ///
    /// # Errors
    /// When the model cannot answer; `state` is then as after the last full round.
    pub fn run(
        &self,
        state: &mut SearchState<S::Memory>,
        observe: &mut dyn FnMut(&SearchState<S::Memory>) -> ControlFlow<()>,
    ) -> Result<Ending, ModelError> {
        loop {
            if self.is_found_enough(state) {
                return Ok(Ending::MaxFound);
            }
            let spent = state.global.seconds + state.local.seconds;
            let is_over = |limit: Duration| spent >= limit.as_secs_f64();
            if state.phase != Phase::Done && self.options.time.is_some_and(is_over) {
                return Ok(Ending::Time);
            }
            let started = Instant::now();
            match state.phase {
                Phase::Global => {
                    self.global_round(state)?;
                    state.global.seconds += started.elapsed().as_secs_f64();
                }
                Phase::Local => {
                    self.local_round(state)?;
                    state.local.seconds += started.elapsed().as_secs_f64();
                }
                Phase::Done => return Ok(Ending::Complete),
            }
            if observe(state).is_break() && state.phase != Phase::Done {
                return Ok(Ending::Interrupted);
            }
        }
    }

    fn is_found_enough(&self, state: &SearchState<S::Memory>) -> bool {
        self.options
            .max_found
            .is_some_and(|enough| state.individuals.discriminatory() >= enough)
    }

    /// Chunks of about equal size, at least one a thread.
    fn chunk(&self, walkers: usize) -> usize {
        walkers
            .div_ceil(rayon::current_num_threads().max(1))
            .clamp(1, self.options.batch.max(1))
    }

    fn global_round(&self, state: &mut SearchState<S::Memory>) -> Result<(), ModelError> {
        let may_move = state.round < self.options.max_iter;
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
            .map(|seeds| self.global_chunk(seeds, state.round, may_move))
            .collect::<Result<_, _>>()?;
        let mut next = Vec::new();
        let checked = std::mem::take(&mut state.seeds);
        for ((seed, before), (check, confirmed)) in seeds
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
            if found {
                let first = self.record(state, seed.id, &before.row, &check);
                if first {
                    state.walkers.push(LocalWalker {
                        id: seed.id,
                        start: Position {
                            row: before.row,
                            check,
                        },
                        away: None,
                        candidate: Vec::new(),
                        memory: S::Memory::default(),
                    });
                }
            } else {
                self.count(state, &before.row);
                if may_move {
                    state.global.steps += 1;
                    next.push(seed);
                }
            }
        }
        state.seeds = next;
        state.round += 1;
        if state.seeds.is_empty() {
            state.local.starts = state.walkers.len() as u64;
            self.enter(state, Phase::Local);
        }
        Ok(())
    }

    /// Checks the seeds of a chunk and moves those that are not discriminatory.
    fn global_chunk(
        &self,
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
        let confirmed = self.confirm(
            seeds
                .iter()
                .map(|seed| seed.row.as_slice())
                .zip(checks.iter().map(|check| &check.checked)),
        )?;
        if may_move {
            let mut steps: Vec<GlobalStep<'_, S::Memory>> = seeds
                .iter_mut()
                .zip(&checks)
                .zip(&confirmed)
                .filter(|((_, check), confirmed)| check.checked.flips.is_empty() || !**confirmed)
                .map(|((seed, check), _)| GlobalStep {
                    id: seed.id,
                    iteration,
                    row: &mut seed.row,
                    check,
                    memory: &mut seed.memory,
                })
                .collect();
            if !steps.is_empty() {
                self.strategy.global_moves(&mut steps)?;
            }
        }
        Ok(checks
            .into_iter()
            .map(|check| check.checked)
            .zip(confirmed)
            .collect())
    }

    fn local_round(&self, state: &mut SearchState<S::Memory>) -> Result<(), ModelError> {
        if state.walkers.is_empty() || self.options.local == 0 {
            self.enter(state, Phase::Done);
            return Ok(());
        }
        let chunk = self.chunk(state.walkers.len());
        let round = state.round;
        let outcomes: Vec<Vec<LocalOutcome>> = state
            .walkers
            .par_chunks_mut(chunk)
            .map(|walkers| self.local_chunk(walkers, round))
            .collect::<Result<_, _>>()?;
        let mut walkers = std::mem::take(&mut state.walkers);
        for (walker, outcome) in walkers.iter_mut().zip(outcomes.into_iter().flatten()) {
            if self.is_found_enough(state) {
                break;
            }
            state.local.steps += 1;
            let Some(LocalCheck {
                check,
                confirmed,
                individual,
                row,
            }) = outcome
            else {
                continue;
            };
            state.local.checks += 1;
            state.unconfirmed += u64::from(!check.flips.is_empty() && !confirmed);
            let found = !check.flips.is_empty() && confirmed;
            let marks: &[Mark] = if found {
                &[Mark::LocalGenerated, Mark::LocalDiscriminatory]
            } else {
                &[Mark::LocalGenerated]
            };
            state.individuals.mark(individual, marks);
            let is_new_row = state.rows.mark(row, marks);
            if !found {
                walker.away = None;
                continue;
            }
            if is_new_row {
                state.pairs.push(&Pair::new(
                    walker.id,
                    Phase::Local,
                    round,
                    &walker.candidate,
                    &check,
                ));
            }
            match &mut walker.away {
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
            }
        }
        state.walkers = walkers;
        state.round += 1;
        if state.round >= self.options.local {
            self.enter(state, Phase::Done);
        }
        Ok(())
    }

    /// Lets the strategy propose a candidate for each walker of a chunk, and checks them.
    fn local_chunk(
        &self,
        walkers: &mut [LocalWalker<S::Memory>],
        trial: u32,
    ) -> Result<Vec<LocalOutcome>, ModelError> {
        self.strategy.local_moves(trial, walkers)?;
        let width = self.domain.width();
        let mut codes = Vec::with_capacity(walkers.len() * width);
        let mut hints = Vec::with_capacity(walkers.len());
        for walker in walkers.iter() {
            let position = walker.position();
            if walker.candidate != position.row {
                codes.extend_from_slice(&walker.candidate);
                hints.push(position.check.flips.first().map_or(0, |flip| flip.variant));
            }
        }
        let checks = check_until_flip(self.model, self.domain, Rows::new(&codes, width), &hints)?;
        let confirmed = self.confirm(codes.chunks_exact(width).zip(&checks))?;
        let mut checks = checks.into_iter().zip(confirmed);
        Ok(walkers
            .iter()
            .map(|walker| {
                if walker.candidate == walker.position().row {
                    return None;
                }
                checks.next().map(|(check, confirmed)| LocalCheck {
                    check,
                    confirmed,
                    individual: self.domain.individual_key(&walker.candidate),
                    row: self.domain.row_key(&walker.candidate),
                })
            })
            .collect())
    }

    /// Whether the reference device, where there is one, agrees on each pair.
    fn confirm<'r>(
        &self,
        checks: impl Iterator<Item = (&'r [i32], &'r Checked)> + Clone,
    ) -> Result<Vec<bool>, ModelError> {
        let Some(reference) = self.reference else {
            return Ok(checks.map(|_| true).collect());
        };
        let mut codes = Vec::new();
        for (row, check) in checks.clone() {
            if let Some(flip) = check.flips.first() {
                codes.extend_from_slice(row);
                self.domain
                    .write_variant(row, flip.variant as usize, &mut codes);
            }
        }
        let logits = reference.logits(Rows::new(&codes, self.domain.width()))?;
        let mut logits = logits.chunks_exact(reference.classes());
        let mut agrees = |label| logits.next().map(predicted_class) == Some(label);
        Ok(checks
            .map(|(_, check)| match check.flips.first() {
                None => true,
                Some(flip) => {
                    let (own, other) = (agrees(check.label), agrees(flip.label));
                    own && other
                }
            })
            .collect())
    }

    /// Counts a row of the global phase that is not discriminatory.
    fn count(&self, state: &mut SearchState<S::Memory>, row: &[i32]) {
        let marks = [Mark::GlobalGenerated];
        state
            .individuals
            .mark(self.domain.individual_key(row), &marks);
        state.rows.mark(self.domain.row_key(row), &marks);
    }

    /// Counts a discriminatory row of the global phase; says whether its individual is new.
    fn record(
        &self,
        state: &mut SearchState<S::Memory>,
        id: u64,
        row: &[i32],
        check: &Checked,
    ) -> bool {
        let marks = [Mark::GlobalGenerated, Mark::GlobalDiscriminatory];
        if state.rows.mark(self.domain.row_key(row), &marks) {
            let pair = Pair::new(id, Phase::Global, state.round, row, check);
            state.pairs.push(&pair);
        }
        state
            .individuals
            .mark(self.domain.individual_key(row), &marks)
    }

    fn enter(&self, state: &mut SearchState<S::Memory>, phase: Phase) {
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

/// The outcome of one trial; `None` when the candidate was no new input.
type LocalOutcome = Option<LocalCheck>;

struct LocalCheck {
    check: Checked,
    confirmed: bool,
    individual: u128,
    row: u128,
}
