//! `probity reproduce adf --table XIII` and `--table XIV`: discriminatory texts that retraining and certified training
//! mend.
//!
//! All repairs of a network by an attribute have the same independent set and the same control networks; the two
//! methods of Table XIII have the same samples as well.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use serde::Serialize;
use tempfile::TempDir;

use super::texts::training;
use super::{AdfArgs, AdfTable, PAPER, render_text_repair};
use crate::cli::inputs::absolute;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::progress::RepairBar;
use probity::fairness::repair::specification::{RepairMethod, TextRepairOptions};
use probity::fairness::repair::summary::RepairSummary;
use probity::fairness::repair::text::{TextDetails, TextFigures};
use probity::fairness::repair::{
    Repair, RepairError, RepairSpecification, RepairState, TextRepair,
};
use probity::fairness::strategies::StrategyName;
use probity::fairness::text::paper::{ATTRIBUTES, BY_STRATEGY, find, repaired};
use probity::nn::modality::ModalityName;
use probity::nn::recurrent::network::CellKind;
use probity::nn::train::run::Training;
use probity::nn::train::text_set::TextSet;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::tensor::device::{ComputeDevice, use_threads};

/// Texts that a search finds at most, unless the user says otherwise. The paper's independent sets have 155,690 on average.
const MAX_FOUND: u64 = 20_000;

/// The remedies that are compared: a method, and the strategy that finds samples.
type Remedy = (RepairMethod, StrategyName);

/// Those of Table XIII.
const METHODS: [Remedy; 2] = [
    (RepairMethod::Samples, StrategyName::AdfAsc),
    (RepairMethod::Certified, StrategyName::AdfAsc),
];

/// Those of Table XIV, in its order after that of Table XIII.
const STRATEGIES: [Remedy; 4] = [
    (RepairMethod::Samples, StrategyName::AdfAsc),
    (RepairMethod::Samples, StrategyName::Asc),
    (RepairMethod::Samples, StrategyName::Hf),
    (RepairMethod::Samples, StrategyName::AdfHf),
];

#[derive(Serialize)]
pub(super) struct TextRepairTableSummary {
    schema_version: u32,
    command: &'static str,
    pub(super) paper: &'static str,
    pub(super) table: String,
    seed: u64,
    pub(super) finished: bool,
    pub(super) rows: Vec<ReproducedTextRepair>,
    pub(super) not_found: Vec<String>,
}

/// One network and attribute.
#[derive(Serialize)]
pub(super) struct ReproducedTextRepair {
    pub(super) model: CellKind,
    pub(super) attribute: &'static str,
    /// Percent, by remedy.
    pub(super) paper: Vec<f64>,
    pub(super) ours: Vec<RemedySummary>,
}

/// What one remedy came to.
#[derive(Serialize)]
pub(super) struct RemedySummary {
    pub(super) method: RepairMethod,
    pub(super) strategy: StrategyName,
    #[serde(flatten)]
    pub(super) summary: RepairSummary<TextFigures, TextDetails>,
}

/// The network that is repaired, in a folder of its own.
struct Original {
    folder: TempDir,
}

/// Prints table XIII or XIV.
pub(super) fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let rows = rows(args)?;
    ensure!(
        !rows.is_empty(),
        "table {} has no such row: it has LSTM by race and GRU by ethnicity",
        args.table.name()
    );
    use_threads(args.hardware.threads.map(usize::from))?;
    let folders = args.data.folders();
    let mut summary = TextRepairTableSummary {
        // 2: a row has its remedies in a list.
        schema_version: 2,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let interrupt = Interrupt::listen()?;
            let bench = Bench {
                args,
                files: (absolute(&texts), absolute(&vectors)),
                interrupt: &interrupt,
                output,
            };
            summary.finished = bench.fill(&rows, &mut summary.rows)?;
        }
    }
    let text = render_text_repair::render(&summary, &folders);
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// A row of the table: network, attribute, and the paper's figures by remedy.
struct Row {
    cell: CellKind,
    attribute: &'static str,
    paper: Vec<f64>,
}

/// The rows asked for.
fn rows(args: &AdfArgs) -> anyhow::Result<Vec<Row>> {
    let attributes = args.attributes()?;
    let is_asked = |cell: CellKind| args.models.is_empty() || args.models.contains(&cell);
    if args.table == AdfTable::TextRepairByStrategy {
        let rows = BY_STRATEGY.iter();
        let asked = rows.filter(|row| is_asked(row.cell) && attributes.contains(&row.attribute));
        return Ok(asked
            .map(|row| Row {
                cell: row.cell,
                attribute: ATTRIBUTES[row.attribute],
                paper: row.repaired.to_vec(),
            })
            .collect());
    }
    let cells = [CellKind::Lstm, CellKind::Gru];
    let asked = cells.into_iter().filter(|&cell| is_asked(cell));
    let rows = asked.flat_map(|cell| attributes.iter().map(move |&place| (cell, place)));
    Ok(rows
        .map(|(cell, place)| Row {
            cell,
            attribute: ATTRIBUTES[place],
            paper: repaired(cell)[place].to_vec(),
        })
        .collect())
}

/// What all rows share.
struct Bench<'a> {
    args: &'a AdfArgs,
    /// Comments and word vectors.
    files: (PathBuf, PathBuf),
    interrupt: &'a Interrupt,
    output: &'a Output,
}

impl Bench<'_> {
    /// Repairs every network by every remedy; whether it was not interrupted.
    fn fill(
        &self,
        rows: &[Row],
        reproduced: &mut Vec<ReproducedTextRepair>,
    ) -> anyhow::Result<bool> {
        let mut original: Option<(CellKind, Original)> = None;
        for row in rows {
            let is_trained = original.as_ref().is_some_and(|(cell, _)| *cell == row.cell);
            if !is_trained {
                self.output.remark(&format!("{:?}: training", row.cell));
                original = Some((row.cell, self.train(row.cell)?));
            }
            let Some((_, original)) = &original else {
                break;
            };
            let Some(ours) = self.remedies(original, row)? else {
                return Ok(false);
            };
            reproduced.push(ReproducedTextRepair {
                model: row.cell,
                attribute: row.attribute,
                paper: row.paper.clone(),
                ours,
            });
        }
        Ok(true)
    }

    /// What every remedy comes to; `None` when interrupted.
    fn remedies(
        &self,
        original: &Original,
        row: &Row,
    ) -> anyhow::Result<Option<Vec<RemedySummary>>> {
        let remedies: &[Remedy] = match self.args.table {
            AdfTable::TextRepairByStrategy => &STRATEGIES,
            _ => &METHODS,
        };
        let mut state = RepairState::<TextRepair>::default();
        let mut ours: Vec<RemedySummary> = Vec::new();
        for &(method, strategy) in remedies {
            let name = strategy.name();
            self.output.remark(&format!(
                "{:?}, {}: {method:?}, {name}",
                row.cell, row.attribute
            ));
            state = match ours.last().is_some_and(|last| last.strategy == strategy) {
                true => state.for_other_method(),
                false => state.for_other_searches(|searched| searched.samples = None),
            };
            let specification = self.specification(original, row.attribute, (method, strategy));
            let device = ComputeDevice::flex();
            let repair = Repair::<TextRepair>::open(specification.check()?, &device)?;
            let folder = TempDir::new()?;
            let run = RunDirectory::create(&folder.path().join("repair"))?;
            let bar = RepairBar::new(self.output, self.interrupt.clone());
            let outcome = repair.run_from(&run, state, &|progress| bar.observe(progress));
            bar.clear();
            let (summary, next) = match outcome {
                Err(RepairError::Interrupted) => return Ok(None),
                other => other?,
            };
            if !summary.finished {
                return Ok(None);
            }
            state = next;
            ours.push(RemedySummary {
                method,
                strategy,
                summary,
            });
        }
        Ok(Some(ours))
    }

    fn train(&self, cell: CellKind) -> anyhow::Result<Original> {
        let (texts, vectors) = &self.files;
        let specification = training((texts, vectors), cell, self.args.seed);
        let training = Training::<TextSet>::open(specification.check()?, &ComputeDevice::flex())?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("model"))?;
        training.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok(Original { folder })
    }

    fn specification(
        &self,
        original: &Original,
        attribute: &str,
        (method, strategy): Remedy,
    ) -> RepairSpecification {
        let args = self.args;
        let mut specification = RepairSpecification::default();
        specification.modality = ModalityName::Text;
        specification.model = original.folder.path().join("model");
        specification.data.clone_from(&self.files.0);
        specification.protected = vec![attribute.to_owned()];
        specification.method = method;
        specification.repeats = args.repeats;
        specification.seed = args.seed;
        specification.text = Some(TextRepairOptions {
            strategy,
            independent: Some(StrategyName::AdfAsc),
            seeds: args.seeds,
            local: args.trials(),
            max_found: args.max_found.unwrap_or(MAX_FOUND),
            ..TextRepairOptions::default()
        });
        specification
    }
}
