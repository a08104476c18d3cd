//! The searches of a table on texts.

use std::path::PathBuf;

use serde::Serialize;
use tempfile::TempDir;

use super::super::args::{AdfArgs, AdfTable};
use super::paper::{ATTRIBUTES, TEXT_COLUMN};
use super::training::training;
use crate::interrupt::Interrupt;
use crate::output::Output;
use probity_fairness::audit::{Audit, AuditSpecification, AuditSummary};
use probity_fairness::modality::{ModalityName, TextCase, TextDetails};
use probity_fairness::search::Ending;
use probity_fairness::statistics::Mean;
use probity_fairness::strategies::StrategyName;
use probity_fairness::text::preset::Preset;
use probity_nn::recurrent::network::CellKind;
use probity_nn::train::run::Training;
use probity_nn::train::text_set::TextSet;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// The strategies of Table VIII, in its order.
const STRATEGIES: [StrategyName; 5] = [
    StrategyName::Rp,
    StrategyName::Asc,
    StrategyName::AdfAsc,
    StrategyName::Hf,
    StrategyName::AdfHf,
];

/// The figures of one network and attribute, with one entry for each repeat.
#[derive(Serialize)]
pub struct ReproducedRow {
    pub model: CellKind,
    pub attribute: String,
    pub runs: Vec<RepeatFigures>,
}

/// The figures of one network in one repeat.
#[derive(Default, Serialize)]
pub struct RepeatFigures {
    pub seeds: u64,
    pub raw: u64,
    /// The texts found in the global phase, by the strategies that the table compares, in its
    /// order.
    pub global: Vec<u64>,
    /// The texts found in the local phase, by rp and adf-asc.
    pub local: Vec<u64>,
    /// The share of the texts generated in the local phase that are discriminatory, by rp and
    /// adf-asc.
    pub local_success: Vec<f64>,
    /// The mean validity of the global phase, by strategy.
    pub validity: Vec<[f64; 5]>,
    /// The search seconds to 5,000 texts, by rp and adf-asc; more texts may not have been found.
    pub seconds: Vec<f64>,
    pub found: Vec<u64>,
}

/// One table with the figures of this run.
#[derive(Serialize)]
pub struct ReproduceSummary {
    pub schema_version: u32,
    pub command: &'static str,
    pub paper: &'static str,
    pub table: String,
    pub seed: u64,
    pub finished: bool,
    pub rows: Vec<ReproducedRow>,
    /// The relative differences of the numbers of texts found in total, by repeat: adf-asc over
    /// asc, adf-hf over hf, and the lesser of the two over rp.
    pub differences: Vec<Difference>,
    pub not_found: Vec<String>,
}

/// How much more texts one strategy finds than another.
#[derive(Serialize)]
pub struct Difference {
    pub of: &'static str,
    pub mean: f64,
    /// The interval by Student's t over the repeats; absent for a single one.
    pub ci95: Option<[f64; 2]>,
}

/// A trained network in a folder of its own.
struct TrainedModel {
    folder: TempDir,
}

/// The arguments and files that all runs share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub texts: PathBuf,
    pub vectors: PathBuf,
    pub device: ComputeDevice,
    pub interrupt: Interrupt,
}

impl Experiment<'_> {
    /// Trains and searches everything; returns false when interrupted.
    pub fn fill(
        &self,
        attributes: &[usize],
        rows: &mut Vec<ReproducedRow>,
        output: &Output,
    ) -> anyhow::Result<bool> {
        for model in self.args.cells() {
            for &attribute in attributes {
                rows.push(ReproducedRow {
                    model,
                    attribute: ATTRIBUTES[attribute].to_owned(),
                    runs: Vec::new(),
                });
            }
        }
        for repeat in 0..u64::from(self.args.repeats) {
            let seed = self.args.seed + repeat;
            for cell in self.args.cells() {
                output.remark(&format!("{cell:?}, seed {seed}: training"));
                let model = self.train(cell, seed)?;
                for row in rows.iter_mut().filter(|row| row.model == cell) {
                    if self.interrupt.flow().is_break() {
                        return Ok(false);
                    }
                    output.remark(&format!("{cell:?}, seed {seed}: {}", row.attribute));
                    let Some(run) = self.repeat(&model, &row.attribute, seed)? else {
                        return Ok(false);
                    };
                    row.runs.push(run);
                }
            }
        }
        Ok(true)
    }

    fn train(&self, cell: CellKind, seed: u64) -> anyhow::Result<TrainedModel> {
        let specification = training((&self.texts, &self.vectors), cell, seed);
        let training = Training::<TextSet>::open(specification.check()?, &ComputeDevice::flex())?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("model"))?;
        training.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok(TrainedModel { folder })
    }

    /// Trains one network and searches it by an attribute; returns the figures, or `None` when
    /// interrupted.
    fn repeat(
        &self,
        model: &TrainedModel,
        attribute: &str,
        seed: u64,
    ) -> anyhow::Result<Option<RepeatFigures>> {
        let mut figures = RepeatFigures::default();
        let search = |strategy, local_strategy, local, max_found| {
            self.search(
                model,
                attribute,
                seed,
                (strategy, local_strategy),
                (local, max_found),
            )
        };
        match self.args.table {
            AdfTable::TextSeconds => {
                for strategy in [StrategyName::Rp, StrategyName::AdfAsc] {
                    let Some(found) = search(strategy, strategy, self.args.trials(), Some(5000))?
                    else {
                        return Ok(None);
                    };
                    figures.seconds.push(found.total.seconds);
                    figures.found.push(found.total.discriminatory);
                }
            }
            AdfTable::Validity => {
                for strategy in &STRATEGIES[1..] {
                    let Some(found) = search(*strategy, *strategy, 0, None)? else {
                        return Ok(None);
                    };
                    figures.global.push(found.global.discriminatory);
                    figures
                        .validity
                        .push(found.details.pairs.validity.global.means());
                }
            }
            _ => {
                for strategy in STRATEGIES {
                    let Some(found) = search(strategy, strategy, 0, None)? else {
                        return Ok(None);
                    };
                    figures.seeds = found.global.seeds;
                    figures.raw = found.details.pairs.raw_discriminatory;
                    figures.global.push(found.global.discriminatory);
                }
                for local in [StrategyName::Rp, StrategyName::AdfAsc] {
                    let trials = self.args.trials();
                    let Some(found) = search(StrategyName::AdfAsc, local, trials, None)? else {
                        return Ok(None);
                    };
                    figures.local.push(found.local.discriminatory);
                    let generated = found.local.generated.max(1) as f64;
                    figures
                        .local_success
                        .push(found.local.discriminatory as f64 / generated);
                }
            }
        }
        Ok(Some(figures))
    }

    fn search(
        &self,
        model: &TrainedModel,
        attribute: &str,
        seed: u64,
        (strategy, local_strategy): (StrategyName, StrategyName),
        (local, max_found): (u32, Option<u64>),
    ) -> anyhow::Result<Option<AuditSummary<TextDetails>>> {
        let mut specification = AuditSpecification::default();
        specification.modality = ModalityName::Text;
        specification.model = Some(model.folder.path().join("model"));
        specification.data.clone_from(&self.texts);
        specification.protected = vec![attribute.to_owned()];
        specification.strategy = Some(strategy);
        specification.seed = seed;
        // These tables do not contain the share.
        specification.estimate = Some(1);
        specification.text.preset = Preset::Paper;
        specification.text.column = Some(TEXT_COLUMN.to_owned());
        specification.text.local_strategy = Some(local_strategy);
        specification.search.seeds = self.args.seeds;
        specification.search.local = local;
        specification.budget.max_found = max_found;
        let audit = Audit::<TextCase>::open(specification.check()?, &self.device)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("audit"))?;
        let summary = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok((summary.ending != Ending::Interrupted).then_some(summary))
    }
}

/// Computes how much more one strategy finds than another, over the repeats.
pub fn differences(rows: &[ReproducedRow], repeats: usize) -> Vec<Difference> {
    if rows.is_empty()
        || rows
            .iter()
            .any(|row| row.runs.len() < repeats || row.runs[0].global.len() < 5)
    {
        return Vec::new();
    }
    let total = |repeat: usize, strategy: usize| -> f64 {
        rows.iter()
            .map(|row| row.runs[repeat].global[strategy] as f64)
            .sum()
    };
    let of = |name, difference: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..repeats).map(difference).collect();
        let Mean { mean, ci95 } = Mean::new(&values);
        Difference {
            of: name,
            mean,
            ci95,
        }
    };
    vec![
        of("adf-asc over asc", &|repeat| {
            total(repeat, 2) - total(repeat, 1)
        }),
        of("adf-hf over hf", &|repeat| {
            total(repeat, 4) - total(repeat, 3)
        }),
        of("the lesser of both over rp", &|repeat| {
            total(repeat, 2).min(total(repeat, 4)) - total(repeat, 0)
        }),
    ]
}
