//! Several strategies on one model under the same conditions: options → searches → run directory.
//!
//! In each repeat every strategy gets the same options, the same seed and, unless it draws its own
//! inputs, the same seeds of the data; checks, counting and budgets are the driver's for all.
//! Repeats differ in their seed. The order of the strategies rotates from repeat to repeat, so that
//! a machine that slows down slows all of them.
//!
//! Every search that is done is kept in the run's checkpoint. A comparison that goes on runs the others, and ends with
//! the figures of an unbroken one, times apart.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::audit::AuditError;
use super::case::Case;
pub use super::compare_options::CompareOptions;
use super::search::Ending;
use super::session::AuditProgress;
use super::strategies::StrategyName;
use super::trial::{Begin, KeptFigures, Trial, TrialFigures};
use crate::mean::Mean;
use probity_data::table::ReadCounts;
use probity_nn::Classifier;
use probity_predictor::source::{PredictorOptions, PredictorSource};
use probity_run::run_directory::{RUN, RunDirectory};
use probity_tensor::device::{ComputeDevice, DeviceName};

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
        let success: Vec<f64> = runs.iter().map(|run| run.total.success_rate).collect();
        StrategyFigures {
            strategy,
            global: mean(&|run| run.global.discriminatory as f64),
            local: mean(&|run| run.local.discriminatory as f64),
            found: mean(&|run| run.total.discriminatory as f64),
            success_rate: Mean::of_shares(&success),
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
    /// The predictor, where one was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorSource>,
    /// SHA-256 of the model, or of what identifies the predictor.
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
        let (model, sha256) = (&options.model, &options.model_sha256);
        let case = Case::load(model, sha256, options.case_data(), device)?;
        PreparedComparison::of(options, case)
    }

    /// The same for the predictor that `options` name, which answers as `classifier`; see
    /// [`Case::of_predictor`].
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn of_predictor(
        options: CompareOptions,
        predictor: &PredictorOptions,
        classifier: Box<dyn Classifier>,
    ) -> Result<(PreparedComparison, f32), AuditError> {
        options.check()?;
        let (sha256, data) = (&options.model_sha256, options.case_data());
        let (case, difference) = Case::of_predictor(predictor, sha256, classifier, data)?;
        Ok((PreparedComparison::of(options, case)?, difference))
    }

    fn of(options: CompareOptions, case: Case) -> Result<PreparedComparison, AuditError> {
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

/// A search that is done.
#[derive(Serialize, Deserialize)]
struct Done {
    /// Position of the strategy.
    place: u32,
    /// Number of the repeat, from 0.
    repeat: u32,
    #[serde(with = "KeptFigures")]
    figures: TrialFigures,
}

/// Runs the comparison that was `prepared` in the directory `run`.
///
/// With `resume` the searches in the run's checkpoint, if there is one, are taken from there. `observe` sees every round of
/// every other search, with its strategy and repeat, and may stop the comparison; the search under way is then
/// left out, and the checkpoint holds those that are done. It does so as well when a search fails.
///
/// # Errors
/// See [`AuditError`].
pub fn compare(
    prepared: &PreparedComparison,
    run: &RunDirectory,
    resume: bool,
    observe: &mut dyn FnMut(StrategyName, u32, AuditProgress<'_>) -> ControlFlow<()>,
) -> Result<CompareSummary, AuditError> {
    let options = &prepared.options;
    let identity = options.identity();
    let mut done: Vec<Done> = match resume {
        true => run.read_checkpoint(&identity)?.unwrap_or_default(),
        false => Vec::new(),
    };
    run.write_toml(RUN, options)?;
    // From here on the run can be resumed.
    run.write_checkpoint(&identity, &done)?;
    let count = options.strategies.len() as u32;
    let turns = (0..options.repeats)
        .flat_map(|repeat| (0..count).map(move |turn| ((turn + repeat) % count, repeat)));
    let mut finished = true;
    for (place, repeat) in turns {
        if done.iter().any(|d| (d.place, d.repeat) == (place, repeat)) {
            continue;
        }
        let strategy = options.strategies[place as usize];
        let figures = prepared.search(strategy, repeat, &mut |progress| {
            observe(strategy, repeat, progress)
        })?;
        if figures.ending == Ending::Interrupted {
            finished = false;
            break;
        }
        done.push(Done {
            place,
            repeat,
            figures,
        });
        run.write_checkpoint(&identity, &done)?;
    }
    let summary = prepared.summarise(done, finished);
    run.write_summary(&summary)?;
    if finished {
        run.remove_checkpoint()?;
    }
    Ok(summary)
}

impl PreparedComparison {
    /// One search.
    fn search(
        &self,
        strategy: StrategyName,
        repeat: u32,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<TrialFigures, AuditError> {
        let options = &self.options;
        let trial = Trial {
            case: &self.case,
            strategy,
            objective: options.objective,
            steps: (options.step_global, options.step_local),
            tuning: &options.tuning,
            begin: Begin::Seeds {
                clusters: options.clusters,
                count: options.seeds,
            },
            seed: options.seed.wrapping_add(u64::from(repeat)),
            options: &options.search(),
        };
        Ok(trial.run(observe)?.figures)
    }

    /// The means of the searches that are `done`, in the order of their repeats.
    fn summarise(&self, mut done: Vec<Done>, finished: bool) -> CompareSummary {
        let options = &self.options;
        done.sort_by_key(|done| done.repeat);
        let mut runs: Vec<Vec<TrialFigures>> = vec![Vec::new(); options.strategies.len()];
        for done in done {
            runs[done.place as usize].push(done.figures);
        }
        let strategies = options.strategies.iter().zip(runs);
        CompareSummary {
            schema_version: 1,
            command: options.command.clone(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished,
            seed: options.seed,
            repeats: options.repeats,
            device: options.device,
            predictor: options.predictor.as_ref().map(|p| p.source.clone()),
            model_sha256: options.model_sha256.clone(),
            data_sha256: options.data_sha256.clone(),
            data: self.case.table.counts.clone(),
            protected: options.protected.clone(),
            strategies: strategies
                .map(|(&strategy, runs)| StrategyFigures::new(strategy, runs))
                .collect(),
        }
    }
}
