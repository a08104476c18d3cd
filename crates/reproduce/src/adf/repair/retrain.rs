//! The repairs of table XII.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Serialize;
use tempfile::TempDir;

use super::super::args::AdfArgs;
use super::super::tables::paper::DataSet;
use super::paper::{PAPER_PROTOCOL, PaperRow, PaperSet, Protocol, repair_by};
use crate::interrupt::Interrupt;
use crate::output::Output;
use probity_data::builtin;
use probity_fairness::audit::{Audit, AuditSpecification};
use probity_fairness::mean::Mean;
use probity_fairness::modality::TableCase;
use probity_fairness::repair::figures::ModelFigures;
use probity_fairness::repair::summary::{RepairSummary, SharePoint};
use probity_fairness::search::Ending;
use probity_nn::train::EpochReport;
use probity_nn::training_run::{TrainingRun, run_training};
use probity_run::run_directory::{RunDirectory, file_sha256};
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// Networks that one repair trains, as in the paper.
const NETWORKS: u32 = 5;
/// Random inputs for each estimate.
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

/// The table.
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

/// One row: the paper's figures and ours.
#[derive(Serialize)]
pub struct ReproducedRepair {
    pub data: DataSet,
    pub paper: PaperRow,
    pub ours: Vec<ProtocolFigures>,
}

/// What one protocol gave: means over the repeats, and over all networks retrained in them.
#[derive(Serialize)]
pub struct ProtocolFigures {
    pub protocol: Protocol,
    pub samples: Mean,
    pub before: Mean,
    pub control: Mean,
    pub after: Mean,
    /// 1 - after / before, of the means.
    pub reduction: f64,
    pub accuracy_before: Mean,
    pub accuracy_after: Mean,
    /// Of all protocols together.
    pub seconds: f64,
}

/// One data set.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub set: &'a PaperSet,
    pub data: PathBuf,
    pub device: &'a ComputeDevice,
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Adds the rows of the data set to `rows`, as far as they are complete; whether it was not
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

    /// The repairs of each row, one a repeat; whether it was not interrupted.
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

    /// The repair by `attribute` with all shares; `None` when interrupted.
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
        let prepared = self.prepared((model, audited), seed)?;
        let run = RunDirectory::create(out)?;
        let observe = |progress: RepairProgress| {
            bar.set_length(progress.all);
            bar.set_position(progress.epochs);
            self.interrupt.flow()
        };
        let repaired = repair(&prepared, &run, self.device, false, &observe);
        bar.finish_and_clear();
        match self.interrupt.flow().is_break() {
            true => Ok(None),
            false => Ok(Some(repaired?)),
        }
    }

    /// A repair with all shares: they have the same control networks.
    fn prepared(
        &self,
        (model, audited): (&Path, &Path),
        seed: u64,
    ) -> anyhow::Result<PreparedRepair> {
        let basis = Basis::load(model, &self.data, None)?;
        let protected = protected_of(audited)?;
        let run = RepairRun {
            command: "repair".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            method: RepairMethod::Samples,
            model: model.to_owned(),
            model_sha256: basis.model.sha256(),
            data: self.data.clone(),
            data_sha256: file_sha256(&self.data)?,
            outside: None,
            runs: vec![audited.to_owned()],
            shares: PROTOCOLS.map(|protocol| protocol.share).to_vec(),
            repeats: NETWORKS,
            label: LabelRule::Majority,
            weight: None,
            counterfactuals: 0,
            start: Start::Scratch,
            max_accuracy_loss: 0.01,
            fails_above_loss: false,
            estimate: ESTIMATE,
            seed,
            device: self.device.name(),
            hardware: self.device.hardware(),
            training: basis.options.clone(),
            groups: GroupOptions::usual(&basis.model.schema, protected, seed),
        };
        Ok(PreparedRepair::new(run, basis)?)
    }

    /// The directory of a trained model in `folder`; `None` when interrupted.
    fn train(&self, folder: &Path, seed: u64) -> anyhow::Result<Option<PathBuf>> {
        let Some(schema) = builtin::schema(self.set.data.schema())? else {
            bail!("the built-in schema is missing");
        };
        let training = TrainingRun {
            command: "train".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.clone(),
            data_sha256: file_sha256(&self.data)?,
            device: self.device.name(),
            hardware: self.device.hardware(),
            options: self.set.training(seed),
            schema,
        };
        let table = training.read_table()?;
        let run = RunDirectory::create(&folder.join("model"))?;
        let observe = &mut |_: &EpochReport| self.interrupt.flow();
        let trained = run_training(&training, &table, &run, self.device, false, observe)?;
        Ok(trained.finished.then(|| run.path().to_owned()))
    }

    /// The directory of an audit by `attribute`, beside the model; `None` when interrupted.
    fn search(&self, model: &Path, attribute: &str, seed: u64) -> anyhow::Result<Option<PathBuf>> {
        let mut specification = AuditSpecification::default();
        specification.model = Some(model.to_owned());
        specification.data.clone_from(&self.data);
        specification.protected = vec![attribute.to_owned()];
        specification.seed = seed;
        // The share is measured before and after the repair.
        specification.estimate = 1;
        specification.search.seeds = self.args.seeds;
        specification.search.local = self.args.trials();
        let audit = Audit::<TableCase>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&model.with_file_name(format!("audit-{attribute}")))?;
        let found = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok((found.ending != Ending::Interrupted).then(|| run.path().to_owned()))
    }
}

/// What the share at `place` came to in the `repaired` networks.
fn figures(protocol: Protocol, place: usize, repaired: &[RepairSummary]) -> ProtocolFigures {
    let rate = |figures: &ModelFigures| figures.discrimination.last().map_or(0.0, |e| e.rate);
    let accuracy = |figures: &ModelFigures| figures.held_out.accuracy;
    let before = |of: &dyn Fn(&ModelFigures) -> f64| -> Mean {
        let values: Vec<f64> = repaired.iter().map(|summary| of(&summary.before)).collect();
        Mean::of_shares(&values)
    };
    let points: Vec<&SharePoint> = repaired
        .iter()
        .filter_map(|summary| summary.points.get(place))
        .collect();
    let networks = |of: &dyn Fn(&ModelFigures) -> f64| -> Mean {
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
        samples: Mean::of(&samples),
        reduction: 1.0 - rate_after.mean / rate_before.mean,
        before: rate_before,
        control: Mean::of_shares(&control),
        after: rate_after,
        accuracy_before: before(&accuracy),
        accuracy_after: networks(&accuracy),
        seconds: repaired.iter().map(|summary| summary.seconds).sum(),
    }
}
