//! An audit in shards: on many machines, to the very files of one.
//!
//! ```text
//! seeds, estimates ─ global shards ─► merge ─► starts ─ local shards ─► merge ─► run directory
//! ```
//!
//! Two stages are cut. In the *global* one a shard moves its block of the seeds, and counts its
//! block of the inputs of each estimate. A merge then settles which inputs are new and writes the
//! starts of the local phase, in the order in which one machine finds them. In the *local* one a
//! shard walks from its block of the starts. The second merge settles again, over the shards of
//! both stages, and writes the run directory.
//!
//! # Why the files are those of one machine
//!
//! *Claim.* For a strategy that learns nothing from all walkers ([`Strategy::LEARNS`]) and a search
//! without a budget, the pairs, counts, trace and estimates of the merge are those of
//! [`Audit::run`], seconds apart.
//!
//! *Proof.* In [`super::search`] a round works on each walker by itself: what it proposes and what
//! its check says depend on the walker, the round and draws keyed by its seed, and what a strategy
//! learns is the unit. Walkers leave a phase by themselves too. So a walker does in round *r* of
//! its shard what it does in round *r* of one machine. What walkers share is what is distinct: a
//! pair is kept where its row is new, a start where its individual is, both in the order (phase,
//! round, walker). A shard keeps a pair where its row is new *to the shard*, and its walkers are
//! neighbours, so the first finder of a row among all walkers keeps it in its shard as well; the
//! merge takes, of all shards that kept a row, the first in the order (phase, round, shard), which
//! is the one in the order (phase, round, walker). For individuals alike: an individual that is new
//! has a row that is new. Counts of moves, checks and calls are sums over walkers; marks of a key
//! are the union over its visitors, whichever shards they are in; the trace sums what was done and
//! what was new round by round; estimates are counts over numbered inputs. ∎
//!
//! # Memory
//!
//! A merge reads all shards side by side, one block of a few kilobytes of each, and holds two bits
//! for each pair of each shard, whether its row and its individual are new: both come sorted by
//! their keys, so equal ones meet. It reads the keys once, and the pairs to check and to write them.

mod merge;
mod part;

use std::ops::ControlFlow;

use super::audit::{Audit, AuditError, AuditSummary, Finished, Observe};
use super::checkpoint::Inputs;
use super::modality::Modality;
use super::search::{Ending, Phase, Search, SearchState, StateOf};
use super::session::progress_of;
use super::strategy::{Position, Strategy};
use super::trial::{Trial, WithSearch};
use merge::Merge;
use part::{Part, Start};
use probity_run::run_directory::RunDirectory;
use probity_run::shards::{Shard, ShardFile, ShardFolder, Stage, Worked};

/// The stages, and the file between them.
const GLOBAL: Stage = "global";
const LOCAL: Stage = "local";
const STARTS: Stage = "starts";

/// The result of a merge.
pub enum MergedAudit<D> {
    /// The global stage is put together; the local one is yet to be run.
    Starts {
        /// Number of inputs at which the local phase begins.
        starts: u64,
    },
    /// The run is complete.
    Complete(Box<AuditSummary<D>>),
}

impl<M: Modality> Audit<M> {
    /// The folder `path` for the shards of this audit.
    ///
    /// # Errors
    /// When the audit cannot be cut, or the folder holds something else.
    pub fn shard_folder(&self, path: &std::path::Path) -> Result<ShardFolder, AuditError> {
        let (specification, record) = (self.specification(), self.record());
        specification.expect_divisible()?;
        let mut named = specification.clone();
        named.predictor = named.predictor.for_all_processes();
        Ok(ShardFolder::for_run(path, &named, record)?)
    }

    /// Performs `shard` of the stage that `folder` waits for, and writes its file, unless it is
    /// there. `observe` may stop it; nothing is then kept.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn work(
        &self,
        folder: &ShardFolder,
        shard: Shard,
        observe: &mut Observe<'_>,
    ) -> Result<Worked, AuditError> {
        let starts = folder.merged(STARTS)?;
        let stage = match starts {
            None => GLOBAL,
            Some(_) => LOCAL,
        };
        if folder.done(stage, shard)?.is_some() {
            return Ok(Worked::WasThere { stage });
        }
        let trial = self.trial();
        let part = trial.with_search(ShardSession {
            trial: &trial,
            starts: starts.as_ref(),
            shard,
            observe,
        })??;
        let Some(mut part) = part else {
            return Ok(Worked::Stopped);
        };
        if stage == GLOBAL {
            let people = self.case().people()?;
            let counted = self.count(people.as_ref(), &|all| shard.items(all), observe)?;
            if counted.is_cut {
                return Ok(Worked::Stopped);
            }
            part.head.population = counted.population;
            part.head.estimates = counted.estimates;
            part.head.exchanges = counted.exchanges;
        }
        let items = part.head.counts.starts;
        part.write(folder, stage, shard)?;
        Ok(Worked::Done { stage, items })
    }

    /// Puts the shards of the stage that `folder` waits for together. After the global stage the
    /// result is a file in `folder`; after the local one, or where none is asked for, it is the run
    /// directory that `directory` gives. It can be done again, and comes to the same.
    ///
    /// # Errors
    /// When shards are missing, damaged or of another run; see [`AuditError`].
    pub fn merge<E: From<AuditError>>(
        &self,
        folder: &ShardFolder,
        directory: impl FnOnce() -> Result<RunDirectory, E>,
        observe: &mut Observe<'_>,
    ) -> Result<MergedAudit<M::Details>, E> {
        let shards = |stage| folder.all(stage).map_err(AuditError::from);
        let inputs = Inputs::new(self.case().domain(), self.case().model().judge());
        let is_local = self.specification().search.local > 0;
        let begun = folder.merged(STARTS).map_err(AuditError::from)?;
        let local = match &begun {
            Some(starts) => {
                if folder.cut(LOCAL).map_err(AuditError::from)?.is_none() {
                    // The same merge again.
                    let starts = starts.head().map_err(AuditError::from)?;
                    return Ok(MergedAudit::Starts { starts });
                }
                shards(LOCAL)?
            }
            None => Vec::new(),
        };
        let merged = Merge::read(self.case(), &inputs, shards(GLOBAL)?, local)?;
        if is_local && begun.is_none() {
            let starts = merged.starts();
            merged.write_starts(folder, STARTS, starts)?;
            return Ok(MergedAudit::Starts { starts });
        }
        let people = self.case().people()?;
        let population = people
            .map(|people| merged.population(&people))
            .transpose()?;
        let estimates = merged.estimates()?;
        let exchanges = merged.exchanges(&estimates)?;
        let directory = directory()?;
        let finished = Finished {
            ending: Ending::Complete,
            counts: &merged.counts(),
            shares: self.shares(population, estimates, exchanges),
            score: None,
        };
        directory
            .write_run(self.specification(), self.record())
            .map_err(AuditError::from)?;
        let summary = self.write(&directory, finished, &merged, observe)?;
        Ok(MergedAudit::Complete(Box::new(summary)))
    }
}

/// Runs the part of a search that a shard does.
struct ShardSession<'a, 'o, M> {
    trial: &'a Trial<'a, M>,
    starts: Option<&'a ShardFile>,
    shard: Shard,
    observe: &'a mut Observe<'o>,
}

impl<M: Modality> WithSearch for ShardSession<'_, '_, M> {
    /// The part of the shard; `None` when stopped.
    type Output = Result<Option<Part>, AuditError>;

    fn with<S: Strategy>(self, search: &Search<'_, S>) -> Self::Output {
        let (trial, observe) = (self.trial, self.observe);
        if S::LEARNS {
            let name = trial.method.strategy;
            return Err(name.refused_as_indivisible("strategy").into());
        }
        let case = trial.case;
        let classes = search.model.classes();
        let mut state: StateOf<S> = match self.starts {
            None => {
                let seeds = trial.seeds(search.strategy);
                let items = self.shard.items(seeds.len() as u64);
                let block = seeds
                    .into_iter()
                    .skip(items.start as usize)
                    .take((items.end - items.start) as usize);
                SearchState::from_number(items.start, block, classes)
            }
            Some(file) => {
                let inputs = Inputs::new(case.domain(), search.model);
                SearchState::at_starts(starts(file, self.shard, case, &inputs)?, classes)
            }
        };
        let first = state.phase();
        let mut rounds = Vec::new();
        let mut is_stopped = false;
        search.run(&mut state, &mut |state| {
            rounds.extend(state.ended().iter().map(|end| {
                let counts = match first {
                    Phase::Global => &end.global,
                    _ => &end.local,
                };
                (counts.model_rows, counts.model_gradients)
            }));
            is_stopped = observe(progress_of(search, state)).is_break();
            match is_stopped || state.phase() != first {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        match is_stopped && state.phase() == first {
            true => Ok(None),
            false => Ok(Some(Part::new(&state, first, rounds, case.domain()))),
        }
    }
}

/// The starts of `shard` in `file`, each checked.
fn starts<M: Modality>(
    file: &ShardFile,
    shard: Shard,
    case: &M,
    inputs: &Inputs<'_>,
) -> Result<Vec<(u64, Position)>, AuditError> {
    let items = shard.items(file.head()?);
    let mut section = file.section::<Start>(0);
    section.skip_items(items.start)?;
    let mut starts = Vec::new();
    for start in section.take((items.end - items.start) as usize) {
        let Start { seed, position, .. } = start?;
        let fits = inputs.expect_position(&position);
        fits.map_err(|problem| file.refuse(&problem))?;
        if !case.is_reached(seed, &position.row) {
            return Err(file.refuse("a start does not come from its seed").into());
        }
        starts.push((seed, position));
    }
    match starts.len() as u64 == items.end - items.start {
        true => Ok(starts),
        false => Err(file.refuse("it has fewer starts than it says").into()),
    }
}
