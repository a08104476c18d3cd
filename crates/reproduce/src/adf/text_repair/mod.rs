//! Tables XIII and XIV: discriminatory texts that retraining and certified training mend.
//!
//! All repairs of a network by an attribute have the same independent set and the same control
//! networks; the two methods of Table XIII have the same samples as well.

mod render;

use std::path::Path;

use anyhow::ensure;
use serde::Serialize;
use tempfile::TempDir;

use super::args::{AdfArgs, AdfTable};
use super::texts::paper::{ATTRIBUTES, BY_STRATEGY, COMMENTS, repaired};
use super::texts::training::Comments;
use crate::interrupt::{Interrupt, Interrupted};
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

/// A row of the table: network, attribute, and the paper's figures by remedy.
pub struct Row {
    cell: CellKind,
    attribute: &'static str,
    paper: Vec<f64>,
}

/// The rows that the user asks for.
pub fn rows(args: &AdfArgs) -> anyhow::Result<Vec<Row>> {
    let attributes = args.attributes()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut add = |cell: CellKind, place: usize, paper: &[f64]| {
        let is_asked = args.models.is_empty() || args.models.contains(&cell);
        if is_asked && attributes.contains(&place) {
            rows.push(Row {
                cell,
                attribute: ATTRIBUTES[place],
                paper: paper.to_vec(),
            });
        }
    };
    if args.table == AdfTable::TextRepairByStrategy {
        for (cell, place, paper) in BY_STRATEGY {
            add(cell, place, &paper);
        }
    } else {
        for cell in [CellKind::Lstm, CellKind::Gru] {
            for (place, paper) in repaired(cell).iter().enumerate() {
                add(cell, place, paper);
            }
        }
    }
    Ok(rows)
}

/// Prints table XIII or XIV.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let asked = rows(args)?;
    ensure!(
        !asked.is_empty(),
        "table {} has no such row: it has LSTM by race and GRU by ethnicity",
        args.table.name()
    );
    args.hardware.threads.apply()?;
    let interrupt = Interrupt::listen()?;
    let mut found = args.reproduction(args.asked());
    found.over(&[COMMENTS], |_, files, reproduced| {
        let experiment = Experiment {
            args,
            comments: Comments::new(files)?,
            interrupt: &interrupt,
            output,
        };
        experiment.fill(&asked, reproduced)
    })?;
    found.print(render::render(&found), output)
}

/// The arguments and files that all rows share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub comments: Comments,
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Repairs every network by every remedy, and adds the rows.
    pub fn fill(
        &self,
        rows: &[Row],
        reproduced: &mut Vec<ReproducedTextRepair>,
    ) -> anyhow::Result<()> {
        for rows in rows.chunk_by(|one, next| one.cell == next.cell) {
            let cell = rows[0].cell;
            self.output.remark(&format!("{cell:?}: training"));
            let seed = self.args.seed;
            let original = self.comments.train(cell, seed, self.interrupt)?;
            for row in rows {
                reproduced.push(ReproducedTextRepair {
                    model: row.cell,
                    attribute: row.attribute,
                    paper: row.paper.clone(),
                    ours: self.remedies(&original.model, row)?,
                });
            }
        }
        Ok(())
    }

    /// Repairs the network in `model` by every remedy, and returns the figures.
    fn remedies(&self, model: &Path, row: &Row) -> anyhow::Result<Vec<RemedySummary>> {
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
            let specification = self.specification(model, row.attribute, (method, strategy));
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
                Err(RepairError::Interrupted) => return Err(Interrupted.into()),
                other => other?,
            };
            Interrupted::unless(summary.finished)?;
            state = next;
            ours.push(RemedySummary {
                method,
                strategy,
                summary,
            });
        }
        Ok(ours)
    }

    fn specification(
        &self,
        model: &Path,
        attribute: &str,
        (method, strategy): Remedy,
    ) -> RepairSpecification {
        let args = self.args;
        let mut specification = RepairSpecification::default();
        specification.modality = ModalityName::Text;
        specification.model = model.to_owned();
        specification.data.clone_from(&self.comments.texts);
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
