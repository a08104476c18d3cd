//! `probity predict`

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::out::Force;
use super::output::Output;
use super::predictor::{device_for, started_here};
use super::render::{count, counted, read_counts, table};
use probity::data::table::ReadCounts;
use probity::fairness::modality::ModalityName;
use probity::fairness::predictions::specification::PredictSpecification;
use probity::fairness::predictions::{Predictions, predict, write_csv, write_parquet};
use probity::predictor::probabilities::RoundedRows;

/// Arguments of `probity predict`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rows have the numbers that they have in the file, from 1, also where others are left out."
)]
pub(super) struct PredictArgs {
    #[command(flatten)]
    fields: Fields<PredictSpecification>,
    /// Texts that are classified: a text a line (.txt), or a table with --text-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
    /// File for the predictions: row, text, predicted class, probability and logit of each class, of a regressor its number;
    /// Parquet if its name ends in .parquet, else CSV [default: CSV to stdout]
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct PredictSummary<'a> {
    modality: ModalityName,
    model_sha256: &'a str,
    data_sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a ReadCounts>,
    inputs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounded: Option<RoundedRows>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    predicted: Vec<Predicted<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Numbers>,
}

/// Inputs of one predicted class.
#[derive(Serialize)]
struct Predicted<'a> {
    class: &'a str,
    inputs: u64,
}

/// The numbers that a regressor gives.
#[derive(Serialize)]
struct Numbers {
    mean: f64,
    least: f64,
    largest: f64,
}

impl Numbers {
    /// Returns the numbers of `predictions`, if they are numbers.
    fn from_predictions(predictions: &Predictions) -> Option<Numbers> {
        let numbers = predictions.numbers()?;
        let all = || numbers.iter().copied();
        Some(Numbers {
            mean: all().sum::<f64>() / numbers.len().max(1) as f64,
            least: all().fold(f64::INFINITY, f64::min),
            largest: all().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// Runs `probity predict`.
pub(super) fn run(mut args: PredictArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    let read: [&Path; 2] = [&specification.model, &specification.data];
    let is_parquet = args.out.as_ref().is_some_and(|out| is_parquet(out));
    let out = args.force.open(args.out.as_ref(), &read)?;
    ensure!(
        out.is_some() || !is_parquet,
        "Parquet is written to a file, not to standard output"
    );
    let device = device_for(&specification.predictor, &args.hardware, output)?;
    let predictions = predict(&specification, &device).with_context(|| {
        format!(
            "predicting with {}",
            specification.predictor.name_or(&specification.model)
        )
    })?;
    for remark in &predictions.remarks {
        output.remark(remark);
    }
    let batch = predictions.batch()?;
    let summary = summary(&predictions, specification.modality);
    let mut text = render(&summary);
    if let (Some(out), true) = (&out, is_parquet) {
        let mut bytes = Vec::new();
        write_parquet(&batch, &mut bytes)?;
        out.write(&bytes)?;
        text.push_str(&format!("Predictions: {}\n", out.path().display()));
        return output.summary("predict", &summary, &text);
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    write_csv(&batch, &mut csv)?;
    output.rows(
        "predict",
        &summary,
        ("Predictions", csv, out.as_ref()),
        &text,
    )
}

fn is_parquet(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

fn summary(predictions: &Predictions, modality: ModalityName) -> PredictSummary<'_> {
    let numbers = Numbers::from_predictions(predictions);
    let counts = match &numbers {
        Some(_) => Vec::new(),
        None => predictions.counts(),
    };
    let classes = predictions.decisions.iter().zip(counts);
    PredictSummary {
        numbers,
        modality,
        model_sha256: &predictions.model_sha256,
        data_sha256: &predictions.data_sha256,
        data: predictions.data.as_ref(),
        inputs: predictions.inputs(),
        rounded: predictions.rounded,
        predicted: classes
            .map(|(class, inputs)| Predicted { class, inputs })
            .collect(),
    }
}

fn render(summary: &PredictSummary<'_>) -> String {
    let (one, more) = match summary.modality {
        ModalityName::Table => ("row", "rows"),
        ModalityName::Text => ("text", "texts"),
    };
    let mut text = format!("{}.\n", counted(summary.inputs as u64, one, more));
    text.push_str(&summary.data.map_or_else(String::new, read_counts));
    if let Some(numbers) = &summary.numbers {
        let row = [numbers.mean, numbers.least, numbers.largest].map(amount);
        text.push_str(&table(&["mean", "least", "largest"], &[row.to_vec()]));
        return text;
    }
    let rows: Vec<Vec<String>> = summary
        .predicted
        .iter()
        .map(|it| vec![it.class.to_owned(), count(it.inputs)])
        .collect();
    text.push_str(&table(&["predicted", more], &rows));
    text
}

/// A number in the unit of a label, in four digits that count, and never fewer than all before the
/// point.
fn amount(number: f64) -> String {
    let before = match number == 0.0 || !number.is_finite() {
        true => 1,
        false => number.abs().log10().floor() as i32 + 1,
    };
    format!("{number:.*}", (4 - before).clamp(0, 12) as usize)
}
