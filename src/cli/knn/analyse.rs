//! `probity knn` itself: certify, falsify, or say unknown.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;

use super::inputs::{DataArgs, LearningArgs};
use super::render;
use crate::cli::inputs::{Hardware, new_run};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::plots;
use probity::knn::Method;
use probity::knn::run::{RobustnessProgress, RobustnessRun, check, decide_robustness};
use probity::knn::verdicts::VerdictsFormat;

/// The progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} inputs, {msg}, {eta} left";

/// Options of the analysis.
#[derive(Debug, Args)]
pub(super) struct AnalyseArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    threat: ThreatArgs,
    #[command(flatten)]
    learning: LearningArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Run directory [default: the next free runs/knn-N]
    #[arg(long, help_heading = "Result")]
    out: Option<PathBuf>,
    /// Form of the verdicts file
    #[arg(
        long = "verdicts",
        value_enum,
        default_value_t,
        help_heading = "Result"
    )]
    verdicts_format: VerdictsFormat,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Poison and method")]
struct ThreatArgs {
    /// Up to so many training rows may be poisoned
    #[arg(long, value_name = "N", required_unless_present_any = ["poison_percent", "sweep"])]
    poison: Option<usize>,
    /// The same as a percentage of the training rows, rounded down, at least 1
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "poison")]
    poison_percent: Option<f64>,
    /// Several thresholds one after the other: a table and a stacked plot over n
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', conflicts_with_all = ["poison", "poison_percent"])]
    sweep: Vec<usize>,
    /// How robustness is decided
    #[arg(long, value_enum, default_value_t)]
    method: Method,
    /// Time for each test input, such as 60s or 5m; `none` for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time_limit)]
    time_limit: Limit,
    /// Analyse so many test inputs, drawn by the seed [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    inputs: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Limit(Option<Duration>);

fn time_limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    humantime::parse_duration(text)
        .map(|limit| Limit(Some(limit)))
        .map_err(|_| "a time such as 90s, 5m or 1h, or none, is expected".into())
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent),
        _ => Err("a percentage above 0 and below 100 is expected".to_owned()),
    }
}

/// Runs the analysis.
pub(super) fn run(args: AnalyseArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let samples = args.data.options()?;
    let inputs = args.data.read(&samples)?;
    let rows = inputs.training.rows();
    let poison = match (args.threat.poison, args.threat.poison_percent) {
        (Some(poison), _) => vec![poison],
        (None, Some(percent)) => vec![((rows as f64 * percent / 100.0 + 1e-9) as usize).max(1)],
        (None, None) => {
            let mut sweep = args.threat.sweep.clone();
            sweep.sort_unstable();
            sweep.dedup();
            sweep
        }
    };
    if poison.is_empty() {
        bail!("--sweep names no threshold");
    }
    let run = RobustnessRun {
        command: "knn".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        poison,
        method: args.threat.method,
        time_limit_seconds: args.threat.time_limit.0.map(|limit| limit.as_secs_f64()),
        inputs: args.threat.inputs.map(|inputs| inputs as usize),
        verdicts_format: args.verdicts_format,
        device: device.name(),
        learning: args.learning.learning(),
        train: inputs.train.source.clone(),
        test: inputs.test.source.clone(),
        samples,
    };
    // Everything that can be wrong with the input is found before anything is written.
    for &poison in &run.poison {
        check(&run, &inputs, poison)?;
    }
    let directory = new_run(args.out.as_ref(), "knn")?;
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(1, BAR);
    let stop = interrupt.flag();
    let summary = decide_robustness(&run, &inputs, &directory, &device, stop, &mut |progress| {
        show(&bar, progress);
    })?;
    bar.finish_and_clear();
    let path = directory.path().display();
    let mut text = render::summary(&summary, &inputs);
    text.push_str(&plots(&directory)?);
    if !summary.finished {
        text.push_str("Interrupted: this is what was decided by then.\n");
    }
    text.push_str(&format!("Run: {path}\nNext: probity knn verify {path}\n"));
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows progress on the bar.
fn show(bar: &ProgressBar, progress: RobustnessProgress) {
    match progress {
        RobustnessProgress::Learning { poison } => {
            bar.reset();
            bar.set_prefix(format!("n = {poison}"));
            bar.set_message("learning");
            bar.tick();
        }
        RobustnessProgress::Bounding { poison } => {
            bar.reset();
            bar.set_prefix(format!("n = {poison}"));
            bar.set_message("bounding K");
            bar.tick();
        }
        RobustnessProgress::Inputs {
            done,
            all,
            falsified,
            ..
        } => {
            bar.set_length(all);
            bar.set_position(done);
            bar.set_message(format!("{falsified} falsified"));
        }
    }
}
