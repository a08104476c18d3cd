//! `probity audit`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{Hardware, OutsideArg, absolute, new_run, with_outside};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::AuditBar;
use super::render;
use crate::fairness::audit::{AuditOptions, AuditSummary, PreparedAudit, StrategyName, audit};
use crate::fairness::estimate::Verdict;
use crate::fairness::samples::SamplesFormat;
use crate::fairness::search::Ending;
use crate::nn::Objective;
use crate::nn::model::Model;
use crate::report::run_directory::{CHECKPOINT, RunDirectory, SUMMARY, file_sha256};

/// Arguments of `probity audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity audit --model models/census --data census.csv --protected sex,race --fail-above 0.05\n\
                        With --fail-above the exit code is 0 only when the whole 95 % interval is at or below the bound."
)]
pub(super) struct AuditArgs {
    /// Model directory, as `probity train` or `probity import` writes it
    #[arg(long, required_unless_present = "resume")]
    model: Option<PathBuf>,
    /// Table that the seeds come from; read by the model's schema
    #[arg(long, required_unless_present = "resume")]
    data: Option<PathBuf>,
    /// Protected attributes, jointly [default: those marked in the model's schema]
    #[arg(long, value_delimiter = ',')]
    protected: Vec<String>,
    /// Run directory [default: the next free runs/audit-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out; all options but --time come from there
    #[arg(long, requires = "out", conflicts_with_all = ["model", "data", "protected", "outside"])]
    resume: bool,
    /// Missing and outside values, where the model's schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
struct SearchArgs {
    /// Search strategy
    #[arg(long, value_enum, default_value_t)]
    strategy: StrategyName,
    /// What is differentiated
    #[arg(long, value_enum, default_value_t)]
    objective: Objective,
    /// Seeds of the global phase
    #[arg(long, default_value_t = 1000)]
    seeds: usize,
    /// Clusters that the seeds come from, in turn
    #[arg(long, default_value_t = 4)]
    clusters: usize,
    /// Global moves a seed at most
    #[arg(long, default_value_t = 10)]
    max_iter: u32,
    /// Local trials from each individual that the global phase finds
    #[arg(long, default_value_t = 1000)]
    local: u32,
    /// Codes that a global step moves
    #[arg(long, default_value_t = 1)]
    step_global: u32,
    /// Codes that a local step moves
    #[arg(long, default_value_t = 1)]
    step_local: u32,
    /// Inputs worked on at a time by one thread; no influence on the result
    #[arg(long, default_value_t = 4096)]
    batch: usize,
    /// Form of the samples file
    #[arg(long = "samples", value_enum, default_value_t)]
    samples_format: SamplesFormat,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Budget and bound")]
struct BudgetArgs {
    /// Search time at most, such as 60s or 5m, counted from the beginning of the run
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop when this many distinct individuals are found
    #[arg(long, value_name = "N")]
    max_found: Option<u64>,
    /// Uniform random inputs for each estimate of the discriminatory share
    #[arg(long, default_value_t = 10_000)]
    estimate: u64,
    /// Exit with 1 unless the joint discriminatory share is shown to be at most this
    #[arg(long, value_name = "SHARE")]
    fail_above: Option<f64>,
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "a time such as 90s, 5m or 1h is expected".into())
}

/// Runs `probity audit`.
pub(super) fn run(args: AuditArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let (prepared, directory) = if args.resume {
        let out = args.out.clone().unwrap_or_default();
        let (directory, mut options): (_, AuditOptions) = RunDirectory::open_run(&out, "audit")?;
        if options.device != device.name() {
            bail!(
                "the run began on {}, not on {}; add --device {}",
                options.device,
                device.name(),
                options.device
            );
        }
        options.time_seconds = args.budget.time.map(|time| time.as_secs_f64());
        if !directory.file(CHECKPOINT).is_file() && directory.file(SUMMARY).is_file() {
            bail!(
                "the run in {} is complete; there is nothing to resume",
                directory.path().display()
            );
        }
        (PreparedAudit::new(options, &device)?, directory)
    } else {
        // Everything that can be wrong with the input is found before anything is written.
        let prepared = PreparedAudit::new(args.options(&device)?, &device)?;
        (prepared, new_run(args.out.as_ref(), "audit")?)
    };
    let options = prepared.options();
    let mut bar = AuditBar::new(output, Interrupt::listen()?);
    let summary = audit(&prepared, &directory, args.resume, &mut |progress| {
        bar.observe(progress)
    })
    .with_context(|| format!("auditing {}", options.model.display()))?;
    if summary.global.seeds < options.seeds as u64 {
        output.remark(&format!(
            "note: the data have {} rows, so there are {} seeds, not {}",
            summary.global.seeds, summary.global.seeds, options.seeds
        ));
    }
    let path = directory.path().display();
    let mut text = render::audit(&summary);
    text.push_str(&match summary.ending {
        Ending::Complete | Ending::MaxFound => String::new(),
        Ending::Time => format!(
            "Go on with: probity audit --resume --out {path} --time LONGER \
             (counted from the beginning), or without --time to the end.\n"
        ),
        Ending::Interrupted => format!("Go on with: probity audit --resume --out {path}\n"),
    });
    text.push_str(&format!("Run: {path}\nNext: probity verify {path}\n"));
    output.result(&summary, &text)?;
    Ok(exit_code(&summary))
}

/// 1 unless the declared bound, if there is one, is shown to hold.
pub(super) fn exit_code(summary: &AuditSummary) -> ExitCode {
    match &summary.fail_above {
        Some(bound) if bound.verdict != Verdict::Within => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}

impl AuditArgs {
    fn options(&self, device: &crate::device::ComputeDevice) -> anyhow::Result<AuditOptions> {
        let (Some(model_path), Some(data)) = (&self.model, &self.data) else {
            bail!("--model and --data are needed");
        };
        let model = Model::load(model_path)?;
        if let Some(outside) = self.outside {
            with_outside(model.schema.clone(), outside)?;
        }
        let protected = if self.protected.is_empty() {
            let marked = model.schema.protected();
            marked
                .into_iter()
                .map(|attribute| model.schema.attributes[attribute].name.clone())
                .collect()
        } else {
            self.protected.clone()
        };
        let (search, budget) = (&self.search, &self.budget);
        Ok(AuditOptions {
            command: "audit".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: absolute(model_path),
            model_sha256: model.sha256(),
            data: absolute(data),
            data_sha256: file_sha256(data)?,
            outside: self.outside.map(Into::into),
            protected,
            strategy: search.strategy,
            objective: search.objective,
            seeds: search.seeds,
            clusters: search.clusters,
            max_iter: search.max_iter,
            local: search.local,
            step_global: search.step_global,
            step_local: search.step_local,
            estimate: budget.estimate,
            time_seconds: budget.time.map(|time| time.as_secs_f64()),
            max_found: budget.max_found,
            fail_above: budget.fail_above,
            batch: search.batch,
            samples_format: search.samples_format,
            seed: search.seed,
            device: device.name(),
            hardware: device.hardware(),
        })
    }
}
