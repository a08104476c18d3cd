//! `probity evaluate`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::{device_for, remark_on_rounding, started_here};
use super::render::{count, read_counts, table, without_outcome};
use super::render_quality::quality;
use probity::fairness::predictions::specification::EvaluateSpecification;
use probity::fairness::predictions::{Evaluation, evaluate};
use probity::fairness::statistics::Mean;

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
    remark_on_rounding(evaluation.rounded, output);
    let part = specification.part.to_string();
    output.summary("evaluate", &evaluation, &render(&evaluation, &part))
}

fn render(evaluation: &Evaluation, part: &str) -> String {
    let mut text = evaluation
        .data
        .as_ref()
        .map_or_else(String::new, read_counts);
    text.push_str(&without_outcome(evaluation.rows_without_outcome));
    text.push_str(&quality(
        &[(part, &evaluation.quality)],
        &evaluation.classes,
    ));
    let Some(of) = &evaluation.probabilities else {
        return text;
    };
    let mean = |mean: &Mean| match mean.ci95 {
        Some([low, high]) => format!("{:.4} (95 % interval {low:.4}–{high:.4})", mean.mean),
        None => format!("{:.4}", mean.mean),
    };
    text.push_str(&format!("Log loss: {}\n", mean(&of.log_loss)));
    text.push_str(&format!("Brier score: {}\n", mean(&of.brier_score)));
    let rows: Vec<Vec<String>> = of
        .by_class
        .iter()
        .map(|class| {
            let [low, high] = class.ci95;
            vec![
                class.class.clone(),
                count(class.inputs),
                format!("{:.4}", class.calibration_error),
                format!("{low:.4} – {high:.4}"),
            ]
        })
        .collect();
    let head = ["class", "actual", "calibration error", "95 % interval"];
    text.push_str(&table(&head, &rows));
    text
}
