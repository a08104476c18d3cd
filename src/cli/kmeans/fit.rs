//! `probity kmeans fit`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware, directory_of};
use crate::cli::output::Output;
use crate::cli::render::{bad_rows, count, figure};
use crate::cli::run::{At, Performed};
use probity::data::read::LeftOut;
use probity::run::specification::Checked;
use probity::tensor::proposer::Proposer;
use probity::unlearning::kmeans::Model;
use probity::unlearning::kmeans::directory::{Description, ModelDirectory, describe};
use probity::unlearning::kmeans::specification::FitSpecification;

/// Arguments of `probity kmeans fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rows are deleted by id: their number in the file, from 1, or what --id-column holds."
)]
pub(super) struct FitArgs {
    #[command(flatten)]
    fields: Fields<FitSpecification>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Model directory [default: the next free runs/kmeans-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct FitSummary {
    algorithm: String,
    rows: usize,
    columns: usize,
    clusters: usize,
    #[serde(flatten)]
    left_out: LeftOut,
    loss: f64,
    sizes: Vec<usize>,
    model: PathBuf,
}

/// Runs `probity kmeans fit`.
pub(super) fn run(mut args: FitArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    FitSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

/// Fits the clustering that is specified.
///
/// A model directory holds no `run.toml`: it is, file for file, what training without the deleted
impl Performed for FitSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.hardware.open(at.output)?;
        let specification = specification.into_inner();
        let input = &specification.input;
        let dataset = input.read(&specification.data, &specification.reading)?;
        let rows = dataset.points.len();
        let options = specification.options();
        let points = dataset.points.on(&Proposer::of(&device));
        let model = Model::fit(points, &options)?;
        let (assignment, loss) = model.assignment();
        let mut sizes = vec![0; options.clusters];
        for (_, cluster) in assignment {
            sizes[cluster] += 1;
        }
        let (directory, _) = directory_of(at.place, "kmeans")?;
        let (label, id_column) = (input.label_column.clone(), input.id_column.clone());
        let description = Description::new(&options, dataset.columns, label, id_column);
        ModelDirectory::create(&directory, description, &model)?;
        let summary = FitSummary {
            algorithm: describe(&options.algorithm),
            rows,
            columns: model.columns(),
            clusters: options.clusters,
            left_out: dataset.left_out,
            loss,
            sizes,
            model: directory.path().to_owned(),
        };
        at.output.summary("kmeans fit", &summary, &render(&summary))
    }
}

fn render(summary: &FitSummary) -> String {
    let sizes: Vec<String> = summary
        .sizes
        .iter()
        .map(|&size| count(size as u64))
        .collect();
    let mut text = format!(
        "{} rows, {} columns, {} clusters ({}): {}. Loss {}.\n",
        count(summary.rows as u64),
        summary.columns,
        summary.clusters,
        summary.algorithm,
        sizes.join(", "),
        figure(summary.loss)
    );
    if summary.left_out.skipped_rows > 0 {
        text.push_str(&format!(
            "{} rows were left out, as the schema asks.\n",
            count(summary.left_out.skipped_rows)
        ));
    }
    text.push_str(&bad_rows(&summary.left_out.bad_rows));
    let path = summary.model.display();
    text.push_str(&format!(
        "Model: {path}\nNext: probity kmeans delete --model {path} --ids IDS\n"
    ));
    text
}
