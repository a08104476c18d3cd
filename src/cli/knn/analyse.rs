//! `probity knn` itself: certify, falsify, or say unknown.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware};
use crate::cli::numbers::whole;
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::render::plots;
use crate::cli::run::{At, Performed};
use probity::knn::inputs::RobustnessError;
use probity::knn::run::Robustness;
use probity::knn::specification::RobustnessSpecification;
use probity::run::failure::cause_of;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;

/// Options of the analysis.
#[derive(Debug, Args)]
pub(super) struct AnalyseArgs {
    #[command(flatten)]
    fields: Fields<RobustnessSpecification>,
    #[command(flatten)]
    threat: ThreatArgs,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Run directory [default: the next free runs/knn-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

/// The threshold, which the command line has short forms for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Analysis")]
struct ThreatArgs {
    /// Up to so many training rows may be poisoned
    #[arg(long, value_name = "N", conflicts_with = "analysis.poison", value_parser = whole::<usize>(0..=u32::MAX.into()), allow_hyphen_values = true)]
    poison: Option<usize>,
    /// The same as a percentage of the training rows, rounded down, at least 1
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_hyphen_values = true, conflicts_with_all = ["poison", "analysis.poison"])]
    poison_percent: Option<f64>,
}

impl ThreatArgs {
    /// Gives it to `fields`.
    fn set(&self, fields: &mut Fields<RobustnessSpecification>) -> anyhow::Result<()> {
        if let Some(poison) = self.poison {
            fields.set("analysis.poison", vec![poison]);
        }
        if let Some(percent) = self.poison_percent {
            fields.set("analysis.poison_percent", percent);
        }
        let is_given = |path| fields.is_given(path);
        if !is_given("analysis.poison") && !is_given("analysis.poison_percent") {
            bail!(
                "--poison, --poison-percent or --sweep is needed: how many training rows may be poisoned"
            );
        }
        Ok(())
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent),
        _ => Err("a percentage above 0 and below 100 is expected".to_owned()),
    }
}

/// Runs the analysis.
pub(super) fn run(mut args: AnalyseArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.threat.set(&mut args.fields)?;
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    RobustnessSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for RobustnessSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let run = Robustness::open(specification, device).map_err(Failed)?;
        let performed = at.perform(run, "deciding", |directory, _| {
            let (plots, path) = (plots(directory.run())?, directory.path().display());
            Ok(format!(
                "{plots}Run: {path}\nNext: probity knn verify {path}\n"
            ))
        });
        performed.map_err(named)
    }
}

/// `error`, with the option for fewer threads where there are too many.
fn named(error: anyhow::Error) -> anyhow::Error {
    match cause_of(error.as_ref()) {
        Some(RobustnessError::Threads { .. }) => anyhow!("{error} with --threads"),
        _ => error,
    }
}
