//! `probity kmeans bench`

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware};
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::render::plots;
use crate::cli::run::{At, Performed};
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::kmeans::kinds::Bench;
use probity::unlearning::kmeans::specification::BenchSpecification;

/// Arguments of `probity kmeans bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 when a model differs from a retraining after its deletions, or none was compared."
)]
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
        let bench = Bench::open(specification, &device).map_err(Failed)?;
        at.perform(bench, "measuring deletions", |directory, _| {
            Ok(plots(directory.run())? + &directory.said())
        })
    }

    /// Whether every model equalled a retraining, and there is one of each algorithm.
    fn passes(summary: &Value) -> bool {
        let algorithms = summary["algorithms"].as_array();
        algorithms.is_some_and(|all| all.iter().all(|figures| figures["exact"] == true))
    }
}
