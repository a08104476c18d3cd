//! `probity outliers count`

use std::path::PathBuf;

use clap::Args;

use super::inputs::{RangeArgs, said};
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::run::{At, Performed};
use probity::privacy::query::{CountQuery, CountSummary};
use probity::privacy::specification::CountSpecification;
use probity::report::model::Findings;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;

/// Arguments of `probity outliers count`.
#[derive(Debug, Args)]
#[command(
    after_help = "The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct CountArgs {
    #[command(flatten)]
    fields: Fields<CountSpecification>,
    #[command(flatten)]
    ranges: RangeArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Also write run.toml and summary.json to this new directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `probity outliers count`.
pub(super) fn run(mut args: CountArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.ranges.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    CountSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for CountSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let output = at.output;
        let query = CountQuery::open(specification)?.on(&device);
        let answered = at.end(query, "answering");
        said(
            answered,
            Findings::OutlierCount,
            |it: &CountSummary| &it.bill,
            output,
        )
    }
}
