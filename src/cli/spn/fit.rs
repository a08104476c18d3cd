//! `probity spn fit`

use std::path::PathBuf;

use clap::Args;

use super::inputs::LeafArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::run::{At, Left, Performed};
use probity::report::model::Findings;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::spn::kinds::Fit;
use probity::unlearning::spn::specification::FitSpecification;

/// Arguments of `probity spn fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "The directory holds the training rows that are left: deletion needs them. Guard it like the data."
)]
pub(super) struct FitArgs {
    #[command(flatten)]
    fields: Fields<FitSpecification>,
    #[command(flatten)]
    leaves: LeafArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Model directory [default: the next free runs/spn-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

/// Runs `probity spn fit`.
pub(super) fn run(mut args: FitArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.leaves.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    FitSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

/// Learns the network that is specified.
///
/// A model directory holds no `run.toml`: it is, file for file, what learning without the deleted
impl Performed for FitSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let output = at.output;
        let fit = Fit::open(specification, &device).map_err(Failed)?;
        match at.end(fit, "learning")? {
            Left::Ended { summary, .. } => {
                let path = summary.model.display();
                let next = format!("Model: {path}\nNext: probity spn show --model {path}\n");
                output.findings(&summary, Findings::SpnFit, &next)
            }
            Left::Said(code) => Ok(code),
        }
    }
}
