//! `probity kmeans fit`

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware};
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::run::{At, Left, Performed};
use probity::report::model::Findings;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::kmeans::kinds::Fit;
use probity::unlearning::kmeans::specification::FitSpecification;

/// Arguments of `probity kmeans fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rows are deleted by id: their number in the file, from 1, or what --id-column holds."
)]
pub(super) struct FitArgs {
    #[command(flatten)]
    fields: Fields<FitSpecification>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Model directory [default: the next free runs/kmeans-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

/// Runs `probity kmeans fit`.
pub(super) fn run(mut args: FitArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    FitSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

/// Fits the clustering that is specified.
///
/// A model directory holds no `run.toml`: it is, file for file, what training without the deleted
impl Performed for FitSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let output = at.output;
        let fit = Fit::open(specification, &device).map_err(Failed)?;
        match at.end(fit, "clustering")? {
            Left::Ended { summary, .. } => {
                let path = summary.model.display();
                let next = format!(
                    "Model: {path}\nNext: probity kmeans delete --model {path} --ids IDS\n"
                );
                output.findings(&summary, Findings::KMeansFit, &next)
            }
            Left::Said(code) => Ok(code),
        }
    }
}
