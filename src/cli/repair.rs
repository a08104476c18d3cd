//! `probity repair`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{Hardware, OutsideArg, absolute, may_resume, new_run, with_outside};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{count, plots};
use super::render_repair;
use super::repair_texts::{self, TextRepairArgs};
use super::text_inputs::is_text_run;
use probity::data::schema::Schema;
use probity::fairness::group::GroupOptions;
use probity::fairness::group::grouping::DeclaredBins;
use probity::fairness::repair::basis::{Basis, Origin, Start};
use probity::fairness::repair::labels::LabelRule;
use probity::fairness::repair::options::{RepairMethod, RepairRun};
use probity::fairness::repair::pool::protected_of;
use probity::fairness::repair::run::{PreparedRepair, repair};
use probity::nn::model::Model;
use probity::nn::text_model::is_text_model;
use probity::nn::train_options::TrainOptions;
use probity::run::run_directory::{RunDirectory, file_sha256};
use probity::tensor::device::ComputeDevice;

/// Learning rate of an imported network that is trained on, where none is given.
const IMPORTED_LEARNING_RATE: f64 = 0.001;

/// Share of the samples, where none is given.
const SHARE: f64 = 0.01;

/// Accuracy that a repair may cost, where none is given.
const MAX_ACCURACY_LOSS: f64 = 0.01;

/// Arguments of `probity repair`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity repair --model models/people --data people.csv --run runs/people --out models/fairer\n\
                  \x20         probity repair --model models/people --data people.csv --run runs/sex --run runs/race \\\n\
                  \x20             --sweep 0.01,0.05,0.2 --max-accuracy-loss 0.01 --out models/fairer\n\
                  \x20         probity repair --model models/toxic --texts comments.csv --protected religion --method certified --out models/fairer\n\
                  \x20         probity repair --model models/toxic --texts comments.csv --run runs/race --run runs/religion --out models/fairer\n\
                  With --max-accuracy-loss the exit code is 0 only when the saved model loses no more than that on held-out rows."
)]
pub(super) struct RepairArgs {
    /// Model directory to repair
    #[arg(long, required_unless_present = "resume")]
    model: Option<PathBuf>,
    /// Its labelled training data
    #[arg(long, required_unless_present_any = ["texts", "resume"])]
    data: Option<PathBuf>,
    /// Run directory of an audit of this model; may be given for several
    #[arg(long, required_unless_present_any = ["texts", "resume"])]
    pub(super) run: Vec<PathBuf>,
    /// Directory for the repaired model [default: the next free runs/repair-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    /// Go on with the unfinished repair in --out; all options come from there
    #[arg(long, requires = "out")]
    pub(super) resume: bool,
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
    pub(super) sweep: Vec<f64>,
    /// Networks for each share, each with its own draw of samples and its own first weights
    #[arg(long, default_value_t = 5)]
    pub(super) repeats: u32,
    /// The one label of all protected variants of a sample [default: majority]
    #[arg(long, value_enum)]
    pub(super) label: Option<LabelRule>,
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

/// How groups are made and judged.
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups")]
struct GroupArgs {
    /// The class that is good to get [default: the last one of the schema]
    #[arg(long, value_name = "CLASS")]
    favourable: Option<String>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for several
    #[arg(long, value_name = "NAME=EDGES")]
    bins: Vec<DeclaredBins>,
    /// Rows that a rate must be a share of to be judged
    #[arg(long, value_name = "ROWS", default_value_t = 30)]
    min_group: u64,
    /// Bins of the calibration error
    #[arg(long, value_name = "N", default_value_t = 10)]
    calibration_bins: u32,
    /// Bootstrap samples
    #[arg(long, value_name = "N", default_value_t = 1000)]
    resamples: u32,
}

impl GroupArgs {
    /// The options for the attributes `protected` of `schema`.
    fn options(&self, schema: &Schema, protected: Vec<String>, seed: u64) -> GroupOptions {
        let usual = GroupOptions::usual(schema, protected, seed);
        GroupOptions {
            favourable: self.favourable.clone().unwrap_or(usual.favourable),
            bins: self.bins.clone(),
            min_group: self.min_group,
            calibration_bins: self.calibration_bins,
            resamples: self.resamples,
            protected: usual.protected,
            seed,
        }
    }
}

/// Runs `probity repair`.
pub(super) fn run(args: RepairArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let resumes_texts = args.resume && is_text_run(args.out.as_deref().unwrap_or(Path::new("")));
    if args.texts.texts.is_some() || resumes_texts {
        return repair_texts::run(&args, output);
    }
    let device = args.hardware.open(output)?;
    let (prepared, directory) = match args.resume {
        true => go_on(&args, &device)?,
        false => begin(&args, &device, output)?,
    };
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(1, "repair [{bar:28}] {pos}/{len} epochs, {eta} left");
    let path = directory.path().display();
    let resume = format!("go on with: probity repair --resume --out {path}");
    let summary = repair(&prepared, &directory, &device, args.resume, &|progress| {
        bar.set_length(progress.all);
        bar.set_position(progress.epochs);
        interrupt.flow()
    })
    .with_context(|| {
        let model = prepared.options().model.display();
        format!("repairing {model} (networks that are complete are kept; {resume})")
    })?;
    bar.finish_and_clear();
    let mut text = render_repair::repair(&summary);
    text.push_str(&plots(&directory)?);
    if !summary.finished {
        text.push_str(&format!(
            "Interrupted: this is what was complete by then; {resume}\n"
        ));
    }
    text.push_str(&format!(
        "Model: {path}\nNext: probity audit --model {path} --data {}\n",
        prepared.options().data.display()
    ));
    output.result(&summary, &text)?;
    let fails = prepared.options().fails_above_loss && !summary.chosen.within;
    Ok(ExitCode::from(u8::from(fails)))
}

/// A new repair. Everything that can be wrong with the input is found before anything is written.
fn begin(
    args: &RepairArgs,
    device: &ComputeDevice,
    output: &Output,
) -> anyhow::Result<(PreparedRepair, RunDirectory)> {
    let model = args.model()?;
    if is_text_model(model) {
        bail!(
            "{} classifies texts, not tables; give --texts instead of --data and --run",
            model.display()
        );
    }
    args.repair.refuse_without_samples()?;
    let basis = args.basis()?;
    let options = args.options(&basis, device)?;
    let prepared = PreparedRepair::new(options, basis)?;
    remark_on_runs(&prepared, output);
    let directory = new_run(args.out.as_ref(), "repair")?;
    Ok((prepared, directory))
}

/// The unfinished repair in `--out`.
fn go_on(
    args: &RepairArgs,
    device: &ComputeDevice,
) -> anyhow::Result<(PreparedRepair, RunDirectory)> {
    let out = args.out.as_deref().context("--out is needed")?;
    let (directory, options): (_, RepairRun) = RunDirectory::open_run(out, "repair")?;
    may_resume(&directory, &options.device.to_string(), device)?;
    let basis = Basis::load(&options.model, &options.data, options.outside)?;
    Ok((PreparedRepair::new(options, basis)?, directory))
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

impl MethodArgs {
    /// The share, or those of a sweep, ascending; `default` without either.
    pub(super) fn shares(&self, default: f64) -> Vec<f64> {
        let mut shares = match self.sweep.is_empty() {
            true => vec![self.share.unwrap_or(default)],
            false => self.sweep.clone(),
        };
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares
    }

    /// Refuses options about samples where none is learnt from.
    pub(super) fn refuse_without_samples(&self) -> anyhow::Result<()> {
        let given = [
            ("share", self.share.is_some()),
            ("sweep", !self.sweep.is_empty()),
            ("label", self.label.is_some()),
            ("weight", self.weight.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if self.method == RepairMethod::Certified => bail!(
                "--{name} is about the samples that are learnt from; --method certified learns from none"
            ),
            _ => Ok(()),
        }
    }
}

impl RepairArgs {
    /// Its directory.
    pub(super) fn model(&self) -> anyhow::Result<&Path> {
        self.model.as_deref().context("--model is needed")
    }

    fn data(&self) -> anyhow::Result<&Path> {
        self.data.as_deref().context("--data is needed")
    }

    fn basis(&self) -> anyhow::Result<Basis> {
        if let Some(outside) = self.outside {
            with_outside(Model::load(self.model()?)?.schema, outside)?;
        }
        Ok(Basis::load(
            self.model()?,
            self.data()?,
            self.outside.map(Into::into),
        )?)
    }

    fn options(&self, basis: &Basis, device: &ComputeDevice) -> anyhow::Result<RepairRun> {
        let (repair, course) = (&self.repair, &self.course);
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
            model: absolute(self.model()?),
            model_sha256: basis.model.sha256(),
            data: absolute(self.data()?),
            data_sha256: file_sha256(self.data()?)?,
            outside: self.outside.map(Into::into),
            runs: self.run.iter().map(|run| absolute(run)).collect(),
            shares: repair.shares(SHARE),
            repeats: repair.repeats,
            label: repair.label.unwrap_or_default(),
            weight: repair.weight,
            counterfactuals: repair.counterfactuals,
            start,
            max_accuracy_loss: repair.max_accuracy_loss.unwrap_or(MAX_ACCURACY_LOSS),
            fails_above_loss: repair.max_accuracy_loss.is_some(),
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
