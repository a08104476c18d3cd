//! The searches of a table on texts.

use std::path::PathBuf;

use serde::Serialize;
use tempfile::TempDir;

use super::super::args::{AdfArgs, AdfTable};
use super::paper::{ATTRIBUTES, TEXT_COLUMN};
use super::training::training;
use crate::interrupt::Interrupt;
use crate::output::Output;
use probity_fairness::mean::Mean;
use probity_fairness::samples::SamplesFormat;
use probity_fairness::search::Ending;
use probity_fairness::text::audit::{PreparedTextAudit, audit_texts};
use probity_fairness::text::options::TextAuditOptions;
use probity_fairness::text::protected::open_lexicon;
use probity_fairness::text::strategy::TextStrategyName;
use probity_fairness::text::summary::TextAuditSummary;
use probity_nn::Objective;
use probity_nn::recurrent::network::CellKind;
use probity_nn::text_training_run::{TextSet, run_text_training};
use probity_run::run_directory::RunDirectory;
use probity_tensor::device::ComputeDevice;

/// The strategies of Table VIII, in its order.
const STRATEGIES: [TextStrategyName; 5] = [
    TextStrategyName::Rp,
    TextStrategyName::Asc,
    TextStrategyName::AdfAsc,
    TextStrategyName::Hf,
    TextStrategyName::AdfHf,
];

/// Figures of one network and attribute, one entry a repeat.
#[derive(Serialize)]
pub struct ReproducedRow {
    pub model: CellKind,
    pub attribute: String,
    pub runs: Vec<RepeatFigures>,
}

/// What one network gave.
#[derive(Default, Serialize)]
pub struct RepeatFigures {
    pub seeds: u64,
    pub raw: u64,
    /// By the strategies that the table compares, in its order.
    pub global: Vec<u64>,
    /// Texts found in the local phase, by rp and adf-asc.
    pub local: Vec<u64>,
    /// Share of the generated ones.
    pub local_success: Vec<f64>,
    /// Mean validity of the global phase, by strategy.
    pub validity: Vec<[f64; 5]>,
    /// Search seconds to 5,000 texts by rp and adf-asc; more texts may not have been found.
    pub seconds: Vec<f64>,
    pub found: Vec<u64>,
}

/// One table.
#[derive(Serialize)]
pub struct ReproduceSummary {
    pub schema_version: u32,
    pub command: &'static str,
    pub paper: &'static str,
    pub table: String,
    pub seed: u64,
    pub finished: bool,
    pub rows: Vec<ReproducedRow>,
    /// Differences of the texts found in total, by repeat: adf-asc over asc, adf-hf over hf, and
    /// the lesser of the two over rp.
    pub differences: Vec<Difference>,
    pub not_found: Vec<String>,
}

/// How much more is found by one than by another.
#[derive(Serialize)]
pub struct Difference {
    pub of: &'static str,
    pub mean: f64,
    /// Student's t over the repeats; absent for a single one.
    pub ci95: Option<[f64; 2]>,
}

/// A trained network in a folder of its own.
struct TrainedModel {
    folder: TempDir,
    sha256: String,
}

/// What all runs share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub texts: PathBuf,
    pub texts_sha256: String,
    pub vectors: PathBuf,
    pub device: ComputeDevice,
    pub interrupt: Interrupt,
}

impl Experiment<'_> {
    /// Trains and searches everything; whether it was not interrupted.
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
        let files = (
            self.texts.as_path(),
            self.texts_sha256.as_str(),
            self.vectors.as_path(),
        );
        let training = training(files, cell, seed)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("model"))?;
        let set = TextSet::read(&training)?;
        let trained =
            run_text_training(&training, &set, &run, false, &mut |_| self.interrupt.flow())?;
        Ok(TrainedModel {
            folder,
            sha256: trained.model_sha256,
        })
    }

    /// One network's figures for an attribute; `None` when interrupted.
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
                for strategy in [TextStrategyName::Rp, TextStrategyName::AdfAsc] {
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
                    figures.validity.push(found.validity.global.means());
                }
            }
            _ => {
                for strategy in STRATEGIES {
                    let Some(found) = search(strategy, strategy, 0, None)? else {
                        return Ok(None);
                    };
                    figures.seeds = found.global.seeds;
                    figures.raw = found.raw_discriminatory;
                    figures.global.push(found.global.discriminatory);
                }
                for local in [TextStrategyName::Rp, TextStrategyName::AdfAsc] {
                    let trials = self.args.trials();
                    let Some(found) = search(TextStrategyName::AdfAsc, local, trials, None)? else {
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
        (strategy, local_strategy): (TextStrategyName, TextStrategyName),
        (local, max_found): (u32, Option<u64>),
    ) -> anyhow::Result<Option<TextAuditSummary>> {
        let (_, lexicon_sha256) = open_lexicon(None)?;
        let options = TextAuditOptions {
            command: "audit".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.folder.path().join("model"),
            model_sha256: model.sha256.clone(),
            texts: self.texts.clone(),
            texts_sha256: self.texts_sha256.clone(),
            text_column: Some(TEXT_COLUMN.to_owned()),
            lexicon: None,
            lexicon_sha256,
            encoder: None,
            encoder_sha256: None,
            protected: vec![attribute.to_owned()],
            strategy,
            local_strategy,
            objective: Objective::Loss,
            neighbours: 10,
            seeds: self.args.seeds,
            clusters: 4,
            max_iter: 10,
            local,
            max_l0: None,
            min_similarity: None,
            // The share is no part of these tables.
            estimate: 1,
            time_seconds: None,
            max_found,
            fail_above: None,
            batch: 4096,
            samples_format: SamplesFormat::Parquet,
            seed,
            device: self.device.name(),
            hardware: self.device.hardware(),
        };
        let prepared = PreparedTextAudit::new(options, &self.device)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("audit"))?;
        let summary = audit_texts(&prepared, &run, false, &mut |_| self.interrupt.flow())?;
        Ok((summary.ending != Ending::Interrupted).then_some(summary))
    }
}

/// How much more one strategy finds than another, over the repeats.
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
        let Mean { mean, ci95 } = Mean::of(&values);
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
