//! `probity reproduce adf --table XII`: discrimination before and after retraining, on tables.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tempfile::TempDir;

use super::tables::data_sets;
use super::{AdfArgs, PAPER};
use crate::cli::inputs::absolute;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::table;
use crate::cli::reproduce::not_found;
use probity::fairness::audit::{Audit, AuditSpecification};
use probity::fairness::mean::Mean;
use probity::fairness::modality::TableCase;
use probity::fairness::paper::DataSet;
use probity::fairness::repair::RepairProgress;
use probity::fairness::repair::change::Figures;
use probity::fairness::repair::paper::{
    PAPER_PROTOCOL, PaperRow, PaperSet, Protocol, SETS, repair_by,
};
use probity::fairness::repair::summary::{RepairSummary as Summary, SharePoint};
use probity::fairness::repair::table::{TableDetails, TableFigures};
use probity::fairness::search::Ending;
use probity::nn::train::TrainSpecification;
use probity::nn::train::run::Training;
use probity::nn::train::table_set::TableSet;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;

/// Networks that one repair trains, as in the paper.
const NETWORKS: u32 = 5;
/// Random inputs for each estimate.
const ESTIMATE: u64 = 10_000;
/// Local trials unless the user says otherwise.
const LOCAL: u32 = 1000;

/// The protocols that are compared, by ascending share: the one that `probity repair` uses unless told otherwise, and the paper's.
const PROTOCOLS: [Protocol; 2] = [
    Protocol {
        share: 0.01,
        weight: None,
    },
    PAPER_PROTOCOL,
];

type RepairSummary = Summary<TableFigures, TableDetails>;

#[derive(Serialize)]
struct RepairTableSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: String,
    seed: u64,
    repeats: u32,
    finished: bool,
    rows: Vec<ReproducedRepair>,
    not_found: Vec<String>,
}

/// One row: the paper's figures and ours.
#[derive(Serialize)]
struct ReproducedRepair {
    data: DataSet,
    paper: PaperRow,
    ours: Vec<ProtocolFigures>,
}

/// What one protocol gave: means over the repeats, and over all networks retrained in them.
#[derive(Serialize)]
struct ProtocolFigures {
    protocol: Protocol,
    samples: Mean,
    before: Mean,
    control: Mean,
    after: Mean,
    /// 1 - after / before, of the means.
    reduction: f64,
    accuracy_before: Mean,
    accuracy_after: Mean,
    /// Of all protocols together.
    seconds: f64,
}

/// Prints table XII.
pub(super) fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let wanted = data_sets(&args.only)?;
    let device = args.hardware.open(output)?;
    let folders = args.data.folders();
    let mut summary = RepairTableSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        repeats: args.repeats,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    let interrupt = Interrupt::listen()?;
    for set in SETS.iter().filter(|set| wanted.contains(&set.data)) {
        let Some(data) = set.find(&folders) else {
            summary.not_found.push(set.data.file().to_owned());
            continue;
        };
        let bench = Bench {
            args,
            set,
            data: absolute(&data),
            device: &device,
            interrupt: &interrupt,
            output,
        };
        summary.finished = bench.fill(&mut summary.rows)?;
        if !summary.finished {
            break;
        }
    }
    let text = render(&summary, &folders);
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// One data set.
struct Bench<'a> {
    args: &'a AdfArgs,
    set: &'a PaperSet,
    data: PathBuf,
    device: &'a ComputeDevice,
    interrupt: &'a Interrupt,
    output: &'a Output,
}

impl Bench<'_> {
    /// Adds the rows of the data set to `rows`, as far as they are complete; whether it was not interrupted.
    fn fill(&self, rows: &mut Vec<ReproducedRepair>) -> anyhow::Result<bool> {
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
        let repaired = repair_by(
            &PROTOCOLS.map(|protocol| protocol.share),
            (model, &self.data, audited),
            out,
            (NETWORKS, ESTIMATE, seed),
            self.device,
            &|progress| {
                if let RepairProgress::Train { epochs, all } = progress {
                    bar.set_length(all);
                    bar.set_position(epochs);
                }
                self.interrupt.flow()
            },
        );
        bar.finish_and_clear();
        match self.interrupt.flow().is_break() {
            true => Ok(None),
            false => Ok(Some(repaired?)),
        }
    }

    /// The directory of a trained model in `folder`; `None` when interrupted.
    fn train(&self, folder: &Path, seed: u64) -> anyhow::Result<Option<PathBuf>> {
        let mut specification = TrainSpecification::of_table(&self.data, self.set.data.schema());
        specification.training = self.set.training(seed);
        let training = Training::<TableSet>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&folder.join("model"))?;
        let trained = training.run(&run, false, &mut |_| self.interrupt.flow())?;
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
        specification.search.local = self.args.local.unwrap_or(LOCAL);
        let audit = Audit::<TableCase>::open(specification.check()?, self.device)?;
        let run = RunDirectory::create(&model.with_file_name(format!("audit-{attribute}")))?;
        let found = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Ok((found.ending != Ending::Interrupted).then(|| run.path().to_owned()))
    }
}

/// What the share at `place` came to in the `repaired` networks.
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

fn render(summary: &RepairTableSummary, folders: &[PathBuf]) -> String {
    let mut cells = Vec::new();
    for row in &summary.rows {
        let fall = 100.0 * (1.0 - row.paper.after[2] / row.paper.before);
        cells.push(vec![
            format!("{} {}, paper", row.data.name(), row.paper.attribute),
            "5 %".to_owned(),
            format!("{:.2}", row.paper.before),
            "-".to_owned(),
            format!("{:.2}", row.paper.after[2]),
            format!("{fall:.1}"),
            "-".to_owned(),
        ]);
        for ours in &row.ours {
            let percent = |share: f64| format!("{:.2}", 100.0 * share);
            let mean = |mean: &Mean| match mean.ci95 {
                Some([low, high]) => {
                    format!(
                        "{} ({} – {})",
                        percent(mean.mean),
                        percent(low),
                        percent(high)
                    )
                }
                None => percent(mean.mean),
            };
            cells.push(vec![
                format!("{} {}", row.data.name(), row.paper.attribute),
                format!("{} %", 100.0 * ours.protocol.share),
                percent(ours.before.mean),
                percent(ours.control.mean),
                mean(&ours.after),
                format!("{:.1}", 100.0 * ours.reduction),
                format!(
                    "{} → {}",
                    percent(ours.accuracy_before.mean),
                    mean(&ours.accuracy_after)
                ),
            ]);
        }
    }
    let mut text = String::new();
    if !cells.is_empty() {
        text.push_str(&table(
            &[
                "data, attribute",
                "share",
                "before, %",
                "retrained without, %",
                "after, %",
                "reduction, %",
                "accuracy held out, %",
            ],
            &cells,
        ));
        for (number, protocol) in PROTOCOLS.iter().enumerate() {
            let ours: Vec<f64> = summary
                .rows
                .iter()
                .filter_map(|row| row.ours.get(number))
                .map(|ours| 100.0 * ours.reduction)
                .collect();
            if !ours.is_empty() {
                text.push_str(&format!(
                    "Mean reduction with a share of {} %: {:.1} % (paper, 5 %: 57.2 %).\n",
                    100.0 * protocol.share,
                    ours.iter().sum::<f64>() / ours.len() as f64
                ));
            }
        }
        text.push_str(
            "Shares are of uniform random inputs that no training saw; accuracy is on a fifth of the rows, held out. The paper's \
             networks are its own.\n",
        );
    }
    text.push_str(&not_found(&summary.not_found, folders));
    if !summary.finished {
        text.push_str("Interrupted: this is what was complete by then.\n");
    }
    text
}
