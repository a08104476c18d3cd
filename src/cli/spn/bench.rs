//! `probity spn bench`

use std::path::PathBuf;

use clap::Args;

use super::inputs::LeafArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::run::{At, Performed};
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::spn::kinds::Bench;
use probity::unlearning::spn::specification::BenchSpecification;

/// Arguments of `probity spn bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "All but the choice of a threshold runs on one thread. Without --out nothing is written."
)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    fields: Fields<BenchSpecification>,
    #[command(flatten)]
    leaves: LeafArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `probity spn bench`.
pub(super) fn run(mut args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.leaves.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    BenchSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for BenchSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let bench = Bench::open(specification, &device).map_err(Failed)?;
        at.perform(bench, "measuring deletions", |directory, _| {
            Ok(directory.said())
        })
    }
}
