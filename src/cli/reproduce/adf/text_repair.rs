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
use crate::cli::progress::TextRepairBar;
use probity::fairness::opened::open_lexicon;
use probity::fairness::repair::labels::LabelRule;
use probity::fairness::repair::options::RepairMethod;
use probity::fairness::strategies::StrategyName;
use probity::fairness::text::paper::{ATTRIBUTES, BY_STRATEGY, find, repaired};
use probity::fairness::text::repair::{
    PreparedTextRepair, TextRepairError, TextRepairOptions, TextRepairState, TextRepairSummary,
    repair_texts_from,
};
use probity::nn::Objective;
use probity::nn::recurrent::network::CellKind;
use probity::nn::text_train::Course;
use probity::nn::text_training_run::{TextSet, TextTrainingRun, run_text_training};
use probity::run::run_directory::{RunDirectory, file_sha256};
use probity::tensor::device::use_threads;

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
    pub(super) summary: TextRepairSummary,
}

/// The network that is repaired, in a folder of its own.
struct Original {
    folder: TempDir,
    sha256: String,
    training: TextTrainingRun,
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
                texts_sha256: file_sha256(&texts)?,
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
    texts_sha256: String,
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
        let mut state = TextRepairState::default();
        let mut ours: Vec<RemedySummary> = Vec::new();
        for &(method, strategy) in remedies {
            let name = strategy.name();
            self.output.remark(&format!(
                "{:?}, {}: {method:?}, {name}",
                row.cell, row.attribute
            ));
            state = match ours.last().is_some_and(|last| last.strategy == strategy) {
                true => state.for_other_method(),
                false => state.for_other_samples(),
            };
            let options = self.options(original, row.attribute, (method, strategy))?;
            let prepared = PreparedTextRepair::new(options)?;
            let folder = TempDir::new()?;
            let run = RunDirectory::create(&folder.path().join("repair"))?;
            let mut bar = TextRepairBar::new(self.output, self.interrupt.clone());
            let observe = &mut |progress| bar.observe(progress);
            let outcome = repair_texts_from(&prepared, &run, state, observe);
            bar.clear();
            let (summary, next) = match outcome {
                Err(TextRepairError::Stopped) => return Ok(None),
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
        let training = training((texts, &self.texts_sha256, vectors), cell, self.args.seed)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("model"))?;
        let set = TextSet::read(&training)?;
        let observe = &mut |_: &_| self.interrupt.flow();
        let trained = run_text_training(&training, &set, &run, false, observe)?;
        Ok(Original {
            folder,
            sha256: trained.model_sha256,
            training,
        })
    }

    fn options(
        &self,
        original: &Original,
        attribute: &str,
        (method, strategy): Remedy,
    ) -> anyhow::Result<TextRepairOptions> {
        let lexicon_sha256 = open_lexicon(None)?.sha256;
        let args = self.args;
        Ok(TextRepairOptions {
            command: "repair".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            method,
            model: original.folder.path().join("model"),
            model_sha256: original.sha256.clone(),
            texts_sha256: original.training.texts_sha256.clone(),
            lexicon: None,
            lexicon_sha256,
            protected: vec![attribute.to_owned()],
            runs: Vec::new(),
            strategy,
            independent: StrategyName::AdfAsc,
            objective: Objective::Loss,
            seeds: args.seeds,
            max_iter: 10,
            local: args.trials(),
            max_found: args.max_found.unwrap_or(MAX_FOUND),
            shares: vec![0.05],
            label: LabelRule::Majority,
            repeats: args.repeats,
            max_accuracy_loss: 0.02,
            fails_above_loss: false,
            course: Course::default(),
            splits: 64,
            seed: args.seed,
            training: original.training.clone(),
        })
    }
}
