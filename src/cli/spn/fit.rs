//! `probity spn fit`

use std::path::PathBuf;

use clap::Args;

use super::inputs::{LeafArgs, origin};
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::render::{bad_rows, count, counted};
use crate::cli::run::{At, Left, Performed};
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::spn::kinds::{Fit, FitSummary};
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
        match at.perform(fit, "learning")? {
            Left::Ended { summary, .. } => output.result(&summary, &render(&summary)),
            Left::Said(code) => Ok(code),
        }
    }
}

fn render(summary: &FitSummary) -> String {
    let shape = &summary.network;
    let path = summary.model.display();
    let mut text = format!(
        "Learnt from {} rows of {} columns in {:.2} s: {} sums, {} products, {} leaves, depth {}.\n",
        count(summary.rows as u64),
        summary.variables,
        summary.seconds,
        count(shape.sums as u64),
        count(shape.products as u64),
        count(shape.leaves as u64),
        shape.depth
    );
    text.push_str(&format!(
        "Threshold of dependence: {} ({}).\n",
        summary.threshold,
        origin(&summary.parameters)
    ));
    if summary.left_out.skipped_rows > 0 {
        let skipped = count(summary.left_out.skipped_rows);
        text.push_str(&format!(
            "{skipped} rows were left out, as the schema asks.\n"
        ));
    }
    if summary.missing_values > 0 {
        let values = counted(summary.missing_values, "value", "values");
        text.push_str(&format!("Missing, and summed out: {values}.\n"));
    }
    text.push_str(&bad_rows(&summary.left_out.bad_rows));
    text.push_str(&format!(
        "Model: {path}\nNext: probity spn show --model {path}\n"
    ));
    text
}
