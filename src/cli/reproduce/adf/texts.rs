//! The tables on texts: VIII, IX and XI.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use tempfile::TempDir;

use super::{AdfArgs, AdfTable, PAPER, render_texts};
use crate::cli::inputs::absolute;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use probity::fairness::audit::{Audit, AuditSpecification, AuditSummary};
use probity::fairness::mean::Mean;
use probity::fairness::modality::{ModalityName, TextCase, TextDetails};
use probity::fairness::search::Ending;
use probity::fairness::strategies::StrategyName;
use probity::fairness::text::paper::{ATTRIBUTES, LABEL_COLUMN, TEXT_COLUMN, find};
use probity::nn::recurrent::network::CellKind;
use probity::nn::train::TrainSpecification;
use probity::nn::train::options::RecurrentOptions;
use probity::nn::train::run::Training;
use probity::nn::train::text_set::TextSet;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;

/// The strategies of Table VIII, in its order.
const STRATEGIES: [StrategyName; 5] = [
    StrategyName::Rp,
    StrategyName::Asc,
    StrategyName::AdfAsc,
    StrategyName::Hf,
    StrategyName::AdfHf,
];
/// Local trials unless the user says otherwise.
const LOCAL: u32 = 1000;

/// Figures of one network and attribute, one entry a repeat.
#[derive(Serialize)]
pub(super) struct ReproducedRow {
    pub(super) model: CellKind,
    pub(super) attribute: String,
    pub(super) runs: Vec<RepeatFigures>,
}

/// What one network gave.
#[derive(Default, Serialize)]
pub(super) struct RepeatFigures {
    pub(super) seeds: u64,
    pub(super) raw: u64,
    /// By the strategies that the table compares, in its order.
    pub(super) global: Vec<u64>,
    /// Texts found in the local phase, by rp and adf-asc.
    pub(super) local: Vec<u64>,
    /// Share of the generated ones.
    pub(super) local_success: Vec<f64>,
    /// Mean validity of the global phase, by strategy.
    pub(super) validity: Vec<[f64; 5]>,
    /// Search seconds to 5,000 texts by rp and adf-asc; more texts may not have been found.
    pub(super) seconds: Vec<f64>,
    pub(super) found: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct ReproduceSummary {
    pub(super) schema_version: u32,
    pub(super) command: &'static str,
    pub(super) paper: &'static str,
    pub(super) table: String,
    pub(super) seed: u64,
    pub(super) finished: bool,
    pub(super) rows: Vec<ReproducedRow>,
    /// Differences of the texts found in total, by repeat: adf-asc over asc, adf-hf over hf, and the
    /// lesser of the two over rp.
    pub(super) differences: Vec<Difference>,
    pub(super) not_found: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Difference {
    pub(super) of: &'static str,
    pub(super) mean: f64,
    /// Student's t over the repeats; absent for a single one.
    pub(super) ci95: Option<[f64; 2]>,
}

/// A trained network in a folder of its own.
struct TrainedModel {
    folder: TempDir,
}

/// Runs `probity reproduce adf`.
pub(super) fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let attributes = args.attributes()?;
    let folders = args.data.folders();
    let mut summary = ReproduceSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        differences: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let bench = Bench {
                args,
                texts: absolute(&texts),
                vectors: absolute(&vectors),
                device,
                interrupt: Interrupt::listen()?,
            };
            summary.finished = bench.fill(&attributes, &mut summary.rows, output)?;
            summary.differences = differences(&summary.rows, args.repeats as usize);
        }
    }
    let text = render_texts::render(args, &summary, &folders);
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The training of the paper's network on the comments in `texts`, with the word vectors in `vectors`.
pub(super) fn training(
    (texts, vectors): (&Path, &Path),
    cell: CellKind,
    seed: u64,
) -> TrainSpecification {
    let mut specification = TrainSpecification::of_texts(texts, LABEL_COLUMN);
    specification.text_column = Some(TEXT_COLUMN.to_owned());
    specification.recurrent = Some(RecurrentOptions {
        cell,
        embeddings: vectors.to_owned(),
        ..RecurrentOptions::default()
    });
    specification.training.seed = seed;
    specification
}

impl AdfArgs {
    /// Positions in [`ATTRIBUTES`] of those asked for.
    pub(super) fn attributes(&self) -> anyhow::Result<Vec<usize>> {
        if let Some(other) = self
            .only
            .iter()
            .find(|name| !ATTRIBUTES.contains(&name.as_str()))
        {
            bail!(
                "the paper has no attribute '{other}'; it has {}",
                ATTRIBUTES.join(", ")
            );
        }
        let all = 0..ATTRIBUTES.len();
        let wanted = |&place: &usize| {
            self.only.is_empty() || self.only.iter().any(|name| name == ATTRIBUTES[place])
        };
        // Table IX is about race alone.
        let of_table =
            |&place: &usize| self.table != AdfTable::Validity || ATTRIBUTES[place] == "race";
        Ok(all.filter(wanted).filter(of_table).collect())
    }

    pub(super) fn trials(&self) -> u32 {
        self.local.unwrap_or(LOCAL)
    }

    fn cells(&self) -> Vec<CellKind> {
        match self.table {
            AdfTable::Validity => vec![CellKind::Lstm],
            _ if self.models.is_empty() => vec![CellKind::Lstm, CellKind::Gru],
            _ => self.models.clone(),
        }
    }
}

/// What all runs share.
struct Bench<'a> {
    args: &'a AdfArgs,
    texts: PathBuf,
    vectors: PathBuf,
    device: ComputeDevice,
    interrupt: Interrupt,
}

impl Bench<'_> {
    /// Trains and searches everything; whether it was not interrupted.
    fn fill(
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
        // The share is no part of these tables.
        specification.estimate = 1;
        specification.text.column = Some(TEXT_COLUMN.to_owned());
        specification.text.local_strategy = Some(local_strategy);
        specification.search.seeds = self.args.seeds;
        specification.search.local = local;
        specification.budget.max_found = max_found;
        let audit = Audit::<TextCase>::open(specification.check()?, &self.device)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(Path::new(&folder.path().join("audit")))?;
        let summary = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok((summary.ending != Ending::Interrupted).then_some(summary))
    }
}

/// How much more one strategy finds than another, over the repeats.
fn differences(rows: &[ReproducedRow], repeats: usize) -> Vec<Difference> {
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
