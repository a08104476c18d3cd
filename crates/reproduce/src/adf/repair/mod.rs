//! Table XII: discrimination before and after retraining, on tables.

mod paper;
mod render;

use std::path::{Path, PathBuf, absolute};

use serde::Serialize;
use tempfile::TempDir;

use super::args::AdfArgs;
use super::tables::paper::{network, schema_name};
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;
use paper::{PAPER_SHARE, PaperRow, PaperSet, SETS};
use probity_fairness::audit::{Audit, AuditSpecification};
use probity_fairness::modality::TableCase;
use probity_fairness::repair::change::Figures;
use probity_fairness::repair::specification::TableRepairOptions;
use probity_fairness::repair::summary::{RepairSummary as Summary, SharePoint};
use probity_fairness::repair::table::{TableDetails, TableFigures, TableRepair};
use probity_fairness::repair::{Repair, RepairProgress, RepairSpecification};
use probity_fairness::search::Ending;
use probity_fairness::statistics::Mean;
use probity_nn::train::TrainSpecification;
use probity_nn::train::run::Training;
use probity_nn::train::table_set::TableSet;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// The number of networks that one repair trains, as in the paper.
const NETWORKS: u32 = 5;
/// The number of random inputs for each estimate.
const ESTIMATE: u64 = 10_000;
/// The shares of the found individuals that are compared, in ascending order: that of `probity repair`
/// unless told otherwise, and the paper's.
pub const SHARES: [f64; 2] = [0.01, PAPER_SHARE];

type RepairSummary = Summary<TableFigures, TableDetails>;

/// One row of the table: the paper's figures and ours.
#[derive(Serialize)]
pub struct ReproducedRepair {
    pub data: &'static str,
    pub paper: PaperRow,
    pub ours: Vec<ShareFigures>,
}

/// The figures of one share: means over the repeats, and over all networks retrained in them.
#[derive(Serialize)]
pub struct ShareFigures {
    pub share: f64,
    pub samples: Mean,
    pub before: Mean,
    pub control: Mean,
    pub after: Mean,
    /// The relative reduction, 1 - after / before, of the means.
    pub reduction: f64,
    pub accuracy_before: Mean,
    pub accuracy_after: Mean,
    /// The seconds that all shares took together.
    pub seconds: f64,
}

/// Prints table XII.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let sets = args.data_sets(&SETS)?;
    let device = args.hardware.open()?;
    let interrupt = Interrupt::listen()?;
    let mut found = args.reproduction(args.asked());
    found.over(&sets, |set, files, rows| {
        let experiment = Experiment {
            args,
            set,
            data: absolute(&files[0])?,
            device: &device,
            interrupt: &interrupt,
            output,
        };
        experiment.fill(rows)
    })?;
    found.print(render::render(&found.rows), output)
}

/// The experiment on one data set.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub set: &'a PaperSet,
    pub data: PathBuf,
    pub device: &'a ComputeDevice,
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Adds the rows of the data set to `rows`, as far as they are complete.
    pub fn fill(&self, rows: &mut Vec<ReproducedRepair>) -> anyhow::Result<()> {
        let table = self.set.paper.rows;
        let mut repaired: Vec<Vec<RepairSummary>> = vec![Vec::new(); table.len()];
        let outcome = self.repair_all(&mut repaired);
        for (paper, repaired) in table.iter().zip(&repaired) {
            if repaired.len() == self.args.repeats as usize {
                let shares = SHARES.into_iter().enumerate();
                rows.push(ReproducedRepair {
                    data: self.set.name,
                    paper: *paper,
                    ours: shares
                        .map(|(place, share)| figures(share, place, repaired))
                        .collect(),
                });
            }
        }
        outcome
    }

    /// Adds to each row of the table its repairs, one a repeat.
    fn repair_all(&self, repaired: &mut [Vec<RepairSummary>]) -> anyhow::Result<()> {
        for repeat in 0..u64::from(self.args.repeats) {
            let folder = TempDir::new()?;
            let seed = self.args.seed + repeat;
            let remark = |what: &str| {
                self.output
                    .remark(&format!("{}, seed {seed}: {what}", self.set.name));
            };
            remark("training");
            let model = self.train(folder.path(), seed)?;
            for (paper, repaired) in self.set.paper.rows.iter().zip(&mut *repaired) {
                let attribute = paper.attribute;
                remark(&format!("searching by {attribute}"));
                let audited = self.search(&model, attribute, seed)?;
                let out = folder.path().join(format!("repair-{attribute}"));
                remark(&format!("repairing by {attribute}"));
                repaired.push(self.repair((&model, &audited), &out, seed)?);
            }
        }
        Ok(())
    }

    /// Repairs the model by the attribute of the audit, with all shares.
    fn repair(
        &self,
        (model, audited): (&Path, &Path),
        out: &Path,
        seed: u64,
    ) -> anyhow::Result<RepairSummary> {
        let bar = self
            .output
            .progress(1, "repair [{bar:28}] {pos}/{len} epochs, {eta} left");
        let repair = self.opened((model, audited), seed)?;
        let run = RunDirectory::create(out)?;
        let observe = |progress: RepairProgress| {
            if let RepairProgress::Train { epochs, all } = progress {
                bar.set_length(all);
                bar.set_position(epochs);
            }
            self.interrupt.flow()
        };
        let repaired = repair.run(&run, false, &observe);
        bar.finish_and_clear();
        Interrupted::unless(!self.interrupt.is_asked())?;
        Ok(repaired?)
    }

    /// Opens a repair with all shares at once, so that they have the same control networks.
    fn opened(
        &self,
        (model, audited): (&Path, &Path),
        seed: u64,
    ) -> anyhow::Result<Repair<TableRepair>> {
        let mut specification = RepairSpecification::default();
        specification.model = model.to_owned();
        specification.data.clone_from(&self.data);
        specification.runs = vec![audited.to_owned()];
        specification.shares = SHARES.to_vec();
        specification.repeats = NETWORKS;
        specification.seed = seed;
        let options = specification.table.insert(TableRepairOptions::default());
        options.estimate = ESTIMATE;
        Ok(Repair::open(specification.check()?, self.device)?)
    }

    /// Trains a model in `folder`, and returns its directory.
    fn train(&self, folder: &Path, seed: u64) -> anyhow::Result<PathBuf> {
        let schema = schema_name(self.set.name);
        let mut specification = TrainSpecification::of_table(&self.data, schema);
        specification.network = Some(network());
        specification.training = self.set.paper.training(seed);
        let training = Training::<TableSet>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&folder.join("model"))?;
        let trained = training.run(&run, false, &mut |_| self.interrupt.flow())?;
        Interrupted::unless(trained.finished)?;
        Ok(run.path().to_owned())
    }

    /// Audits the model by `attribute`, and returns the directory of the audit, beside the model.
    fn search(&self, model: &Path, attribute: &str, seed: u64) -> anyhow::Result<PathBuf> {
        let mut specification = AuditSpecification::default();
        specification.model = Some(model.to_owned());
        specification.data.clone_from(&self.data);
        specification.protected = vec![attribute.to_owned()];
        specification.seed = seed;
        // The share is measured before and after the repair.
        specification.estimate = Some(1);
        specification.search.seeds = self.args.seeds;
        specification.search.local = self.args.trials();
        let audit = Audit::<TableCase>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&model.with_file_name(format!("audit-{attribute}")))?;
        let found = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Interrupted::unless(found.ending != Ending::Interrupted)?;
        Ok(run.path().to_owned())
    }
}

/// The figures of the share at `place`, over the `repaired` networks.
fn figures(share: f64, place: usize, repaired: &[RepairSummary]) -> ShareFigures {
    let rate = TableFigures::discriminatory;
    let accuracy = TableFigures::accuracy;
    let before = |of: &dyn Fn(&TableFigures) -> f64| -> Mean {
        let values: Vec<f64> = repaired.iter().map(|summary| of(&summary.before)).collect();
        Mean::of_shares(&values)
    };
    let points: Vec<&SharePoint<TableFigures>> = repaired
        .iter()
        .filter_map(|summary| summary.points.get(place))
        .collect();
    let networks = |of: &dyn Fn(&TableFigures) -> f64| -> Mean {
        let networks = points.iter().flat_map(|point| &point.networks);
        let values: Vec<f64> = networks.map(|network| of(&network.figures)).collect();
        Mean::of_shares(&values)
    };
    let controls = repaired.iter().flat_map(|summary| &summary.control);
    let control: Vec<f64> = controls.map(|network| rate(&network.figures)).collect();
    let samples: Vec<f64> = points.iter().map(|point| point.samples as f64).collect();
    let (rate_before, rate_after) = (before(&rate), networks(&rate));
    ShareFigures {
        share,
        samples: Mean::new(&samples),
        reduction: 1.0 - rate_after.mean / rate_before.mean,
        before: rate_before,
        control: Mean::of_shares(&control),
        after: rate_after,
        accuracy_before: before(&accuracy),
        accuracy_after: networks(&accuracy),
        seconds: repaired.iter().map(|summary| summary.seconds).sum(),
    }
}
