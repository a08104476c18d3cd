//! The repairs of table XII.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempDir;

use super::super::args::AdfArgs;
use super::super::tables::paper::{DataSet, network};
use super::paper::{PAPER_PROTOCOL, PaperRow, PaperSet, Protocol};
use crate::interrupt::Interrupt;
use crate::output::Output;
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
/// The protocols that are compared, by ascending share: the one that `probity repair` follows
/// unless told otherwise, and the paper's.
pub const PROTOCOLS: [Protocol; 2] = [
    Protocol {
        share: 0.01,
        weight: None,
    },
    PAPER_PROTOCOL,
];

type RepairSummary = Summary<TableFigures, TableDetails>;

/// Table XII with the figures of this run.
#[derive(Serialize)]
pub struct RepairTableSummary {
    pub schema_version: u32,
    pub command: &'static str,
    pub paper: &'static str,
    pub table: String,
    pub seed: u64,
    pub repeats: u32,
    pub finished: bool,
    pub rows: Vec<ReproducedRepair>,
    pub not_found: Vec<String>,
}

/// One row of the table: the paper's figures and ours.
#[derive(Serialize)]
pub struct ReproducedRepair {
    pub data: DataSet,
    pub paper: PaperRow,
    pub ours: Vec<ProtocolFigures>,
}

/// The figures of one protocol: means over the repeats, and over all networks retrained in them.
#[derive(Serialize)]
pub struct ProtocolFigures {
    pub protocol: Protocol,
    pub samples: Mean,
    pub before: Mean,
    pub control: Mean,
    pub after: Mean,
    /// The relative reduction, 1 - after / before, of the means.
    pub reduction: f64,
    pub accuracy_before: Mean,
    pub accuracy_after: Mean,
    /// The seconds that all protocols took together.
    pub seconds: f64,
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
    /// Adds the rows of the data set to `rows`, as far as they are complete; returns false when
    /// interrupted.
    pub fn fill(&self, rows: &mut Vec<ReproducedRepair>) -> anyhow::Result<bool> {
        let mut repaired: Vec<Vec<RepairSummary>> = vec![Vec::new(); self.set.rows.len()];
        let finished = self.repair_all(&mut repaired)?;
        let all = self.args.repeats as usize;
        let complete = self.set.rows.iter().zip(repaired);
        rows.extend(complete.filter(|(_, repaired)| repaired.len() == all).map(
            |(paper, repaired)| {
                ReproducedRepair {
                    data: self.set.data,
                    paper: *paper,
                    ours: PROTOCOLS
                        .iter()
                        .enumerate()
                        .map(|(place, protocol)| figures(*protocol, place, &repaired))
                        .collect(),
                }
            },
        ));
        Ok(finished)
    }

    /// Adds to each row of the table its repairs, one a repeat; returns false when interrupted.
    fn repair_all(&self, repaired: &mut [Vec<RepairSummary>]) -> anyhow::Result<bool> {
        for repeat in 0..u64::from(self.args.repeats) {
            let folder = TempDir::new()?;
            let seed = self.args.seed + repeat;
            let name = self.set.data.name();
            self.output
                .remark(&format!("{name}, seed {seed}: training"));
            let Some(model) = self.train(folder.path(), seed)? else {
                return Ok(false);
            };
            for (paper, repaired) in self.set.rows.iter().zip(&mut *repaired) {
                let attribute = paper.attribute;
                self.output
                    .remark(&format!("{name}, seed {seed}: searching by {attribute}"));
                let Some(audited) = self.search(&model, attribute, seed)? else {
                    return Ok(false);
                };
                let out = folder.path().join(format!("repair-{attribute}"));
                let Some(summary) = self.repair((&model, &audited), &out, attribute, seed)? else {
                    return Ok(false);
                };
                repaired.push(summary);
            }
        }
        Ok(true)
    }

    /// Repairs the model by `attribute`, with all shares; `None` when interrupted.
    fn repair(
        &self,
        (model, audited): (&Path, &Path),
        out: &Path,
        attribute: &str,
        seed: u64,
    ) -> anyhow::Result<Option<RepairSummary>> {
        let name = self.set.data.name();
        self.output
            .remark(&format!("{name}, seed {seed}: repairing by {attribute}"));
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
        match self.interrupt.flow().is_break() {
            true => Ok(None),
            false => Ok(Some(repaired?)),
        }
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
        specification.shares = PROTOCOLS.map(|protocol| protocol.share).to_vec();
        specification.repeats = NETWORKS;
        specification.seed = seed;
        let options = specification.table.insert(TableRepairOptions::default());
        options.estimate = ESTIMATE;
        Ok(Repair::open(specification.check()?, self.device)?)
    }

    /// Trains a model in `folder`, and returns its directory; `None` when interrupted.
    fn train(&self, folder: &Path, seed: u64) -> anyhow::Result<Option<PathBuf>> {
        let mut specification = TrainSpecification::of_table(&self.data, self.set.data.schema());
        specification.network = Some(network());
        specification.training = self.set.training(seed);
        let training = Training::<TableSet>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&folder.join("model"))?;
        let trained = training.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok(trained.finished.then(|| run.path().to_owned()))
    }

    /// Audits the model by `attribute`, and returns the directory of the audit, beside the model;
    /// `None` when interrupted.
    fn search(&self, model: &Path, attribute: &str, seed: u64) -> anyhow::Result<Option<PathBuf>> {
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
        Ok((found.ending != Ending::Interrupted).then(|| run.path().to_owned()))
    }
}

/// The figures of the share at `place`, over the `repaired` networks.
fn figures(protocol: Protocol, place: usize, repaired: &[RepairSummary]) -> ProtocolFigures {
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
    ProtocolFigures {
        protocol,
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
