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
use probity_fairness::repair::specification::{RepairMethod, TextRepairOptions};
use probity_fairness::repair::summary::RepairSummary;
use probity_fairness::repair::text::{TextDetails, TextFigures};
use probity_fairness::repair::{
    Repair, RepairError, RepairProgress, RepairSpecification, RepairState, TextRepair,
};
use probity_fairness::strategies::StrategyName;
use probity_nn::modality::ModalityName;
use probity_nn::recurrent::network::CellKind;
use probity_nn::train::run::Training;
use probity_nn::train::text_set::TextSet;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// The greatest number of texts that a search finds, unless the user says otherwise. The paper's
/// independent sets have 155,690 on average.
const MAX_FOUND: u64 = 20_000;

/// A remedy that is compared: a method, and the strategy that finds samples.
type Remedy = (RepairMethod, StrategyName);

/// The remedies of Table XIII.
const METHODS: [Remedy; 2] = [
    (RepairMethod::Samples, StrategyName::AdfAsc),
    (RepairMethod::Certified, StrategyName::AdfAsc),
];

/// The remedies of Table XIV: first that of Table XIII, then the others in the table's order.
const STRATEGIES: [Remedy; 4] = [
    (RepairMethod::Samples, StrategyName::AdfAsc),
    (RepairMethod::Samples, StrategyName::Asc),
    (RepairMethod::Samples, StrategyName::Hf),
    (RepairMethod::Samples, StrategyName::AdfHf),
];

/// One table with the figures of this run.
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

/// A row of the table: the figures of one network and attribute.
#[derive(Serialize)]
pub struct ReproducedTextRepair {
    pub model: CellKind,
    pub attribute: &'static str,
    /// The paper's figures in percent, one for each remedy.
    pub paper: Vec<f64>,
    pub ours: Vec<RemedySummary>,
}

/// The figures of one remedy.
#[derive(Serialize)]
pub struct RemedySummary {
    pub method: RepairMethod,
    pub strategy: StrategyName,
    #[serde(flatten)]
    pub summary: RepairSummary<TextFigures, TextDetails>,
}

/// The network that is repaired, in a folder of its own.
struct Original {
    folder: TempDir,
}

/// A row of the table: network, attribute, and the paper's figures by remedy.
pub struct Row {
    cell: CellKind,
    attribute: &'static str,
    paper: Vec<f64>,
}

/// The rows that the user asks for.
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

/// The arguments and files that all rows share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    /// The files of the comments and of the word vectors.
    pub files: (PathBuf, PathBuf),
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Repairs every network by every remedy; returns false when interrupted.
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

    /// Repairs the network by every remedy, and returns the figures; `None` when interrupted.
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
            let bar = self
                .output
                .progress(1, "repair [{bar:28}] {pos}/{len} epochs, {eta} left");
            let observe = |progress| {
                if let RepairProgress::Train { epochs, all } = progress {
                    bar.set_length(all);
                    bar.set_position(epochs);
                }
                self.interrupt.flow()
            };
            let outcome = repair.run_from(&run, state, &observe);
            bar.finish_and_clear();
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
        specification.method = Some(method);
        // The figures are wanted, whatever they say.
        specification.save_anyway = true;
        specification.repeats = args.repeats;
        specification.seed = args.seed;
        let text = specification.text.insert(TextRepairOptions::default());
        text.strategy = strategy;
        text.independent = Some(StrategyName::AdfAsc);
        text.seeds = args.seeds;
        text.local = args.trials();
        text.max_found = args.max_found.unwrap_or(MAX_FOUND);
        specification
    }
}
