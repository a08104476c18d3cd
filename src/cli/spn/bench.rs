//! `probity spn bench`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::inputs::{LearningArgs, TableArgs};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::run::run_directory::RunDirectory;
use probity::unlearning::spn::SpnParameters;
use probity::unlearning::spn::benchmark::{
    BenchmarkFigures, Pool, Protocol, Spread, run as measure,
};

/// Arguments of `probity spn bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity spn bench --data adult.data.gz --schema census --rows 1000 --deletions 100 --repeats 10\n\
                        Everything runs on one thread. Without --out nothing is written."
)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    learning: LearningArgs,
    /// Rows to learn from, drawn anew for each repeat
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        help_heading = "Protocol"
    )]
    rows: usize,
    /// Rows to delete one after the other
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        help_heading = "Protocol"
    )]
    deletions: usize,
    /// Repeats
    #[arg(long, default_value_t = 10, value_name = "N", help_heading = "Protocol", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Directory for summary.json [default: none is written]
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct BenchSummary {
    schema_version: u32,
    command: &'static str,
    probity_version: &'static str,
    data: PathBuf,
    data_sha256: String,
    parameters: SpnParameters,
    protocol: Protocol,
    finished: bool,
    #[serde(flatten)]
    figures: BenchmarkFigures,
}

/// Runs `probity spn bench`.
pub(super) fn run(args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let parameters = args.learning.parameters()?;
    let rows = args.table.options()?.read(&args.table.data)?;
    let (data, _) = rows.value;
    let protocol = Protocol {
        rows: args.rows,
        deletions: args.deletions,
        repeats: args.repeats as usize,
    };
    anyhow::ensure!(protocol.deletions > 0, "--deletions must be at least 1");
    anyhow::ensure!(
        protocol.rows.min(data.rows()) > 1,
        "at least two rows are needed, so that one can be deleted"
    );
    let directory = args.out.as_deref().map(RunDirectory::create).transpose()?;
    let interrupt = Interrupt::listen()?;
    let stop = interrupt.flag();
    let bar = output.progress(
        u64::from(args.repeats),
        "[{bar:28}] {pos}/{len} repeats, {eta} left",
    );
    let mut done = 0;
    let figures = measure(parameters, &Pool::new(&data), protocol, &mut |repeats| {
        done = repeats;
        bar.set_position(repeats as u64);
        !stop.load(std::sync::atomic::Ordering::Relaxed)
    })?;
    bar.finish_and_clear();
    let summary = BenchSummary {
        schema_version: 1,
        command: "spn bench",
        probity_version: env!("CARGO_PKG_VERSION"),
        data: args.table.data,
        data_sha256: rows.sha256,
        parameters,
        protocol,
        finished: done == protocol.repeats,
        figures,
    };
    let mut text = render(&summary);
    if let Some(directory) = directory {
        directory.write_summary(&summary)?;
        text.push_str(&format!("Run: {}\n", directory.path().display()));
    }
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// A time with its deviation.
fn seconds(spread: &Spread) -> String {
    format!("{:.4} ± {:.4}", spread.mean, spread.deviation)
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
    if !summary.finished {
        text.push_str("Interrupted: these are the repeats that were done by then.\n");
    }
    text
}
