//! Several strategies on one model under the same conditions: options → searches → run directory.
//!
//! In each repeat every strategy gets the same options, the same seed and, unless it draws its own
//! inputs, the same seeds of the data; checks, counting and budgets are the driver's for all.
//! Repeats differ in their seed. The order of the strategies rotates from repeat to repeat, so that
//! a machine that slows down slows all of them.

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::audit::AuditError;
use super::case::{Case, CaseData};
use super::compare_plot::{found_by_calls, found_by_time};
use super::option_checks::{at_least_one, budget, countable, search_seconds};
use super::search::{Ending, SearchOptions};
use super::session::AuditProgress;
use super::strategies::StrategyName;
use super::strategies::tuning::Tuning;
use super::trial::{Begin, Trial, TrialFigures};
use crate::data::schema::Outside;
use crate::data::table::ReadCounts;
use crate::device::{ComputeDevice, DeviceName};
use crate::nn::Objective;
use crate::report::mean::Mean;
use crate::report::run_directory::{RUN, RunDirectory, write_atomically};

/// Name of the plot of found individuals against search time.
pub const BY_TIME: &str = "found-by-time.svg";
/// Name of the plot of found individuals against model calls.
pub const BY_CALLS: &str = "found-by-calls.svg";

/// Everything that determines a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Always `compare`.
    pub command: String,
    /// Version that ran it.
    pub probity_version: String,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// Data file that the seeds come from.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Policy for missing and outside values, where it is not the schema's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Names of the protected attributes, taken jointly.
    pub protected: Vec<String>,
    /// The strategies, in the order of the table.
    pub strategies: Vec<StrategyName>,
    /// What is differentiated.
    pub objective: Objective,
    /// Seeds of the global phase.
    pub seeds: usize,
    /// Clusters that the seeds come from.
    pub clusters: usize,
    /// Global moves a seed at most.
    pub max_iter: u32,
    /// Local trials a start.
    pub local: u32,
    /// Codes a global step moves.
    pub step_global: u32,
    /// Codes a local step moves.
    pub step_local: u32,
    /// Search seconds of each search at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<f64>,
    /// Distinct individuals that each search finds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_found: Option<u64>,
    /// Searches of each strategy.
    pub repeats: u32,
    /// Walkers a chunk at most; no influence on the result.
    pub batch: usize,
    /// Seed of the first repeat; the others count on from it.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// Options of single strategies.
    pub tuning: Tuning,
}

impl CompareOptions {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`AuditError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), AuditError> {
        at_least_one(&[
            ("--seeds", self.seeds as u64),
            ("--clusters", self.clusters as u64),
            ("--step-global", u64::from(self.step_global)),
            ("--step-local", u64::from(self.step_local)),
            ("--repeats", u64::from(self.repeats)),
            ("--batch", self.batch as u64),
            ("--max-found", self.max_found.unwrap_or(1)),
            ("--strategies", self.strategies.len() as u64),
        ])?;
        countable(&[("--local", self.local), ("--max-iter", self.max_iter)])?;
        self.tuning.check()?;
        search_seconds(self.time_seconds)?;
        let is_again = |(place, strategy): &(usize, &StrategyName)| {
            self.strategies[..*place].contains(strategy)
        };
        match self.strategies.iter().enumerate().find(is_again) {
            Some((_, strategy)) => Err(AuditError::Option {
                option: "--strategies",
                value: strategy.name().to_owned(),
                expected: "a list that names each strategy once",
            }),
            None => Ok(()),
        }
    }

    fn search(&self) -> SearchOptions {
        SearchOptions {
            max_iter: self.max_iter,
            local: self.local,
            batch: self.batch,
            max_found: self.max_found,
            time: budget(self.time_seconds),
        }
    }
}

/// What one strategy came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyFigures {
    /// The strategy.
    pub strategy: StrategyName,
    /// Distinct individuals found in the global phase.
    pub global: Mean,
    /// Distinct individuals found in the local phase.
    pub local: Mean,
    /// Distinct individuals found in both.
    pub found: Mean,
    /// Share of the individuals checked.
    pub success_rate: Mean,
    /// Search seconds.
    pub seconds: Mean,
    /// Distinct individuals found a second.
    pub found_per_second: Mean,
    /// Distinct individuals found for 1,000 rows or gradients that the model was asked for.
    pub found_per_thousand_calls: Mean,
    /// Each search.
    pub runs: Vec<TrialFigures>,
}

impl StrategyFigures {
    /// The means of `runs`.
    pub fn new(strategy: StrategyName, runs: Vec<TrialFigures>) -> StrategyFigures {
        let mean = |figure: &dyn Fn(&TrialFigures) -> f64| {
            Mean::of(&runs.iter().map(figure).collect::<Vec<f64>>())
        };
        StrategyFigures {
            strategy,
            global: mean(&|run| run.global.discriminatory as f64),
            local: mean(&|run| run.local.discriminatory as f64),
            found: mean(&|run| run.total.discriminatory as f64),
            success_rate: mean(&|run| run.total.success_rate),
            seconds: mean(&|run| run.total.seconds),
            found_per_second: mean(&TrialFigures::found_per_second),
            found_per_thousand_calls: mean(&TrialFigures::found_per_thousand_calls),
            runs,
        }
    }
}

/// `summary.json` of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompareSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `compare`.
    pub command: String,
    /// Version that ran it.
    pub probity_version: String,
    /// Whether every search was run; an interrupted comparison holds those that were.
    pub finished: bool,
    /// Seed of the first repeat.
    pub seed: u64,
    /// Searches of each strategy that were asked for.
    pub repeats: u32,
    /// Device that searched.
    pub device: DeviceName,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// The strategies, in the order asked for.
    pub strategies: Vec<StrategyFigures>,
}

/// What a comparison needs, loaded and checked; nothing is written yet.
pub struct PreparedComparison {
    options: CompareOptions,
    case: Case,
}

impl PreparedComparison {
    /// Loads and checks everything that `options` name, for searches on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn new(
        options: CompareOptions,
        device: &ComputeDevice,
    ) -> Result<PreparedComparison, AuditError> {
        options.check()?;
        let data = CaseData {
            data: &options.data,
            data_sha256: &options.data_sha256,
            outside: options.outside,
            protected: &options.protected,
        };
        let case = Case::load(&options.model, &options.model_sha256, data, device)?;
        for &strategy in &options.strategies {
            case.expect_usable(strategy)?;
        }
        Ok(PreparedComparison { options, case })
    }

    /// The options, resolved.
    pub fn options(&self) -> &CompareOptions {
        &self.options
    }
}

/// Runs the comparison that was `prepared` in the directory `run`.
///
/// `observe` sees every round of every search, with its strategy and repeat, and may stop the
/// comparison; the search under way is then left out.
///
/// # Errors
/// See [`AuditError`].
pub fn compare(
    prepared: &PreparedComparison,
    run: &RunDirectory,
    observe: &mut dyn FnMut(StrategyName, u32, AuditProgress<'_>) -> ControlFlow<()>,
) -> Result<CompareSummary, AuditError> {
    let options = &prepared.options;
    run.write_toml(RUN, options)?;
    let search = options.search();
    let count = options.strategies.len();
    let mut runs: Vec<Vec<TrialFigures>> = vec![Vec::new(); count];
    let mut finished = true;
    'repeats: for repeat in 0..options.repeats {
        for turn in 0..count {
            let place = (turn + repeat as usize) % count;
            let strategy = options.strategies[place];
            let trial = Trial {
                case: &prepared.case,
                strategy,
                objective: options.objective,
                steps: (options.step_global, options.step_local),
                tuning: &options.tuning,
                begin: Begin::Seeds {
                    clusters: options.clusters,
                    count: options.seeds,
                },
                seed: options.seed.wrapping_add(u64::from(repeat)),
                options: &search,
            };
            let figures = trial
                .run(&mut |progress| observe(strategy, repeat, progress))?
                .figures;
            if figures.ending == Ending::Interrupted {
                finished = false;
                break 'repeats;
            }
            runs[place].push(figures);
        }
    }
    let strategies = options
        .strategies
        .iter()
        .zip(runs)
        .map(|(&strategy, runs)| StrategyFigures::new(strategy, runs))
        .collect();
    let summary = CompareSummary {
        schema_version: 1,
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        finished,
        seed: options.seed,
        repeats: options.repeats,
        device: options.device,
        model_sha256: options.model_sha256.clone(),
        data_sha256: options.data_sha256.clone(),
        data: prepared.case.table.counts.clone(),
        protected: options.protected.clone(),
        strategies,
    };
    for (name, plot) in [
        (BY_TIME, found_by_time(&summary.strategies)),
        (BY_CALLS, found_by_calls(&summary.strategies)),
    ] {
        write_atomically(&run.file(name), plot.as_bytes())?;
    }
    run.write_summary(&summary)?;
    Ok(summary)
}
