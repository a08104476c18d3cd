//! Several strategies on one model under the same conditions: specification → searches → run
//! directory.
//!
//! In each repeat every strategy gets the same options, the same seed and, unless it draws its own
//! inputs, the same seeds of the data; checks, counting and budgets are the driver's for all.
//! Repeats differ in their seed: each search finds what an audit with its seed does. The order of
//! the strategies rotates from repeat to repeat, so that a machine that slows down slows all of
//! them.
//!
//! The numbers of finds by which strategies are said to find more than others are for the same
//! number of model calls ([`super::shared_budget`]); how diverse these finds are stands beside it
//! ([`super::finds`]).
//!
//! Every search that is done is kept in the run's checkpoint. A comparison that goes on runs the
//! others, and ends with the figures of an unbroken one, times apart. Under a budget of time it
//! does not: how far a search comes in it depends on the machine.

mod figures;

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

pub use self::figures::{FindsFigures, StrategyFigures};
use super::audit_error::AuditError;
use super::modality::{InputsRead, Method, Modality};
use super::record::{identity, record_of};
use super::search::Ending;
use super::session::AuditProgress;
use super::shared_budget::{SearchCurves, SharedBudget};
pub use super::specification::CompareSpecification;
use super::strategies::StrategyName;
use super::trial::{Begin, KeptFigures, Trial, TrialFigures};
use probity_predictor::source::PredictorSource;
use probity_run::run_directory::{RunDirectory, RunError};
use probity_run::shards::{Items, ShardFolder};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The content of `summary.json` of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompareSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `compare`.
    pub command: String,
    /// Version that ran it.
    pub probity_version: String,
    /// Whether every search was run; an interrupted comparison holds those that were run.
    pub finished: bool,
    /// Seed of the first repeat.
    pub seed: u64,
    /// Searches of each strategy that were asked for.
    pub repeats: u32,
    /// Device that searched.
    pub device: DeviceName,
    /// The predictor, where one was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorSource>,
    /// SHA-256 of the model, or of what identifies the predictor.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// The account of what reading the inputs changed or left out.
    #[serde(flatten)]
    pub read: InputsRead,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// The strategies, in the order asked for.
    pub strategies: Vec<StrategyFigures>,
    /// The figures of the strategies for the same number of model calls.
    pub shared_budget: SharedBudget,
}

/// A comparison whose inputs are opened and checked; nothing is written yet.
pub struct Comparison<M> {
    specification: CompareSpecification,
    record: Record,
    device: ComputeDevice,
    case: M,
}

/// A function that is told where each search stands, with its strategy and repeat; may stop it.
pub type ObserveAll<'a> = dyn FnMut(StrategyName, u32, AuditProgress<'_>) -> ControlFlow<()> + 'a;

impl<M: Modality> Comparison<M> {
    /// Opens and checks everything that `specification` names, for searches on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn open(
        specification: Checked<CompareSpecification>,
        device: &ComputeDevice,
    ) -> Result<Comparison<M>, AuditError> {
        let case = M::open(&specification.audit(0), device)?;
        let model = case.model().access();
        for strategy in specification.strategies() {
            strategy.expect_usable("strategies", model)?;
            let local = specification.text.local_strategy(strategy);
            local.expect_usable("text.local_strategy", model)?;
        }
        Ok(Comparison {
            specification: specification
                .into_inner()
                .resolved(case.protected(), (case.favourable(), case.classes())),
            record: record_of(device, case.sha256()),
            device: device.clone(),
            case,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &CompareSpecification {
        &self.specification
    }

    /// The record of what was opened, and on which device.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The model under test and its inputs.
    pub fn case(&self) -> &M {
        &self.case
    }
}

/// A search that is done.
#[derive(Serialize, Deserialize)]
pub struct Done {
    /// Position of the strategy.
    place: u32,
    /// Number of the repeat, from 0.
    repeat: u32,
    #[serde(with = "KeptFigures")]
    figures: TrialFigures,
}

/// Checks that `done` holds only searches that `options` asks for, each once.
fn expect_turns(done: &[Done], options: &CompareSpecification) -> Result<(), String> {
    let mut seen = HashSet::new();
    let is_turn = |done: &Done| {
        (done.place as usize) < options.strategies.len()
            && done.repeat < options.repeats
            && seen.insert((done.place, done.repeat))
    };
    match done.iter().all(is_turn) {
        true => Ok(()),
        false => Err("it has a search that was not asked for".to_owned()),
    }
}

impl<M: Modality> Comparison<M> {
    /// Runs the comparison in the directory `run`.
    ///
    /// With `resume` the searches in the run's checkpoint, if there is one, are taken from there.
    /// `observe` sees every round of every other search, with its strategy and repeat, and may stop
    /// the comparison; the search under way is then left out, and the checkpoint holds those that
    /// are done. It does so as well when a search fails.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run(
        &self,
        run: &RunDirectory,
        resume: bool,
        observe: &mut ObserveAll<'_>,
    ) -> Result<CompareSummary, AuditError> {
        let options = &self.specification;
        let identity = identity(options, &self.record);
        let mut done: Vec<Done> = match resume {
            true => run
                .read_checkpoint(&identity, |done: &Vec<Done>| expect_turns(done, options))?
                .unwrap_or_default(),
            false => Vec::new(),
        };
        run.write_run(options, &self.record)?;
        // From here on the run can be resumed.
        run.write_checkpoint(&identity, &done)?;
        let mut finished = true;
        let mut begun = None;
        for turn in options.turns() {
            if done.iter().any(|done| (done.place, done.repeat) == turn) {
                continue;
            }
            let Some(search) = self.perform_turn(turn, &mut begun, observe)? else {
                finished = false;
                break;
            };
            done.push(search);
            run.write_checkpoint(&identity, &done)?;
        }
        let summary = self.summarise(done, finished);
        run.write_summary(&summary)?;
        if finished {
            run.remove_checkpoint()?;
        }
        Ok(summary)
    }

    /// The folder `path` for shards of this comparison, which is cut by searches.
    ///
    /// # Errors
    /// When the comparison cannot be cut, or the folder holds something else.
    pub fn shard_folder(&self, path: &std::path::Path) -> Result<ShardFolder, AuditError> {
        self.specification.expect_divisible()?;
        Ok(ShardFolder::for_run(
            path,
            &self.specification,
            &self.record,
        )?)
    }

    /// The work of a shard of this comparison: its searches, whose progress is told to `observe`.
    pub fn searches<'a, 'o>(&'a self, observe: &'a mut ObserveAll<'o>) -> Searches<'a, 'o, M> {
        Searches {
            comparison: self,
            begun: None,
            observe,
        }
    }

    /// Writes the results of the `searches` of all shards, in the order of their turns, to the
    /// directory `run`.
    ///
    /// # Errors
    /// When one cannot be read, or was not asked for; when the directory cannot be written.
    pub fn merge(
        &self,
        searches: impl Iterator<Item = Result<Done, RunError>>,
        run: &RunDirectory,
    ) -> Result<CompareSummary, AuditError> {
        let done = searches.collect::<Result<Vec<Done>, RunError>>()?;
        let options = &self.specification;
        let wanted = options.turns();
        if !done.iter().map(|done| (done.place, done.repeat)).eq(wanted) {
            let problem = "its searches are not those that were asked for".to_owned();
            let file = run.path().to_owned();
            return Err(RunError::Foreign { file, problem }.into());
        }
        run.write_run(options, &self.record)?;
        let summary = self.summarise(done, true);
        run.write_summary(&summary)?;
        Ok(summary)
    }

    /// The case that is searched in the repeat of this number; `begun` is the case of the repeat
    /// before, where a case holds the inputs that a search begins at.
    fn case_of<'a>(
        &'a self,
        repeat: u32,
        begun: &'a mut Option<(u32, M)>,
    ) -> Result<&'a M, AuditError> {
        if repeat == 0 {
            return Ok(&self.case);
        }
        if begun.as_ref().is_none_or(|(of, _)| *of != repeat) {
            let audit = self.specification.audit(repeat);
            let case = self.case.begun_anew(&audit, &self.device)?;
            *begun = case.map(|case| (repeat, case));
        }
        Ok(begun.as_ref().map_or(&self.case, |(_, case)| case))
    }

    /// Performs the search whose turn it is, of the strategy at `place` in the repeat of that number;
    /// `None` when `observe` stopped it. What the repeat searches is taken from `begun`, or left there.
    fn perform_turn(
        &self,
        (place, repeat): (u32, u32),
        begun: &mut Option<(u32, M)>,
        observe: &mut ObserveAll<'_>,
    ) -> Result<Option<Done>, AuditError> {
        let specification = &self.specification;
        let search = &specification.search;
        let strategy = specification.strategies[place as usize];
        let trial = Trial {
            case: self.case_of(repeat, begun)?,
            method: Method {
                strategy,
                search,
                tuning: &specification.tuning,
                text: &specification.text,
                rank: None,
                seed: specification.seed_of(repeat),
            },
            begin: Begin::Seeds {
                clusters: search.clusters,
                count: search.seeds,
            },
            options: search.within(&specification.budget),
        };
        let outcome = trial.run(&mut |progress| observe(strategy, repeat, progress))?;
        let figures = outcome.figures;
        Ok((figures.ending != Ending::Interrupted).then_some(Done {
            place,
            repeat,
            figures,
        }))
    }

    /// The means of the searches that are `done`, in the order of their repeats.
    fn summarise(&self, mut done: Vec<Done>, finished: bool) -> CompareSummary {
        let options = &self.specification;
        done.sort_by_key(|done| done.repeat);
        let mut runs: Vec<Vec<TrialFigures>> = vec![Vec::new(); options.strategies.len()];
        for done in done {
            runs[done.place as usize].push(done.figures);
        }
        let strategies = options.strategies.iter().zip(runs);
        let strategies: Vec<StrategyFigures> = strategies
            .map(|(&strategy, runs)| StrategyFigures::new(M::NAME, strategy, runs))
            .collect();
        let searches = strategies.iter().map(|of| {
            let curves = of.runs.iter().map(|run| SearchCurves {
                curve: &run.curve,
                cells_of: run
                    .finds
                    .as_ref()
                    .map_or(&[][..], |finds| &finds.cells_of[..]),
            });
            (of.strategy, curves.collect())
        });
        CompareSummary {
            shared_budget: SharedBudget::compare(&searches.collect::<Vec<_>>()),
            schema_version: 1,
            command: "compare".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished,
            seed: options.seed,
            repeats: options.repeats,
            device: self.device.name(),
            predictor: options.predictor.source.clone(),
            model_sha256: self.record.sha256_of("model").to_owned(),
            data_sha256: self.record.sha256_of("data").to_owned(),
            read: self.case.inputs_read(),
            protected: options.protected.clone(),
            strategies,
        }
    }
}

/// The searches of a comparison, one after the other: its items.
pub struct Searches<'a, 'o, M> {
    comparison: &'a Comparison<M>,
    begun: Option<(u32, M)>,
    observe: &'a mut ObserveAll<'o>,
}

impl<M: Modality> Items for Searches<'_, '_, M> {
    type Item = Done;
    type Error = AuditError;

    fn count(&self) -> u64 {
        self.comparison.specification.turns().count() as u64
    }

    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(Done),
    ) -> Result<bool, AuditError> {
        let options = &self.comparison.specification;
        let turns = options.turns().skip(items.start as usize);
        for turn in turns.take((items.end - items.start) as usize) {
            match self
                .comparison
                .perform_turn(turn, &mut self.begun, self.observe)?
            {
                Some(search) => done(search),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
