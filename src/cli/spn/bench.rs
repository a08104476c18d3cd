//! `probity spn bench`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::inputs::LeafArgs;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::progress::Failed;
use crate::cli::render::{bad_rows, count, table};
use crate::cli::run::{At, Left, Performed};
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;
use probity::unlearning::spn::kinds::{Bench, BenchSummary};
use probity::unlearning::spn::specification::BenchSpecification;
use probity::unlearning::spread::Spread;

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
        let output = at.output;
        let bench = Bench::open(specification, &device).map_err(Failed)?;
        let (directory, summary) = match at.perform(bench, "measuring deletions")? {
            Left::Ended { directory, summary } => (directory, summary),
            Left::Said(code) => return Ok(code),
        };
        let mut text = render(&summary);
        if let Some(directory) = directory {
            text.push_str(&format!("Run: {}\n", directory.path().display()));
        }
        output.result(&summary, &text)
    }
}

/// A time with its deviation.
fn seconds(spread: &Spread) -> String {
    format!("{:.4} ± {:.4}", spread.mean, spread.sd)
}

fn render(summary: &BenchSummary) -> String {
    let figures = &summary.figures;
    let row = |what: String, spread: &Spread| vec![what, seconds(spread)];
    let deletions = figures.deletions;
    let mut text = table(
        &["seconds", "mean ± sd"],
        &[
            row("learn".to_owned(), &figures.learn_seconds),
            row(
                "learn without state".to_owned(),
                &figures.learn_without_state_seconds,
            ),
            row(
                format!("learn anew {deletions} times"),
                &figures.retrain_seconds,
            ),
            row(format!("delete {deletions} rows"), &figures.unlearn_seconds),
        ],
    );
    text.push_str(&format!(
        "{} rows of {} columns; deletion is {:.1} × faster than learning anew; results {}.\n",
        count(figures.rows as u64),
        figures.variables,
        figures.speed_up,
        if figures.identical {
            "identical"
        } else {
            "DIFFER"
        }
    ));
    if let Some(likelihood) = &figures.test_log_likelihood {
        text.push_str(&format!(
            "Mean log-likelihood of rows not learnt from: {}.\n",
            seconds(likelihood)
        ));
    }
    text.push_str(&bad_rows(&summary.left_out.bad_rows));
    if !summary.finished {
        text.push_str("Interrupted: these are the repeats that were done by then.\n");
    }
    text
}
