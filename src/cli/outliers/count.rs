//! `probity outliers count`

use std::path::PathBuf;

use clap::Args;

use super::inputs::{RangeArgs, answer_text, bill_text, noise_text, not_private_text, said};
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::render::count as grouped;
use crate::cli::run::{At, Performed};
use probity::privacy::query::{CountQuery, CountSummary};
use probity::privacy::specification::CountSpecification;
use probity::run::number::readable;
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
        said(at.perform(query, "answering"), &render, output)
    }
}

fn render(summary: &CountSummary) -> String {
    format!(
        "{}In {} (fewer than {} other records within {}), of {} records: {}.\n{}{}",
        not_private_text(summary.private),
        summary.columns.join(" × "),
        summary.k,
        readable(summary.radius),
        grouped(summary.rows as u64),
        answer_text(summary.count, summary.interval.as_ref()),
        noise_text(summary.noise, summary.sensitivity),
        bill_text(&summary.bill)
    )
}
