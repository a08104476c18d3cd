//! The repairs of tables XIII and XIV.
//!
//! All repairs of a network by an attribute have the same independent set and the same control
//! networks; the two methods of Table XIII have the same samples as well.

use std::path::PathBuf;

use serde::Serialize;
use tempfile::TempDir;

use super::super::args::{AdfArgs, AdfTable};
use super::super::texts::paper::{ATTRIBUTES, BY_STRATEGY, repaired};
use super::super::texts::training::training;
use crate::interrupt::Interrupt;
use crate::output::Output;
use probity_fairness::opened::open_lexicon;
use probity_fairness::repair::labels::LabelRule;
use probity_fairness::repair::options::RepairMethod;
use probity_fairness::strategies::StrategyName;
use probity_fairness::text::repair::run::TextRepairProgress;
use probity_fairness::text::repair::{
    PreparedTextRepair, TextRepairError, TextRepairOptions, TextRepairState, TextRepairSummary,
    repair_texts_from,
};
use probity_nn::Objective;
use probity_nn::recurrent::network::CellKind;
use probity_nn::text_train::Course;
use probity_nn::text_training_run::{TextSet, TextTrainingRun, run_text_training};
use probity_run::run_directory::RunDirectory;

/// Texts that a search finds at most, unless the user says otherwise. The paper's independent sets
/// have 155,690 on average.
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

/// One table.
#[derive(Serialize)]
pub struct TextRepairTableSummary {
    pub schema_version: u32,
    pub command: &'static str,
    pub paper: &'static str,
    pub table: String,
    pub seed: u64,
    pub finished: bool,
    pub rows: Vec<ReproducedTextRepair>,
    pub not_found: Vec<String>,
}

/// One network and attribute.
#[derive(Serialize)]
pub struct ReproducedTextRepair {
    pub model: CellKind,
    pub attribute: &'static str,
    /// Percent, by remedy.
    pub paper: Vec<f64>,
    pub ours: Vec<RemedySummary>,
}

/// What one remedy came to.
#[derive(Serialize)]
pub struct RemedySummary {
    pub method: RepairMethod,
    pub strategy: StrategyName,
    #[serde(flatten)]
    pub summary: TextRepairSummary,
}

/// The network that is repaired, in a folder of its own.
struct Original {
    folder: TempDir,
    sha256: String,
    training: TextTrainingRun,
}

/// A row of the table: network, attribute, and the paper's figures by remedy.
pub struct Row {
    cell: CellKind,
    attribute: &'static str,
    paper: Vec<f64>,
}

/// The rows asked for.
pub fn rows(args: &AdfArgs) -> anyhow::Result<Vec<Row>> {
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
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    /// Comments and word vectors.
    pub files: (PathBuf, PathBuf),
    pub texts_sha256: String,
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Repairs every network by every remedy; whether it was not interrupted.
    pub fn fill(
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
            let bar = self
                .output
                .progress(1, "repair [{bar:28}] {pos}/{len} epochs, {eta} left");
            let observe = &mut |progress| {
                if let TextRepairProgress::Train(done, all) = progress {
                    bar.set_length(all);
                    bar.set_position(done);
                }
                self.interrupt.flow()
            };
            let outcome = repair_texts_from(&prepared, &run, state, observe);
            bar.finish_and_clear();
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
