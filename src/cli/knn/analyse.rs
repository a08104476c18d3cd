//! `probity knn` itself: certify, falsify, or say unknown.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;
use indicatif::ProgressBar;

use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware, directory_of};
use crate::cli::interrupt::Interrupt;
use crate::cli::numbers::whole;
use crate::cli::output::Output;
use crate::cli::render::plots;
use crate::cli::run::{At, Performed};
use crate::cli::shards::Cut;
use probity::knn::inputs::RobustnessError;
use probity::knn::run::{
    MergedVerdicts, RobustnessProgress, ShardedInputs, check, decide_robustness,
};
use probity::knn::specification::RobustnessSpecification;
use probity::run::specification::Checked;
use probity::run::specification::file::Record;

/// The progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} inputs, {msg}, {eta} left";

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
    RobustnessSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for RobustnessSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let At {
            place,
            part,
            hardware,
            output,
        } = at;
        let device = hardware.open(output)?;
        let inputs = specification.read()?;
        let run = specification.into_inner().resolved(inputs.training.rows());
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..run.record(&inputs)?
        };
        // Everything that can be wrong with the input is found before anything is written.
        for &poison in &run.analysis.poison {
            check(&run.learning, &inputs, poison)?;
        }
        let interrupt = Interrupt::listen()?;
        let bar = output.progress(1, BAR);
        let stop = interrupt.flag();
        let observe = &mut |progress| show(&bar, progress);
        let (directory, summary) = match Cut::of(&part, &run, &record, place.new_directory())? {
            None => {
                let (directory, _) = directory_of(place, "knn")?;
                let summary =
                    decide_robustness(&run, &record, &inputs, &directory, &device, stop, observe)
                        .map_err(|error| named(error.into()))?;
                (directory, summary)
            }
            Some(cut) => {
                let items = ShardedInputs {
                    run: &run,
                    inputs: &inputs,
                    device: &device,
                    stop,
                    observe,
                };
                let worked = cut.work_or_merge(items, |_| true, &bar, output);
                let verdicts = match worked.map_err(named)? {
                    ControlFlow::Continue(verdicts) => verdicts,
                    ControlFlow::Break(said) => return Ok(said),
                };
                let merged = MergedVerdicts::of(&run, cut.folder(), verdicts)?;
                let directory = cut.directory("knn")?;
                let summary = merged.write(&run, &record, &inputs, &directory)?;
                (directory, summary)
            }
        };
        bar.finish_and_clear();
        let path = directory.path().display();
        let plots = plots(&directory)?;
        let next = format!("{plots}Run: {path}\nNext: probity knn verify {path}\n");
        output.run(&summary, directory.path(), &next)
    }
}

/// `error`, with the option for fewer threads where there are too many.
fn named(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(RobustnessError::Threads { .. }) => anyhow!("{error} with --threads"),
        _ => error,
    }
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
