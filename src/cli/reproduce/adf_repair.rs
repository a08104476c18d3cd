//! `probity reproduce adf --table XII`: discrimination before and after retraining, on tables.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Serialize;
use tempfile::TempDir;

use super::not_found;
use crate::cli::inputs::absolute;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::table;
use crate::data::builtin;
use crate::device::ComputeDevice;
use crate::fairness::audit::{AuditOptions, PreparedAudit, StrategyName, audit};
use crate::fairness::repair::figures::Spread;
use crate::fairness::repair::paper::{
    PAPER_PROTOCOL, PaperRow, PaperSet, Protocol, SETS, repair_by,
};
use crate::fairness::repair::summary::RepairSummary;
use crate::fairness::samples::SamplesFormat;
use crate::fairness::search::Ending;
use crate::nn::Objective;
use crate::nn::model::Model;
use crate::nn::training_run::{TrainingRun, run_training};
use crate::report::run_directory::{RunDirectory, file_sha256};

/// The protocols that are compared: the paper's, and the one that `probity repair` uses unless told otherwise.
const PROTOCOLS: [Protocol; 2] = [
    PAPER_PROTOCOL,
    Protocol {
        share: crate::cli::repair::SHARE,
        weight: None,
    },
];

/// What the table is made with.
pub(super) struct RepairTable<'a> {
    /// Where data are looked for.
    pub folders: &'a [PathBuf],
    /// Only rows whose name contains one of these; empty for all.
    pub only: &'a [String],
    /// Seeds of the global phase.
    pub seeds: usize,
    /// Local trials from each start.
    pub local: u32,
    /// Retrained networks for each row and protocol.
    pub repeats: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Device.
    pub device: &'a ComputeDevice,
}

#[derive(Serialize)]
struct RepairTableSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: &'static str,
    seed: u64,
    finished: bool,
    rows: Vec<ReproducedRepair>,
    not_found: Vec<String>,
}

/// One row: the paper's figures and ours.
#[derive(Serialize)]
struct ReproducedRepair {
    data_set: &'static str,
    paper: PaperRow,
    ours: Vec<ProtocolFigures>,
}

/// What one protocol gave.
#[derive(Serialize)]
struct ProtocolFigures {
    protocol: Protocol,
    samples: u64,
    before: f64,
    control: f64,
    after: Spread,
    reduction: f64,
    accuracy_before: f64,
    accuracy_after: Spread,
    seconds: f64,
}

/// Prints the table.
pub(super) fn run(
    made_with: &RepairTable<'_>,
    paper: &'static str,
    output: &Output,
) -> anyhow::Result<()> {
    let names: Vec<String> = SETS
        .iter()
        .flat_map(|set| set.rows.iter().map(|row| row_name(set, row)))
        .collect();
    if let Some(other) = made_with.only.iter().find(|only| !names.contains(only)) {
        bail!(
            "the table has no row '{other}'; it has {}",
            names.join(", ")
        );
    }
    let mut summary = RepairTableSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper,
        table: "XII",
        seed: made_with.seed,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    let interrupt = Interrupt::listen()?;
    for set in &SETS {
        let is_wanted = |row: &&PaperRow| {
            made_with.only.is_empty() || made_with.only.contains(&row_name(set, row))
        };
        let wanted: Vec<&PaperRow> = set.rows.iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            continue;
        }
        let Some(data) = set.find(made_with.folders) else {
            summary.not_found.push(set.files[0].to_owned());
            continue;
        };
        let bench = Bench {
            made_with,
            set,
            data: absolute(&data),
            folder: TempDir::new()?,
            interrupt: &interrupt,
        };
        if !bench.fill(&wanted, &mut summary.rows, output)? {
            summary.finished = false;
            break;
        }
    }
    let text = render(&summary, made_with.folders);
    Ok(output.result(&summary, &text)?)
}

fn row_name(set: &PaperSet, row: &PaperRow) -> String {
    format!("{}-{}", set.name, row.attribute)
}

/// One data set with the folder of its runs.
struct Bench<'a> {
    made_with: &'a RepairTable<'a>,
    set: &'a PaperSet,
    data: PathBuf,
    folder: TempDir,
    interrupt: &'a Interrupt,
}

impl Bench<'_> {
    /// Trains, searches and repairs; whether it was not interrupted.
    fn fill(
        &self,
        wanted: &[&PaperRow],
        rows: &mut Vec<ReproducedRepair>,
        output: &Output,
    ) -> anyhow::Result<bool> {
        let made_with = self.made_with;
        output.remark(&format!("{}: training", self.set.name));
        let Some(model) = self.train()? else {
            return Ok(false);
        };
        for row in wanted {
            output.remark(&format!(
                "{}: searching by {}",
                self.set.name, row.attribute
            ));
            let Some(audited) = self.search(&model, row.attribute)? else {
                return Ok(false);
            };
            let mut ours = Vec::new();
            for (number, protocol) in PROTOCOLS.into_iter().enumerate() {
                output.remark(&format!(
                    "{}: repairing by {}, share {}",
                    self.set.name, row.attribute, protocol.share
                ));
                let repaired = repair_by(
                    protocol,
                    (&model, &self.data, &audited),
                    &self
                        .folder
                        .path()
                        .join(format!("repair-{}-{number}", row.attribute)),
                    (made_with.repeats, 10_000, made_with.seed),
                    made_with.device,
                    &|_| self.interrupt.flow(),
                );
                if self.interrupt.flow().is_break() {
                    return Ok(false);
                }
                ours.extend(figures(protocol, &repaired?));
            }
            rows.push(ReproducedRepair {
                data_set: self.set.name,
                paper: **row,
                ours,
            });
        }
        Ok(true)
    }

    /// The directory of a trained model; `None` when interrupted.
    fn train(&self) -> anyhow::Result<Option<PathBuf>> {
        let Some(schema) = builtin::schema(self.set.schema)? else {
            bail!("the built-in schema is missing");
        };
        let device = self.made_with.device;
        let training = TrainingRun {
            command: "train".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.clone(),
            data_sha256: file_sha256(&self.data)?,
            device: device.name(),
            hardware: device.hardware(),
            options: self.set.training(self.made_with.seed),
            schema,
        };
        let table = training.read_table()?;
        let run = RunDirectory::create(&self.folder.path().join("model"))?;
        let trained = run_training(&training, &table, &run, device, false, &mut |_| {
            self.interrupt.flow()
        })?;
        Ok(trained.finished.then(|| run.path().to_owned()))
    }

    /// The directory of an audit by `attribute`; `None` when interrupted.
    fn search(&self, model: &Path, attribute: &str) -> anyhow::Result<Option<PathBuf>> {
        let (made_with, device) = (self.made_with, self.made_with.device);
        let options = AuditOptions {
            command: "audit".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.to_owned(),
            model_sha256: Model::load(model)?.sha256(),
            data: self.data.clone(),
            data_sha256: file_sha256(&self.data)?,
            outside: None,
            protected: vec![attribute.to_owned()],
            strategy: StrategyName::Adf,
            objective: Objective::Margin,
            seeds: made_with.seeds,
            clusters: 4,
            max_iter: 10,
            local: made_with.local,
            step_global: 1,
            step_local: 1,
            // The share is measured before and after the repair.
            estimate: 1,
            time_seconds: None,
            max_found: None,
            fail_above: None,
            batch: 4096,
            samples_format: SamplesFormat::Parquet,
            seed: made_with.seed,
            device: device.name(),
            hardware: device.hardware(),
        };
        let prepared = PreparedAudit::new(options, device)?;
        let run = RunDirectory::create(&self.folder.path().join(format!("audit-{attribute}")))?;
        let found = audit(&prepared, &run, false, &mut |_| self.interrupt.flow())?;
        Ok((found.ending != Ending::Interrupted).then(|| run.path().to_owned()))
    }
}

fn figures(protocol: Protocol, repaired: &RepairSummary) -> Option<ProtocolFigures> {
    let point = repaired.points.first()?;
    let named = |name: &str| point.changes.iter().find(|change| change.figure == name);
    let (discriminatory, accuracy) = (named("discriminatory")?, named("accuracy")?);
    Some(ProtocolFigures {
        protocol,
        samples: point.samples,
        before: discriminatory.before,
        control: discriminatory.control.as_ref()?.mean,
        after: discriminatory.after.clone(),
        reduction: discriminatory.reduction.unwrap_or(0.0),
        accuracy_before: accuracy.before,
        accuracy_after: accuracy.after.clone(),
        seconds: repaired.seconds,
    })
}

fn render(summary: &RepairTableSummary, folders: &[PathBuf]) -> String {
    let mut cells = Vec::new();
    for row in &summary.rows {
        let fall = 100.0 * (1.0 - row.paper.after[2] / row.paper.before);
        cells.push(vec![
            format!("{} {}, paper", row.data_set, row.paper.attribute),
            "5 %".to_owned(),
            format!("{:.2}", row.paper.before),
            "-".to_owned(),
            format!("{:.2}", row.paper.after[2]),
            format!("{fall:.1}"),
            "-".to_owned(),
        ]);
        for ours in &row.ours {
            let percent = |share: f64| format!("{:.2}", 100.0 * share);
            let spread = |spread: &Spread| match spread.ci95 {
                Some([low, high]) => {
                    format!(
                        "{} ({} – {})",
                        percent(spread.mean),
                        percent(low),
                        percent(high)
                    )
                }
                None => percent(spread.mean),
            };
            cells.push(vec![
                format!("{} {}", row.data_set, row.paper.attribute),
                format!("{} %", 100.0 * ours.protocol.share),
                percent(ours.before),
                percent(ours.control),
                spread(&ours.after),
                format!("{:.1}", 100.0 * ours.reduction),
                format!(
                    "{} → {}",
                    percent(ours.accuracy_before),
                    spread(&ours.accuracy_after)
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
