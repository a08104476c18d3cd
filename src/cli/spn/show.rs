//! `probity spn show`

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use serde::Serialize;

use super::inputs::origin;
use crate::cli::exit_code::ExitCode;
use crate::cli::out::Force;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::unlearning::spn::SpnParameters;
use probity::unlearning::spn::model::SpnModel;
use probity::unlearning::spn::network::Shape;

/// Arguments of `probity spn show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Write the network in the language of Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Draw the network
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct ShowSummary {
    rows: usize,
    parameters: SpnParameters,
    /// The one of the parameters, or the chosen one.
    threshold: f64,
    network: Shape,
    columns: Vec<ShownColumn>,
}

#[derive(Serialize)]
struct ShownColumn {
    name: String,
    domain: String,
    leaves: &'static str,
}

/// Runs `probity spn show`.
pub(super) fn run(args: ShowArgs, output: &Output) -> anyhow::Result<ExitCode> {
    ensure!(
        args.dot.is_some() || args.svg.is_some() || !args.force.is_given(),
        "--force has no meaning without a file to write"
    );
    let open = |file: &Option<PathBuf>| {
        let file = file.as_ref();
        file.map(|file| args.force.file(file, &[&args.model]))
            .transpose()
    };
    ensure!(
        args.dot.is_none() || args.dot != args.svg,
        "--dot and --svg name one file; choose two"
    );
    let (dot, svg) = (open(&args.dot)?, open(&args.svg)?);
    let model = SpnModel::load(&args.model)?;
    let network = model.spn.network();
    let columns = network.variables().iter().map(|variable| ShownColumn {
        name: variable.name().to_owned(),
        domain: variable.describe(),
        leaves: variable.family().name(),
    });
    let summary = ShowSummary {
        rows: model.spn.data().rows(),
        parameters: *model.spn.parameters(),
        threshold: model.spn.threshold(),
        network: network.shape(),
        columns: columns.collect(),
    };
    let mut text = render(&summary);
    if let Some(file) = dot {
        file.write(network.to_dot().as_bytes())?;
        text.push_str(&format!("Graphviz: {}\n", file.path().display()));
    }
    if let Some(file) = svg {
        file.write(network.to_svg().as_bytes())?;
        text.push_str(&format!("Drawing: {}\n", file.path().display()));
    }
    output.summary("spn show", &summary, &text)
}

fn render(summary: &ShowSummary) -> String {
    let rows: Vec<Vec<String>> = summary
        .columns
        .iter()
        .map(|column| {
            vec![
                column.name.clone(),
                column.leaves.to_owned(),
                column.domain.clone(),
            ]
        })
        .collect();
    let mut text = table(&["column", "leaves", "domain"], &rows);
    let (shape, parameters) = (&summary.network, &summary.parameters);
    text.push_str(&format!(
        "{} rows; {} sums, {} products, {} leaves, {} edges, depth {}.\n",
        count(summary.rows as u64),
        count(shape.sums as u64),
        count(shape.products as u64),
        count(shape.leaves as u64),
        count(shape.edges as u64),
        shape.depth
    ));
    text.push_str(&format!(
        "Learnt with independence {:?} at {} ({}), {} clusters, min-rows {}, {} bins, smoothing {}, seed {}.\n",
        parameters.independence,
        summary.threshold,
        origin(parameters),
        parameters.clusters,
        parameters.min_rows,
        parameters.bins,
        parameters.smoothing,
        parameters.seed
    ));
    text
}
