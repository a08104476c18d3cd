//! `probity spn fit`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::inputs::{LeafArgs, origin};
use crate::cli::fields::Fields;
use crate::cli::inputs::{Hardware, directory_of};
use crate::cli::output::Output;
use crate::cli::render::{bad_rows, count, counted};
use crate::cli::run::{At, Performed};
use probity::data::read::LeftOut;
use probity::run::specification::Checked;
use probity::tensor::proposer::Proposer;
use probity::unlearning::spn::model::SpnModel;
use probity::unlearning::spn::network::Shape;
use probity::unlearning::spn::specification::FitSpecification;
use probity::unlearning::spn::{Spn, SpnParameters};

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

#[derive(Serialize)]
struct FitSummary {
    model: PathBuf,
    rows: usize,
    /// Values that are not known, and summed out.
    missing_values: u64,
    #[serde(flatten)]
    left_out: LeftOut,
    variables: usize,
    parameters: SpnParameters,
    /// The one of the parameters, or the chosen one.
    threshold: f64,
    network: Shape,
    seconds: f64,
}

/// Runs `probity spn fit`.
pub(super) fn run(mut args: FitArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.leaves.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    FitSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

/// Learns the network that is specified.
///
/// A model directory holds no `run.toml`: it is, file for file, what learning without the deleted
impl Performed for FitSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.hardware.open(at.output)?;
        let parameters = specification.learning.parameters();
        let table = specification.table.options(&specification.schema)?;
        let (data, left_out) = table.read(&specification.data)?.value;
        let started = Instant::now();
        let spn = Spn::learn(parameters, data.on(&Proposer::of(&device)))?;
        let seconds = started.elapsed().as_secs_f64();
        let (directory, _) = directory_of(at.place, "spn")?;
        let model = SpnModel { spn, table };
        model.store(directory.path())?;
        let summary = FitSummary {
            model: directory.path().to_owned(),
            rows: model.spn.data().rows(),
            missing_values: model.spn.data().missing_values(),
            left_out,
            variables: model.spn.data().variables().len(),
            parameters,
            threshold: model.spn.threshold(),
            network: model.spn.network().shape(),
            seconds,
        };
        at.output.summary("spn fit", &summary, &render(&summary))
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
