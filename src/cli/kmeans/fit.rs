//! `probity kmeans fit`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::inputs::{AlgorithmName, ClusteringArgs, DataArgs, Threads};
use crate::cli::inputs::new_run;
use crate::cli::output::Output;
use crate::cli::render::count;
use probity::unlearning::kmeans::directory::{Description, ModelDirectory, describe};
use probity::unlearning::kmeans::{KMeans, Model};

/// Arguments of `probity kmeans fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity kmeans fit --data d.csv --k 5 --algorithm quantized --bounds 0,100 --seed 1 --out M\n\
                        Rows are deleted by id: their number in the file, from 1, or what --id-column holds."
)]
pub(super) struct FitArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Which algorithm
    #[arg(
        long,
        value_enum,
        default_value = "quantized",
        help_heading = "Clustering"
    )]
    algorithm: AlgorithmName,
    #[command(flatten)]
    clustering: ClusteringArgs,
    #[command(flatten)]
    threads: Threads,
    /// Model directory [default: the next free runs/kmeans-N]
    #[arg(long, help_heading = "Result")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct FitSummary {
    schema_version: u32,
    command: &'static str,
    algorithm: String,
    rows: usize,
    columns: usize,
    clusters: usize,
    skipped_rows: u64,
    loss: f64,
    sizes: Vec<usize>,
    model: PathBuf,
}

/// Runs `probity kmeans fit`.
pub(super) fn run(args: FitArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.threads.apply()?;
    args.clustering.refuse_idle(&[args.algorithm])?;
    let dataset = args.data.read()?;
    let rows = dataset.points.len();
    let options = KMeans::new(args.clustering.k)
        .iterations(args.clustering.iterations)
        .algorithm(args.clustering.algorithm(args.algorithm, rows)?)
        .seed(args.clustering.seed);
    let model = Model::fit(dataset.points, &options)?;
    let (assignment, loss) = model.assignment();
    let mut sizes = vec![0; options.clusters];
    for (_, cluster) in assignment {
        sizes[cluster] += 1;
    }
    let directory = new_run(args.out.as_ref(), "kmeans")?;
    let label = args.data.label_column.clone();
    let id_column = args.data.id_column.clone();
    let description = Description::new(&options, dataset.columns, label, id_column);
    ModelDirectory::create(&directory, description, &model)?;
    let summary = FitSummary {
        schema_version: 1,
        command: "kmeans fit",
        algorithm: describe(&options.algorithm),
        rows,
        columns: model.columns(),
        clusters: options.clusters,
        skipped_rows: dataset.skipped_rows,
        loss,
        sizes,
        model: directory.path().to_owned(),
    };
    output.result(&summary, &render(&summary))?;
    Ok(ExitCode::SUCCESS)
}

fn render(summary: &FitSummary) -> String {
    let sizes: Vec<String> = summary
        .sizes
        .iter()
        .map(|&size| count(size as u64))
        .collect();
    let mut text = format!(
        "{} rows, {} columns, {} clusters ({}): {}. Loss {:.6}.\n",
        count(summary.rows as u64),
        summary.columns,
        summary.clusters,
        summary.algorithm,
        sizes.join(", "),
        summary.loss
    );
    if summary.skipped_rows > 0 {
        text.push_str(&format!(
            "{} rows were left out, as the schema asks.\n",
            count(summary.skipped_rows)
        ));
    }
    let path = summary.model.display();
    text.push_str(&format!(
        "Model: {path}\nNext: probity kmeans delete --model {path} --rows IDS\n"
    ));
    text
}
