//! `probity outliers subspaces`

use std::path::PathBuf;

use clap::Args;

use super::inputs::{RangeArgs, answer_text, bill_text, noise_text, not_private_text, said};
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::run::{At, Performed};
use probity::privacy::query::{SubspacesQuery, SubspacesSummary};
use probity::privacy::specification::SubspacesSpecification;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;

/// Arguments of `probity outliers subspaces`.
#[derive(Debug, Args)]
#[command(
    after_help = "The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct SubspacesArgs {
    #[command(flatten)]
    fields: Fields<SubspacesSpecification>,
    #[command(flatten)]
    ranges: RangeArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Also write run.toml and summary.json to this new directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `probity outliers subspaces`.
pub(super) fn run(mut args: SubspacesArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.ranges.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    SubspacesSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for SubspacesSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(ComputeDevice::open)?;
        let output = at.output;
        let query = SubspacesQuery::open(specification)?.on(&device);
        said(at.perform(query, "answering"), &render, output)
    }
}

fn render(summary: &SubspacesSummary) -> String {
    let mut text = not_private_text(summary.private).to_owned();
    for (at, chosen) in summary.subspaces.iter().enumerate() {
        text.push_str(&format!("{}. {}", at + 1, chosen.columns.join(" × ")));
        if let Some(count) = chosen.count {
            let answer = answer_text(count, chosen.interval.as_ref());
            text.push_str(&format!(": {answer}"));
        }
        text.push('\n');
    }
    if let (Some(noise), Some(sensitivity)) = (summary.noise, summary.sensitivity) {
        text.push_str(&noise_text(noise, sensitivity));
    }
    text.push_str(&format!(
        "Chosen among {} subspaces, in the order of choice.\n{}",
        summary.candidates,
        bill_text(&summary.bill)
    ));
    text
}
