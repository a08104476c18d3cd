//! `probity kmeans assign`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::out::Force;
use crate::cli::output::Output;
use crate::cli::render::{bad_rows, counted, figure};
use probity::data::read::LeftOut;
use probity::tensor::proposer::Proposer;
use probity::unlearning::kmeans::dataset::read_for_model;
use probity::unlearning::kmeans::directory::ModelDirectory;
use probity::unlearning::kmeans::nearest;
use probity::unlearning::kmeans::specification::AssignSpecification;

/// Arguments of `probity kmeans assign`.
#[derive(Debug, Args)]
pub(super) struct AssignArgs {
    #[command(flatten)]
    fields: Fields<AssignSpecification>,
    #[command(flatten)]
    hardware: Hardware,
    /// CSV file for the clusters: row, cluster [default: stdout]
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct AssignSummary {
    rows: usize,
    #[serde(flatten)]
    left_out: LeftOut,
    loss: f64,
    clusters: Vec<Assigned>,
}

#[derive(Serialize)]
struct Assigned {
    row: u64,
    cluster: usize,
}

/// Runs `probity kmeans assign`.
pub(super) fn run(args: AssignArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let specification = args.fields.specification()?;
    let data = specification.data.as_deref();
    let inputs = data.into_iter().chain([specification.model.as_path()]);
    let out = args
        .force
        .open(args.out.as_ref(), &inputs.collect::<Vec<_>>())?;
    let proposer = Proposer::new(&args.hardware.open(output)?);
    let (directory, model) = ModelDirectory::open(&specification.model)?;
    let model = model.on(&proposer);
    let description = directory.description();
    let ((pairs, loss), left_out) = match &specification.data {
        None => (model.assignment(), LeftOut::default()),
        Some(file) => {
            let mut options = specification.reading.options()?;
            options.label.clone_from(&description.label);
            options.ignore.extend(description.id_column.clone());
            let (points, left_out) =
                read_for_model(file.as_path(), &options, &description.columns)?;
            let (pairs, loss) = nearest(&points.on(&proposer), model.centroids());
            ((pairs, loss as f64 / (1_u64 << 48) as f64), left_out)
        }
    };
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["row", "cluster"])?;
    for (row, cluster) in &pairs {
        csv.write_record([row.to_string(), cluster.to_string()])?;
    }
    let text = format!(
        "{}, loss {}.\n",
        counted(pairs.len() as u64, "row", "rows"),
        figure(loss)
    ) + &bad_rows(&left_out.bad_rows);
    let summary = AssignSummary {
        rows: pairs.len(),
        left_out,
        loss,
        clusters: pairs
            .into_iter()
            .map(|(row, cluster)| Assigned { row, cluster })
            .collect(),
    };
    let rows = ("Clusters", csv, out.as_ref());
    output.rows("kmeans assign", &summary, rows, &text)
}
