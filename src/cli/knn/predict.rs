//! `probity knn predict`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware};
use crate::cli::out::Force;
use crate::cli::output::Output;
use crate::cli::render::{count, percent};
use probity::knn::run::predict_all;
use probity::knn::specification::PredictSpecification;
use probity::run::spreadsheet::safe;

/// Arguments of `probity knn predict`.
#[derive(Debug, Args)]
pub(super) struct PredictArgs {
    #[command(flatten)]
    fields: Fields<PredictSpecification>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// CSV file for the predictions: row, label [default: stdout]
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct PredictSummary {
    k: usize,
    cross_validation_error: f64,
    inputs: usize,
    accuracy: Option<f64>,
    labels: Vec<String>,
}

/// Runs `probity knn predict`.
pub(super) fn run(mut args: PredictArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    let read = [&specification.train, &specification.test].map(PathBuf::as_path);
    let out = args.force.open(args.out.as_ref(), &read)?;
    let device = args.hardware.open(output)?;
    let PredictSpecification {
        train,
        test,
        input,
        reading,
        learning,
        ..
    } = &*specification;
    let inputs = input.read(train, test, reading)?;
    let (system, ids) = predict_all(&inputs, learning, &device)?;
    let labels: Vec<String> = ids.iter().map(|&id| inputs.class(id).to_owned()).collect();
    let accuracy = inputs.accuracy(&ids);
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["row", "label"])?;
    for (number, label) in inputs.test.numbers.iter().zip(&labels) {
        csv.write_record([&*number.to_string(), &safe(label)])?;
    }
    let mut text = format!(
        "K = {}, cross-validation error {}; {} inputs",
        system.k(),
        percent(system.errors().mean_error(system.errors().best())),
        count(labels.len() as u64)
    );
    if let Some(accuracy) = accuracy {
        text.push_str(&format!(", accuracy {}", percent(accuracy)));
    }
    text.push_str(".\n");
    let summary = PredictSummary {
        k: system.k(),
        cross_validation_error: system.errors().mean_error(system.errors().best()),
        inputs: labels.len(),
        accuracy,
        labels,
    };
    let rows = ("Predictions", csv, out.as_ref());
    output.rows("knn predict", &summary, rows, &text)
}
