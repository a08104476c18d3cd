//! `probity repair`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::groups::{GroupArgs, named_gaps};
use super::inputs::{Hardware, OutsideArg, absolute, new_run, with_outside};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{count, percent, table};
use super::repair_texts::{self, TextRepairArgs};
use crate::device::ComputeDevice;
use crate::fairness::group::GroupReport;
use crate::fairness::repair::basis::{Basis, Origin, Start};
use crate::fairness::repair::figures::Change;
use crate::fairness::repair::labels::LabelRule;
use crate::fairness::repair::options::{RepairMethod, RepairRun};
use crate::fairness::repair::pool::protected_of;
use crate::fairness::repair::run::{PreparedRepair, TRADE_OFF, repair};
use crate::fairness::repair::summary::{RepairSummary, SharePoint};
use crate::nn::model::Model;
use crate::nn::text_model::is_text_model;
use crate::nn::train_options::TrainOptions;
use crate::report::mean::Mean;
use crate::report::run_directory::file_sha256;

/// Learning rate of an imported network that is trained on, where none is given.
const IMPORTED_LEARNING_RATE: f64 = 0.001;

/// Share of the samples, where none is given.
pub(super) const SHARE: f64 = 0.01;

/// Accuracy that a repair may cost, where none is given.
const MAX_ACCURACY_LOSS: f64 = 0.01;

/// Arguments of `probity repair`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity repair --model models/people --data people.csv --run runs/people --out models/fairer\n\
                  \x20         probity repair --model models/people --data people.csv --run runs/sex --run runs/race \\\n\
                  \x20             --sweep 0.01,0.05,0.2 --max-accuracy-loss 0.01 --out models/fairer\n\
                  \x20         probity repair --model models/toxic --texts comments.csv --protected religion --method certified --out models/fairer\n\
                  With --max-accuracy-loss the exit code is 0 only when the saved model loses no more than that on held-out rows."
)]
pub(super) struct RepairArgs {
    /// Model directory to repair
    #[arg(long)]
    pub(super) model: PathBuf,
    /// Its labelled training data
    #[arg(long, required_unless_present = "texts")]
    data: Option<PathBuf>,
    /// Run directory of an audit of this model; may be given for several
    #[arg(long, required_unless_present = "texts")]
    run: Vec<PathBuf>,
    /// Directory for the repaired model [default: the next free runs/repair-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    /// Missing and outside values, where the model's schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    pub(super) texts: TextRepairArgs,
    #[command(flatten)]
    pub(super) repair: MethodArgs,
    #[command(flatten)]
    course: CourseArgs,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Repair")]
pub(super) struct MethodArgs {
    /// By what the model is repaired
    #[arg(long, value_enum, default_value_t)]
    pub(super) method: RepairMethod,
    /// Share of the found individuals to learn from; the ADF paper takes 0.05 [default: 0.01; texts: 0.05]
    #[arg(long)]
    pub(super) share: Option<f64>,
    /// Several shares one after the other: a table, a plot, and the fairest one that is accurate enough
    #[arg(
        long,
        value_name = "SHARE,SHARE,…",
        value_delimiter = ',',
        conflicts_with = "share"
    )]
    sweep: Vec<f64>,
    /// Networks for each share, each with its own draw of samples and its own first weights
    #[arg(long, default_value_t = 5)]
    pub(super) repeats: u32,
    /// The one label of all protected variants of a sample
    #[arg(long, value_enum, default_value_t)]
    label: LabelRule,
    /// Weight of all added variants of samples together, in units of the training rows [default: each weighs as much as one]
    #[arg(long)]
    weight: Option<f64>,
    /// Random protected variants of each training row that share its label and its weight
    #[arg(long, value_name = "N", default_value_t = 0)]
    counterfactuals: u32,
    /// Accuracy that a repair may cost, such as 0.01 for one point [default: 0.01]
    #[arg(long, value_name = "SHARE")]
    pub(super) max_accuracy_loss: Option<f64>,
    /// Uniform random inputs for each estimate of the discriminatory share
    #[arg(long, default_value_t = 10_000)]
    estimate: u64,
    /// Seed of draws, networks and estimates
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

/// Where the retraining differs from the training of the model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training, where it shall differ from the model's own")]
struct CourseArgs {
    /// First weights [default: scratch; for an imported network: model]
    #[arg(long, value_enum)]
    start: Option<Start>,
    /// Passes over the training part
    #[arg(long)]
    epochs: Option<u32>,
    /// Rows a step
    #[arg(long)]
    batch: Option<usize>,
    /// Learning rate at the start
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Weight decay
    #[arg(long)]
    weight_decay: Option<f32>,
}

/// Runs `probity repair`.
pub(super) fn run(args: RepairArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.texts.texts.is_some() {
        return repair_texts::run(&args, output);
    }
    if is_text_model(&args.model) {
        bail!(
            "{} classifies texts, not tables; give --texts instead of --data and --run",
            args.model.display()
        );
    }
    let device = args.hardware.open(output)?;
    // Everything that can be wrong with the input is found before anything is written.
    let basis = args.basis()?;
    let options = args.options(&basis, &device)?;
    let prepared = PreparedRepair::new(options, basis)?;
    remark_on_runs(&prepared, output);
    let directory = new_run(args.out.as_ref(), "repair")?;
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(1, "repair [{bar:28}] {pos}/{len} epochs, {eta} left");
    let summary = repair(&prepared, &directory, &device, &|progress| {
        bar.set_length(progress.all);
        bar.set_position(progress.epochs);
        interrupt.flow()
    })
    .with_context(|| format!("repairing {}", args.model.display()))?;
    bar.finish_and_clear();
    let mut text = render(&summary);
    let path = directory.path().display();
    if summary.points.len() > 1 {
        text.push_str(&format!("Plot: {}\n", directory.file(TRADE_OFF).display()));
    }
    text.push_str(&format!(
        "Model: {path}\nNext: probity audit --model {path} --data {}\n",
        args.data()?.display()
    ));
    output.result(&summary, &text)?;
    let fails = args.repair.max_accuracy_loss.is_some() && !summary.chosen.within;
    Ok(ExitCode::from(u8::from(fails)))
}

/// What is learnt from, and what is not.
fn remark_on_runs(prepared: &PreparedRepair, output: &Output) {
    for found in prepared.found() {
        if found.held_out > 0 {
            output.remark(&format!(
                "note: {} of the individuals in {} were found from held-out rows and are left out",
                count(found.held_out),
                found.directory.display()
            ));
        }
    }
}

impl RepairArgs {
    fn data(&self) -> anyhow::Result<&Path> {
        self.data.as_deref().context("--data is needed")
    }

    fn basis(&self) -> anyhow::Result<Basis> {
        if let Some(outside) = self.outside {
            with_outside(Model::load(&self.model)?.schema, outside)?;
        }
        Ok(Basis::load(
            &self.model,
            self.data()?,
            self.outside.map(Into::into),
        )?)
    }

    fn options(&self, basis: &Basis, device: &ComputeDevice) -> anyhow::Result<RepairRun> {
        let (repair, course) = (&self.repair, &self.course);
        let mut shares = match repair.sweep.is_empty() {
            true => vec![repair.share.unwrap_or(SHARE)],
            false => repair.sweep.clone(),
        };
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        let start = course.start.unwrap_or(match basis.origin {
            Origin::Trained => Start::Scratch,
            Origin::Imported => Start::Model,
        });
        let learning_rate = match (basis.origin, start) {
            (Origin::Imported, Start::Model) => IMPORTED_LEARNING_RATE,
            _ => basis.options.learning_rate,
        };
        let own = basis.options.clone();
        let mut protected: Vec<String> = Vec::new();
        for run in &self.run {
            for name in protected_of(run)? {
                if !protected.contains(&name) {
                    protected.push(name);
                }
            }
        }
        Ok(RepairRun {
            command: "repair".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            method: repair.method,
            model: absolute(&self.model),
            model_sha256: basis.model.sha256(),
            data: absolute(self.data()?),
            data_sha256: file_sha256(self.data()?)?,
            outside: self.outside.map(Into::into),
            runs: self.run.iter().map(|run| absolute(run)).collect(),
            shares,
            repeats: repair.repeats,
            label: repair.label,
            weight: repair.weight,
            counterfactuals: repair.counterfactuals,
            start,
            max_accuracy_loss: repair.max_accuracy_loss.unwrap_or(MAX_ACCURACY_LOSS),
            estimate: repair.estimate,
            seed: repair.seed,
            device: device.name(),
            hardware: device.hardware(),
            training: TrainOptions {
                epochs: course.epochs.unwrap_or(own.epochs),
                batch: course.batch.unwrap_or(own.batch),
                learning_rate: course.learning_rate.unwrap_or(learning_rate),
                weight_decay: course.weight_decay.unwrap_or(own.weight_decay),
                ..own
            },
            groups: self
                .groups
                .options(&basis.model.schema, protected, repair.seed),
        })
    }
}

fn render(summary: &RepairSummary) -> String {
    let parts = &summary.parts;
    let mut text = format!(
        "Parts: {} rows to train on, {} to choose by, {} held out to measure on.\n",
        count(parts.train as u64),
        count(parts.validation as u64),
        count(parts.test as u64)
    );
    if summary.origin == Origin::Imported {
        text.push_str("The network was imported; it may have seen any of these rows before.\n");
    }
    for run in &summary.runs {
        text.push_str(&format!(
            "By {}: {} found individuals to draw from.\n",
            run.protected.join(" × "),
            count(run.samples)
        ));
    }
    for point in &summary.points {
        let remedy = match summary.method {
            RepairMethod::Samples => format!(
                "Share {}: {} individuals, {} variants added",
                point.share,
                count(point.samples),
                count(point.variants)
            ),
            RepairMethod::Certified => "Trained against the worst protected variant".to_owned(),
        };
        text.push_str(&format!(
            "\n{remedy}; means of {} networks (95 % interval)\n",
            point.networks.len()
        ));
        text.push_str(&changes_table(&point.changes));
    }
    text.push_str(&chosen(summary));
    text.push_str(&certified(summary));
    text.push_str(&groups(&summary.groups_before, &summary.groups_after));
    if !summary.finished {
        text.push_str("Interrupted: this is what was complete by then.\n");
    }
    text
}

/// Figures before and after side by side.
pub(super) fn changes_table(changes: &[Change]) -> String {
    let spread = |spread: &Mean| {
        let interval = spread.ci95.map_or(String::new(), |[low, high]| {
            format!(" ({:.2} – {:.2})", 100.0 * low, 100.0 * high)
        });
        format!("{}{interval}", percent(spread.mean))
    };
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| {
            let name = match change.protected.is_empty() {
                true => change.figure.clone(),
                false => format!("{} by {}", change.figure, change.protected.join(" × ")),
            };
            let is_rate = !change.protected.is_empty();
            let reduction = change.reduction.filter(|_| is_rate);
            vec![
                name,
                percent(change.before),
                change.control.as_ref().map_or("-".to_owned(), spread),
                spread(&change.after),
                reduction.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)),
            ]
        })
        .collect();
    table(
        &[
            "figure",
            "before",
            "retrained without",
            "after",
            "reduction",
        ],
        &rows,
    )
}

/// Which network was saved, and why.
fn chosen(summary: &RepairSummary) -> String {
    let chosen = &summary.chosen;
    let of = summary
        .points
        .iter()
        .find(|point| point.share == chosen.share);
    let networks = of.map_or(0, |point: &SharePoint| point.networks.len());
    let mut text = format!(
        "\nSaved: share {}, network {}, the median of {networks} by discriminatory share",
        chosen.share, chosen.repeat
    );
    if summary.points.len() > 1 {
        text.push_str(
            "; the share with the least of it among those accurate enough on the validation part",
        );
    }
    text.push_str(".\n");
    for estimate in &chosen.figures.discrimination {
        text.push_str(&super::render::statement(estimate, "uniform random inputs"));
    }
    let lost = 100.0 * chosen.accuracy_loss;
    text.push_str(&format!(
        "Accuracy on held-out rows: {} ({:+.2} points){}\n",
        percent(chosen.figures.held_out.accuracy),
        -lost,
        if chosen.within {
            "."
        } else {
            ": MORE is lost than allowed."
        }
    ));
    text
}

/// The rows that are certified fair before and after.
fn certified(summary: &RepairSummary) -> String {
    let pairs = summary
        .certified_before
        .iter()
        .zip(&summary.certified_after);
    let rows: Vec<Vec<String>> = pairs
        .map(|(before, after)| {
            vec![
                before.protected.join(" × "),
                percent(before.certified.share),
                percent(after.certified.share),
            ]
        })
        .collect();
    format!(
        "\nHeld-out rows certified fair\n{}",
        table(&["protected", "before", "after"], &rows)
    )
}

/// The gaps between groups before and after.
fn groups(before: &GroupReport, after: &GroupReport) -> String {
    let mut rows = Vec::new();
    for (before, after) in before.sets.iter().zip(&after.sets) {
        for ((name, before_gap), (_, after_gap)) in named_gaps(&before.gaps)
            .into_iter()
            .zip(named_gaps(&after.gaps))
        {
            if let (Some(before_gap), Some(after_gap)) = (before_gap, after_gap) {
                let shown = |value: f64, [low, high]: [f64; 2]| {
                    format!("{value:.4} ({low:.4} – {high:.4})")
                };
                rows.push(vec![
                    format!("{name} by {}", before.protected.join(" × ")),
                    shown(before_gap.value, before_gap.ci95),
                    shown(after_gap.value, after_gap.ci95),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return "\nNo two groups of the held-out rows are large enough to be compared.\n"
            .to_owned();
    }
    format!(
        "\nGroups of the held-out rows (favourable: {})\n{}",
        before.favourable,
        table(&["gap", "before", "after"], &rows)
    )
}
