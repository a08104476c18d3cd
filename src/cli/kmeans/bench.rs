//! `probity kmeans bench`

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware};
use crate::cli::output::{Output, verdict};
use crate::cli::progress::Failed;
use crate::cli::render::plots;
use crate::cli::run::{At, Left, Performed};
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::kmeans::kinds::Bench;
use probity::unlearning::kmeans::specification::BenchSpecification;

/// Arguments of `probity kmeans bench`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when a model differs from a retraining after its deletions.")]
pub(super) struct BenchArgs {
    #[command(flatten)]
    fields: Fields<BenchSpecification>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Run directory [default: the next free runs/kmeans-bench-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

/// Runs `probity kmeans bench`.
pub(super) fn run(mut args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    BenchSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for BenchSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let output = at.output;
        let bench = Bench::open(specification, &device).map_err(Failed)?;
        let (directory, summary) = match at.perform(bench, "measuring deletions")? {
            Left::Ended { directory, summary } => (directory, summary),
            Left::Said(code) => return Ok(code),
        };
        let plots = plots(directory.run())?;
        let next = format!("{plots}Run: {}\n", directory.path().display());
        output.run(&summary, &directory, &next)?;
        let figures = &summary.measured.algorithms;
        Ok(verdict(figures.iter().all(|figures| figures.exact)))
    }

    /// Whether every model equalled a retraining.
    fn passes(summary: &Value) -> bool {
        let algorithms = summary["algorithms"].as_array();
        algorithms.is_some_and(|all| all.iter().all(|figures| figures["exact"] == true))
    }
}
