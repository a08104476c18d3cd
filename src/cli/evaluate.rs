//! `probity evaluate`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::{Output, Summary};
use super::predictor::{device_for, started_here};
use probity::fairness::predictions::evaluate;
use probity::fairness::predictions::specification::EvaluateSpecification;
use probity::report::model::Findings;

/// Arguments of `probity evaluate`.
#[derive(Debug, Args)]
pub(super) struct EvaluateArgs {
    #[command(flatten)]
    fields: Fields<EvaluateSpecification>,
    /// Labelled texts: a table with --text-column and --label-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity evaluate`.
pub(super) fn run(mut args: EvaluateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    let device = device_for(&specification.predictor, &args.hardware, output)?;
    let evaluation = evaluate(&specification, &device).with_context(|| {
        format!(
            "evaluating {}",
            specification.predictor.name_or(&specification.model)
        )
    })?;
    for remark in &evaluation.remarks {
        output.remark(remark);
    }
    let summary = Summary::new("evaluate", evaluation);
    output.findings(&summary, Findings::Evaluation, "")
}
